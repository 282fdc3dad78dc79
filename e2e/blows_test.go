package e2e

import (
	"errors"
	"fmt"

	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/runtime/control"
)

// blow is a way in which an object is hit that TestSystemsSurvive does not have;
// docs/control.md says what each does.
type blow struct {
	name  string
	verb  string // of the control API
	scope string // as in the API
	// gentle blows wait until production would do it, and leave hibernatable
	// sockets open.
	gentle bool
}

var hibernate = blow{name: "hibernate", verb: "hibernate", gentle: true}

var blows = []blow{
	{name: "evict when idle", verb: "evict", gentle: true},
	hibernate,
	{name: "reset of the isolate", verb: "reset", scope: "isolate"},
	{name: "crash of the isolate", verb: "crash", scope: "isolate"},
}

// control is a client of this life's control API.
func (l *lives) control() *control.Client {
	l.t.Helper()
	sessions, err := control.Sessions("")
	if err != nil {
		l.t.Fatal(err)
	}
	for _, s := range sessions {
		if s.PID == l.server.Pid() {
			c := control.NewClient(s)
			l.t.Cleanup(c.Close)
			return c
		}
	}
	l.t.Fatalf("the server (pid %d) offers no control API", l.server.Pid())
	return nil
}

// ask asks the control API, which may refuse.
func (l *lives) act(path string, body, into any) error {
	l.t.Helper()
	return l.control().Post(l.t.Context(), path, body, into)
}

// strike hits an object. A gentle blow that is refused is tried until it is not;
// an object that is not in memory is one already.
func (l *lives) strike(b blow, class, object string) {
	l.t.Helper()
	request := control.ActRequest{Class: class, Object: object, Scope: b.scope}
	if b.scope == "isolate" {
		request.Class, request.Object = "", ""
	}
	err := wait.Until(l.t.Context(), clock.Real{}, limit, fmt.Sprintf("%s of %s/%s", b.name, class, object), func() (bool, error) {
		err := l.act("/v1/"+b.verb, request, nil)
		var refused *control.CallError
		if errors.As(err, &refused) && (refused.Code == "not_running" || refused.Code == "not_found") {
			return true, nil
		}
		if b.gentle && errors.As(err, &refused) && refused.Code == "refused" {
			return false, nil
		}
		return true, err
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

// ring fires an object's alarm.
func (l *lives) ring(class, object string) {
	l.t.Helper()
	if err := l.act("/v1/alarm", control.ActRequest{Class: class, Object: object}, nil); err != nil {
		l.t.Fatal(err)
	}
}
