package e2e

import (
	"errors"
	"fmt"
	"testing"

	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/runtime/control"
)

// blow is a way in which an object is hit; docs/control.md says what each does.
type blow struct {
	name string
	verb string // of the control API; "" is SIGKILL of the process
	// scope and force are as in the API.
	scope string
	force bool
	// gentle blows wait until production would do it, and leave hibernatable
	// sockets open.
	gentle bool
}

// blows are all of them.
var blows = []blow{
	{name: "evict", verb: "evict", gentle: true},
	{name: "hibernate", verb: "hibernate", gentle: true},
	{name: "evict by force", verb: "evict", force: true},
	{name: "reset", verb: "reset"},
	{name: "reset of the isolate", verb: "reset", scope: "isolate"},
	{name: "crash", verb: "crash"},
	{name: "crash of the isolate", verb: "crash", scope: "isolate"},
	{name: "SIGKILL"},
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
	if b.verb == "" {
		l.crash()
		return
	}
	request := control.ActRequest{Class: class, Object: object, Scope: b.scope, Force: b.force}
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

// eachBlow runs a test for every blow and moment, each from nothing. The
// moments of one blow share a server, unless the blow ends it, and use an object
// each: name is one that nobody has used.
func eachBlow(t *testing.T, begin func(t *testing.T) *lives, moments int, test func(l *lives, b blow, moment int, name string)) {
	t.Helper()
	for _, b := range blows {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			l := begin(t)
			for moment := range moments {
				t.Run(fmt.Sprintf("at moment %d", moment), func(t *testing.T) {
					// What the helpers report belongs to this moment; the server to the blow.
					mine := *l
					mine.t = t
					if b.verb == "" {
						mine = *begin(t)
					}
					test(&mine, b, moment, fmt.Sprintf("n%d", moment))
				})
			}
		})
	}
}
