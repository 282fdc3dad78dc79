package written

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"reflect"
	"slices"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/unistring"
)

// The kinds of values.
const (
	valueNone = iota
	valueASCII
	valueWide
	valueInteger
	valueFloat
	valueTrue
	valueFalse
	valueNull
	valueUndefined
	valueBigInt
	valueProperty
)

// writer writes one program.
type writer struct {
	f      *Format
	file   *file.File
	source string
	kinds  map[unsafe.Pointer]numbered // by their tables, of which instrumented programs have others
	names  []string
	super  bool // something in the function that is being written looks for a home object
}

// numbered is a kind with its number in what is written.
type numbered struct {
	*kind
	n     uint64
	super bool // it looks for a home object
}

// loadSuper is the instruction that looks for the home object of a method.
const loadSuper = "goja._loadSuper"

// Write is a program and the functions in it as bytes. It fails for a program that has
// anything that the format does not know.
func (f *Format) Write(program *goja.Program) ([]byte, error) {
	p := (*Program)(unsafe.Pointer(program))
	w := &writer{f: f, file: p.src, source: p.src.Source(), kinds: map[unsafe.Pointer]numbered{}}
	body, err := w.function(nil, p)
	if err != nil {
		return nil, err
	}
	out := binary.AppendUvarint(nil, uint64(len(w.names)))
	for _, name := range w.names {
		out = text(out, name)
	}
	return append(out, body...), nil
}

func text(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// function appends a program: its name, whether it or a function in it looks for a home
// object, the length of the rest, and that.
func (w *writer) function(b []byte, p *Program) ([]byte, error) {
	if len(p.code) == 1 && p.code[0].Tab == w.f.unread {
		p = (*Function)(p.code[0].Data).Read()
	}
	if p.src != w.file {
		return nil, fmt.Errorf("the program %q is of another source", p.funcName)
	}
	around := w.super
	w.super = false
	body, err := w.body(p)
	if err != nil {
		return nil, err
	}
	b = append(text(b, string(p.funcName)), flag(w.super))
	w.super = w.super || around
	return append(binary.AppendUvarint(b, uint64(len(body))), body...), nil
}

func (w *writer) body(p *Program) ([]byte, error) {
	var code []byte
	cells, texts, functions := 0, 0, 0
	for i := range p.code {
		k, known := w.kinds[p.code[i].Tab]
		if !known {
			var err error
			if k, err = w.number(&p.code[i]); err != nil {
				return nil, err
			}
		}
		w.super = w.super || k.super
		code = binary.AppendUvarint(code, k.n)
		if k.shared != nil {
			which := slices.Index(k.shared, p.code[i].Data)
			if which < 0 {
				return nil, fmt.Errorf("the instruction %s is none of those that are known", k.name)
			}
			code = binary.AppendUvarint(code, uint64(which))
			continue
		}
		if cells += k.cells; k.memory.Kind() == reflect.String {
			texts++
		}
		for _, l := range k.leaves {
			var err error
			at := unsafe.Add(p.code[i].Data, l.at)
			if l.form == formFunction && *(**Program)(at) != nil {
				functions++
			}
			if code, err = w.leaf(code, at, l.form); err != nil {
				return nil, err
			}
		}
	}
	b := binary.AppendUvarint(nil, uint64(len(p.code)))
	b = binary.AppendUvarint(b, uint64(cells))
	b = binary.AppendUvarint(b, uint64(texts))
	b = binary.AppendUvarint(b, uint64(functions))
	b = binary.AppendUvarint(b, uint64(len(p.srcMap)))
	last := Place{}
	for _, at := range p.srcMap {
		b = binary.AppendVarint(b, int64(at.pc-last.pc))
		b = binary.AppendVarint(b, int64(at.srcPos-last.srcPos))
		last = at
	}
	return append(b, code...), nil
}

// number gives the kind of an instruction its number. Two tables may be of one kind.
func (w *writer) number(instruction *Words) (numbered, error) {
	t := w.f.typeOf(instruction)
	k := w.f.tables[t]
	if k == nil {
		return numbered{}, fmt.Errorf("the instruction %v is not known", t)
	}
	n := slices.Index(w.names, k.name)
	if n < 0 {
		n = len(w.names)
		w.names = append(w.names, k.name)
	}
	w.kinds[instruction.Tab] = numbered{k, uint64(n), k.name == loadSuper}
	return w.kinds[instruction.Tab], nil
}

func (w *writer) leaf(b []byte, at unsafe.Pointer, f form) ([]byte, error) {
	switch f {
	case formInt:
		return binary.AppendVarint(b, int64(*(*int)(at))), nil
	case formInt32:
		return binary.AppendVarint(b, int64(*(*int32)(at))), nil
	case formByte:
		return append(b, *(*byte)(at)), nil
	case formText:
		return text(b, *(*string)(at)), nil
	case formSource:
		return w.part(b, *(*string)(at)), nil
	case formNames:
		names := *(*[]unistring.String)(at)
		b = binary.AppendUvarint(b, uint64(len(names)))
		for _, n := range names {
			b = text(b, string(n))
		}
		return b, nil
	case formValue:
		return w.value(b, *(*Words)(at))
	case formString:
		s := *(*Words)(at)
		switch s.Tab {
		case w.f.values.ASCIIString:
			s.Tab = w.f.values.ASCII
		case w.f.values.WideString:
			s.Tab = w.f.values.Wide
		default:
			return nil, errors.New("a string that is not known")
		}
		return w.value(b, s)
	case formValues:
		var err error
		values := *(*[]Words)(at)
		b = binary.AppendUvarint(b, uint64(len(values)))
		for _, v := range values {
			if b, err = w.value(b, v); err != nil {
				return nil, err
			}
		}
		return b, nil
	case formSlots:
		slots := *(*map[unistring.String]uint32)(at)
		if slots == nil {
			return append(b, 0), nil
		}
		b = binary.AppendUvarint(b, uint64(len(slots))+1)
		for _, name := range slices.Sorted(maps.Keys(slots)) {
			b = binary.AppendUvarint(text(b, string(name)), uint64(slots[name]))
		}
		return b, nil
	case formFunction:
		p := *(**Program)(at)
		if p == nil {
			return append(b, 0), nil
		}
		return w.function(append(b, 1), p)
	default:
		p := *(**Pattern)(at)
		b = text(b, p.src)
		flags := ""
		for i, set := range [...]bool{p.global, p.ignoreCase, p.multiline, p.dotAll, p.sticky, p.unicode} {
			if set {
				flags += "gimsyu"[i : i+1]
			}
		}
		return text(b, flags), nil
	}
}

// part appends a text that lies in the source, as its place, or any other, as it is.
func (w *writer) part(b []byte, s string) []byte {
	begins, lies := uintptr(unsafe.Pointer(unsafe.StringData(w.source))), uintptr(unsafe.Pointer(unsafe.StringData(s)))
	if s != "" && lies >= begins && lies+uintptr(len(s)) <= begins+uintptr(len(w.source)) {
		b = binary.AppendUvarint(b, uint64(lies-begins)+1)
		return binary.AppendUvarint(b, uint64(len(s)))
	}
	return text(append(b, 0), s)
}

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}

