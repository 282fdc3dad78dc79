package written

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/unistring"
)

// written is a program that is read bit by bit.
type written struct {
	f      *Format
	kinds  []*kind
	file   *file.File
	source string
	then   func(*goja.Program)
	mu     sync.Mutex // held while a function is read
}

// Function is a function that may not have been read yet. Its address does not change.
// Safe for concurrent use.
type Function struct {
	program Program
	code    [1]Words
	of      *written
	body    string
	super   bool
	read    atomic.Pointer[Program]
}

// Unread is what stands for the function until it is called.
func (f *Function) Unread() *goja.Program { return (*goja.Program)(unsafe.Pointer(&f.program)) }

// Super reports whether the function, or one in it, looks for a home object.
func (f *Function) Super() bool { return f.super }

// Latest is the function if it was read, or what stands for it.
func (f *Function) Latest() *goja.Program {
	if p := f.read.Load(); p != nil {
		return (*goja.Program)(unsafe.Pointer(p))
	}
	return f.Unread()
}

// Read is the function. It panics if what was written is damaged, which a checksum finds first.
func (f *Function) Read() *Program {
	if p := f.read.Load(); p != nil {
		return p
	}
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	if p := f.read.Load(); p != nil {
		return p
	}
	p, err := f.of.body(f.program.funcName, f.body)
	if err != nil {
		panic(err)
	}
	f.of.then((*goja.Program)(unsafe.Pointer(p)))
	f.read.Store(p)
	f.body = ""
	return p
}

// OfUnread is the function whose program this is, nil for any other program.
func (f *Format) OfUnread(p *goja.Program) *Function {
	if code := (*Program)(unsafe.Pointer(p)).code; len(code) == 1 && code[0].Tab == f.unread {
		return (*Function)(code[0].Data)
	}
	return nil
}

// Read is a program that Write has written. Its functions are read when they are first
// called. then is called with the program, and with each function, once, before it runs.
// The result is nil if data is of another format, or damaged where it was read.
func (f *Format) Read(data, name, source string, then func(*goja.Program)) (*goja.Program, error) {
	w := &written{f: f, file: file.NewFile(name, source, 1), source: source, then: then}
	r := &reader{b: data, of: w}
	for n := r.count(1); n > 0 && !r.bad; n-- {
		k := f.names[r.text()]
		if k == nil {
			return nil, errors.New("an instruction that is not known")
		}
		w.kinds = append(w.kinds, k)
	}
	of, _, body := r.text(), r.byte(), r.text()
	if r.bad {
		return nil, ErrDamaged
	}
	p, err := w.body(unistring.String(of), body)
	if err != nil {
		return nil, err
	}
	program := (*goja.Program)(unsafe.Pointer(p))
	then(program)
	return program, nil
}

// ErrDamaged says that what was read is not what was written.
var ErrDamaged = errors.New("a written program is damaged")

// body is a program of a name.
func (w *written) body(name unistring.String, body string) (*Program, error) {
	r := &reader{b: body, of: w}
	p := &Program{funcName: name, src: w.file}
	instructions, cells, texts, functions := r.count(1), r.count(1), r.count(1), r.count(2)
	if p.srcMap = make([]Place, r.count(2)); r.bad {
		return nil, ErrDamaged
	}
	last := Place{}
	for i := range p.srcMap {
		last = Place{last.pc + int(r.number()), last.srcPos + int(r.number())}
		p.srcMap[i] = last
	}
	r.cells, r.texts, r.functions = make([]uint64, cells), make([]unistring.String, texts), make([]Function, functions)
	p.code = make([]Words, instructions)
	for i := range p.code {
		n := r.unsigned()
		if r.bad || n >= uint64(len(w.kinds)) {
			return nil, ErrDamaged
		}
		k := w.kinds[n]
		if k.shared != nil {
			which := r.unsigned()
			if which >= uint64(len(k.shared)) {
				return nil, ErrDamaged
			}
			p.code[i] = Words{k.table, k.shared[which]}
			continue
		}
		at := r.memory(k)
		if r.bad {
			return nil, ErrDamaged
		}
		for _, l := range k.leaves {
			r.leaf(unsafe.Add(at, l.at), l.form)
		}
		p.code[i] = Words{k.table, at}
	}
	if r.bad || r.b != "" {
		return nil, ErrDamaged
	}
	return p, nil
}

// reader reads numbers and texts; bad says that something was not as written.
type reader struct {
	b         string
	bad       bool
	of        *written
	cells     []uint64
	texts     []unistring.String
	functions []Function
}

// nothing is what instructions without members point to.
var nothing uint64

// memory is where an instruction of a kind lies.
func (r *reader) memory(k *kind) unsafe.Pointer {
	switch {
	case k.cells > len(r.cells), k.memory.Kind() == reflect.String && len(r.texts) == 0:
		r.bad = true
		return nil
	case k.cells > 0:
		at := &r.cells[0]
		r.cells = r.cells[k.cells:]
		return unsafe.Pointer(at)
	case k.memory.Size() == 0:
		return unsafe.Pointer(&nothing)
	case k.memory.Kind() == reflect.String:
		at := &r.texts[0]
		r.texts = r.texts[1:]
		return unsafe.Pointer(at)
	}
	return reflect.New(k.memory).UnsafePointer()
}

func (r *reader) unsigned() uint64 {
	var n uint64
	for shift := 0; shift < 64; shift += 7 {
		if len(r.b) == 0 {
			break
		}
		c := r.b[0]
		r.b = r.b[1:]
		if n |= uint64(c&0x7f) << shift; c < 0x80 {
			return n
		}
	}
	r.bad, r.b = true, ""
	return 0
}

