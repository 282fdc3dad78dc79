package events

import (
	"math"
	"slices"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/structured"
	"minido.dev/minido/runtime/webidl"
)

// Signal is an AbortSignal (DOM, section 3.2). Loop-confined.
type Signal struct {
	Target
	object     *goja.Object
	reason     goja.Value // nil until aborted
	algorithms []*abortAlgorithm
	dependent  bool      // made by AbortSignal.any
	sources    []*Signal // of a dependent one; none of them is dependent
	dependents []*Signal // in the order of their creation
}

type abortAlgorithm struct {
	fn   func(reason goja.Value)
	gone bool
}

type abortController struct{ signal *Signal }

// Aborted reports whether the signal has aborted.
func (s *Signal) Aborted() bool { return s.reason != nil }

// Reason is what the signal aborted with, nil before.
func (s *Signal) Reason() goja.Value { return s.reason }

// Object is the AbortSignal object.
func (s *Signal) Object() *goja.Object { return s.object }

// OnAbort calls fn once when the signal aborts, before its listeners; the
// function it returns takes that back.
func (s *Signal) OnAbort(fn func(reason goja.Value)) (remove func()) {
	if s.Aborted() {
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

// NewSignal makes a signal and its object.
func (p *Events) NewSignal() *Signal {
	s := &Signal{}
	s.object = p.signals().Wrap(s)
	return s
}

// Abort aborts s and what depends on it. What a listener throws ends that, and is logged.
func (p *Events) Abort(s *Signal, reason goja.Value) {
	if thrown := p.Engine.Try(func() { p.abort(s, reason) }); thrown != nil {
		p.Engine.Uncaught.Reached(thrown)
	}
}

// abort is Abort for those who throw what a listener throws.
func (p *Events) abort(s *Signal, reason goja.Value) {
	if s.Aborted() {
		return
	}
	if webidl.IsUndefined(reason) {
		made := p.NewDOMException("AbortError", "The operation was aborted")
		made.DefineDataProperty("retryable", p.VM.ToValue(true), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE) // in workerd it comes of a lost connection
		reason = made
	}
	// All of them are aborted before any listener runs (DOM: signal abort).
	s.reason = reason
	all := []*Signal{s}
	for _, d := range s.dependents {
		if !d.Aborted() {
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
		if ev := p.New("abort"); x.has("abort") || engine.IsCallable(x.object.Get("onabort")) {
			if _, thrown := p.dispatch(&x.Target, x.object, p.Engine.Attached(ev).(eventHolder).event(), ev, p.Engine.Uncaught.Report); thrown != nil {
				panic(thrown)
			}
		}
	}
}

func (p *Events) signals() *engine.Class[*Signal] {
	st := p
	if st.signal != nil {
		return st.signal
	}
	st.signal = engine.DefineClass(p.Engine, engine.ClassDef[*Signal]{
		Name: "AbortSignal", Extends: p.Targets().Ctor,
		Accessors: []engine.Accessor[*Signal]{
			webidl.Reader("aborted", func(s *Signal) goja.Value { return p.VM.ToValue(s.Aborted()) }),
			webidl.Reader("reason", func(s *Signal) goja.Value {
				if s.reason == nil {
					return goja.Undefined()
				}
				return s.reason
			}),
			HandlerAttribute[*Signal]("abort"),
		},
		Methods: []engine.Method[*Signal]{
			{Name: "throwIfAborted", Fn: func(s *Signal, _ goja.FunctionCall) goja.Value {
				if s.Aborted() {
					panic(s.reason)
				}
				return goja.Undefined()
			}},
		},
		Statics: []engine.Func{
			{Name: "abort", Fn: func(call goja.FunctionCall) goja.Value {
				s := p.NewSignal()
				p.Abort(s, call.Argument(0))
				return s.object
			}},
			{Name: "timeout", Fn: func(call goja.FunctionCall) goja.Value {
				p.Need(call, 1, "AbortSignal", "timeout", "number")
				ms := math.Trunc(call.Arguments[0].ToFloat())
				return p.timeoutSignal(ms).object
			}},
			{Name: "any", Fn: func(call goja.FunctionCall) goja.Value { return p.anySignal(call.Argument(0)).object }},
		},
	})
	return st.signal
}

func (p *Events) timeoutSignal(ms float64) *Signal {
	s := p.NewSignal()
	p.Engine.Timers.Set(engine.Milliseconds(ms), false, func() {
		p.Abort(s, p.NewDOMException("TimeoutError", "The operation was aborted due to timeout"))
	})
	return s
}

func (p *Events) anySignal(signals goja.Value) *Signal {
	var sources []*Signal
	if _, ok := signals.(*goja.Object); !ok {
		p.BadArgument("AbortSignal", "any", 1, "Array")
	}
	p.ForOf(signals, func(v goja.Value) {
		s, ok := p.Engine.Attached(v).(*Signal)
		if !ok {
			p.Engine.Throw("TypeError", "Incorrect type for array element %d: the provided value is not of type 'AbortSignal'.", len(sources))
		}
		sources = append(sources, s)
	})
	return p.DependentSignal(sources...)
}

// DependentSignal makes a signal that aborts with the first of its sources
// (DOM: create a dependent abort signal).
func (p *Events) DependentSignal(sources ...*Signal) *Signal {
	result := p.NewSignal()
	for _, s := range sources {
		if s.Aborted() {
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
func (s *Signal) addDependent(d *Signal) {
	if !slices.Contains(d.sources, s) {
		d.sources = append(d.sources, s)
		s.dependents = append(s.dependents, d)
	}
}

func (p *Events) abortControllers() *engine.Class[*abortController] {
	st := p
	if st.controller != nil {
		return st.controller
	}
	st.controller = engine.DefineClass(p.Engine, engine.ClassDef[*abortController]{
		Name: "AbortController",
		New:  func(goja.ConstructorCall) *abortController { return &abortController{signal: p.NewSignal()} },
		Accessors: []engine.Accessor[*abortController]{
			webidl.Reader("signal", func(c *abortController) goja.Value { return c.signal.object }),
		},
		Methods: []engine.Method[*abortController]{
			{Name: "abort", Fn: func(c *abortController, call goja.FunctionCall) goja.Value {
				p.abort(c.signal, call.Argument(0))
				return goja.Undefined()
			}},
		},
	})
	return st.controller
}

// signalCodec passes AbortSignals in RPC messages (workerd: api/basics.c++,
// AbortSignal::serialize): one that aborts later aborts there too, with a
// clone of its reason, or not at all if the reason cannot be cloned.
type signalCodec struct{ p *Events }

// Match implements clone.HostCodec.
func (c signalCodec) Match(obj *goja.Object, _ clone.Mode) bool {
	_, ok := c.p.Engine.Attached(obj).(*Signal)
	return ok
}

// Write implements clone.HostCodec.
func (c signalCodec) Write(w *clone.Writer, obj *goja.Object) error {
	p, s := c.p, c.p.Engine.Attached(obj).(*Signal)
	if !p.Enabled(compat.EnableAbortsignalRpc) {
		return &clone.DataCloneError{Message: "AbortSignal serialization is not enabled."} // reference's text
	}
	payload, err := structured.Payload(w.External(), "AbortSignal")
	if err != nil {
		return err
	}
	carrier, owner := &event.Abort{}, p.Engine.IO("AbortSignal")
	pack := func(reason goja.Value) []byte {
		data, err := p.Clone.Serialize(reason, clone.Options{Mode: clone.RPC, EnhancedErrors: p.Enabled(compat.EnhancedErrorSerialization)})
		if err != nil {
			return nil
		}
		return data
	}
	if s.Aborted() {
		if data := pack(s.reason); data != nil {
			carrier.Fire(data)
		}
	} else {
		s.OnAbort(func(reason goja.Value) {
			if data := pack(reason); data != nil {
				owner.Emit(func() { carrier.Fire(data) })
			}
		})
	}
	payload.Caps = append(payload.Caps, carrier)
	return nil
}

// Read implements clone.HostCodec.
func (c signalCodec) Read(r *clone.Reader, _ clone.HostTag) (*goja.Object, error) {
	carrier, err := structured.Capability[*event.Abort](r, "AbortSignal")
	if err != nil {
		return nil, err
	}
	p, s, frame := c.p, c.p.NewSignal(), c.p.Engine.Frame()
	unpack := func(data []byte) goja.Value {
		reason, err := p.Clone.Deserialize(data, clone.Options{Mode: clone.RPC})
		if err != nil {
			return p.Engine.Errors.FromGo(err)
		}
		return reason
	}
	p.Engine.Current().Expect()
	data, fired := carrier.Listen(func(data []byte) {
		// A loop that has ended has no listeners either.
		_ = p.Engine.Post(frame, "abort", func() { p.Abort(s, unpack(data)) })
	})
	if fired {
		p.Abort(s, unpack(data))
	}
	return s.object, nil
}
