package webapi

import (
	"math"
	"slices"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webidl"
)

// abortSignal is an AbortSignal (DOM, section 3.2). Loop-confined.
type abortSignal struct {
	eventTarget
	object     *goja.Object
	reason     goja.Value // nil until aborted
	algorithms []*abortAlgorithm
	dependent  bool           // made by AbortSignal.any
	sources    []*abortSignal // of a dependent one; none of them is dependent
	dependents []*abortSignal // in the order of their creation
}

type abortAlgorithm struct {
	fn   func(reason goja.Value)
	gone bool
}

type abortState struct {
	signal     *engine.Class[*abortSignal]
	controller *engine.Class[*abortController]
}

type abortController struct{ signal *abortSignal }

// Aborted reports whether the signal has aborted.
func (s *abortSignal) aborted() bool { return s.reason != nil }

// Reason is what the signal aborted with, nil before.
func (s *abortSignal) Reason() goja.Value { return s.reason }

// Object is the AbortSignal object.
func (s *abortSignal) Object() *goja.Object { return s.object }

// onAbort calls fn once when the signal aborts, before its listeners; the
// function it returns takes that back.
func (s *abortSignal) onAbort(fn func(reason goja.Value)) (remove func()) {
	if s.aborted() {
		fn(s.reason)
		return func() {}
	}
	a := &abortAlgorithm{fn: fn}
	s.algorithms = append(s.algorithms, a)
	return func() {
		if a.gone {
			return
		}
		a.gone = true
		kept := make([]*abortAlgorithm, 0, len(s.algorithms))
		for _, other := range s.algorithms {
			if other != a {
				kept = append(kept, other)
			}
		}
		s.algorithms = kept
	}
}

func (p *Platform) installAbort() {
	p.Hosts.Add(signalCodec{p}, clone.HostAbortSignal)
	p.LazyClass("AbortSignal", func() *goja.Object { return p.abortSignals().Ctor })
	p.LazyClass("AbortController", func() *goja.Object { return p.abortControllers().Ctor })
}

// newAbortSignal makes a signal and its object.
func (p *Platform) newAbortSignal() *abortSignal {
	s := &abortSignal{}
	s.object = p.abortSignals().Wrap(s)
	return s
}

// abortSignal aborts s and what depends on it.
func (p *Platform) abortSignal(s *abortSignal, reason goja.Value) {
	if s.aborted() {
		return
	}
	if webidl.IsUndefined(reason) {
		reason = p.NewDOMException("AbortError", "The operation was aborted")
	}
	// All of them are aborted before any listener runs (DOM: signal abort).
	s.reason = reason
	all := []*abortSignal{s}
	for _, d := range s.dependents {
		if !d.aborted() {
			d.reason = reason
			all = append(all, d)
		}
	}
	s.dependents = nil
	for _, x := range all {
		algorithms := x.algorithms
		x.algorithms, x.sources = nil, nil
		for _, a := range algorithms {
			if !a.gone {
				a.gone = true
				a.fn(reason)
			}
		}
		if ev := p.newEvent("abort"); x.has("abort") || engine.IsCallable(x.object.Get("onabort")) {
			p.dispatch(&x.eventTarget, x.object, p.Engine.Attached(ev).(eventHolder).event(), ev)
		}
	}
}

func (p *Platform) abortSignals() *engine.Class[*abortSignal] {
	st := &p.core.abort
	if st.signal != nil {
		return st.signal
	}
	st.signal = engine.DefineClass(p.Engine, engine.ClassDef[*abortSignal]{
		Name: "AbortSignal", Extends: p.eventTargets().Ctor,
		Accessors: []engine.Accessor[*abortSignal]{
			webidl.Reader("aborted", func(s *abortSignal) goja.Value { return p.VM.ToValue(s.aborted()) }),
			webidl.Reader("reason", func(s *abortSignal) goja.Value {
				if s.reason == nil {
					return goja.Undefined()
				}
				return s.reason
			}),
			handlerAttribute[*abortSignal]("abort"),
		},
		Methods: []engine.Method[*abortSignal]{
			{Name: "throwIfAborted", Fn: func(s *abortSignal, _ goja.FunctionCall) goja.Value {
				if s.aborted() {
					panic(s.reason)
				}
				return goja.Undefined()
			}},
		},
		Statics: []engine.Func{
			{Name: "abort", Fn: func(call goja.FunctionCall) goja.Value {
				s := p.newAbortSignal()
				p.abortSignal(s, call.Argument(0))
				return s.object
			}},
			{Name: "timeout", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
				p.Need(call, 1, "AbortSignal", "timeout", "integer")
				ms := math.Trunc(call.Arguments[0].ToFloat())
				if !(ms >= 0 && ms <= 1<<53-1) {
					p.Engine.Throw("TypeError", "AbortSignal.timeout() needs a number of milliseconds that is not negative.")
				}
				return p.timeoutSignal(ms).object
			}},
			{Name: "any", Length: 1, Fn: func(call goja.FunctionCall) goja.Value { return p.anySignal(call.Argument(0)).object }},
		},
	})
	return st.signal
}