func (r *reader) number() int64 {
	n := r.unsigned()
	return int64(n>>1) ^ -int64(n&1)
}

// count is a number of things of which each takes so many bytes at least.
func (r *reader) count(bytes int) int {
	n := r.unsigned()
	if n > uint64(len(r.b)/bytes) {
		r.bad, r.b = true, ""
		return 0
	}
	return int(n)
}

func (r *reader) take(n int) string {
	if n > len(r.b) {
		r.bad, r.b = true, ""
		return ""
	}
	s := r.b[:n]
	r.b = r.b[n:]
	return s
}

func (r *reader) byte() byte {
	if s := r.take(1); s != "" {
		return s[0]
	}
	return 0
}

func (r *reader) text() string { return r.take(r.count(1)) }

// name is a text as goja has names: with a mark and units of two bytes if it is not ASCII.
func (r *reader) name() unistring.String {
	s := r.text()
	if len(s) > 1 && s[0] >= 0x80 {
		s = strings.Clone(s) // at an even address
	}
	return unistring.String(s)
}

func (r *reader) leaf(at unsafe.Pointer, f form) {
	switch f {
	case formInt:
		*(*int)(at) = int(r.number())
	case formInt32:
		*(*int32)(at) = int32(r.number())
	case formByte:
		*(*byte)(at) = r.byte()
	case formText:
		*(*unistring.String)(at) = r.name()
	case formSource:
		*(*string)(at) = r.part()
	case formNames:
		if n := r.count(1); n > 0 {
			names := make([]unistring.String, n)
			for i := range names {
				names[i] = r.name()
			}
			*(*[]unistring.String)(at) = names
		}
	case formValue:
		*(*goja.Value)(at) = r.value()
	case formString:
		s, _ := r.value().(goja.String)
		*(*goja.String)(at) = s
		r.bad = r.bad || s == nil
	case formValues:
		if n := r.count(1); n > 0 {
			values := make([]goja.Value, n)
			for i := range values {
				values[i] = r.value()
			}
			*(*[]goja.Value)(at) = values
		}
	case formSlots:
		if n := r.count(1); n > 0 {
			slots := make(map[unistring.String]uint32, n-1)
			for range n - 1 {
				name := r.name()
				slots[name] = uint32(r.unsigned())
			}
			*(*map[unistring.String]uint32)(at) = slots
		}
	case formFunction:
		if r.byte() != 0 {
			*(**goja.Program)(at) = r.function()
		}
	case formPattern:
		source, flags := r.text(), r.text()
		if r.bad {
			return
		}
		p, err := compileRegexp(strings.Clone(source), flags)
		if err != nil {
			r.bad = true
			return
		}
		*(*unsafe.Pointer)(at) = p
	}
}

// function is one that is not read yet.
func (r *reader) function() *goja.Program {
	name, super, body := r.name(), r.byte() != 0, r.text()
	if len(r.functions) == 0 {
		r.bad = true
	}
	if r.bad {
		return nil
	}
	f := &r.functions[0]
	r.functions = r.functions[1:]
	f.code[0] = Words{r.of.f.unread, unsafe.Pointer(f)}
	f.program = Program{code: f.code[:], funcName: name, src: r.of.file}
	f.of, f.body, f.super = r.of, body, super
	return f.Unread()
}

// part is a text that may lie in the source.
func (r *reader) part() string {
	at := r.unsigned()
	if at == 0 {
		return r.text()
	}
	n := r.unsigned()
	if size := uint64(len(r.of.source)); at-1 > size || n > size-(at-1) {
		r.bad = true
		return ""
	}
	return r.of.source[at-1 : at-1+n]
}

func (r *reader) value() goja.Value {
	v := &r.of.f.values
	switch kind := r.byte(); kind {
	case valueNone:
		return nil
	case valueASCII:
		s := r.text()
		return valueOf(v.ASCII, unsafe.Pointer(&s))
	case valueWide:
		n := r.count(2)
		b := r.take(2 * n)
		units := make([]uint16, len(b)/2)
		for i := range units {
			units[i] = uint16(b[2*i]) | uint16(b[2*i+1])<<8
		}
		if r.bad || n == 0 {
			r.bad = true
			return nil
		}
		return valueOf(v.Wide, unsafe.Pointer(&units))
	case valueInteger:
		n := r.number()
		return valueOf(v.Integer, unsafe.Pointer(&n))
	case valueFloat:
		b := r.take(8)
		if r.bad {
			return nil
		}
		n := math.Float64frombits(binary.LittleEndian.Uint64([]byte(b)))
		return valueOf(v.Float, unsafe.Pointer(&n))
	case valueTrue, valueFalse:
		is := kind == valueTrue
		return valueOf(v.Boolean, unsafe.Pointer(&is))
	case valueNull:
		return goja.Null()
	case valueUndefined:
		return goja.Undefined()
	case valueBigInt:
		negative := r.byte() != 0
		n := new(big.Int).SetBytes([]byte(r.text()))
		if negative {
			n.Neg(n)
		}
		return valueOf(v.BigInt, unsafe.Pointer(n))
	case valueProperty:
		p := &Property{writable: r.byte() != 0, configurable: r.byte() != 0, enumerable: r.byte() != 0}
		p.value = r.value()
		return valueOf(v.Property, unsafe.Pointer(p))
	default:
		r.bad = true
		return nil
	}
}

// valueOf is the value of these two words.
func valueOf(tab, data unsafe.Pointer) goja.Value {
	w := Words{tab, data}
	return *(*goja.Value)(unsafe.Pointer(&w))
}
