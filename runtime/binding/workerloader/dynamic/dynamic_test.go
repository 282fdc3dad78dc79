package dynamic

import (
	"testing"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/event"
)

// counted is a capability whose references are counted.
type counted struct{ references *int }

func (c counted) Call(*event.Call, func(*event.Payload, error)) {}
func (c counted) Dup() event.Capability                         { *c.references++; return c }
func (c counted) Release()                                      { *c.references-- }

// What the env of a dynamic worker refers to is given up with the worker, whether its code
// comes before its end or after it, and is loaded or not.
func TestReferencesOfEnvEnd(t *testing.T) {
	for name, steps := range map[string][]string{
		"unused": {"provide", "close"}, "late": {"close", "provide"}, "loaded": {"provide", "use", "close"},
		"waited for": {"use", "provide", "close"}, "with objects": {"objects", "provide", "close"}, "late with objects": {"objects", "close", "provide"},
	} {
		references := 1
		loads := 0
		w := New("", func(code driver.Code, done func(driver.Loaded, error)) {
			loads++
			release(code) // who loads it takes it over
			done(nil, ErrEnded)
		})
		for _, step := range steps {
			switch step {
			case "provide":
				w.Provide(driver.Code{Env: &event.Payload{Caps: []any{counted{&references}}}})
			case "use":
				w.When(func(driver.Loaded, error) {})
			case "objects":
				w.ForObjects(nil)
			case "close":
				w.Close()
			}
		}
		if references != 0 {
			t.Errorf("%s: %d references are left", name, references)
		}
		if want := map[string]int{"loaded": 1, "waited for": 1}[name]; loads != want {
			t.Errorf("%s: loaded %d times, want %d", name, loads, want)
		}
	}
}
