package clone

import (
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"pgregory.net/rapid"
)

// grower makes random values, which share objects and contain themselves.
type grower struct {
	*world
	t    *rapid.T
	made []goja.Value
}

func (g *grower) str() goja.Value {
	units := rapid.SliceOfN(rapid.OneOf(
		rapid.Uint16Range('0', 'z'), rapid.Uint16Range(0x80, 0xFF), rapid.Uint16Range(0x400, 0x40F), rapid.Uint16Range(0xD7FF, 0xE000), rapid.Just[uint16](0xFEFF),
	), 0, 6).Draw(g.t, "units")
	if rapid.Bool().Draw(g.t, "fromGo") && !hasSurrogate(units) {
		return g.vm.ToValue(goja.StringFromUTF16(units).String())
	}
	return goja.StringFromUTF16(units)
}

func (g *grower) value(depth int) goja.Value {
	kinds := 15
	if depth <= 0 {
		kinds = 9
	}
	vm := g.vm
	switch rapid.IntRange(0, kinds).Draw(g.t, "kind") {
	case 0:
		return goja.Undefined()
	case 1:
		return goja.Null()
	case 2:
		return vm.ToValue(rapid.Bool().Draw(g.t, "bool"))
	case 3:
		return vm.ToValue(rapid.Int64Range(-1<<53, 1<<53).Draw(g.t, "int"))
	case 4:
		return vm.ToValue(rapid.Int64Range(-3, 3).Draw(g.t, "small"))
	case 5:
		return vm.ToValue(rapid.OneOf(rapid.Float64(), rapid.Just(math.NaN()), rapid.Just(math.Copysign(0, -1))).Draw(g.t, "float"))
	case 6:
		n := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(g.t, "big"))
		return vm.ToValue(n.Mul(n, big.NewInt(int64(rapid.SampledFrom([]int{-1, 1}).Draw(g.t, "sign")))))
	case 7, 8:
		return g.str()
	case 9:
		if len(g.made) > 0 {
			return rapid.SampledFrom(g.made).Draw(g.t, "again")
		}
		return g.str()
	case 10, 11:
		return g.object(depth)
	case 12:
		return g.array(depth)
	case 13:
		return g.collection(depth)
	case 14:
		return g.leaf()
	default:
		return g.error(depth)
	}
}

func (g *grower) keep(o *goja.Object) *goja.Object {
	g.made = append(g.made, o)
	return o
}

func (g *grower) object(depth int) goja.Value {
	o := g.keep(g.vm.NewObject())
	reader := &Reader{c: g.codec}
	for range rapid.IntRange(0, 5).Draw(g.t, "properties") {
		reader.defineByValue(o, g.str(), g.value(depth-1))
	}
	return o
}

func (g *grower) array(depth int) goja.Value {
	o := g.keep(g.vm.NewArray())
	for i := range rapid.IntRange(0, 5).Draw(g.t, "length") {
		if rapid.IntRange(0, 9).Draw(g.t, "hole") == 0 {
			continue
		}
		if err := define(o, itoa(i), g.value(depth-1), true); err != nil {
			g.t.Fatal(err)
		}
	}
	if rapid.IntRange(0, 5).Draw(g.t, "extra") == 0 {
		if err := define(o, "extra", g.value(depth-1), true); err != nil {
			g.t.Fatal(err)
		}
	}
	return o
}

func (g *grower) collection(depth int) goja.Value {
	m := rapid.Bool().Draw(g.t, "map")
	ctor := g.codec.prim.setCtor
	if m {
		ctor = g.codec.prim.mapCtor
	}
	o, err := g.vm.New(ctor)
	if err != nil {
		g.t.Fatal(err)
	}
	g.keep(o)
	for range rapid.IntRange(0, 4).Draw(g.t, "entries") {
		call := goja.FunctionCall{This: o, Arguments: []goja.Value{g.value(depth - 1), g.value(depth - 1)}}
		if m {
			g.codec.prim.mapSet(call)
		} else {
			g.codec.prim.setAdd(call)
		}
	}
	return o
}

func (g *grower) leaf() goja.Value {
	p := g.codec.prim
	var o *goja.Object
	var err error
	switch rapid.IntRange(0, 4).Draw(g.t, "leaf") {
	case 0:
		o, err = g.vm.New(p.dateCtor, g.vm.ToValue(rapid.Int64Range(-1e15, 1e15).Draw(g.t, "ms")))
	case 1:
		o, err = g.vm.New(p.objectCtor, g.vm.ToValue(rapid.Float64().Draw(g.t, "boxed")))
	case 2:
		o, err = g.vm.New(p.objectCtor, g.str())
	case 3:
		o = g.vm.ToValue(g.vm.NewArrayBuffer(rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(g.t, "bytes"))).(*goja.Object)
	case 4:
		buffer := g.vm.ToValue(g.vm.NewArrayBuffer(make([]byte, 16))).(*goja.Object)
		g.keep(buffer)
		// A bare goja lacks the last.
		o, err = g.vm.New(rapid.SampledFrom(p.viewCtors[:len(p.viewCtors)-1]).Draw(g.t, "view"), buffer, g.vm.ToValue(8), g.vm.ToValue(1))
	}
	if err != nil {
		g.t.Fatal(err)
	}
	return g.keep(o)
}

