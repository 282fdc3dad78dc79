package devregistry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"minido.dev/minido/internal/netx"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/devregistry/debugport"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/streams"
)

// Worker is one that runs in another session. Safe for concurrent use.
type Worker struct {
	r     *Registry
	at    session // of minido
	name  string
	entry entry
}

// Entrypoint is one of the worker's; props may not have stubs in them.
func (w Worker) Entrypoint(name string, props *event.Payload) cfapi.Target {
	if w.entry.Minido == nil {
		return w.wranglers(name, props)
	}
	p := place{Worker: w.name, Entrypoint: name}
	if props != nil {
		p.Props = props.Bytes
	}
	return target{&remote{r: w.r, at: w.at, place: p}}
}

// Object is a Durable Object that lives with the worker.
func (w Worker) Object(class, id, name string) cfapi.Target {
	if w.entry.Minido == nil {
		return linked{w.r, w.entry.DebugPort, func(c *debugport.Client) cfapi.Target { return c.Object(w.entry.UserService, class, id, name) }}
	}
	return target{&remote{r: w.r, at: w.at, place: place{Worker: w.name, Class: class, Object: id, Name: name}}}
}

// Tail gives the worker, which is a tail worker, what another one did. Traces that
// tell of such a call are left out: that would never end.
func (w Worker) Tail(traces []*event.Trace) {
	traces = slices.DeleteFunc(slices.Clone(traces), func(t *event.Trace) bool { return t.Event.Method == "tail" })
	if len(traces) == 0 {
		return
	}
	if w.entry.Minido == nil {
		args, err := tailArgs(traces)
		if err != nil {
			w.r.opts.Report(fmt.Errorf("dev registry: tail events: %w", err))
			return
		}
		w.wranglers("default", nil).Call(&event.Call{Path: []string{"tail"}, Args: args}, func(p *event.Payload, err error) {
			if err != nil {
				w.r.opts.Report(fmt.Errorf("[dev-registry] Failed to forward tail events to %q: %w", w.name, err))
				return
			}
			debugport.Discard(p)
		})
		return
	}
	text, err := json.Marshal(tailed{w.name, traces})
	if err != nil {
		w.r.opts.Report(fmt.Errorf("dev registry: %w", err))
		return
	}
	w.r.post(w.at, tailPath, text, func(resp *event.Response, err error) {
		if err == nil && resp.Status != 204 {
			err = fmt.Errorf("status %d", resp.Status)
		}
		if err != nil {
			w.r.opts.Report(fmt.Errorf("[dev-registry] Failed to forward tail events to %q: %w", w.name, err))
		}
	})
}

// post sends a text to another session. done is called exactly once, but for a
// request that is never answered.
func (r *Registry) post(to session, path string, text []byte, done func(*event.Response, error)) (cancel func(error)) {
	return r.opts.Dialer.Do(&event.Request{
		Method: "POST", URL: "http://" + to.Address + path, Raw: true,
		Header: event.Header{{Name: secretHeader, Value: to.Secret}}, Body: event.Bytes(text),
	}, done)
}

// remote is something in another session that can be called. The copies that Dup
// makes are one value with a count. Safe for concurrent use.
type remote struct {
	r     *Registry
	at    session
	place place
	refs  atomic.Int32 // of an export of the other session
}

var _ event.Capability = (*remote)(nil)

// imported is what another session exports, with one reference.
func (r *Registry) imported(c carried) *remote {
	t := &remote{r: r, at: c.Owner, place: place{Export: c.ID}}
	t.refs.Store(1)
	return t
}

// Dup implements event.Capability.
func (t *remote) Dup() event.Capability {
	t.refs.Add(1)
	return t
}

// Release implements event.Capability. That the other session has ended meanwhile is
// no failure.
func (t *remote) Release() {
	if t.refs.Add(-1) == 0 && t.place.Export != "" {
		t.r.post(t.at, releasePath+t.place.Export, nil, func(*event.Response, error) {})
	}
}

