package clone

import (
	"math"
	"reflect"

	"github.com/dop251/goja"
)

// Mode is the purpose for which a value is cloned. Host codecs may look at it;
// this package itself keeps an error's stack from RPC peers by it.
type Mode uint8

// The modes.
const (
	Storage         Mode = iota // rows of a Durable Object's key-value storage
	RPC                         // arguments and results of RPC calls
	Attachment                  // WebSocket.serializeAttachment
	StructuredClone             // structuredClone()
)

// ClassInstances says what becomes of objects whose prototype is not
// Object.prototype and that no host codec claims.
type ClassInstances uint8

const (
	// AsPlainObjects clones their own properties, as structured clone
	// prescribes (storage, attachments, structuredClone).
	AsPlainObjects ClassInstances = iota
	// Refused makes them a DataCloneError (workerd's RPC).
	Refused
)

// Options say how one value is written or read. The zero value is storage's.
type Options struct {
	Mode Mode
	// EnhancedErrors writes native errors as workerd's host objects, which keep
	// their own properties: the compatibility flag enhanced_error_serialization
	// (default from 2026-04-21). Both forms are always read.
	EnhancedErrors bool
	// ClassInstances is for writing only.
	ClassInstances ClassInstances
	// HostCallables offers functions and proxies to the host codecs before they
	// are refused: they pass by reference in RPC. Writing only.
	HostCallables bool
	// MaxBytes bounds the bytes written; 0 means no bound.
	MaxBytes int
	// Transfer lists ArrayBuffers, or views on them, whose contents move
	// instead of being copied. Writing only; see [Codec.SerializeTransfer].
	Transfer []*goja.Object
	// Transferred are the contents that moved, in the order of Transfer.
	// Reading only; the value takes them over.
	Transferred []Content
	// External is handed to host codecs (Writer.External, Reader.External):
	// what an RPC session, say, needs to pass references.
	External any

	shared *[]*goja.Object // the shared buffers of a structured clone, by number
}

// Config holds what a Codec is made with. All of it is optional.
type Config struct {
	// Registry names the host objects.
	Registry *Registry
	// RegExpSource returns the pattern and flags as the user wrote them, for
	// runtimes that translate patterns before goja sees them. With ok false, or
	// if it is nil, the object's own are taken.
	RegExpSource func(re *goja.Object) (source goja.Value, flags string, ok bool)
	// Resizable knows resizable buffers, which goja lacks; nil: there are none,
	// and those that are read have a fixed length.
	Resizable ResizableBuffers
	// Shared knows shared memory, which goja lacks; nil: there is none.
	Shared SharedBuffers
	// NewRegExp makes a regular expression; nil means the runtime's RegExp.
	NewRegExp func(source goja.Value, flags string) (*goja.Object, error)
	// Room reports whether so many bytes more may be allocated, and is asked each time
	// that so many are about to be: goja cannot be interrupted while a value is written
	// or read. Nil: always.
	Room func(bytes int) bool
}

// ResizableBuffers is a runtime that has resizable buffers (buffers.Runtime).
type ResizableBuffers interface {
	MaxByteLength(buffer *goja.Object) (limit int, ok bool)
	NewResizableBuffer(content []byte, limit int) *goja.Object
	ViewOfResizable(view *goja.Object) (resizable, tracking, outOfBounds bool)
}

// SharedBuffers is a runtime that has SharedArrayBuffers (buffers.Runtime).
type SharedBuffers interface {
	IsShared(buffer *goja.Object) bool
	ShareMemory(buffer *goja.Object) *goja.Object
}

// Content is what an ArrayBuffer held that was transferred.
type Content struct {
	Bytes []byte
	Limit int // of a resizable buffer, in bytes; else fixedLength
}

// fixedLength stands for the limit of a buffer that is not resizable.
const fixedLength = -1

