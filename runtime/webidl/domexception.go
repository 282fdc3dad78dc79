package webidl

import (
	"fmt"
	"sort"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/ecma/errortext"
	"minido.dev/minido/runtime/engine"
)

// domException is a DOMException (Web IDL, section 3.14.1). Immutable.
type domException struct {
	name, message goja.Value
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

// InstallDOMException defines the global, its codec, and the errors that the
// engine throws by such a name.
func (r *Realm) InstallDOMException() {
	r.LazyClass("DOMException", func() *goja.Object { return r.domExceptions().Ctor })
	r.Hosts.Add(exceptionCodec{r}, clone.HostDOMException, clone.HostDOMExceptionV1)
	r.Engine.Errors.SetMaker(func(class, message string) *goja.Object {
		if _, ok := errorCodes[class]; !ok && !codelessErrors[class] {
			return nil
		}
		return r.NewDOMException(class, message)
	})
}

func (r *Realm) domExceptions() *engine.Class[*domException] {
	if r.exceptions != nil {
		return r.exceptions
	}
	var constants []engine.Constant
	for _, c := range errorCodes {
		constants = append(constants, engine.Constant{Name: c.constant, Value: c.code})
	}
	sort.Slice(constants, func(i, j int) bool { return constants[i].Value.(int) < constants[j].Value.(int) })
	class := engine.DefineClass(r.Engine, engine.ClassDef[*domException]{
		Name: "DOMException", New: r.newDOMException,
		Constants: constants,
	})
	class.Proto.SetPrototype(r.Engine.Primordial("Error").Get("prototype").(*goja.Object))
	r.exceptions = class
	return class
}

// newDOMException is the constructor: (message = "", name = "Error"). The
// attributes are also properties of the instance, as in workerd
// (src/workerd/jsg/dom-exception.h).
func (r *Realm) newDOMException(call goja.ConstructorCall) *domException {
	x := &domException{name: r.VM.ToValue("Error"), message: r.VM.ToValue("")}
	if v := call.Argument(0); !goja.IsUndefined(v) {
		x.message = r.ToString(v)
	}
	if v := call.Argument(1); !goja.IsUndefined(v) {
		x.name = r.ToString(v)
	}
	own := func(name string, v goja.Value) {
		call.This.DefineDataProperty(name, v, goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	own("code", r.VM.ToValue(errorCodes[x.name.String()].code))
	own("name", x.name)
	own("message", x.message)
	r.setStack(call.This, StackHeader(x.name.String(), x.message.String()), "")
	return x
}

// StackHeader is the first line of an error's stack.
func StackHeader(name, message string) string {
	if message == "" {
		return name
	}
	return name + ": " + message
}

// setStack gives obj the stack of the code that runs now, or the one given,
// under a header of its own.
func (r *Realm) setStack(obj *goja.Object, header, stack string) {
	if stack == "" {
		stack = r.Engine.Errors.MapStack(header + r.CallStack())
	}
	obj.DefineDataProperty("stack", r.VM.ToValue(stack), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

// maxStackFrames bounds a DOMException's stack, as V8 bounds an Error's.
const maxStackFrames = 10

// CallStack is the stack of the code that runs now, in goja's form, which
// engine.Errors.MapStack understands.
func (r *Realm) CallStack() string {
	frames := errortext.NamedStack(r.Engine, nil)
	return errortext.FormatFrames(frames[:min(len(frames), maxStackFrames)])
}

// NewDOMException makes a DOMException, for natives to throw or to reject with.
func (r *Realm) NewDOMException(name, message string) *goja.Object {
	obj, err := r.VM.New(r.domExceptions().Ctor, r.VM.ToValue(message), r.VM.ToValue(name))
	if err != nil {
		r.Engine.Rethrow(err)
	}
	return obj
}

// IsDOMException tells DOMExceptions from other objects. Loop-confined.
func (r *Realm) IsDOMException(obj *goja.Object) bool {
	_, ok := r.Engine.Attached(obj).(*domException)
	return ok
}

// ThrowDOM raises a DOMException.
func (r *Realm) ThrowDOM(name, format string, args ...any) {
	panic(r.NewDOMException(name, fmt.Sprintf(format, args...)))
}

// exceptionCodec clones DOMExceptions: name, message and stack, each
// length-delimited; version 1 had message, name and an error with the stack
// (workerd: src/workerd/jsg/dom-exception.c++).
type exceptionCodec struct{ realm *Realm }

// Match implements clone.HostCodec.
func (c exceptionCodec) Match(obj *goja.Object, _ clone.Mode) bool {
	if c.realm.exceptions == nil {
		return false
	}
	_, ok := c.realm.Engine.Attached(obj).(*domException)
	return ok
}

// Write implements clone.HostCodec.
func (c exceptionCodec) Write(w *clone.Writer, obj *goja.Object) error {
	x, _ := c.realm.exceptions.Of(obj)
	w.WriteLengthDelimited(x.name.String())
	w.WriteLengthDelimited(x.message.String())
	w.WriteLengthDelimited(c.realm.Engine.Errors.Stack(obj))
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
		stack = Get(v, "stack").String()
	} else {
		raw, err := r.ReadLengthDelimited()
		if err != nil {
			return nil, err
		}
		stack = string(raw)
	}
	obj := c.realm.NewDOMException(name, message)
	if r.Mode() != clone.RPC {
		c.realm.setStack(obj, "", stack)
	}
	return obj, nil
}
