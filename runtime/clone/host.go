package clone

import (
	"fmt"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
)

// HostCodec writes and reads one class of platform objects. Its methods run on
// the loop; a JavaScript exception they throw (by panic) or an error they
// return ends the whole operation.
type HostCodec interface {
	// Match tells whether the object is of this class. It is asked about every
	// object whose prototype is not Object.prototype, about errors, and, with
	// Options.HostCallables, about functions and proxies; it must be quick and
	// must not run user code.
	Match(obj *goja.Object, mode Mode) bool
	// Write writes the object's body, after the tag.
	Write(w *Writer, obj *goja.Object) error
	// Read reads what Write wrote. The tag is one of those registered.
	Read(r *Reader, tag HostTag) (*goja.Object, error)
}

// Registry names the host codecs of a runtime. Fill it before it is handed to
// New; it is immutable after. Not safe for concurrent use while being filled.
type Registry struct {
	codecs   []registered
	isHost   func(obj *goja.Object) bool
	isOwn    func(obj *goja.Object) bool
	readTags map[HostTag]HostCodec
}

type registered struct {
	tag   HostTag
	codec HostCodec
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry { return &Registry{readTags: map[HostTag]HostCodec{}} }

// Add registers a codec under the tag it writes and under further tags that it
// can read: older versions. Codecs are asked in the order they were added. It
// panics on a tag that is taken: that is a mistake of the program.
func (g *Registry) Add(codec HostCodec, writes HostTag, reads ...HostTag) {
	g.codecs = append(g.codecs, registered{tag: writes, codec: codec})
	for _, tag := range append([]HostTag{writes}, reads...) {
		assert(tag != HostNativeError && g.readTags[tag] == nil, "clone: host tag %d (%s) is registered already", tag, tag)
		g.readTags[tag] = codec
	}
}

// RefuseOthers sets a test for platform objects. One that passes it and that no
// codec matches is not a plain object but an error ("This type does not support
// serialization"), as workerd has it for every object with internal fields.
func (g *Registry) RefuseOthers(isHost func(obj *goja.Object) bool) { g.isHost = isHost }

// RefuseLanguage sets a test for objects that are plain here and have internal
// slots in V8. What passes it "could not be cloned", as V8 says, whatever codecs match.
func (g *Registry) RefuseLanguage(isOwn func(obj *goja.Object) bool) { g.isOwn = isOwn }

// refusesPlain reports whether an object that goja has as a plain one is none in V8.
func (g *Registry) refusesPlain(o *goja.Object) bool { return g != nil && g.isOwn != nil && g.isOwn(o) }

// writeHost writes an object if a codec claims it.
func (w *Writer) writeHost(o *goja.Object) (handled bool, err error) {
	g := w.c.cfg.Registry
	if g == nil {
		return false, nil
	}
	for _, r := range g.codecs {
		if r.codec.Match(o, w.o.Mode) {
			w.buf = appendVarint(append(w.buf, tagHostObject), uint64(r.tag))
			if err := w.enter(objectFrame); err != nil {
				return true, err
			}
			defer w.leave(objectFrame)
			return true, r.codec.Write(w, o)
		}
	}
	if g.isHost != nil && g.isHost(o) {
		name := w.c.className(o)
		if w.c.layout.kindOf(o) != kindFunction || w.o.Mode == RPC {
			return true, notSerializable(name)
		}
		if name == "Function" {
			return true, w.c.refuse(o)
		}
		return true, &DataCloneError{Message: "#<" + name + "> could not be cloned."} // V8 asks for codecs of objects only
	}
	return false, nil
}

// writeNativeError writes an error as workerd's host object: its kind, its name
// if the kind is not known, its message, and an object with all other own
// properties, hidden ones included.
func (w *Writer) writeNativeError(o *goja.Object) error {
	w.buf = appendVarint(append(w.buf, tagHostObject), uint64(HostNativeError))
	name, number := o.Get("name"), uint32(0)
	if name == nil {
		name = goja.Undefined()
	}
	for _, e := range errorKinds {
		if e.name == name.String() {
			number = e.number
		}
	}
	w.WriteUint32(number)
	if number == 0 {
		if err := w.WriteValue(name); err != nil {
			return err
		}
	}
	if err := w.WriteValue(o.Get("message")); err != nil {
		return err
	}
	properties := w.c.vm.NewObject()
	for _, key := range o.GetOwnPropertyNames() {
		if _, isIndex := arrayIndex(w.c.vm.ToValue(key)); key == "name" || key == "message" || isIndex {
			continue
		}
		value := o.Get(key)
		if value == nil {
			value = goja.Undefined()
		}
		if err := define(properties, key, value, true); err != nil {
			return err
		}
	}
	return w.WriteValue(properties)
}

// readHost reads a host object after its tag byte.
func (r *Reader) readHost() (goja.Value, error) {
	id := r.reserve()
	n, err := r.ReadUint32()
	if err != nil {
		return nil, err
	}
	tag := HostTag(n)
	if tag == HostNativeError {
		return r.readNativeError(id)
	}
	var codec HostCodec
	if g := r.c.cfg.Registry; g != nil {
		codec = g.readTags[tag]
	}
	if codec == nil {
		return nil, r.fail(fmt.Sprintf("host object %d (%s) cannot be read in this context", n, tag))
	}
	o, err := codec.Read(r, tag)
	if err != nil {
		return nil, fmt.Errorf("clone: read %s: %w", tag, err)
	}
	if o == nil {
		return nil, r.fail(fmt.Sprintf("host object %d (%s) came out empty", n, tag))
	}
	r.objects[id] = o
	return o, nil
}

func (r *Reader) readNativeError(id int) (goja.Value, error) {
	number, err := r.ReadUint32()
	if err != nil {
		return nil, err
	}
	ctor, name := "Error", goja.Value(nil)
	for _, e := range errorKinds {
		if e.number == number {
			ctor = e.name
		}
	}
	if number == 0 {
		if name, err = r.readValue(); err != nil {
			return nil, err
		}
	}
	message, err := r.readValue()
	if err != nil {
		return nil, err
	}
	text, isString := message.(goja.String)
	if !isString {
		return nil, &DataCloneError{Message: "Deserialization failed: error message is not a string"}
	}
	o, err := r.newError(ctor, text)
	if err != nil {
		return nil, err
	}
	r.objects[id] = o
	given := name != nil
	if name == nil && r.c.prim.errorCtors[ctor] == nil {
		name = r.c.vm.ToValue(ctor) // a kind this runtime lacks keeps its name
	}
	if name != nil {
		if err := define(o, "name", name, given); err != nil {
			return nil, err
		}
	}
	shown := ctor
	if own, isText := name.(goja.String); isText {
		shown = own.String()
	}
	return o, r.readErrorProperties(o, shown, text)
}

// readErrorProperties reads the object of further properties and moves them to
// the error. The stack stays behind where the bytes come from another isolate.
func (r *Reader) readErrorProperties(o *goja.Object, name string, message goja.String) error {
	rest, err := r.readValue()
	if err != nil {
		return err
	}
	properties, isObject := rest.(*goja.Object)
	_, made := insides.UnreadStack(o)
	if _, known := insides.StackOf(o); r.o.Mode == RPC && (made || !known) { // else it has the frames that V8 gives it (errortext)
		if err := define(o, "stack", r.c.vm.ToValue(headline(name, message.String())), false); err != nil {
			return err
		}
	}
	if !isObject {
		return nil
	}
	for _, key := range properties.GetOwnPropertyNames() {
		if key == "stack" && r.o.Mode == RPC {
			continue
		}
		// workerd creates all of them enumerable, stack and cause included.
		value, _ := r.c.ownData(properties, key)
		if err := define(o, key, value, true); err != nil {
			return err
		}
	}
	return nil
}

// headline is the first line of an error's stack.
func headline(name, message string) string {
	switch {
	case name == "":
		return message
	case message == "":
		return name
	}
	return name + ": " + message
}

// define makes an own data property, whatever setters prototypes have.
func define(o *goja.Object, key string, v goja.Value, enumerable bool) error {
	e := goja.FLAG_FALSE
	if enumerable {
		e = goja.FLAG_TRUE
	}
	return o.DefineDataProperty(key, v, goja.FLAG_TRUE, goja.FLAG_TRUE, e)
}
