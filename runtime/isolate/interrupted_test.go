package isolate

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/bundle"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// loaded is an isolate of a worker with one module, and what runs its events.
func loaded(t *testing.T, source string) (*Isolate, *sched.Seeded) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.js"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	off := func(compat.Flag) bool { return false }
	bundler := bundle.New(bundle.Options{Dir: dir, Entry: "main.js", Builtins: HasBuiltin(off)})
	defer bundler.Close()
	built, err := bundler.Build()
	if err != nil {
		t.Fatal(err)
	}
	s := sched.NewSeeded(clock.NewVirtual(time.Unix(1000, 0)), entropy.NewSeeded(1))
	i := New(Options{Name: "test", Scheduler: s, Entropy: entropy.NewSeeded(1), Bundle: built, Compat: off, Log: func(engine.Level, *engine.Context, string) {}})
	ready := errors.New("it never said that it is loaded")
	i.Start(func(err error) { ready = err })
	for s.Step() {
	}
	if ready != nil {
		t.Fatal(ready)
	}
	return i, s
}

// An event whose turn is stopped before any code of it runs is not lost: whoever
// waits for it is told to bring it to the isolate's successor.
func TestEventsThatAreInterruptedBeforeTheyBegin(t *testing.T) {
	const worker = `export default { fetch() { return new Response("here"); }, scheduled() {}, call() { return 1; } };`
	reason := errors.New("stopped from outside")
	for name, send := range map[string]func(i *Isolate, done func(error)){
		"fetch": func(i *Isolate, done func(error)) {
			i.Entrypoint("default", nil).Fetch(&event.Request{Method: "GET", URL: "http://localhost/"}, func(_ *event.Response, err error) { done(err) })
		},
		"call": func(i *Isolate, done func(error)) {
			i.Entrypoint("default", nil).Call(&event.Call{Path: []string{"call"}}, func(_ *event.Payload, err error) { done(err) })
		},
		"scheduled": func(i *Isolate, done func(error)) {
			i.Scheduled("* * * * *", 0, nil, func(_ bool, err error) { done(err) })
		},
	} {
		i, s := loaded(t, worker)
		i.Engine.Interrupt(reason)
		var got []error
		send(i, func(err error) { got = append(got, err) })
		for s.Step() {
		}
		if len(got) != 1 || !errors.Is(got[0], ErrEnded) {
			t.Errorf("%s: it was answered %v, want once, with %v", name, got, ErrEnded)
		}
	}
}

// One that is stopped while its receiver is made, before it waits for its own end,
// is answered too.
func TestCallsThatAreInterruptedAsTheyBegin(t *testing.T) {
	i, s := loaded(t, `export default { call() { return 1; } };`)
	i.exports.DefineAccessorProperty("default", i.vm.ToValue(func() goja.Value {
		i.Engine.Interrupt(errors.New("stopped from outside"))
		v, err := i.vm.RunString("for (;;);")
		if err != nil {
			panic(err)
		}
		return v
	}), nil, goja.FLAG_TRUE, goja.FLAG_TRUE)
	var got []error
	i.Entrypoint("default", nil).Call(&event.Call{Path: []string{"call"}}, func(_ *event.Payload, err error) { got = append(got, err) })
	for s.Step() {
	}
	if len(got) != 1 || got[0] == nil {
		t.Errorf("it was answered %v, want once, with an error", got)
	}
}
