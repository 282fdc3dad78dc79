package gateway

import (
	"errors"
	"testing"

	"minido.dev/minido/runtime/event"
)

func TestTargets(t *testing.T) {
	for target, valid := range map[string]bool{
		"/": true, "/a?b=c": true, `/a"b{c}|d^e\f`: true, "/é%zz": true, "/a?{}`^|": true, "/a#<": true,
		"/a`b": false, "/a<b": false, "/a>b": false, `/?q="`: false, "/?<": false, "/a\x01": false,
	} {
		if validTarget(target) != valid {
			t.Errorf("%q: valid is not %v", target, valid)
		}
	}
	asked := ""
	g := &Gateway{opts: Options{Href: func(url string) (string, error) {
		if asked = url; url == "http://h/[" {
			return "", errors.New("no URL")
		}
		return "written", nil
	}}}
	for target, want := range map[string]string{
		"/a.b/c?d=%20&e#f": "written", "/a.b/c?d=1&e#f": "http://h/a.b/c?d=1&e", "//x/.y": "written", "/a/../b": "written", "/[": "http://h/[", "/é": "written",
	} {
		asked = ""
		if got := g.written("http://h", target); got != want || (asked != "") != (want == "written" || target == "/[") {
			t.Errorf("%q is written %q, and the parser was asked of %q", target, got, asked)
		}
	}
}

func TestInvalidTarget(t *testing.T) {
	w := start(t, Options{Handler: answer(func(*event.Request) (*event.Response, error) { return &event.Response{Status: 200}, nil })})
	for target, status := range map[string]int{"/?<": 400, "/?a=%22&b=\"": 400, "/?a`": 200, "/a|b": 200} {
		if resp, body := w.do("GET", target, nil); resp.StatusCode != status || status == 400 && (body != "invalid URI" || !resp.Close) {
			t.Errorf("%s: %s %q, closed: %v", target, resp.Status, body, resp.Close)
		}
	}
}
