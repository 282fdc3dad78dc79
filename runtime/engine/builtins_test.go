package engine

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
)

// Most built-in methods are made when a program touches them; then they are amended in turn, and
// bounded. What a program has put in their place beforehand is no concern of the platform's.
func TestMethodsAreMadeWhenTheyAreTouched(t *testing.T) {
	newWorld(t) // the process's first walks through all of them
	e := newWorld(t).e
	array := e.vm.Get("Array").(*goja.Object).Get("prototype").(*goja.Object)
	for _, name := range []string{"findLast", "includes", "join", "lastIndexOf", "reverse", "unshift"} {
		if insides.MethodToCome(array, name) < 0 {
			t.Errorf("%s is made with the runtime", name)
		}
	}
	if insides.MethodToCome(array, "nothing") >= 0 || insides.MethodToCome(e.vm.NewObject(), "join") >= 0 {
		t.Error("a method that does not exist is to come")
	}
	var did []string
	for _, order := range []string{"first", "second"} {
		e.Builtins.Amend(array, "reverse", func(c goja.FunctionCall, method func(goja.FunctionCall) goja.Value) goja.Value {
			did = append(did, order)
			return method(c)
		})
	}
	v, err := e.vm.RunString(`[1, 2].reverse().join() + [].reverse.name + [].reverse.length + (Array.prototype.reverse === [].reverse)`)
	if err != nil || v.String() != "2,1reverse0true" || strings.Join(did, " ") != "second first" {
		t.Errorf("%v, %v: amended by %v", v, err, did)
	}
	slot := insides.TheGoja().FunctionOf(array.Get("reverse").(*goja.Object))
	if name := runtime.FuncForPC(reflect.ValueOf(*slot).Pointer()).Name(); !strings.Contains(name, ").bounded.func") {
		t.Errorf("a method that is made late is %s, not bounded", name)
	}
	if insides.MethodToCome(array, "reverse") >= 0 {
		t.Error("a method that is made is still to come")
	}
}

// A primordial is the method that the runtime began with, whatever a program has done to its property before the
// primordial is first asked for.
func TestPrimordialsAreThoseOfTheBeginning(t *testing.T) {
	newWorld(t)
	for _, change := range []string{
		"Array.prototype.includes = () => 'changed'",
		"delete Array.prototype.includes",
		"Object.defineProperty(Array.prototype, 'includes', { get() { return () => 'changed' } })",
		"Object.defineProperties(Array.prototype, { includes: { value: () => 'changed' } })",
		"Object.assign(Array.prototype, { includes() { return 'changed' } })",
		"Object.setPrototypeOf(Array.prototype, { includes() { return 'changed' } }); delete Array.prototype.includes",
		"[].includes; Array.prototype.includes = () => 'changed'",
	} {
		e := newWorld(t).e
		if array := e.vm.Get("Array").(*goja.Object).Get("prototype").(*goja.Object); insides.MethodToCome(array, "includes") < 0 {
			t.Fatal("the method is made with the runtime")
		}
		if _, err := e.vm.RunString(change); err != nil {
			t.Fatalf("%s: %v", change, err)
		}
		if v := e.Call(e.Primordial("ArrayPrototypeIncludes"), goja.Undefined(), e.vm.NewArray(7), e.vm.ToValue(7)); v.String() != "true" {
			t.Errorf("%s: the primordial is %v", change, v)
		}
	}
}
