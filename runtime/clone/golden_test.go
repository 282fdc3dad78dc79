package clone

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// golden is what workerd did; testdata/generate writes it.
type golden struct {
	CompatibilityDate string                                `json:"compatibilityDate"`
	Values            map[string]string                     `json:"values"`
	Failures          map[string]map[string]json.RawMessage `json:"failures"`
	Stacks            map[string]json.RawMessage            `json:"stacks"`
	Depth             map[string]int                        `json:"depth"`
}

func loadGolden(t testing.TB, date string) golden {
	t.Helper()
	raw, err := os.ReadFile("testdata/workerd-" + date + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g golden) bytes(t testing.TB, name string) []byte {
	t.Helper()
	b, err := hex.DecodeString(g.Values[name])
	if err != nil || len(b) == 0 {
		t.Fatalf("golden %s of %s: %v", name, g.CompatibilityDate, err)
	}
	return b
}

// eachDate runs a test with the goldens and the options of both dates: errors
// are V8's own before enhanced_error_serialization, workerd's after.
func eachDate(t *testing.T, f func(t *testing.T, g golden, o Options)) {
	for _, date := range []string{"2024-01-01", "2026-08-01"} {
		t.Run(date, func(t *testing.T) {
			f(t, loadGolden(t, date), Options{EnhancedErrors: date > "2026-04-21"})
		})
	}
}

// world is a runtime with its codec and a list of cases.
type world struct {
	vm    *goja.Runtime
	codec *Codec
}

func newWorld(t testing.TB) *world {
	t.Helper()
	vm := goja.New()
	return &world{vm: vm, codec: New(vm, Config{})}
}

// withoutLayout makes the codec go through goja's public API only, as it would
// if goja's internals were not recognised.
func (w *world) withoutLayout() *world {
	l := *w.codec.layout
	l.direct = false
	l.unicodeType = nil
	w.codec.layout = &l
	return w
}

func (w *world) run(t testing.TB, src string) goja.Value {
	t.Helper()
	v, err := w.vm.RunString(src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return v
}

// load runs a list of cases and returns its names, sorted, and its functions.
func (w *world) load(t testing.TB, file, list string) (names []string, build func(name string) goja.Value) {
	t.Helper()
	src, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	cases := w.run(t, string(src)+"\n;"+list).ToObject(w.vm)
	names = cases.Keys()
	sort.Strings(names)
	return names, func(name string) goja.Value {
		f, _ := goja.AssertFunction(cases.Get(name))
		v, err := f(goja.Undefined())
		if err != nil {
			t.Fatalf("case %s: %v", name, err)
		}
		return v
	}
}

func (w *world) serialize(t testing.TB, v goja.Value, o Options) []byte {
	t.Helper()
	b, err := w.codec.Serialize(v, o)
	if err != nil {
		t.Fatalf("serialize: %v", err)
	}
	return b
}

func (w *world) deserialize(t testing.TB, b []byte, o Options) goja.Value {
	t.Helper()
	v, err := w.codec.Deserialize(b, o)
	if err != nil {
		t.Fatalf("deserialize %q: %v", b, err)
	}
	return v
}

// TestBytesEqualWorkerds shows that every value of the corpus becomes exactly
// the bytes that workerd stored for it, with and without the direct reading.
func TestBytesEqualWorkerds(t *testing.T) {
	eachDate(t, func(t *testing.T, g golden, o Options) {
		for path, w := range map[string]*world{"direct": newWorld(t), "public": newWorld(t).withoutLayout()} {
			names, build := w.load(t, "cases.js", "CASES")
			for _, name := range names {
				t.Run(path+"/"+name, func(t *testing.T) {
					got, want := w.serialize(t, build(name), o), g.bytes(t, name)
					if string(got) != string(want) {
						t.Errorf("\n got %q\nwant %q", got, want)
					}
				})
			}
		}
	})
}

// TestWorkerdsBytesAreRead shows that what workerd stored is read as the same
// value: written again it gives the same bytes.
func TestWorkerdsBytesAreRead(t *testing.T) {
	// Their bytes hold something that a fresh value does not show.
	changes := map[string]string{
		"array_getter_truncates": "holes in the dense form: read, but written sparse",
		"array_accessor":         "the accessor's value becomes plain data",
		"error_subclass_named":   "the name becomes an own property, which older errors do not keep",
		"error_stack_not_string": "V8's form drops the stack, so the one made in reading appears",
		"error_message_number":   "the message of a native error must be a string",
		"error_renamed":          "V8's form keeps no name it does not know",
	}
	eachDate(t, func(t *testing.T, g golden, o Options) {
		w := newWorld(t)
		names, _ := w.load(t, "cases.js", "CASES")
		for _, name := range names {
			if changes[name] != "" {
				continue
			}
			t.Run(name, func(t *testing.T) {
				want := g.bytes(t, name)
				got := w.serialize(t, w.deserialize(t, want, o), o)
				if string(got) != string(want) {
					t.Errorf("\n got %q\nwant %q", got, want)
				}
			})
		}
	})
}

// TestFailuresEqualWorkerds shows that what cannot be cloned fails with
// workerd's words in each place that serializes.
func TestFailuresEqualWorkerds(t *testing.T) {
	places := map[string]Options{
		"put":             {Mode: Storage},
		"structuredClone": {Mode: StructuredClone},
		"attachment":      {Mode: Attachment},
		"rpc":             {Mode: RPC, ClassInstances: Refused, HostCallables: true},
	}
	eachDate(t, func(t *testing.T, g golden, dated Options) {
		w := newWorld(t)
		names, build := w.load(t, "failures.js", "FAILURES")
		for _, name := range names {
			for place, o := range places {
				var want struct{ Name, Message, Thrown string }
				raw := g.Failures[name][place]
				if string(raw) != `"ok"` {
					if err := json.Unmarshal(raw, &want); err != nil {
						t.Fatal(name, place, err)
					}
				}
				if place == "rpc" && (string(raw) == `"ok"` || strings.HasPrefix(want.Message, "Proxy could not")) {
					continue // functions and proxies pass by reference: a host codec's business
				}
				if name == "undefined" {
					continue // put() itself refuses it
				}
				t.Run(name+"/"+place, func(t *testing.T) {
					o.EnhancedErrors = dated.EnhancedErrors
					_, err := w.codec.Serialize(build(name), o)
					checkFailure(t, w, err, string(raw) == `"ok"`, want.Name, want.Message, want.Thrown)
				})
			}
		}
	})
}

func checkFailure(t *testing.T, w *world, err error, ok bool, name, message, thrown string) {
	t.Helper()
	var clone *DataCloneError
	var exception *goja.Exception
	switch {
	case ok:
		if err != nil {
			t.Errorf("workerd accepts it: %v", err)
		}
	case thrown != "":
		if !errors.As(err, &exception) || exception.Value().String() != thrown {
			t.Errorf("got %v, want %s thrown", err, thrown)
		}
	case name == "DataCloneError":
		if !errors.As(err, &clone) || clone.Message != message {
			t.Errorf("\n got %v\nwant %s", err, message)
		}
	default:
		if !errors.As(err, &exception) || exception.Value().ToObject(w.vm).Get("message").String() != message {
			t.Errorf("got %v, want %s: %s", err, name, message)
		}
	}
}
