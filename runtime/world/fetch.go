package world

import (
	"cmp"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/runtime/event"
)

// dialer is the way out: the exchanges with upstreams have effect points as on
// the real network.
type dialer struct{ w *World }

// Do implements netx.Dialer.
func (d *dialer) Do(req *event.Request, done func(*event.Response, error)) func(error) {
	w := d.w
	n := w.fetching.begin()
	asked := false
	cancel := w.Net.DoWith(req, func() (bool, error) {
		if w.dead {
			return false, nil
		}
		asked = true
		err := w.points.Reach(killpoint.Fetch, "", cmp.Or(req.Cause, "fetch"))
		w.touch()
		return true, err
	}, func(resp *event.Response, err error) {
		if w.dead {
			return // what hangs on the response is cut with the fetch
		}
		w.touch()
		arrive := func() {
			w.touch()
			if resp != nil {
				w.open = w.open || resp.Socket != nil // its frames go where no one counts them
				resp.Body = w.touching(resp.Body)
			}
			done(resp, err)
		}
		if !asked || err != nil {
			arrive()
			return
		}
		w.points.Arrive(killpoint.Message{Kind: killpoint.Fetch, Cause: cmp.Or(req.Cause, "fetch"), Send: arrive, Lose: func(lost error) {
			netx.Discard(resp, lost)
			done(nil, lost)
		}})
	})
	w.fetching.started(n, cancel)
	return func(reason error) {
		w.touch()
		cancel(reason)
	}
}

// fetches are the exchanges with upstreams that a world has begun.
type fetches struct {
	count int
	open  map[int]func(error)
}

func (f *fetches) begin() int {
	f.count++
	return f.count
}

func (f *fetches) started(n int, cancel func(error)) {
	if f.open == nil {
		f.open = map[int]func(error){}
	}
	f.open[n] = cancel
}

// cut ends all of them: the peer sees the connection go.
func (f *fetches) cut() {
	for n := range f.count {
		if cancel := f.open[n+1]; cancel != nil {
			cancel(netx.ErrLost)
		}
	}
	f.open = nil
}