func (w *writer) value(b []byte, v Words) ([]byte, error) {
	switch v.Tab {
	case nil:
		return append(b, valueNone), nil
	case w.f.values.ASCII:
		return text(append(b, valueASCII), *(*string)(v.Data)), nil
	case w.f.values.Wide:
		units := *(*[]uint16)(v.Data)
		b = binary.AppendUvarint(append(b, valueWide), uint64(len(units)))
		for _, u := range units {
			b = binary.LittleEndian.AppendUint16(b, u)
		}
		return b, nil
	case w.f.values.Integer:
		return binary.AppendVarint(append(b, valueInteger), *(*int64)(v.Data)), nil
	case w.f.values.Float:
		return binary.LittleEndian.AppendUint64(append(b, valueFloat), math.Float64bits(*(*float64)(v.Data))), nil
	case w.f.values.Boolean:
		return append(b, valueFalse-flag(*(*bool)(v.Data))), nil
	case w.f.values.BigInt:
		n := (*big.Int)(v.Data)
		b = append(b, valueBigInt, flag(n.Sign() < 0))
		return text(b, string(n.Bytes())), nil
	case w.f.values.Property:
		p := (*Property)(v.Data)
		if p.accessor || p.getterFunc != nil || p.setterFunc != nil {
			return nil, errors.New("an accessor")
		}
		b = append(b, valueProperty, flag(p.writable), flag(p.configurable), flag(p.enumerable))
		return w.value(b, *(*Words)(unsafe.Pointer(&p.value)))
	}
	switch value := *(*goja.Value)(unsafe.Pointer(&v)); value {
	case goja.Null():
		return append(b, valueNull), nil
	case goja.Undefined():
		return append(b, valueUndefined), nil
	default:
		return nil, fmt.Errorf("the value %T is not known", value)
	}
}