// Codec turns values of one goja runtime into bytes and back.
//
// It is loop-confined: only the goroutine that owns the runtime may use it.
// Getters and host codecs may call it again while it works. A JavaScript
// exception thrown meanwhile is returned as *goja.Exception; an interrupt or a
// stack overflow of goja passes through as goja's own panic, as it does through
// every native function.
type Codec struct {
	vm     *goja.Runtime
	cfg    Config
	prim   *primordials
	layout *layout

	collected []goja.Value // what collect has been called with
	collect   *goja.Object // a function that appends its first two arguments

	spare       *Writer // to use again
	spareReader *Reader // likewise
}

// New makes the codec of a runtime. It captures the builtins: call it before
// user code runs.
func New(vm *goja.Runtime, cfg Config) *Codec {
	c := &Codec{vm: vm, cfg: cfg, prim: capture(vm), layout: theLayout()}
	c.collect = vm.ToValue(func(call goja.FunctionCall) goja.Value {
		c.collected = append(c.collected, call.Arguments[0], call.Arguments[1])
		return goja.Undefined()
	}).(*goja.Object)
	return c
}

// Serialize returns a value's bytes, header included. Errors: *DataCloneError,
// *goja.Exception (thrown by a getter), ErrTooDeep, ErrTooLarge,
// ErrNotTransferable, and what host codecs return. With a transfer list use
// SerializeTransfer, or the contents are lost.
func (c *Codec) Serialize(v goja.Value, o Options) ([]byte, error) {
	if b := c.serializePrimitive(v); b != nil {
		if o.MaxBytes > 0 && len(b) > o.MaxBytes {
			return nil, ErrTooLarge
		}
		return b, nil
	}
	b, _, err := c.SerializeTransfer(v, o)
	return b, err
}

// SerializeTransfer is Serialize for values with a transfer list: it also
// returns the contents that moved, for Options.Transferred, and detaches the
// buffers once all is written (after getters have run, as workerd does).
func (c *Codec) SerializeTransfer(v goja.Value, o Options) (data []byte, transferred []Content, err error) {
	w := c.acquire(o)
	defer c.release(w)
	if err := w.registerTransfers(); err != nil {
		return nil, nil, err
	}
	if ex := c.vm.Try(func() { err = w.WriteValue(v) }); ex != nil {
		return nil, nil, ex
	}
	if err != nil {
		return nil, nil, err
	}
	transferred = w.detachTransfers()
	return append([]byte(nil), w.buf...), transferred, nil
}

// Deserialize makes the value that bytes hold. The bytes may come from anyone:
// whatever they are, it takes time and memory in proportion to their length.
// Errors: *DeserializeError, and what host codecs return.
func (c *Codec) Deserialize(b []byte, o Options) (v goja.Value, err error) {
	if v := c.deserializePrimitive(b); v != nil {
		return v, nil
	}
	read := func(brokenViews bool) (v goja.Value, err error) {
		r := c.acquireReader(o)
		defer c.releaseReader(r)
		r.cursor = cursor{b: b, brokenViews: brokenViews}
		if ex := c.vm.Try(func() { v, err = r.readAll() }); ex != nil {
			return nil, ex
		}
		return v, err
	}
	v, err = read(false)
	if err != nil && len(b) > 1 && b[0] == tagVersion && b[1] == 13 {
		// Some writers of version 13 already wrote version 14's view flags
		// (crbug.com/1284506); V8 tries again in the same way.
		if again, retryErr := read(true); retryErr == nil {
			return again, nil
		}
	}
	return v, err
}

// StructuredClone copies a value as structuredClone(v, {transfer}) does.
func (c *Codec) StructuredClone(v goja.Value, o Options) (goja.Value, error) {
	var shared []*goja.Object
	o.shared = &shared
	data, transferred, err := c.SerializeTransfer(v, o)
	if err != nil {
		return nil, err
	}
	o.Transferred = transferred
	return c.Deserialize(data, o)
}

// room returns an error if there is no room for so many bytes more.
func (c *Codec) room(bytes int) error {
	if c.cfg.Room != nil && !c.cfg.Room(bytes) {
		return errOutOfMemory
	}
	return nil
}

