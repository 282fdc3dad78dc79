package clone

import (
	"errors"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// class is a host codec for tests: objects whose prototype chain has a given
// prototype, written and read by two functions.
type class struct {
	proto *goja.Object
	write func(w *Writer, o *goja.Object) error
	read  func(r *Reader, tag HostTag) (*goja.Object, error)
}

func (c *class) Match(o *goja.Object, _ Mode) bool {
	for p := o.Prototype(); p != nil; p = p.Prototype() {
		if p == c.proto {
			return true
		}
	}
	return false
}
func (c *class) Write(w *Writer, o *goja.Object) error { return c.write(w, o) }
func (c *class) Read(r *Reader, tag HostTag) (*goja.Object, error) {
	return c.read(r, tag)
}

// hostWorld has a DOMException with workerd's codec, a Blob-like class, an API
// class without one, and functions that pass by reference.
func hostWorld(t *testing.T) (*world, *[]*goja.Object) {
	vm := goja.New()
	w := &world{vm: vm}
	w.run(t, `
		class DOMException { constructor(message, name) { this.message = message; this.name = name; this.stack = "s"; } }
		class URL {}
		class Pair { constructor(a, b) { this.a = a; this.b = b; } }
		const api = new Set([DOMException.prototype, URL.prototype, Pair.prototype]);
		globalThis.isApi = (o) => api.has(Object.getPrototypeOf(o));`)
	proto := func(name string) *goja.Object { return w.run(t, name+".prototype").ToObject(vm) }
	text := func(o *goja.Object, key string) string { return o.Get(key).String() }
	g := NewRegistry()
	g.Add(&class{
		proto: proto("DOMException"),
		write: func(w *Writer, o *goja.Object) error {
			for _, key := range []string{"name", "message", "stack"} {
				w.WriteLengthDelimited(text(o, key))
			}
			return nil
		},
		read: func(r *Reader, _ HostTag) (*goja.Object, error) {
			parts := [3]string{}
			for i := range parts {
				raw, err := r.ReadLengthDelimited()
				if err != nil {
					return nil, err
				}
				parts[i] = string(raw)
			}
			o, err := vm.New(w.run(t, "DOMException"), vm.ToValue(parts[1]), vm.ToValue(parts[0]))
			return o, errors.Join(err, o.Set("stack", parts[2]))
		},
	}, HostDOMException)
	g.Add(&class{
		proto: proto("Pair"),
		write: func(w *Writer, o *goja.Object) error {
			return errors.Join(w.WriteValue(o.Get("a")), w.WriteValue(o.Get("b")))
		},
		read: func(r *Reader, _ HostTag) (*goja.Object, error) {
			a, err := r.ReadValue()
			if err != nil {
				return nil, err
			}
			b, err := r.ReadValue()
			if err != nil {
				return nil, err
			}
			return vm.New(w.run(t, "Pair"), a, b)
		},
	}, HostBlob)
	stubs := &[]*goja.Object{}
	g.Add(&class{
		proto: proto("Function"),
		write: func(w *Writer, o *goja.Object) error {
			*stubs = append(*stubs, o)
			w.WriteUint32(uint32(len(*stubs) - 1))
			return nil
		},
		read: func(r *Reader, _ HostTag) (*goja.Object, error) {
			i, err := r.ReadUint32()
			if err != nil {
				return nil, err
			}
			return (*stubs)[i], nil
		},
	}, HostRpcStub)
	isAPI, _ := goja.AssertFunction(vm.Get("isApi"))
	g.RefuseOthers(func(o *goja.Object) bool {
		v, err := isAPI(goja.Undefined(), o)
		return err == nil && v.ToBoolean()
	})
	w.codec = New(vm, Config{Registry: g})
	return w, stubs
}

// TestHostObjects shows that codecs see their objects, share references with
// the values around them, and that platform objects without one are refused.
func TestHostObjects(t *testing.T) {
	w, stubs := hostWorld(t)
	want := loadGolden(t, "2026-08-01").bytes(t, "dom_exception")
	read := w.deserialize(t, want, Options{}).ToObject(w.vm)
	if got := read.Get("name").String() + "|" + read.Get("message").String(); got != "AbortError|msg" {
		t.Errorf("workerd's DOMException came out as %s", got)
	}
	if got := w.serialize(t, read, Options{}); string(got) != string(want) {
		t.Errorf("written again:\n got %q\nwant %q", got, want)
	}

	check := `(v) => v.p.a === v.shared && v.p.b === v.p2.a && v.p instanceof Pair && v.p2.b === "end"`
	v := w.run(t, `(() => { const s = {x: 1}, t = [2]; return {shared: s, p: new Pair(s, t), p2: new Pair(t, "end")}; })()`)
	copied, err := w.codec.StructuredClone(v, Options{Mode: StructuredClone})
	if err != nil {
		t.Fatal(err)
	}
	f, _ := goja.AssertFunction(w.run(t, check))
	if ok, err := f(goja.Undefined(), copied); err != nil || !ok.ToBoolean() {
		t.Errorf("references across host objects are lost: %v %v", ok, err)
	}

	_, err = w.codec.Serialize(w.run(t, `new URL()`), Options{})
	if err == nil || err.Error() != `Could not serialize object of type "URL". This type does not support serialization.` {
		t.Errorf("an API object without codec: %v", err)
	}

	fn := w.run(t, `({f: function foo() {}})`)
	if _, err := w.codec.Serialize(fn, Options{}); err == nil || !strings.HasSuffix(err.Error(), "could not be cloned.") {
		t.Errorf("a function in storage: %v", err)
	}
	rpc := Options{Mode: RPC, HostCallables: true, ClassInstances: Refused}
	out := w.deserialize(t, w.serialize(t, fn, rpc), rpc).ToObject(w.vm)
	if len(*stubs) != 1 || out.Get("f") != goja.Value((*stubs)[0]) {
		t.Errorf("a function in RPC did not pass by reference")
	}
}

// TestUnknownHostObjectsAreNamed shows that what no codec reads fails with the
// name workerd has for it.
func TestUnknownHostObjectsAreNamed(t *testing.T) {
	w := newWorld(t)
	for name, tag := range map[string]string{"headers": "4 (headers)", "blob": "15 (blob)"} {
		_, err := w.codec.Deserialize(loadGolden(t, "2026-08-01").bytes(t, name), Options{})
		var de *DeserializeError
		if !errors.As(err, &de) || !strings.Contains(err.Error(), tag) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestErrorsAcrossRPC shows what the receiver of an enhanced error sees: type,
// name and own properties, but not the sender's stack.
func TestErrorsAcrossRPC(t *testing.T) {
	w := newWorld(t)
	v := w.run(t, `Object.assign(new TypeError("t"), {extra: 1, stack: "mine"})`)
	for mode, stack := range map[Mode]string{Storage: "mine", StructuredClone: "mine", RPC: "TypeError: t"} {
		o := Options{Mode: mode, EnhancedErrors: true}
		w.vm.Set("e", w.deserialize(t, w.serialize(t, v, o), o))
		if got := w.run(t, `[e instanceof TypeError, e.message, e.extra, e.stack].join("|")`).String(); got != "true|t|1|"+stack {
			t.Errorf("mode %d: %s", mode, got)
		}
	}
	w.vm.Set("e", w.deserialize(t, w.serialize(t, w.run(t, `Object.assign(new Error("m", {cause: 2}), {name: "Custom"})`), Options{EnhancedErrors: true}), Options{}))
	if got := w.run(t, `[e.name, String(e), e.cause, e instanceof Error].join("|")`).String(); got != "Custom|Custom: m|2|true" {
		t.Errorf("a renamed error came out as %s", got)
	}
}