func (p *Platform) timeoutSignal(ms float64) *abortSignal {
	s := p.newAbortSignal()
	p.Engine.SetTimer(engine.Milliseconds(ms), false, func() {
		p.abortSignal(s, p.NewDOMException("TimeoutError", "The operation was aborted due to timeout"))
	})
	return s
}

func (p *Platform) anySignal(signals goja.Value) *abortSignal {
	var sources []*abortSignal
	if _, ok := signals.(*goja.Object); !ok {
		p.BadArgument("AbortSignal", "any", 1, "Array")
	}
	p.ForOf(signals, func(v goja.Value) {
		s, ok := p.Engine.Attached(v).(*abortSignal)
		if !ok {
			p.Engine.Throw("TypeError", "Incorrect type for array element %d: the provided value is not of type 'AbortSignal'.", len(sources))
		}
		sources = append(sources, s)
	})
	return p.dependentSignal(sources...)
}

// dependentSignal makes a signal that aborts with the first of its sources
// (DOM: create a dependent abort signal).
func (p *Platform) dependentSignal(sources ...*abortSignal) *abortSignal {
	result := p.newAbortSignal()
	for _, s := range sources {
		if s.aborted() {
			result.reason = s.reason
			return result
		}
	}
	result.dependent = true
	for _, s := range sources {
		if s.dependent {
			for _, source := range s.sources {
				source.addDependent(result)
			}
		} else {
			s.addDependent(result)
		}
	}
	return result
}

// addDependent makes d abort with s.
func (s *abortSignal) addDependent(d *abortSignal) {
	if !slices.Contains(d.sources, s) {
		d.sources = append(d.sources, s)
		s.dependents = append(s.dependents, d)
	}
}

func (p *Platform) abortControllers() *engine.Class[*abortController] {
	st := &p.core.abort
	if st.controller != nil {
		return st.controller
	}
	st.controller = engine.DefineClass(p.Engine, engine.ClassDef[*abortController]{
		Name: "AbortController",
		New:  func(goja.ConstructorCall) *abortController { return &abortController{signal: p.newAbortSignal()} },
		Accessors: []engine.Accessor[*abortController]{
			webidl.Reader("signal", func(c *abortController) goja.Value { return c.signal.object }),
		},
		Methods: []engine.Method[*abortController]{
			{Name: "abort", Fn: func(c *abortController, call goja.FunctionCall) goja.Value {
				p.abortSignal(c.signal, call.Argument(0))
				return goja.Undefined()
			}},
		},
	})
	return st.controller
}

// signalCodec passes AbortSignals in RPC messages (workerd: api/basics.c++,
// AbortSignal::serialize): one that aborts later aborts there too, with a
// clone of its reason, or not at all if the reason cannot be cloned.
type signalCodec struct{ p *Platform }

// Match implements clone.HostCodec.
func (c signalCodec) Match(obj *goja.Object, _ clone.Mode) bool {
	_, ok := c.p.Engine.Attached(obj).(*abortSignal)
	return ok
}

// Write implements clone.HostCodec: the index of what carries the abort.
func (c signalCodec) Write(w *clone.Writer, obj *goja.Object) error {
	p, s := c.p, c.p.Engine.Attached(obj).(*abortSignal)
	if !p.Enabled("enable_abortsignal_rpc") {
		return &clone.DataCloneError{Message: "AbortSignal serialization is not enabled."} // reference's text
	}
	payload, err := payloadOf(w.External(), "AbortSignal")
	if err != nil {
		return err
	}
	carrier, owner := &event.Abort{}, p.Engine.IO("AbortSignal")
	pack := func(reason goja.Value) []byte {
		data, err := p.Clone.Serialize(reason, clone.Options{Mode: clone.RPC, EnhancedErrors: p.Enabled("enhanced_error_serialization")})
		if err != nil {
			return nil
		}
		return data
	}
	if s.aborted() {
		if data := pack(s.reason); data != nil {
			carrier.Fire(data)
		}
	} else {
		s.onAbort(func(reason goja.Value) {
			if data := pack(reason); data != nil {
				owner.Emit(func() { carrier.Fire(data) })
			}
		})
	}
	w.WriteUint32(uint32(len(payload.Caps)))
	payload.Caps = append(payload.Caps, carrier)
	return nil
}

// Read implements clone.HostCodec.
func (c signalCodec) Read(r *clone.Reader, _ clone.HostTag) (*goja.Object, error) {
	carrier, err := capability[*event.Abort](r, "AbortSignal")
	if err != nil {
		return nil, err
	}
	p, s, frame := c.p, c.p.newAbortSignal(), c.p.Engine.Frame()
	unpack := func(data []byte) goja.Value {
		reason, err := p.Clone.Deserialize(data, clone.Options{Mode: clone.RPC})
		if err != nil {
			return p.Engine.FromGo(err)
		}
		return reason
	}
	p.Engine.Current().Expect()
	data, fired := carrier.Listen(func(data []byte) {
		// A loop that has ended has no listeners either.
		_ = p.Engine.Post(frame, "abort", func() { p.abortSignal(s, unpack(data)) })
	})
	if fired {
		p.abortSignal(s, unpack(data))
	}
	return s.object, nil
}
