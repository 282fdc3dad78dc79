package clone

import (
	"math"
	"reflect"
	"testing"
)

// What is written from Go is read back, by Go and by a runtime; JSON keeps the order of
// its properties.
func TestEncodeFromGo(t *testing.T) {
	text := `{"z":[1,-2,1.5,4294967296,"ascii","latin ü","wide € 😀",null,true,false],"a":{"nested":{}},"0":"index","":[]}`
	v, err := GoFromJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o := v.(*GoObject)
	o.Properties = append(o.Properties, GoProperty{"when", &GoDate{Milliseconds: 1.5e12}}, GoProperty{"none", Undefined{}}, GoProperty{"minus", math.Copysign(0, -1)})
	data, err := EncodeFromGo(o)
	if err != nil {
		t.Fatal(err)
	}
	back, err := DecodeToGo(data)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, v) {
		t.Errorf("%#v, not %#v", back, v)
	}
	w := newWorld(t)
	value, err := w.codec.Deserialize(data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.vm.Set("v", value); err != nil {
		t.Fatal(err)
	}
	got, err := w.vm.RunString(`JSON.stringify([v, v.when.getTime(), "none" in v, Object.is(v.minus, -0)])`)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"0":"index","z":[1,-2,1.5,4294967296,"ascii","latin ü","wide € 😀",null,true,false],"a":{"nested":{}},"":[],"when":"2017-07-14T02:40:00.000Z","minus":0},1500000000000,true,true]`
	if got.String() != want {
		t.Errorf("%s, not %s", got, want)
	}
	for _, bad := range []any{1, &GoMap{}, &GoArray{Items: []any{Hole{}}}} {
		if _, err := EncodeFromGo(bad); err == nil {
			t.Errorf("%T is written", bad)
		}
	}
	if _, err := GoFromJSON([]byte(`{"a":`)); err == nil {
		t.Error("half a JSON text is a value")
	}
}
