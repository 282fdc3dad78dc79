package drive

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"minido.dev/minido/chaos/agentrpc"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
)

// silent is a connection on which nothing comes; it ends when nobody waits any more, as that of
// the library does.
type silent struct{ agentrpc.Conn }

func (silent) Read(ctx context.Context) (websocket.MessageType, []byte, error) {
	<-ctx.Done()
	return 0, nil, ctx.Err()
}
func (silent) SetReadLimit(int64) {}

// A connection that ends because the client no longer waits was not dropped by the server.
func TestSocketThatIsGivenUp(t *testing.T) {
	c := clock.NewVirtual(time.Unix(0, 0))
	h := history.NewRecorder(c, nil)
	s := NewSession(h, sched.NewSeeded(c, entropy.NewSeeded(1)), time.Hour)
	s.Over(func(context.Context, string, http.Header) (agentrpc.Conn, *http.Response, error) {
		return silent{}, nil, nil
	}, nil)
	s.Connect("http://127.0.0.1:1")
	socket, err := s.OpenSocket(t.Context(), "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := socket.Receive(ctx); err == nil {
		t.Fatal("a frame came")
	}
	events := h.Events()
	if last := events[len(events)-1]; last.Kind != history.Close || !strings.HasPrefix(last.Text, history.ByClient) {
		t.Errorf("the end is %s %q", last.Kind, last.Text)
	}
}

// deaf is a connection whose server answers no Close frame.
type deaf struct {
	agentrpc.Conn
	began, over chan struct{}
}

func (d deaf) Close(websocket.StatusCode, string) error {
	close(d.began)
	<-d.over
	return errors.New("failed to read the answer")
}
func (d deaf) CloseNow() error    { close(d.over); return nil }
func (d deaf) SetReadLimit(int64) {}

// A client whose Close frame is not answered hangs up, which is no failure of the call.
func TestUnansweredClose(t *testing.T) {
	c := clock.NewVirtual(time.Unix(0, 0))
	s := NewSession(history.NewRecorder(c, nil), sched.NewSeeded(c, entropy.NewSeeded(1)), time.Hour)
	conn := deaf{began: make(chan struct{}), over: make(chan struct{})}
	s.Over(func(context.Context, string, http.Header) (agentrpc.Conn, *http.Response, error) {
		return conn, nil, nil
	}, nil)
	s.Connect("http://127.0.0.1:1")
	socket, err := s.OpenSocket(t.Context(), "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error)
	go func() { closed <- socket.Close(1000, "") }()
	<-conn.began
	c.Advance(closeWait)
	if err := <-closed; err != nil {
		t.Errorf("the call failed: %v", err)
	}
}