func (c *Codec) acquire(o Options) *Writer {
	w := c.spare
	c.spare = nil
	if w == nil {
		w = &Writer{c: c}
	}
	w.o = o
	w.limit = o.MaxBytes
	if w.limit <= 0 {
		w.limit = math.MaxInt
	}
	w.look = min(w.limit, roomStep)
	w.buf = append(w.buf[:0], tagVersion, latestVersion)
	return w
}

func (c *Codec) release(w *Writer) {
	const keptBytes = 1 << 20
	if cap(w.buf) > keptBytes || cap(w.names) > keptBytes/16 {
		return
	}
	w.ids.reset()
	clear(w.names[:cap(w.names)])
	w.names = w.names[:0]
	w.o, w.transfers, w.stack = Options{}, nil, 0
	c.spare = w
}

func (c *Codec) acquireReader(o Options) *Reader {
	r := c.spareReader
	c.spareReader = nil
	if r == nil {
		r = &Reader{c: c}
	}
	r.o, r.look = o, roomObjects
	return r
}

// releaseReader keeps a reader with its cache of keys, and lets go of what it
// read.
func (c *Codec) releaseReader(r *Reader) {
	const keptItems = 1 << 12
	if cap(r.objects) > keptItems || cap(r.items) > keptItems {
		r.objects, r.items = nil, nil
	}
	clear(r.objects)
	clear(r.items[:cap(r.items)])
	r.objects, r.items, r.arrays, r.buffers = r.objects[:0], r.items[:0], r.arrays[:0], nil
	r.cursor, r.o, r.slots = cursor{}, Options{}, 0
	c.spareReader = r
}

// serializePrimitive handles the values that need neither a Writer nor a guard
// against exceptions; nil means that it did not.
func (c *Codec) serializePrimitive(v goja.Value) []byte {
	const header = 2
	switch t := reflect.TypeOf(v); {
	case t == c.layout.intType:
		return appendInt(append(make([]byte, 0, header+9), tagVersion, latestVersion), v.ToInteger())
	case t == c.layout.asciiType:
		s := v.String()
		b := append(make([]byte, 0, header+6+len(s)), tagVersion, latestVersion, tagOneByteString)
		return append(appendVarint(b, uint64(len(s))), s...)
	case t == c.layout.boolType:
		return []byte{tagVersion, latestVersion, boolTag(v.ToBoolean())}
	case t == c.layout.floatType:
		return appendFloat(append(make([]byte, 0, header+9), tagVersion, latestVersion), v.ToFloat())
	case goja.IsNull(v):
		return []byte{tagVersion, latestVersion, tagNull}
	case v == nil || goja.IsUndefined(v):
		return []byte{tagVersion, latestVersion, tagUndefined}
	}
	return nil
}

func boolTag(b bool) byte {
	if b {
		return tagTrue
	}
	return tagFalse
}

// deserializePrimitive is the counterpart; nil means that the general way must
// be taken, for errors too.
func (c *Codec) deserializePrimitive(b []byte) goja.Value {
	if len(b) < 3 || b[0] != tagVersion || b[1] != latestVersion {
		return nil
	}
	switch cur := (cursor{b: b, pos: 3, version: latestVersion}); b[2] {
	case tagInt32:
		if n, err := cur.zigzag(); err == nil {
			return c.vm.ToValue(int64(n))
		}
	case tagOneByteString:
		if raw, err := cur.lengthPrefixed(); err == nil {
			return c.latin1(raw)
		}
	case tagTrue:
		return c.vm.ToValue(true)
	case tagFalse:
		return c.vm.ToValue(false)
	case tagNull:
		return goja.Null()
	case tagUndefined:
		return goja.Undefined()
	case tagDouble:
		if f, err := cur.double(); err == nil {
			return c.vm.ToValue(f)
		}
	}
	return nil
}

// latin1 makes the string of some one-byte characters.
func (c *Codec) latin1(raw []byte) goja.Value {
	if isASCII(raw) {
		return c.vm.ToValue(string(raw))
	}
	units := make([]uint16, len(raw))
	for i, b := range raw {
		units[i] = uint16(b)
	}
	return goja.StringFromUTF16(units)
}

func isASCII[T string | []byte](s T) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
