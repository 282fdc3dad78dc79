package clone

import "testing"

// The costs that matter to storage and RPC: a primitive, a small object, a
// larger document, a long list.
var benchValues = []struct{ name, src string }{
	{"int", `7`},
	{"string", `"hello, world"`},
	{"small", `({a: 1, b: "x"})`},
	{"document", `({id: 7, name: "Zo\u00eb", tags: ["a", "b", "c"], at: new Date(0), nested: {deep: [{a: 1, b: 2}, {a: 3, b: 4}]}, bytes: new Uint8Array(64), map: new Map([["k", 1]])})`},
	{"ints1000", `Array.from({length: 1000}, (_, i) => i)`},
	{"rows100", `Array.from({length: 100}, (_, i) => ({id: i, title: "row " + i, done: false}))`},
}

func BenchmarkSerialize(b *testing.B) {
	for _, v := range benchValues {
		b.Run(v.name, func(b *testing.B) {
			w := newWorld(b)
			value := w.run(b, v.src)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.codec.Serialize(value, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDeserialize(b *testing.B) {
	for _, v := range benchValues {
		b.Run(v.name, func(b *testing.B) {
			w := newWorld(b)
			data := w.serialize(b, w.run(b, v.src), Options{})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.codec.Deserialize(data, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNewCodec(b *testing.B) {
	w := newWorld(b)
	b.ReportAllocs()
	for b.Loop() {
		New(w.vm, Config{})
	}
}
