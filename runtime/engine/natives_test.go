package engine

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/insides"
	"minido.dev/minido/internal/sched"
)

// lessMath is a language without a function of Math, from the second runtime on.
type lessMath struct{ runtimes *int }

func (lessMath) Prepare(*Engine) {}

func (l lessMath) Install(e *Engine) {
	if *l.runtimes++; *l.runtimes > 1 {
		if _, err := e.VM().RunString("delete Math.hypot"); err != nil {
			panic(err)
		}
	}
}

// Every native of every runtime is bounded: of the first, whose built-ins are walked through,
// of the next, where the same routes are followed, and of one in which a route leads nowhere.
func TestEveryNativeIsBounded(t *testing.T) {
	sch := sched.NewThreads(clock.Real{})
	in, counts := insides.TheGoja(), []int{}
	language := lessMath{new(int)}
	for range 3 {
		e := New(Options{Scheduler: sch, Entropy: entropy.NewSeeded(1), Language: language})
		defer e.Close()
		all, missing := 0, 0
		var visit func(v goja.Value)
		seen := map[*goja.Object]bool{}
		visit = func(v goja.Value) {
			o, ok := v.(*goja.Object)
			if !ok || o == nil || seen[o] {
				return
			}
			seen[o] = true
			if slot := in.FunctionOf(o); slot != nil && *slot != nil {
				all++
				if !strings.Contains(runtime.FuncForPC(reflect.ValueOf(*slot).Pointer()).Name(), ").bounded.func") {
					missing++
				}
			}
			for _, name := range o.GetOwnPropertyNames() {
				var member goja.Value
				if e.vm.Try(func() { member = o.Get(name) }) == nil {
					visit(member)
				}
			}
			visit(o.Prototype())
		}
		visit(e.vm.GlobalObject())
		counts = append(counts, all)
		if missing > 0 {
			t.Errorf("runtime %d: %d of %d natives are not bounded", len(counts), missing, all)
		}
	}
	if counts[0] != counts[1]+1 || counts[1] != counts[2] || counts[1] < 300 {
		t.Errorf("natives: %v", counts)
	}
}
