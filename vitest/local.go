package vitest

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"minido.dev/minido/internal/netx"
	"minido.dev/minido/runtime/event"
)

// localTimeout is how long a server of this machine has, of the machine's time.
const localTimeout = 30 * time.Second

// isLocal reports whether a URL names this machine: a server there has been started for the
// tests, such as by test.globalSetup.
func isLocal(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || ip != nil && ip.IsLoopback()
}

// askLocal asks a server of this machine, and waits for its whole answer: no virtual time passes
// meanwhile.
func askLocal(req *event.Request, done func(*event.Response, error)) {
	event.ReadAll(req.Body, 0, func(body []byte, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		answer, err := exchangeLocal(req, body)
		if err != nil {
			answer, err = nil, netx.ErrLost
		}
		done(answer, err)
	})
}

func exchangeLocal(req *event.Request, body []byte) (answer *event.Response, err error) {
	r, err := http.NewRequest(req.Method, req.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for _, h := range req.Header {
		r.Header.Add(h.Name, h.Value)
	}
	client := http.Client{Timeout: localTimeout, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // fetch follows them
	resp, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	_, reason, _ := strings.Cut(resp.Status, " ")
	answer = &event.Response{Status: resp.StatusCode, StatusText: reason, Body: event.Bytes(text)}
	for _, name := range slices.Sorted(maps.Keys(resp.Header)) {
		for _, value := range resp.Header[name] {
			answer.Header = append(answer.Header, event.Field{Name: name, Value: value})
		}
	}
	return answer, nil
}
