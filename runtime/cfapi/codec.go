package cfapi

import (
	"fmt"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/structured"
)

// stubCodec passes functions, RpcTargets and stubs by reference.
type stubCodec struct{ a *API }

// RefuseClone has clones of an object, a binding that lives as long as the isolate, refused
// with a text: of what is a service stub or another class of workerd's own in the reference.
func RefuseClone(a *API, obj *goja.Object, text string) {
	if a.refused == nil {
		a.refused = map[*goja.Object]string{}
	}
	a.refused[obj] = text
}

// StubsRefused is the DataCloneError of service stubs outside of calls.
const StubsRefused = "ServiceStub cannot be serialized in this context."

func (a *API) registerCodecs() {
	a.Platform.Hosts.Add(stubCodec{a}, clone.HostRpcStub)
}

// Match implements clone.HostCodec.
func (s stubCodec) Match(obj *goja.Object, mode clone.Mode) bool {
	if _, refused := s.a.refused[obj]; refused {
		return true
	}
	if _, ok := s.a.TargetOf(obj); ok || s.a.standIn(obj) != "" {
		return true
	}
	if mode != clone.RPC {
		return !isProxy(obj) && s.a.vm.InstanceOf(obj, s.a.rpcTarget) // to be refused by name
	}
	return s.a.byReference(obj)
}

// Write implements clone.HostCodec.
func (s stubCodec) Write(w *clone.Writer, obj *goja.Object) error {
	if text, refused := s.a.refused[obj]; refused {
		return &clone.DataCloneError{Message: text}
	}
	kind := s.a.standIn(obj)
	c, isStub := s.a.TargetOf(obj)
	if u, unsendable := c.(Unsendable); unsendable {
		return &clone.DataCloneError{Message: u.Unsendable()}
	}
	_, service := c.(Target)
	p, ok := w.External().(*event.Payload)
	if props, isProps := w.External().(propsMessage); isProps && service {
		p, ok = props.p, true
	}
	switch {
	case kind != "" && w.Mode() == clone.StructuredClone && engine.IsCallable(obj):
		return &clone.DataCloneError{Message: "#<" + kind + "> could not be cloned."} // V8 asks for codecs of objects only
	case kind != "":
		return &clone.DataCloneError{Message: fmt.Sprintf("Could not serialize object of type %q. This type does not support serialization.", kind)}
	case ok:
	case service:
		return &clone.DataCloneError{Message: StubsRefused}
	case isStub && w.Mode() == clone.StructuredClone:
		return &clone.DataCloneError{Message: "#<RpcStub> could not be cloned."}
	case isStub:
		return &clone.DataCloneError{Message: "RpcStub cannot be serialized in this context."}
	case engine.IsCallable(obj) || isProxy(obj):
		return &clone.DataCloneError{Message: s.a.Platform.Clone.Describe(obj) + " could not be cloned."}
	default:
		return &clone.DataCloneError{Message: "Remote RPC references can only be serialized for RPC."}
	}
	if isStub {
		if a := s.a; a.passed != nil && !service {
			*a.passed = append(*a.passed, c)
		}
		c = c.Dup()
	} else {
		c = s.a.export(obj)
	}
	if l, ok := c.(*local); ok {
		l.send()
	}
	p.Caps = append(p.Caps, c)
	return nil
}

// Read implements clone.HostCodec.
func (s stubCodec) Read(r *clone.Reader, _ clone.HostTag) (*goja.Object, error) {
	c, err := structured.Capability[event.Capability](r, "a stub")
	if err != nil {
		return nil, err
	}
	if t, isTarget := c.(Target); isTarget {
		return s.a.Service(t), nil
	}
	v, err := s.a.stubOf(goja.Undefined(), s.a.handle(c))
	if err != nil {
		return nil, err
	}
	return v.(*goja.Object), nil
}