// Call implements event.Capability.
func (t *remote) Call(c *event.Call, done func(*event.Payload, error)) {
	// The caller releases its references when the call is done, the callee perhaps later.
	args, err := t.r.pack(copied(c.Args), t.at)
	if err != nil {
		done(nil, err)
		return
	}
	text, err := json.Marshal(call{t.r.self, t.place, c.Path, c.Get, args, c.Cause})
	if err != nil {
		done(nil, fmt.Errorf("dev registry: %w", err))
		return
	}
	t.r.post(t.at, callPath, text, func(resp *event.Response, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		event.ReadAll(resp.Body, maxMessage, func(text []byte, err error) {
			var res result
			switch {
			case err != nil:
			case resp.Status != 200:
				err = fmt.Errorf("dev registry: the other session answered with status %d: %s", resp.Status, text)
			default:
				err = json.Unmarshal(text, &res)
			}
			switch {
			case err != nil:
				done(nil, err)
			case res.Error != nil:
				done(nil, res.Error.error())
			default:
				done(t.r.unpack(res.Value), nil)
			}
		})
	})
}

// target is a remote that answers requests too.
type target struct{ *remote }

var _ cfapi.Target = target{}

// Dup implements event.Capability.
func (t target) Dup() event.Capability {
	t.remote.Dup()
	return t
}

// Fetch implements cfapi.Target.
func (t target) Fetch(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	if err := debugport.Unconnectable(req); err != nil {
		done(nil, err)
		return func(error) {}
	}
	field, err := header(requestHead{t.place, req.Method, req.URL, req.Header, req.Body != nil, req.CF, req.Upgrade, req.Raw, req.Cause})
	if err != nil {
		done(nil, err)
		return func(error) {}
	}
	out := &event.Request{Method: "POST", URL: "http://" + t.at.Address + fetchPath, Raw: true, Body: req.Body,
		Header: event.Header{{Name: secretHeader, Value: t.at.Secret}, field}}
	if req.Upgrade {
		out.Method, out.Upgrade, out.Body = "GET", true, nil
		if p := req.Header.Get("Sec-WebSocket-Protocol"); p != "" {
			out.Header = append(out.Header, event.Field{Name: "Sec-WebSocket-Protocol", Value: p})
		}
	}
	return t.r.opts.Dialer.Do(out, func(resp *event.Response, err error) {
		var h responseHead
		if err == nil {
			err = head(resp.Header, &h)
		}
		if err == nil && h.Error != nil {
			err = h.Error.error()
		}
		if err != nil {
			done(nil, err)
			return
		}
		in := &event.Response{Status: h.Status, StatusText: h.StatusText, Header: h.Header, CF: h.CF, EncodeBody: h.EncodeBody, Socket: resp.Socket}
		if h.HasBody {
			if in.Body = resp.Body; in.Body == nil {
				in.Body = event.Bytes(nil)
			}
		}
		done(in, nil)
	})
}

// remoteBody is a stream of another session, which is asked for it at the first Read.
type remoteBody struct {
	r      *Registry
	owner  session
	id     string
	length int64

	mu       sync.Mutex // guards the fields below
	body     event.Body
	asked    bool
	canceled error
}

var _ event.Body = (*remoteBody)(nil)

// Length implements event.Body.
func (b *remoteBody) Length() int64 { return b.length }

// Read implements event.Body.
func (b *remoteBody) Read(cb func([]byte, error)) {
	b.mu.Lock()
	body, canceled := b.body, b.canceled
	b.asked = true
	b.mu.Unlock()
	switch {
	case canceled != nil:
		cb(nil, canceled)
	case body != nil:
		body.Read(prematurely(cb))
	default:
		b.r.post(b.owner, bodyPath+b.id, nil, func(resp *event.Response, err error) {
			if err == nil && resp.Status != 200 {
				err = netx.ErrLost
			}
			if err != nil {
				prematurely(cb)(nil, err)
				return
			}
			b.mu.Lock()
			b.body = resp.Body
			canceled := b.canceled
			b.mu.Unlock()
			if canceled != nil {
				resp.Body.Cancel(canceled)
			}
			resp.Body.Read(prematurely(cb))
		})
	}
}

// prematurely is cb for a stream that may break off; why it did stays on its side.
func prematurely(cb func([]byte, error)) func([]byte, error) {
	return func(chunk []byte, err error) {
		if err != nil && err != io.EOF {
			err = streams.ErrPrematurely
		}
		cb(chunk, err)
	}
}

// Cancel implements event.Body.
func (b *remoteBody) Cancel(reason error) {
	if reason == nil || errors.Is(reason, io.EOF) {
		reason = netx.ErrAborted
	}
	b.mu.Lock()
	body, asked := b.body, b.asked
	b.canceled = reason
	b.mu.Unlock()
	switch {
	case body != nil:
		body.Cancel(reason)
	case !asked:
		// That the other session has ended meanwhile is no failure.
		b.r.post(b.owner, releasePath+b.id, nil, func(*event.Response, error) {})
	}
}
