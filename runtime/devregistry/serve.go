package devregistry

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/event"
)

// maxMessage bounds a call or a result on its way: RPC messages are limited to 32 MiB,
// base64 and JSON make them longer.
const maxMessage = 64 << 20

// export is something of this session that another one holds.
type export struct {
	held   any // event.Capability or event.Body
	holder session
}

// drop gives it up.
func (e *export) drop() {
	switch c := e.held.(type) {
	case event.Capability:
		c.Release()
	case event.Body:
		c.Cancel(errReleased)
	case *event.Socket:
		c.Drop(1006, "", nil)
	}
}

var errReleased = errors.New("the other dev session does not read it")

// serve answers another session; it is a netx.Handler.
func (r *Registry) serve(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	none := func(error) {}
	u, err := url.Parse(req.URL)
	if err != nil {
		done(nil, err)
		return none
	}
	if subtle.ConstantTimeCompare([]byte(req.Header.Get(secretHeader)), []byte(r.self.Secret)) != 1 {
		done(&event.Response{Status: 403, Body: event.Bytes([]byte("Forbidden"))}, nil)
		return none
	}
	switch id, path := u.Path[strings.LastIndexByte(u.Path, '/')+1:], u.Path; {
	case path == fetchPath:
		return r.serveFetch(req, done)
	case path == callPath:
		r.serveCall(req, done)
	case path == tailPath:
		r.serveTail(req, done)
	case path == alivePath:
		done(&event.Response{Status: 204}, nil)
	case path == releasePath+id:
		if e := r.take(id); e != nil {
			e.drop()
		}
		done(&event.Response{Status: 204}, nil)
	case path == bodyPath+id:
		e := r.take(id)
		if e == nil {
			done(&event.Response{Status: 404}, nil)
			break
		}
		done(&event.Response{Status: 200, Body: e.held.(event.Body), EncodeBody: "manual"}, nil)
	default:
		done(&event.Response{Status: 404}, nil)
	}
	return none
}

// take is an export that is given up, nil if there is none.
func (r *Registry) take(id string) *export {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.exports[id]
	delete(r.exports, id)
	return e
}

// at finds what a call is for. release ends the use of it.
func (r *Registry) at(p place) (t event.Capability, release func(), err error) {
	switch {
	case p.Export != "":
		r.mu.Lock()
		defer r.mu.Unlock()
		e := r.exports[p.Export]
		if e == nil {
			return nil, nil, &event.Error{Message: "RPC stub used after being disposed.", Remote: true}
		}
		c, ok := e.held.(event.Capability)
		if !ok {
			return nil, nil, fmt.Errorf("dev registry: a call to %T", e.held)
		}
		t = c.Dup() // it may be released while it is called
	case p.Object != "":
		t = r.opts.Local.Object(p.Worker, p.Class, p.Object, p.Name)
	default:
		var props *event.Payload
		if p.Props != nil {
			props = &event.Payload{Bytes: p.Props}
		}
		t = r.opts.Local.Entrypoint(p.Worker, p.Entrypoint, props)
	}
	return t, t.Release, nil
}

func (r *Registry) serveFetch(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	answer := func(resp *event.Response, err error) {
		out := &event.Response{Status: 200, EncodeBody: "manual"}
		var h responseHead
		if err != nil {
			h.Error = failed(err)
		} else {
			h = responseHead{Status: resp.Status, StatusText: resp.StatusText, Header: resp.Header, HasBody: resp.Body != nil, CF: resp.CF, EncodeBody: resp.EncodeBody}
			out.Body = resp.Body
			if resp.Socket != nil {
				out.Status, out.Socket = 101, resp.Socket
			}
		}
		field, err := header(h)
		out.Header = event.Header{field}
		done(out, err)
	}
	var h requestHead
	if err := head(req.Header, &h); err != nil {
		done(nil, err)
		return func(error) {}
	}
	to, release, err := r.at(h.Place)
	if err != nil {
		answer(nil, err)
		return func(error) {}
	}
	t, ok := to.(cfapi.Target)
	if !ok {
		release()
		answer(nil, fmt.Errorf("dev registry: a request to %T", to))
		return func(error) {}
	}
	in := &event.Request{Method: h.Method, URL: h.URL, Header: h.Header, CF: h.CF, Upgrade: h.Upgrade, Raw: h.Raw, Cause: h.Cause}
	if h.HasBody {
		if in.Body = req.Body; in.Body == nil {
			in.Body = event.Bytes(nil)
		}
	}
	return t.Fetch(in, func(resp *event.Response, err error) {
		release()
		answer(resp, err)
	})
}

// asJSON answers with a value.
func asJSON(v any, done func(*event.Response, error)) {
	text, err := json.Marshal(v)
	if err != nil {
		done(nil, fmt.Errorf("dev registry: %w", err))
		return
	}
	done(&event.Response{Status: 200, Body: event.Bytes(text), EncodeBody: "manual"}, nil)
}

func (r *Registry) serveCall(req *event.Request, done func(*event.Response, error)) {
	event.ReadAll(req.Body, maxMessage, func(text []byte, err error) {
		var c call
		if err == nil {
			err = json.Unmarshal(text, &c)
		}
		if err != nil {
			done(nil, fmt.Errorf("dev registry: %w", err))
			return
		}
		args := r.unpack(c.Args)
		t, release, err := r.at(c.Place)
		if err != nil {
			asJSON(result{Error: failed(err)}, done)
			return
		}
		t.Call(&event.Call{Path: c.Path, Get: c.Get, Args: args, Cause: c.Cause}, func(p *event.Payload, err error) {
			release()
			var out result
			if err == nil {
				out.Value, err = r.pack(p, c.From)
			}
			if args != nil { // what the callee keeps of them it has copied
				for _, held := range args.Caps {
					if held, ok := held.(event.Capability); ok {
						held.Release()
					}
				}
			}
			if err != nil {
				out = result{Error: failed(err)}
			}
			asJSON(out, done)
		})
	})
}

// tailed is what a tail worker is given.
type tailed struct {
	Worker string         `json:"worker"`
	Traces []*event.Trace `json:"traces"`
}

func (r *Registry) serveTail(req *event.Request, done func(*event.Response, error)) {
	event.ReadAll(req.Body, maxMessage, func(text []byte, err error) {
		var t tailed
		if err == nil {
			err = json.Unmarshal(text, &t)
		}
		if err != nil {
			done(nil, fmt.Errorf("dev registry: %w", err))
			return
		}
		r.opts.Local.Tail(t.Worker, t.Traces)
		done(&event.Response{Status: 204}, nil)
	})
}

// sweep gives up what sessions hold that have ended without a word.
func (r *Registry) sweep() {
	holders := map[session]bool{}
	r.mu.Lock()
	for _, e := range r.exports { // order-independent: a set
		holders[e.holder] = true
	}
	r.mu.Unlock()
	for holder := range holders { // order-independent: each is asked
		r.post(holder, alivePath, nil, func(resp *event.Response, err error) {
			if err == nil && resp.Status == 204 {
				return
			}
			var lost []*export
			r.mu.Lock()
			for id, e := range r.exports { // order-independent: all that it holds
				if e.holder == holder {
					lost = append(lost, e)
					delete(r.exports, id)
				}
			}
			r.mu.Unlock()
			for _, e := range lost {
				e.drop()
			}
		})
	}
}
