package clone

import (
	"errors"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// TestLayoutIsKnown fails when a new version of goja keeps its objects in
// another way: cloning still works then, but several times slower, and
// layout.go wants to be looked at.
func TestLayoutIsKnown(t *testing.T) {
	l := theLayout()
	if !l.direct || l.accessor == nil || l.unicodeType == nil {
		t.Fatalf("goja's layout is not recognised: %+v", l)
	}
	vm := goja.New()
	v, err := vm.RunString(samples)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range sampleKinds {
		if got := l.kindOf(v.ToObject(vm).Get(itoa(i)).ToObject(vm)); got != want {
			t.Errorf("sample %d has kind %d, want %d", i, got, want)
		}
	}
}

// TestWorkerdsOtherForms shows that forms which this package never writes are
// read as the values they stand for.
func TestWorkerdsOtherForms(t *testing.T) {
	checks := map[string]string{
		"array_preallocated":    `v.length === 3 && v.join() === "7,7,7"`,
		"array_hole_filled":     `v.length === 3 && v.join() === "1,2,3"`,
		"double_field_int":      `v.a === 3`,
		"resizable_buffer":      `v instanceof ArrayBuffer && v.byteLength === 4`,
		"resizable_view":        `v[0].join() === "1,2,3,4" && v[1].join() === "2,3" && v[0].buffer === v[1].buffer`,
		"suppressed_error":      `v instanceof Error && v.message === "sup"`,
		"array_long_length":     `v.length === 4294967295 && Object.keys(v).length === 0`,
		"array_sparse":          `v.length === 1000001 && v[5] === "five" && v[1000000] === 1 && Object.keys(v).length === 2`,
		"array_hole":            `v.length === 3 && !(1 in v) && v[2] === 3`,
		"view_uint16_offset":    `v instanceof Uint16Array && v.byteOffset === 4 && v.length === 2 && v.buffer.byteLength === 12`,
		"error_cause_self":      `v.cause === v`,
		"cycle_map":             `v.get("m") === v && v.get(v) === 1`,
		"cycle_array":           `v[1] === v && v.length === 2`,
		"lone_surrogate_key":    `v["k\udc00"] === 1 && v["k\ud800"] === 2 && Object.keys(v).length === 2`,
		"object_proto_key":      `Object.getPrototypeOf(v) === Object.prototype && Object.keys(v).join() === "__proto__"`,
		"regexp_flags":          `v.source === "a\\/b" && v.flags.includes("y") && v.lastIndex === 0`,
		"boxed_minus_zero":      `typeof v === "object" && Object.is(v.valueOf(), -0)`,
		"date_invalid":          `v instanceof Date && isNaN(v)`,
		"minus_zero":            `Object.is(v, -0)`,
		"bigint64array":         `v[0] === -1n && v instanceof BigInt64Array`,
		"string_lone_surrogate": `v === "x\ud800y"`,
	}
	eachDate(t, func(t *testing.T, g golden, o Options) {
		w := newWorld(t)
		for name, check := range checks {
			if err := w.vm.Set("v", w.deserialize(t, g.bytes(t, name), o)); err != nil {
				t.Fatal(err)
			}
			if !w.run(t, check).ToBoolean() {
				t.Errorf("%s: %s does not hold", name, check)
			}
		}
		for name, want := range map[string]string{"float16array": "Float16Array", "regexp_indices": "/a/d", "regexp_unicode_sets": "/a/v"} {
			if _, err := w.codec.Deserialize(g.bytes(t, name), o); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestNesting shows that the limits of nesting are workerd's.
func TestNesting(t *testing.T) {
	w := newWorld(t)
	depth := loadGolden(t, "2026-08-01").Depth
	build, _ := goja.AssertFunction(w.run(t, `(kind, n) => { let v = kind === "array" ? [] : {}; for (let i = 0; i < n; i++) v = kind === "array" ? [v] : {v}; return v; }`))
	for _, kind := range []string{"array", "object"} {
		for extra, want := range map[int]error{0: nil, 1: ErrTooDeep} {
			v, err := build(goja.Undefined(), w.vm.ToValue(kind), w.vm.ToValue(depth[kind]+extra))
			if err != nil {
				t.Fatal(err)
			}
			b, err := w.codec.Serialize(v, Options{})
			if !errors.Is(err, want) {
				t.Errorf("%s nested %d times: %v, want %v", kind, depth[kind]+extra, err, want)
			}
			if err == nil {
				w.deserialize(t, b, Options{})
			}
		}
	}
	deep := []byte{tagVersion, latestVersion}
	for range deepest + 1 {
		deep = append(deep, tagBeginDenseArray, 1)
	}
	if _, err := w.codec.Deserialize(deep, Options{}); err == nil || !strings.Contains(err.Error(), "nested too deeply") {
		t.Errorf("bytes nested too deeply: %v", err)
	}
}

// TestTransfer shows that transferred buffers move: the copy has the memory,
// the original is detached, and each is listed once.
func TestTransfer(t *testing.T) {
	w := newWorld(t)
	w.run(t, `var b = new Uint8Array([1, 2, 3]).buffer, u = new Uint8Array(b, 1), seen;
		var v = {u, b, get late() { seen = b.byteLength; return 1; }}`)
	object := func(name string) *goja.Object { return w.vm.Get(name).ToObject(w.vm) }
	copied, err := w.codec.StructuredClone(w.vm.Get("v"), Options{Mode: StructuredClone, Transfer: []*goja.Object{object("u"), object("b")}})
	if err != nil {
		t.Fatal(err)
	}
	w.vm.Set("c", copied)
	if got := w.run(t, `[seen, u.length, c.u.join(), c.u.buffer === c.b, c.b.byteLength, c.late].join("|")`).String(); got != "3|0|2,3|true|3|1" {
		t.Errorf("got %s", got)
	}
	_, err = w.codec.Serialize(w.vm.Get("v"), Options{})
	if err == nil || err.Error() != "An ArrayBuffer is detached and could not be cloned." {
		t.Errorf("a detached buffer: %v", err)
	}
	if _, err := w.codec.StructuredClone(w.run(t, "[1]"), Options{Transfer: []*goja.Object{object("v")}}); !errors.Is(err, ErrNotTransferable) {
		t.Errorf("an object in a transfer list: %v", err)
	}
	bytes, _, err := w.codec.SerializeTransfer(w.run(t, "var d = new ArrayBuffer(2); d"), Options{Transfer: []*goja.Object{object("d")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.codec.Deserialize(bytes, Options{}); err == nil || !strings.Contains(err.Error(), "transferred buffer is missing") {
		t.Errorf("a transfer without its contents: %v", err)
	}
}

// TestPatchedBuiltins shows that user code which replaces what prototypes and
// constructors offer changes nothing.
func TestPatchedBuiltins(t *testing.T) {
	w := newWorld(t)
	v := w.run(t, `({m: new Map([["a", new Set([1])]]), d: new Date(5), r: /x/gi, u: new Uint16Array([7]), s: new String("s"),
		list: [1, , 3], 5: "five", big: Object(5n), e: Object.assign(new TypeError("t"), {stack: "s"})})`)
	want := w.serialize(t, v, Options{})
	w.run(t, `
		const bad = () => { throw new Error("patched builtin was used"); };
		const {ownKeys, getOwnPropertyDescriptor, defineProperty} = Reflect;
		const all = [Map, Set, Date, RegExp, String, Array, Object, Function, Symbol, ArrayBuffer, Uint16Array, Object.getPrototypeOf(Uint16Array), TypeError, DataView];
		for (let i = 0; i < all.length; i++)
			for (let j = 0; j < 2; j++) {
				const p = j ? all[i].prototype : all[i], keys = ownKeys(p);
				for (let n = 0; n < keys.length; n++) {
					const k = keys[n];
					if (k === "prototype" || k === "constructor" || k === "name" || k === "message" || k === "length") continue;
					const d = getOwnPropertyDescriptor(p, k);
					if (d.configurable) defineProperty(p, k, d.get ? {get: bad} : {value: bad});
				}
			}
		defineProperty(Object.prototype, "a", {set: bad, get: bad, configurable: true});
		defineProperty(Array.prototype, "1", {set: bad, get: bad, configurable: true});
		Map = Set = Date = RegExp = Object = Array = TypeError = Uint16Array = Reflect = bad;`)
	got := w.serialize(t, v, Options{})
	if string(got) != string(want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	if again := w.serialize(t, w.deserialize(t, got, Options{}), Options{}); string(again) != string(want) {
		t.Errorf("\n got %q\nwant %q", again, want)
	}
}

// TestNoJobsRunMeanwhile shows that promise jobs wait until a value is cloned,
// although nothing but Go is on the stack.
func TestNoJobsRunMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.run(t, `var ran = 0, o = {get x() { Promise.resolve().then(() => { ran++; }); return new Map([[1, new Date(0)]]); }, get y() { return ran; }}`)
	copied := w.deserialize(t, w.serialize(t, w.vm.Get("o"), Options{}), Options{}).ToObject(w.vm)
	if n := copied.Get("y").ToInteger(); n != 0 {
		t.Errorf("%d jobs ran while the value was being written", n)
	}
}

// TestReentrance shows that a getter may clone another value in the middle of
// cloning one.
func TestReentrance(t *testing.T) {
	w := newWorld(t)
	w.vm.Set("clone", func(call goja.FunctionCall) goja.Value {
		v, err := w.codec.StructuredClone(call.Argument(0), Options{})
		if err != nil {
			panic(w.vm.NewGoError(err))
		}
		return v
	})
	v := w.run(t, `({a: [1, {get x() { return clone(new Map([[{k: 1}, [2]]])); }}], get b() { return clone({s: new Set([clone("deep")])}); }, c: 3})`)
	w.vm.Set("v", w.deserialize(t, w.serialize(t, v, Options{}), Options{}))
	if got := w.run(t, `[[...v.a[1].x][0][0].k, [...v.b.s][0], v.c].join()`).String(); got != "1,deep,3" {
		t.Errorf("got %s", got)
	}
}

// TestMaxBytes shows that the bound holds for every kind of growth.
func TestMaxBytes(t *testing.T) {
	w := newWorld(t)
	for _, src := range []string{`"x".repeat(200)`, `new Uint8Array(200)`, `Array(200).fill(1)`, `({a: "\u0416".repeat(100)})`, `1n << 2000n`, `[...Array(200)].map(() => ({}))`} {
		v := w.run(t, src)
		if _, err := w.codec.Serialize(v, Options{MaxBytes: 100}); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", src, err)
		}
		n := len(w.serialize(t, v, Options{}))
		if _, err := w.codec.Serialize(v, Options{MaxBytes: n}); err != nil {
			t.Errorf("%s at its exact size: %v", src, err)
		}
	}
}

// TestRoom shows that nothing large is written or read without asking for its room,
// and that a refusal ends it with V8's text.
func TestRoom(t *testing.T) {
	vm := goja.New()
	asked, room := 0, true
	c := New(vm, Config{Room: func(bytes int) bool {
		asked += bytes
		return room
	}})
	const objects = `Array.from({ length: 100000 }, () => [])`
	for _, src := range []string{objects, `["x".repeat(4 << 20)]`, `new Uint8Array(4 << 20)`, `Array(1000000).fill(0.5)`} {
		v, err := vm.RunString(src)
		if err != nil {
			t.Fatal(err)
		}
		asked, room = 0, true
		data, err := c.Serialize(v, Options{})
		if err != nil || len(data) > 1<<20 && asked < len(data)/2 {
			t.Errorf("%s: %v, asked for %d of %d bytes", src, err, asked, len(data))
		}
		asked = 0
		if _, err := c.Deserialize(data, Options{}); err != nil || src == objects && asked < 100000*objectBytes/2 {
			t.Errorf("%s: read: %v, asked for %d bytes", src, err, asked)
		}
		room = false
		if _, err := c.Serialize(v, Options{}); len(data) > 1<<20 && !errors.Is(err, errOutOfMemory) {
			t.Errorf("%s: written without room: %v", src, err)
		}
		if _, err := c.Deserialize(data, Options{}); src == objects && !errors.Is(err, errOutOfMemory) {
			t.Errorf("%s: read without room: %v", src, err)
		}
		if _, err := c.StructuredClone(v, Options{}); !errors.Is(err, errOutOfMemory) {
			t.Errorf("%s: cloned without room: %v", src, err)
		}
	}
	if v, err := c.StructuredClone(vm.ToValue("small"), Options{}); err != nil || v.String() != "small" {
		t.Errorf("a small value needs no room: %v, %v", v, err)
	}
}

// TestRegExpHooks shows that a runtime which translates patterns can keep the
// user's own in the bytes.
func TestRegExpHooks(t *testing.T) {
	vm := goja.New()
	var made string
	codec := New(vm, Config{
		RegExpSource: func(re *goja.Object) (goja.Value, string, bool) { return vm.ToValue(`\p{L}`), "dgu", true },
		NewRegExp: func(source goja.Value, flags string) (*goja.Object, error) {
			made = source.String() + " " + flags
			return vm.New(vm.Get("RegExp"), vm.ToValue("x"))
		},
	})
	re, err := vm.RunString("/[a-z]/")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := codec.StructuredClone(re, Options{}); err != nil || made != `\p{L} dgu` {
		t.Errorf("made %q, %v", made, err)
	}
}

// TestOldVersions shows that data of earlier format versions is read: strings
// within objects without tags (before 12), views without flags (before 14), and
// those of version 13 that have them all the same.
func TestOldVersions(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ bytes, check string }{
		{"\xff\x0bR\x02ab\x01", `v.source === "ab" && v.global`},
		{"\xff\x0bs\x02hi", `v.valueOf() === "hi"`},
		{"\xff\x0aA\x02_I\x02$\x00\x02", `!(0 in v) && v[1] === 1`},
		{"\xff\x0bA\x02_I\x02$\x00\x02", `0 in v && v[1] === 1`},
		{"\xff\x0dA\x02B\x02\x01\x02VB\x01\x01I\x06$\x00\x02", `v[0][0] === 2 && v[1] === 3`},
		{"\xff\x0dA\x02B\x02\x01\x02VB\x01\x01\x00I\x06$\x00\x02", `v[0][0] === 2 && v[1] === 3`},
		{"\xff\x0eB\x02\x01\x02VB\x01\x01\x00", `v[0] === 2`},
		{"\xff\x0f?\x05U\xff\xff\xff\xff\x0f", `v === 4294967295`},
		{"\xff\x0fS\x05caf\xc3\xa9", `v === "caf\u00e9"`},
		{"\xff\x0frTc^\x00s\"\x01sm\"\x01m.", `v instanceof TypeError && v.cause === v && v.stack === "s"`},
	} {
		w.vm.Set("v", w.deserialize(t, []byte(c.bytes), Options{}))
		if !w.run(t, c.check).ToBoolean() {
			t.Errorf("%q: %s does not hold", c.bytes, c.check)
		}
	}
}

// TestDamage shows that damaged data is refused with its reason.
func TestDamage(t *testing.T) {
	w := newWorld(t)
	for bytes, reason := range map[string]string{
		"":                                "header",
		"I\x02":                           "header",
		"\xff\x11I\x02":                   "version 17",
		"\xff\x0f":                        "ends early",
		"\xff\x0f\"\x05abc":               "length exceeds",
		"\xff\x0fc\x03abc":                "odd length",
		"\xff\x0fA\xff\xff\xff\x7f":       "length exceeds",
		"\xff\x0fB\xff\xff\xff\x7f":       "length exceeds",
		"\xff\x0fo\"\x01aI\x02{\x02":      "number of properties",
		"\xff\x0fo_I\x02{\x01":            "property key",
		"\xff\x0f^\x00":                   "reference",
		"\xff\x0fs^\x00":                  "reference",
		"\xff\x0fB\x01\x00VB\x01\x01\x00": "exceeds its buffer",
		"\xff\x0fB\x04\x00\x00\x00\x00Vd\x01\x02\x00": "aligned",
		"\xff\x0fB\x01\x00Vz\x00\x01\x00":             "unknown type",
		"\xff\x0fu\x00":                               "SharedArrayBuffer",
		"\xff\x0fR\"\x01(\x00":                        "cannot be made",
		"\xff\x0fR\"\x01a\x80\x08":                    "unknown flags",
		"\xff\x0fQ":                                   "unknown tag",
		"\xff\x0f;I\x02I\x04:\x04":                    "number of properties",
		"\xff\x0f~\x05\x04abcde":                      "maximum",
		"\xff\x0f\\\x63":                              "host object 99 (unknown)",
		"\xff\x0fr!":                                  "unknown part",
		"\xff\x0fZ\x80":                               "cut short",
	} {
		_, err := w.codec.Deserialize([]byte(bytes), Options{})
		var de *DeserializeError
		if !errors.As(err, &de) || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v, want %q", bytes, err, reason)
		}
	}
}
