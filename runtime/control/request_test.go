package control

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
)

// A request reaches the worker's listener, and nothing else.
func TestRequest(t *testing.T) {
	c, s, client := start(t)
	var got WorkerResponse
	if err := client.Post(context.Background(), "/v1/request", WorkerRequest{Method: "POST", Path: "/add?x=%2F1", Headers: [][]string{{"X-A", "1"}}, Body: "b"}, &got); err != nil {
		t.Fatal(err)
	}
	if got.Status != 200 || got.Text != "1" || got.TookUs < got.HeadUs || got.HeadUs <= 0 || got.Truncated {
		t.Errorf("%+v", got)
	}
	// Two slashes are the worker's path, too, and no host.
	if err := client.Post(context.Background(), "/v1/request", WorkerRequest{Method: "GET", Path: "//evil.example/"}, &got); err != nil || got.Status != 200 || got.Text != "2" {
		t.Errorf("//evil.example/: %+v, %v", got, err)
	}
	for _, bad := range []WorkerRequest{
		{Method: "GET", Path: "http://evil.example/"}, {Method: "GET", Path: "a"}, {Method: "GET", Path: ""},
		{Method: "GET", Path: "/", Headers: [][]string{{"Host", "evil.example"}}}, {Method: "GET", Path: "/", Headers: [][]string{{"a"}}}, {Method: "G T", Path: "/"},
	} {
		var refused *CallError
		if err := client.Post(context.Background(), "/v1/request", bad, &got); !errors.As(err, &refused) || refused.Status != 400 {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	resp, err := http.Get(c.URL() + "/dashboard/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if want := "connect-src 'self' ws" + strings.TrimPrefix(s.URL(), "http") + ";"; !strings.Contains(resp.Header.Get("Content-Security-Policy"), want) {
		t.Errorf("the policy is %s, want %s", resp.Header.Get("Content-Security-Policy"), want)
	}
}
