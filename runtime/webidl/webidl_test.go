package webidl

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/ecma"
	"minido.dev/minido/runtime/engine"
)

// inRealm runs fn in a turn of an isolate that has nothing but the language.
func inRealm(t *testing.T, fn func(r *Realm)) {
	t.Helper()
	s := sched.NewSeeded(clock.NewVirtual(time.Unix(1000, 0)), entropy.NewSeeded(1))
	e := ecma.New(engine.Options{Name: "test", Scheduler: s, Entropy: entropy.NewSeeded(1)})
	r := New(e, Options{Compat: func(flag compat.Flag) bool { return flag == compat.NodejsAls }})
	r.Clone = clone.New(r.VM, clone.Config{Registry: r.Hosts})
	r.InstallDOMException()
	ran := false
	e.Post(e.NewContext(engine.RequestContext, "").Frame(), "test", func() {
		fn(r)
		ran = true
	})
	for s.Step() {
	}
	if err := e.Health.CondemnedBy(); err != nil || !ran {
		t.Fatal("the turn did not end", err)
	}
}

// outcome is what fn returns, or the error that it throws.
func outcome(r *Realm, fn func() any) (text string) {
	if thrown := r.Engine.Try(func() { text = fmt.Sprint(fn()) }); thrown != nil {
		return r.Engine.Text(thrown)
	}
	return text
}

// Conversions give what Web IDL says, and fail with workerd's texts.
func TestConversions(t *testing.T) {
	inRealm(t, func(r *Realm) {
		value := func(source string) goja.Value {
			v, err := r.VM.RunString("(" + source + ")")
			if err != nil {
				t.Fatal(source, err)
			}
			return v
		}
		text := func(fn func(goja.Value) any) func(string) string {
			return func(source string) string { return outcome(r, func() any { return fn(value(source)) }) }
		}
		entries := func(v goja.Value) any {
			var all []string
			r.ForRecord(v.(*goja.Object), func(key string, value goja.Value) { all = append(all, key+"="+value.String()) })
			return strings.Join(all, " ")
		}
		items := func(v goja.Value) any {
			n := 0
			r.Sequence(v, "transfer", "Options", func(goja.Value) { n++ })
			return n
		}
		bytes := func(read func(goja.Value) ([]byte, bool)) func(goja.Value) any {
			return func(v goja.Value) any {
				data, ok := read(v)
				return fmt.Sprint(data, ok)
			}
		}
		for _, c := range []struct {
			name         string
			convert      func(string) string
			source, want string
		}{
			{"USV", text(func(v goja.Value) any { return r.USV(v) }), `"a\ud800b"`, "a\ufffdb"},
			{"USV", text(func(v goja.Value) any { return r.USV(v) }), `Symbol("s")`, "TypeError: Cannot convert a Symbol value to a string"},
			{"ToString", text(func(v goja.Value) any { return r.ToString(v) }), `null`, "null"},
			{"ToUint32", text(func(v goja.Value) any { return ToUint32(v) }), `-1`, "4294967295"},
			{"ToUint32", text(func(v goja.Value) any { return ToUint32(v) }), `NaN`, "0"},
			{"EnforceRange", text(func(v goja.Value) any { return r.EnforceRange(v, "n", 255) }), `255.9`, "255"},
			{"EnforceRange", text(func(v goja.Value) any { return r.EnforceRange(v, "n", 255) }), `256`, `TypeError: The value of "n" must be an integer between 0 and 255.`},
			{"ForRecord", text(entries), `{b: 1, a: 2, [Symbol.iterator]: 3}`, "b=1 a=2"},
			{"ForRecord", text(entries), `new Proxy({x: 1, y: 2}, {getOwnPropertyDescriptor: (o, k) => ({value: o[k], configurable: true, enumerable: k !== "y"})})`, "x=1"},
			{"Sequence", text(items), `new Set([1, 2, 2])`, "2"},
			{"Sequence", text(items), `"ab"`, "TypeError: Incorrect type for the 'transfer' field on 'Options': the provided value is not of type 'Array'."},
			{"BytesOf", text(bytes(r.BytesOf)), `new DataView(new Uint8Array([1, 2, 3]).buffer, 1)`, "[2 3] true"},
			{"BytesOf", text(bytes(r.BytesOf)), `[1, 2]`, "[] false"},
			{"BytesOf", text(bytes(r.BytesOf)), `new SharedArrayBuffer(1)`, "[] false"},
			{"MemoryOf", text(bytes(r.MemoryOf)), `new SharedArrayBuffer(1)`, "[0] true"},
		} {
			if got := c.convert(c.source); got != c.want {
				t.Errorf("%s of %s is %q, want %q", c.name, c.source, got, c.want)
			}
		}
	})
}

// An iterator of Go's inherits from Iterator.prototype, a class made lazily is
// made once, a promise rejects with what its function throws, and a flag is on
// if the options say so.
func TestRealm(t *testing.T) {
	inRealm(t, func(r *Realm) {
		n := 0
		r.Engine.Global("it", r.LanguageIterator("Test Iterator", func() (goja.Value, bool) {
			n++
			return r.VM.ToValue(n), n < 3
		}))
		made := 0
		lazy := Lazily(r.Engine, func() int { made++; return made })
		lazy()
		if v, err := r.VM.RunString(`[it[Symbol.toStringTag], ...it].join()`); err != nil || v.String() != "Test Iterator,1,2" || lazy() != 1 {
			t.Error(v, err, made)
		}
		rejected := PromiseOf(r.Promise(func() goja.Value { r.ThrowDOM("AbortError", "%d", 5); return nil }))
		reason, _ := rejected.Result().(*goja.Object)
		if rejected.State() != goja.PromiseStateRejected || !r.IsDOMException(reason) || Get(reason, "code").ToInteger() != 20 {
			t.Error("rejected with", reason)
		}
		if !r.Enabled(compat.NodejsAls) || r.Enabled(compat.UrlStandard) {
			t.Error("flags are not those of the options")
		}
	})
}
