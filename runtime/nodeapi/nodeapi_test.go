package nodeapi

import (
	_ "embed"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/runtime/ecma"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi"
)

// world is an engine with the node: modules on a seeded scheduler.
type world struct {
	t     testing.TB
	sched *sched.Seeded
	clock *clock.Virtual
	e     *engine.Engine
	m     *Modules
	c     *engine.Context
	net   func(req *event.Request, done func(*event.Response, error)) func(error)
	logs  []string
	out   []string
}

func newWorld(t testing.TB, o Options) *world {
	if o.Compat == nil {
		o.Compat = compat.Set{Date: "2026-09-01", Asked: []string{"nodejs_compat"}}.On
	}
	w := &world{t: t, clock: clock.NewVirtual(time.Unix(1000, 0)), net: echo}
	w.sched = sched.NewSeeded(w.clock, entropy.NewSeeded(1))
	w.e = ecma.New(engine.Options{Name: "test", Scheduler: w.sched, Entropy: entropy.NewSeeded(1),
		Logger:    func(l engine.Level, c *engine.Context, text string) { w.logs = append(w.logs, text) },
		Condemned: func(reason error) { t.Errorf("condemned: %v", reason) }})
	w.e.Global("say", w.e.Func("say", 1, func(c goja.FunctionCall) goja.Value {
		var words []string
		for _, a := range c.Arguments {
			words = append(words, w.e.Text(a))
		}
		w.out = append(w.out, strings.Join(words, " "))
		return goja.Undefined()
	}))
	w.m = New(w.e, webapi.Install(w.e, webapi.Options{Compat: o.Compat,
		Fetch: func(req *event.Request, done func(*event.Response, error)) func(error) { return w.net(req, done) }}), o)
	w.e.Global("require", w.e.Func("require", 1, func(c goja.FunctionCall) goja.Value {
		v, err := w.m.Require(c.Argument(0).String())
		if err != nil {
			panic(w.e.Errors.FromGo(err))
		}
		return v
	}))
	w.c = w.e.NewContext(engine.RequestContext, "")
	return w
}

// in runs source as one turn of the world's context; global does in none.
func (w *world) in(source string) { w.turn(w.c.Frame(), source) }

func (w *world) global(source string) { w.turn(engine.GlobalFrame, source) }

func (w *world) turn(f *engine.Frame, source string) {
	w.t.Helper()
	if err := w.e.Post(f, "test", func() {
		if _, err := w.e.VM().RunString("(() => {" + source + "\n})()"); err != nil {
			w.e.Rethrow(err)
		}
	}); err != nil {
		w.t.Fatal(err)
	}
	for w.sched.Step() {
	}
}

// said compares what say() got, one line per call.
func (w *world) said(want ...string) {
	w.t.Helper()
	got := w.out
	w.out = nil
	if fmt.Sprint(got) != fmt.Sprint(want) || len(w.logs) > 0 {
		w.t.Fatalf("said\n  %s\nwant\n  %s\nlog %q", strings.Join(got, "\n  "), strings.Join(want, "\n  "), w.logs)
	}
}

// check evaluates expressions (promises are awaited) and compares their text.
func check(t *testing.T, w *world, prologue string, cases [][2]string) {
	t.Helper()
	for _, c := range cases {
		if w.e.Health.CondemnedBy() != nil {
			t.Fatal("condemned")
		}
		w.out, w.logs = nil, nil
		w.in("const show = " + showSource + ";(async () => { try {" + prologue + "; say(show(await (" + c[0] + "))); } catch (e) { say(show(e)); } })()")
		if len(w.out) == 0 {
			w.out = []string{"HUNG"} // nothing can settle it
		}
		if len(w.out) != 1 || w.out[0] != c[1] {
			t.Errorf("%s\n   = %s\nwant %s\n%s", c[0], strings.Join(w.out, "|"), c[1], strings.Join(w.logs, "\n"))
			w.logs = nil
		}
	}
}

// showSource is a function that makes one line of a value: JSON-like, telling
// strings, numbers, bigints, errors and byte arrays apart.
//
//go:embed testdata/show.js
var showSource string

// golden runs testdata/<name>.txt: lines "! prologue", "> expression" and
// "= its value". The values were printed by workerd 1.20261117 (compatibility
// date 2026-09-01) with show.js; a line "~ ours" after one says where and what
// minido answers differently, on purpose; "HUNG" is a promise that nothing settles.
// A file whose first line says so has the values of Node 24 instead; the others are
// held against workerd by TestDifferentialNode.
func golden(t *testing.T, name string) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, Options{Env: func() map[string]string { return map[string]string{"FOO": "bar"} }})
	cloudflare, err := w.m.CloudflareNode()
	if err != nil {
		t.Fatal(err)
	}
	w.e.Global("cfnode", cloudflare)
	prologue, expr := "", ""
	var cases [][2]string
	for line := range strings.Lines(string(data)) {
		kind, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch kind {
		case "!":
			prologue += text + "\n"
		case ">":
			expr = text
		case "=":
			cases = append(cases, [2]string{expr, text})
		case "~":
			cases[len(cases)-1][1] = text
		}
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	check(t, w, prologue, cases)
}