func (g *grower) error(depth int) goja.Value {
	reader := &Reader{c: g.codec}
	o, err := reader.newError(rapid.SampledFrom([]string{"Error", "TypeError", "RangeError"}).Draw(g.t, "class"), g.str().(goja.String))
	if err != nil {
		g.t.Fatal(err)
	}
	if err := errors.Join(define(o, "stack", g.str(), false), define(o, "cause", g.value(depth-1), false)); err != nil {
		g.t.Fatal(err)
	}
	return o
}

// TestRoundTrip shows that any value comes back the same: its bytes are those
// of its copy, whichever way goja's objects are read and for tools too.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		g := &grower{world: w, t: rt}
		v := g.value(4)
		for _, o := range []Options{{}, {EnhancedErrors: true}} {
			want := w.serialize(t, v, o)
			if got := w.serialize(t, w.deserialize(t, want, o), o); string(got) != string(want) {
				rt.Fatalf("\n got %q\nwant %q", got, want)
			}
			if _, err := DecodeToGo(want); err != nil {
				rt.Fatalf("DecodeToGo(%q): %v", want, err)
			}
			direct := w.codec.layout
			w.withoutLayout()
			if got := w.serialize(t, v, o); string(got) != string(want) {
				rt.Fatalf("through the public API:\n got %q\nwant %q", got, want)
			}
			w.codec.layout = direct
		}
	})
}

// TestDecodeToGo shows what tools get to see of workerd's values.
func TestDecodeToGo(t *testing.T) {
	decode := func(g golden, name string) any {
		v, err := DecodeToGo(g.bytes(t, name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return v
	}
	eachDate(t, func(t *testing.T, g golden, _ Options) {
		for name, want := range map[string]any{
			"null": nil, "true": true, "int_300": 300.0, "double": 1.5, "string_latin1": "caf\u00e9 \u00ff", "string_emoji": "\U0001F600!",
			"bigint_negative": big.NewInt(-5),
			"object_simple":   &GoObject{Properties: []GoProperty{{"a", 1.0}, {"b", "x"}}},
			"array_hole":      &GoArray{Length: 3, Properties: []GoProperty{{"0", 1.0}, {"2", 3.0}}},
			"array_of_arrays": &GoArray{Length: 3, Items: []any{&GoArray{Length: 1, Items: []any{1.0}}, &GoArray{Length: 2, Items: []any{2.0, &GoArray{Length: 1, Items: []any{3.0}}}}, &GoArray{}}},
			"date":            &GoDate{1700000000123},
			"regexp_flags":    &GoRegExp{`a\/b`, "gimsuy"},
			"boxed_string":    &GoBoxed{"boxed"},
			"map_with_props":  &GoMap{[][2]any{{"a", 1.0}}},
			"set_empty":       &GoSet{},
			"dataview":        &GoView{Type: "DataView", Buffer: &GoBuffer{[]byte{1, 2, 3, 4}}, Offset: 1, Length: 2},
			"error_type":      &GoError{Class: "TypeError", Name: "TypeError", Message: "type", Stack: "stack of TypeError"},
		} {
			if got := decode(g, name); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %#v, want %#v", name, got, want)
			}
		}
		for name := range g.Values {
			if name == "headers" || name == "blob" {
				if _, err := DecodeToGo(g.bytes(t, name)); err == nil {
					t.Errorf("%s: no error", name)
				}
				continue
			}
			decode(g, name)
		}
		if cycle := decode(g, "cycle_object").(*GoObject); cycle.Properties[1].Value != any(cycle) {
			t.Errorf("a cycle is lost: %#v", cycle)
		}
		if e := decode(g, "dom_exception").(*GoError); e.Class != "DOMException" || e.Name != "AbortError" || e.Message != "msg" || !strings.Contains(e.Stack, "lists.js") {
			t.Errorf("DOMException: %#v", e)
		}
	})
}

// FuzzDeserialize shows that no bytes make the readers panic or hang, and that
// whatever is read can be written and read again.
func FuzzDeserialize(f *testing.F) {
	for _, date := range []string{"2024-01-01", "2026-08-01"} {
		for _, value := range loadGolden(f, date).Values {
			b, err := hex.DecodeString(value)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := DecodeToGo(b); err != nil && !errors.As(err, new(*DeserializeError)) {
			t.Fatalf("DecodeToGo: %v", err)
		}
		w := newWorld(t)
		v, err := w.codec.Deserialize(b, Options{})
		if err != nil {
			return
		}
		o := Options{EnhancedErrors: true}
		first, err := w.codec.Serialize(v, o)
		if errors.Is(err, ErrTooDeep) {
			return
		}
		if err != nil {
			t.Fatalf("%q is read but cannot be written: %v", b, err)
		}
		second := w.serialize(t, w.deserialize(t, first, o), o)
		if string(first) != string(second) {
			t.Fatalf("\n first %q\nsecond %q", first, second)
		}
	})
}
