// Package blob is the File API: Blob and File.
package blob

import (
	"bytes"
	"math"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/streams"
	"minido.dev/minido/runtime/webidl"
)

// Blob is a Blob (File API, section 3). Its bytes are shared with its slices and
// with the bodies made of it: what JavaScript may write to is a copy. Immutable.
type Blob struct {
	Data []byte
	Type string
}

// File is a File (File API, section 4). Immutable.
type File struct {
	Blob
	Name         string
	lastModified float64 // milliseconds since the epoch
}

// Holder is a Blob or a File.
type Holder interface{ TheBlob() *Blob }

// TheBlob implements Holder.
func (b *Blob) TheBlob() *Blob { return b }

// Blobs is what an isolate has of the File API. Loop-confined.
type Blobs struct {
	*webidl.Realm
	streams *streams.Streams

	blob *engine.Class[Holder]
	file *engine.Class[*File]
}

// New defines Blob and File in a realm.
func New(r *webidl.Realm, streams *streams.Streams) *Blobs {
	p := &Blobs{Realm: r, streams: streams}
	p.LazyClass("Blob", func() *goja.Object { return p.blobs().Ctor })
	p.LazyClass("File", func() *goja.Object { return p.files().Ctor })
	p.Hosts.Add(blobCodec{p}, clone.HostBlob)
	return p
}

func (p *Blobs) blobs() *engine.Class[Holder] {
	s := p
	if s.blob != nil {
		return s.blob
	}
	read := func(name string, convert func(b *Blob) goja.Value) engine.Method[Holder] {
		return engine.Method[Holder]{Name: name, Fn: func(h Holder, _ goja.FunctionCall) goja.Value {
			return p.Promise(func() goja.Value { return convert(h.TheBlob()) })
		}}
	}
	s.blob = engine.DefineClass(p.Engine, engine.ClassDef[Holder]{
		Name: "Blob",
		New: func(call goja.ConstructorCall) Holder {
			b := p.initBlob("Blob", call.Argument(0), call.Argument(1), 2, func() {})
			p.noEndings(call.Argument(1))
			return &b
		},
		Accessors: []engine.Accessor[Holder]{
			webidl.Reader("size", func(h Holder) goja.Value { return p.VM.ToValue(len(h.TheBlob().Data)) }),
			webidl.Reader("type", func(h Holder) goja.Value { return p.VM.ToValue(h.TheBlob().Type) }),
		},
		Methods: []engine.Method[Holder]{
			{Name: "slice", Fn: p.sliceBlob},
			read("arrayBuffer", func(b *Blob) goja.Value { return p.NewArrayBuffer(bytes.Clone(b.Data)) }),
			read("bytes", func(b *Blob) goja.Value { return p.NewUint8Array(bytes.Clone(b.Data)) }),
			read("text", func(b *Blob) goja.Value { return p.Engine.String(webidl.ValidUTF8(b.Data)) }),
			{Name: "stream", Fn: func(h Holder, _ goja.FunctionCall) goja.Value {
				p.Engine.IO("Blob.stream()")
				return p.streams.FromBody(event.Bytes(bytes.Clone(h.TheBlob().Data)))
			}},
		},
	})
	return s.blob
}

func (p *Blobs) files() *engine.Class[*File] {
	s := p
	if s.file == nil {
		s.file = engine.DefineClass(p.Engine, engine.ClassDef[*File]{
			Name: "File", Extends: p.blobs().Ctor, New: p.initFile,
			Accessors: []engine.Accessor[*File]{
				webidl.Reader("name", func(f *File) goja.Value { return p.VM.ToValue(f.Name) }),
				webidl.Reader("lastModified", func(f *File) goja.Value { return p.VM.ToValue(f.lastModified) }),
			},
		})
	}
	return s.file
}

// initFile is the constructor (bits, name, {type, lastModified = now}).
func (p *Blobs) initFile(call goja.ConstructorCall) *File {
	if goja.IsUndefined(call.Argument(0)) {
		p.BadConstruct("File", 1, "Array")
	}
	if len(call.Arguments) < 2 {
		p.BadConstruct("File", 2, "string")
	}
	options := call.Argument(2)
	f := &File{lastModified: p.Milliseconds()}
	f.Blob = p.initBlob("File", call.Arguments[0], options, 3, func() { f.Name = webidl.UTF8Of(p.ToString(call.Arguments[1])) })
	if at := webidl.Get(options, "lastModified"); !goja.IsUndefined(at) {
		if f.lastModified = at.ToFloat(); math.IsNaN(f.lastModified) {
			f.lastModified = 0
		}
	}
	p.noEndings(options)
	return f
}

