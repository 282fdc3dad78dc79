package webapi

import (
	"fmt"
	"sort"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/engine"
)

// domException is a DOMException (Web IDL, section 3.14.1). Immutable.
type domException struct {
	name, message goja.Value
}

type errorState struct {
	class *engine.Class[*domException]
}

// errorCodes are the names that have a legacy code, and the name of its constant.
var errorCodes = map[string]struct {
	code     int
	constant string
}{
	"IndexSizeError": {1, "INDEX_SIZE_ERR"}, "DOMStringSizeError": {2, "DOMSTRING_SIZE_ERR"},
	"HierarchyRequestError": {3, "HIERARCHY_REQUEST_ERR"}, "WrongDocumentError": {4, "WRONG_DOCUMENT_ERR"},
	"InvalidCharacterError": {5, "INVALID_CHARACTER_ERR"}, "NoDataAllowedError": {6, "NO_DATA_ALLOWED_ERR"},
	"NoModificationAllowedError": {7, "NO_MODIFICATION_ALLOWED_ERR"}, "NotFoundError": {8, "NOT_FOUND_ERR"},
	"NotSupportedError": {9, "NOT_SUPPORTED_ERR"}, "InUseAttributeError": {10, "INUSE_ATTRIBUTE_ERR"},
	"InvalidStateError": {11, "INVALID_STATE_ERR"}, "SyntaxError": {12, "SYNTAX_ERR"},
	"InvalidModificationError": {13, "INVALID_MODIFICATION_ERR"}, "NamespaceError": {14, "NAMESPACE_ERR"},
	"InvalidAccessError": {15, "INVALID_ACCESS_ERR"}, "ValidationError": {16, "VALIDATION_ERR"},
	"TypeMismatchError": {17, "TYPE_MISMATCH_ERR"}, "SecurityError": {18, "SECURITY_ERR"},
	"NetworkError": {19, "NETWORK_ERR"}, "AbortError": {20, "ABORT_ERR"}, "URLMismatchError": {21, "URL_MISMATCH_ERR"},
	"QuotaExceededError": {22, "QUOTA_EXCEEDED_ERR"}, "TimeoutError": {23, "TIMEOUT_ERR"},
	"InvalidNodeTypeError": {24, "INVALID_NODE_TYPE_ERR"}, "DataCloneError": {25, "DATA_CLONE_ERR"},
}

// codelessErrors are the other names that the standard lists.
var codelessErrors = map[string]bool{"EncodingError": true, "NotReadableError": true, "UnknownError": true,
	"ConstraintError": true, "DataError": true, "TransactionInactiveError": true, "ReadOnlyError": true,
	"VersionError": true, "OperationError": true, "NotAllowedError": true, "OptOutError": true}

func (p *Platform) installErrors() {
	p.lazyClass("DOMException", func() *goja.Object { return p.domExceptions().Ctor })
	p.Hosts.Add(exceptionCodec{p}, clone.HostDOMException, clone.HostDOMExceptionV1)
	p.Engine.SetErrorMaker(func(class, message string) *goja.Object {
		if _, ok := errorCodes[class]; !ok && !codelessErrors[class] {
			return nil
		}
		return p.NewDOMException(class, message)
	})
}

func (p *Platform) domExceptions() *engine.Class[*domException] {
	if p.core.errors.class != nil {
		return p.core.errors.class
	}
	var constants []engine.Constant
	for _, c := range errorCodes {
		constants = append(constants, engine.Constant{Name: c.constant, Value: c.code})
	}
	sort.Slice(constants, func(i, j int) bool { return constants[i].Value.(int) < constants[j].Value.(int) })
	class := engine.DefineClass(p.Engine, engine.ClassDef[*domException]{
		Name: "DOMException", New: p.newDOMException,
		Accessors: []engine.Accessor[*domException]{
			reader("name", func(x *domException) goja.Value { return x.name }),
			reader("message", func(x *domException) goja.Value { return x.message }),
			reader("code", func(x *domException) goja.Value { return p.vm.ToValue(errorCodes[x.name.String()].code) }),
		},
		Constants: constants,
	})
	class.Proto.SetPrototype(p.Engine.Primordial("Error").Get("prototype").(*goja.Object))
	p.core.errors.class = class
	return class
}

