package debugport

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/event"
)

// recorded is a peer that says what was recorded, and hears nothing.
type recorded struct{ io.Reader }

func (r recorded) Write(p []byte) (int, error) { return len(p), nil }

func (r recorded) Close() error { return nil }

// anything is a Local in which there is every worker; each gives back what it gets.
type anything struct{}

func (anything) Entrypoint(string, string, *event.Payload) (cfapi.Target, error) {
	return asTarget{echo()}, nil
}

func (anything) Object(_, _, _, _ string) (cfapi.Target, error) { return asTarget{echo()}, nil }

func echo() *worker {
	return &worker{refs: 1, call: func(c *event.Call, done func(*event.Payload, error)) {
		p := &event.Payload{}
		if c.Args != nil {
			p.Bytes = c.Args.Bytes
			for _, held := range c.Args.Caps {
				if stub, ok := held.(event.Capability); ok {
					stub.Call(&event.Call{Path: []string{"back"}}, func(*event.Payload, error) {})
					held = stub.Dup()
				}
				p.Caps = append(p.Caps, held)
			}
		}
		done(p, nil)
	}, fetch: func(req *event.Request, done func(*event.Response, error)) func(error) {
		resp := &event.Response{Status: 200, Header: req.Header, Body: req.Body}
		if req.Upgrade {
			resp.Status, resp.Body = 101, nil
			resp.Socket, _ = event.NewSocketPair()
		}
		done(resp, nil)
		return func(reason error) {
			if req.Body != nil {
				req.Body.Cancel(reason)
			}
		}
	}}
}

// FuzzPort: nothing that a peer says ends the process, and its going away ends all that it
// began. The seeds are what workerd 1.20261117.1 has said.
func FuzzPort(f *testing.F) {
	seeds, err := filepath.Glob("testdata/*.bin")
	if err != nil || len(seeds) == 0 {
		f.Fatal(seeds, err)
	}
	for _, name := range seeds {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		threads := sched.NewThreads(clock.Real{})
		ended := make(chan error, 1)
		Serve(recorded{bytes.NewReader(text)}, threads, anything{}, func(err error) { ended <- err })
		<-ended
		if err := threads.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