// initBlob joins the parts of a new blob; options are the class's nth argument.
// Arguments are converted from left to right: between is called after the parts.
func (p *Blobs) initBlob(class string, parts, options goja.Value, n int, between func()) Blob {
	if _, ok := parts.(*goja.Object); !ok && !goja.IsUndefined(parts) {
		p.BadConstruct(class, 1, "Array")
	}
	if _, ok := options.(*goja.Object); !ok && !webidl.IsMissing(options) {
		p.BadConstruct(class, n, "Options")
	}
	var list []blobPart
	if sequence, ok := parts.(*goja.Object); ok {
		if sequence.ClassName() != "Array" { // workerd takes no other iterable
			p.BadConstruct(class, 1, "Array")
		}
		list = p.blobParts(sequence)
	}
	between()
	b := Blob{}
	if typ := webidl.Get(options, "type"); !goja.IsUndefined(typ) {
		b.Type = blobType(p.ToString(typ))
	}
	b.Data = p.joinParts(list)
	return b
}

// blobPart is one item of a new blob's sequence: the bytes of a blob or of a
// buffer, or a string's.
type blobPart struct {
	Data []byte
	blob bool
}

// blobParts converts the sequence, before the options are looked at.
func (p *Blobs) blobParts(sequence *goja.Object) (list []blobPart) {
	p.ForOf(sequence, func(part goja.Value) {
		if h, ok := p.Engine.Attached(part).(Holder); ok {
			list = append(list, blobPart{Data: h.TheBlob().Data, blob: true})
		} else if data, ok := p.BytesOf(part); ok {
			list = append(list, blobPart{Data: data})
		} else {
			list = append(list, blobPart{Data: []byte(webidl.UTF8Of(p.ToString(part)))})
		}
	})
	return list
}

// noEndings refuses the option "endings", as workerd does.
func (p *Blobs) noEndings(options goja.Value) {
	if !goja.IsUndefined(webidl.Get(options, "endings")) {
		p.Engine.Throw("Error", "The 'endings' field on 'Options' is not implemented.") // reference's text
	}
}

// joinParts is the content of the parts.
func (p *Blobs) joinParts(list []blobPart) []byte {
	if len(list) == 1 && list[0].blob {
		return list[0].Data // a blob of one blob shares its bytes
	}
	var all []byte
	for _, part := range list {
		data := part.Data
		if size := len(all) + len(data); size > streams.MaxBufferedBytes {
			p.Engine.Throw("RangeError", "Blob size %d exceeds limit %d", size, streams.MaxBufferedBytes)
		}
		all = append(all, data...)
	}
	return all
}

// blobType is a media type in lower case; none if it has control characters or
// is not ASCII (workerd: normalizeType in api/blob.c++).
func blobType(s goja.String) string {
	typ := []byte(s.String())
	for i, c := range typ {
		switch {
		case c < ' ' || c >= 0x80:
			return ""
		case c >= 'A' && c <= 'Z':
			typ[i] = c + 'a' - 'A'
		}
	}
	return string(typ)
}

// sliceBlob is slice(start = 0, end = size, type = ""); negative positions count
// from the end.
func (p *Blobs) sliceBlob(h Holder, call goja.FunctionCall) goja.Value {
	data := h.TheBlob().Data
	position := func(i, def int) int {
		v := call.Argument(i)
		if goja.IsUndefined(v) {
			return def
		}
		at := int(p.Int32(v))
		if at < 0 {
			at += len(data)
		}
		return min(max(at, 0), len(data))
	}
	start, end := position(0, 0), position(1, len(data))
	part := &Blob{Data: data[start:max(start, end)]}
	if v := call.Argument(2); !goja.IsUndefined(v) {
		part.Type = blobType(p.ToString(v))
	}
	return p.blobs().Wrap(part)
}

// NewBlob makes a Blob around bytes that nobody changes from now on. The type is
// taken as it is.
func (p *Blobs) NewBlob(data []byte, typ string) goja.Value {
	return p.blobs().Wrap(&Blob{data, typ})
}

// NewFile is newBlob for a File that was modified now.
func (p *Blobs) NewFile(data []byte, typ, name string) goja.Value {
	return p.files().Wrap(&File{Blob{data, typ}, name, p.Milliseconds()})
}

// blobCodec clones Blobs: type and content, each length-delimited.
type blobCodec struct{ p *Blobs }

// Match implements clone.HostCodec.
func (c blobCodec) Match(obj *goja.Object, _ clone.Mode) bool {
	_, ok := c.p.Engine.Attached(obj).(*Blob)
	return ok
}

// Write implements clone.HostCodec.
func (c blobCodec) Write(w *clone.Writer, obj *goja.Object) error {
	c.p.Engine.Attached(obj).(Holder).TheBlob().write(w)
	return nil
}

func (b *Blob) write(w *clone.Writer) {
	w.WriteLengthDelimited(b.Type)
	w.WriteUint64(uint64(len(b.Data)))
	w.WriteRaw(b.Data)
}

// Read implements clone.HostCodec.
func (c blobCodec) Read(r *clone.Reader, _ clone.HostTag) (*goja.Object, error) {
	b, err := readBlob(r)
	if err != nil {
		return nil, err
	}
	return c.p.blobs().Wrap(&b), nil
}

func readBlob(r *clone.Reader) (Blob, error) {
	typ, err := r.ReadLengthDelimited()
	if err != nil {
		return Blob{}, err
	}
	data, err := r.ReadLengthDelimited()
	return Blob{bytes.Clone(data), string(typ)}, err
}