// newDOMException is the constructor: (message = "", name = "Error"). The
// attributes are also properties of the instance, as in workerd
// (src/workerd/jsg/dom-exception.h).
func (p *Platform) newDOMException(call goja.ConstructorCall) *domException {
	x := &domException{name: p.vm.ToValue("Error"), message: p.vm.ToValue("")}
	if v := call.Argument(0); !goja.IsUndefined(v) {
		x.message = p.toString(v)
	}
	if v := call.Argument(1); !goja.IsUndefined(v) {
		x.name = p.toString(v)
	}
	own := func(name string, v goja.Value) {
		call.This.DefineDataProperty(name, v, goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	own("code", p.vm.ToValue(errorCodes[x.name.String()].code))
	own("name", x.name)
	own("message", x.message)
	p.setStack(call.This, stackHeader(x.name.String(), x.message.String()), "")
	return x
}

func stackHeader(name, message string) string {
	if message == "" {
		return name
	}
	return name + ": " + message
}

// setStack gives obj the stack of the code that runs now, or the one given,
// under a header of its own.
func (p *Platform) setStack(obj *goja.Object, header, stack string) {
	if stack == "" {
		stack = header + p.callStack()
	}
	obj.DefineDataProperty("stack", p.vm.ToValue(stack), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

// maxStackFrames bounds a DOMException's stack, as V8 bounds an Error's.
const maxStackFrames = 10

// callStack is the stack of the code that runs now, in goja's form, which
// engine.MapStack understands.
func (p *Platform) callStack() string {
	frames := p.Engine.NamedStack(nil)
	return engine.FormatFrames(frames[:min(len(frames), maxStackFrames)])
}

// NewDOMException makes a DOMException, for natives to throw or to reject with.
func (p *Platform) NewDOMException(name, message string) *goja.Object {
	obj, err := p.vm.New(p.domExceptions().Ctor, p.vm.ToValue(message), p.vm.ToValue(name))
	if err != nil {
		p.Engine.Rethrow(err)
	}
	return obj
}

// IsDOMException tells DOMExceptions from other objects. Loop-confined.
func (p *Platform) IsDOMException(obj *goja.Object) bool {
	_, ok := p.attachedTo(obj).(*domException)
	return ok
}

// throwDOM raises a DOMException.
func (p *Platform) throwDOM(name, format string, args ...any) {
	panic(p.NewDOMException(name, fmt.Sprintf(format, args...)))
}

// exceptionCodec clones DOMExceptions: name, message and stack, each
// length-delimited; version 1 had message, name and an error with the stack
// (workerd: src/workerd/jsg/dom-exception.c++).
type exceptionCodec struct{ p *Platform }

// Match implements clone.HostCodec.
func (c exceptionCodec) Match(obj *goja.Object, _ clone.Mode) bool {
	if c.p.core.errors.class == nil {
		return false
	}
	_, ok := c.p.attachedTo(obj).(*domException)
	return ok
}

// Write implements clone.HostCodec.
func (c exceptionCodec) Write(w *clone.Writer, obj *goja.Object) error {
	x, _ := c.p.core.errors.class.Of(obj)
	w.WriteLengthDelimited(x.name.String())
	w.WriteLengthDelimited(x.message.String())
	w.WriteLengthDelimited(c.p.Engine.Stack(obj))
	return nil
}

// Read implements clone.HostCodec.
func (c exceptionCodec) Read(r *clone.Reader, tag clone.HostTag) (*goja.Object, error) {
	first, err := r.ReadLengthDelimited()
	if err != nil {
		return nil, err
	}
	second, err := r.ReadLengthDelimited()
	if err != nil {
		return nil, err
	}
	name, message, stack := string(first), string(second), ""
	if tag == clone.HostDOMExceptionV1 {
		name, message = message, name
		v, err := r.ReadValue()
		if err != nil {
			return nil, err
		}
		stack = get(v, "stack").String()
	} else {
		raw, err := r.ReadLengthDelimited()
		if err != nil {
			return nil, err
		}
		stack = string(raw)
	}
	obj := c.p.NewDOMException(name, message)
	if r.Mode() != clone.RPC {
		c.p.setStack(obj, "", stack)
	}
	return obj, nil
}
