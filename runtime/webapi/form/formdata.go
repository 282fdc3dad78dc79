// Package form is FormData, the serialization and parsing of forms as bodies, and the
// other platform types that have a body and a media type.
package form

import (
	"slices"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webapi/blob"
	"minido.dev/minido/runtime/webidl"
)

// formData is a FormData (XMLHttpRequest, section 5). Loop-confined.
type formData struct{ list []formEntry }

// formEntry is one entry: its value is a string or a File.
type formEntry struct {
	name  string
	value goja.Value
}

// Forms is what an isolate has of forms. Loop-confined.
type Forms struct {
	*webidl.Realm
	blobs *blob.Blobs
	class *engine.Class[*formData]
}

// New defines FormData in a realm.
func New(r *webidl.Realm, blobs *blob.Blobs) *Forms {
	p := &Forms{Realm: r, blobs: blobs}
	p.LazyClass("FormData", func() *goja.Object { return p.forms().Ctor })
	return p
}

func (p *Forms) forms() *engine.Class[*formData] {
	s := p
	if s.class != nil {
		return s.class
	}
	named := func(name string, fn func(d *formData, key string) goja.Value) engine.Method[*formData] {
		return engine.Method[*formData]{Name: name, Fn: func(d *formData, call goja.FunctionCall) goja.Value {
			p.Need(call, 1, "FormData", name, "string")
			return fn(d, webidl.UTF8Of(p.ToString(call.Arguments[0])))
		}}
	}
	list := func(name, tag string, item func(e formEntry) goja.Value) engine.Method[*formData] {
		return engine.Method[*formData]{Name: name, Fn: func(d *formData, _ goja.FunctionCall) goja.Value {
			return p.formIterator(d, tag, item)
		}}
	}
	s.class = engine.DefineClass(p.Engine, engine.ClassDef[*formData]{
		Name: "FormData",
		New:  func(goja.ConstructorCall) *formData { return &formData{} },
		Methods: []engine.Method[*formData]{
			{Name: "append", Fn: func(d *formData, call goja.FunctionCall) goja.Value {
				d.list = append(d.list, p.formEntry("append", call))
				return goja.Undefined()
			}},
			{Name: "set", Fn: func(d *formData, call goja.FunctionCall) goja.Value {
				d.set(p.formEntry("set", call))
				return goja.Undefined()
			}},
			named("delete", func(d *formData, key string) goja.Value {
				d.list = slices.DeleteFunc(d.list, func(e formEntry) bool { return e.name == key })
				return goja.Undefined()
			}),
			named("get", func(d *formData, key string) goja.Value {
				if i := d.index(key); i >= 0 {
					return d.list[i].value
				}
				return goja.Null()
			}),
			named("getAll", func(d *formData, key string) goja.Value {
				all := []any{}
				for _, e := range d.list {
					if e.name == key {
						all = append(all, e.value)
					}
				}
				return p.VM.NewArray(all...)
			}),
			named("has", func(d *formData, key string) goja.Value { return p.VM.ToValue(d.index(key) >= 0) }),
			list("entries", "EntryIterator", func(e formEntry) goja.Value { return p.VM.NewArray(e.name, e.value) }),
			list("keys", "KeyIterator", func(e formEntry) goja.Value { return p.VM.ToValue(e.name) }),
			list("values", "ValueIterator", func(e formEntry) goja.Value { return e.value }),
			{Name: "forEach", Fn: p.formForEach},
		},
	})
	s.class.Alias(goja.SymIterator, "entries")
	return s.class
}

func (d *formData) index(name string) int {
	return slices.IndexFunc(d.list, func(e formEntry) bool { return e.name == name })
}

// set puts e in the place of the first entry of its name and drops the others.
func (d *formData) set(e formEntry) {
	i := d.index(e.name)
	if i < 0 {
		d.list = append(d.list, e)
		return
	}
	d.list[i] = e
	rest := slices.DeleteFunc(d.list[i+1:], func(other formEntry) bool { return other.name == e.name })
	d.list = d.list[:i+1+len(rest)]
}

// formEntry reads the arguments (name, value, filename). A Blob becomes a File;
// without a filename it has the name of the entry, where the standard says
// "blob" (workerd: blobToFile in api/form-data.c++).
func (p *Forms) formEntry(method string, call goja.FunctionCall) formEntry {
	p.Need(call, 1, "FormData", method, "string")
	p.Need(call, 2, "FormData", method, "File or Blob or string")
	e := formEntry{name: webidl.UTF8Of(p.ToString(call.Arguments[0])), value: call.Arguments[1]}
	h, ok := p.Engine.Attached(e.value).(blob.Holder)
	if !ok {
		e.value = p.VM.ToValue(webidl.UTF8Of(p.ToString(e.value)))
		return e
	}
	filename := e.name
	if v := call.Argument(2); !goja.IsUndefined(v) {
		filename = webidl.UTF8Of(p.ToString(v))
	} else if _, ok := h.(*blob.File); ok {
		return e
	}
	e.value = p.blobs.NewFile(h.TheBlob().Data, h.TheBlob().Type, filename)
	return e
}

// formIterator walks over the live list.
func (p *Forms) formIterator(d *formData, tag string, item func(e formEntry) goja.Value) goja.Value {
	i := 0
	return p.Iterator("FormData", tag, func() (goja.Value, bool) {
		if i >= len(d.list) {
			return nil, false
		}
		i++
		return item(d.list[i-1]), true
	})
}

func (p *Forms) formForEach(d *formData, call goja.FunctionCall) goja.Value {
	fn, this, form := call.Argument(0), call.Argument(1), call.This
	if !engine.IsCallable(fn) {
		p.BadArgument("FormData", "forEach", 1, "function")
	}
	for i := 0; i < len(d.list); i++ {
		p.Engine.Call(fn, this, d.list[i].value, p.VM.ToValue(d.list[i].name), form)
	}
	return goja.Undefined()
}

// size is about that of the body, in bytes.
func (p *Forms) size(d *formData) (n int64) {
	for _, e := range d.list {
		n += int64(len(e.name))
		if f, ok := p.Engine.Attached(e.value).(*blob.File); ok {
			n += int64(len(f.Data))
		} else if s, ok := e.value.(goja.String); ok {
			n += int64(s.Length())
		}
	}
	return n
}

// formParts is the form as it is sent.
func (p *Forms) formParts(d *formData) []formPart {
	parts := make([]formPart, len(d.list))
	for i, e := range d.list {
		parts[i].name = e.name
		if f, ok := p.Engine.Attached(e.value).(*blob.File); ok {
			parts[i].isFile, parts[i].data = true, f.Data
			parts[i].filename, parts[i].contentType = f.Name, f.Type
		} else {
			parts[i].data = []byte(e.value.String())
		}
	}
	return parts
}

// newForm makes the FormData of parts; without files, the content of a file is
// a string.
func (p *Forms) newForm(parts []formPart, files bool) goja.Value {
	d := &formData{list: make([]formEntry, len(parts))}
	for i, part := range parts {
		d.list[i].name = part.name
		if part.isFile && files {
			d.list[i].value = p.blobs.NewFile(part.data, part.contentType, part.filename)
		} else {
			d.list[i].value = p.Engine.String(webidl.ValidUTF8(part.data))
		}
	}
	return p.forms().Wrap(d)
}
