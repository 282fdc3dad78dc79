package bundle

import (
	"errors"
	"fmt"
	"minido.dev/minido/runtime/bundle/mend"
	"path/filepath"

	"github.com/dop251/goja"
)

// order lists what evaluating r evaluates, r last. Running it as a list keeps
// the JavaScript stack flat however deep the imports are.
func (in *instance) order(r *record) []int {
	if r.id == in.b.entry {
		return in.b.order
	}
	if o, ok := in.orders[r.id]; ok {
		return o
	}
	o := evaluationOrder(in.b.modules, r.id)
	in.orders[r.id] = o
	return o
}

// evaluate runs r and what it imports, unless that has happened. A module in
// the middle of its evaluation (a cycle) counts as evaluated.
func (in *instance) evaluate(r *record) (err error) {
	switch r.state {
	case stateFailed:
		return r.err
	case stateRunning, stateDone:
		return nil
	}
	in.host.Enter(func() {
		for _, id := range in.order(r) {
			if err = in.run(in.records[id]); err != nil {
				break
			}
		}
	})
	if err != nil && r.state != stateFailed {
		r.state, r.err = stateFailed, err
	}
	if err != nil && r.lazy() {
		in.blame(r, err)
		in.announceAll(r) // reading a name throws the error again
	}
	return err
}

// blame adds to an error thrown while r was loaded late who imported r.
func (in *instance) blame(r *record, err error) {
	var ex *goja.Exception
	if !errors.As(err, &ex) {
		return
	}
	obj, ok := ex.Value().(*goja.Object)
	if !ok || obj.ClassName() != "Error" || r.importer == "" {
		return
	}
	note := fmt.Sprintf("\n    (while loading %s, deferred until its first use; imported by %s)", r.name, r.importer)
	// An Error with a frozen message keeps it: the note is a help, not the point.
	_ = in.vm.Try(func() {
		if err := obj.Set("message", obj.Get("message").String()+note); err != nil {
			in.throw(err)
		}
	})
}

// run evaluates r alone; its imports have been evaluated.
func (in *instance) run(r *record) error {
	switch r.state {
	case stateFailed:
		return r.err
	case stateRunning, stateDone:
		return nil
	}
	r.state = stateRunning
	var err error
	switch r.low.format {
	case formatJSON:
		r.value, err = in.parse(goja.Undefined(), in.vm.ToValue(trimBOM(r.text)))
	case formatText:
		in.exportDefault(r, in.vm.ToValue(trimBOM(r.text)))
	case formatData:
		in.exportDefault(r, in.vm.ToValue(in.vm.NewArrayBuffer([]byte(r.text))))
	case formatWasm:
		err = in.runWasm(r)
	default:
		err = in.runCode(r)
	}
	switch {
	case err != nil:
		r.state, r.err = stateFailed, err
	case r.promise == nil:
		r.state = stateDone
	}
	return err
}

// use notes that r is evaluated since somebody needs it.
func (in *instance) use(r *record) {
	if b := in.b.bundler; r.used.Note(&b.order) && b.opts.Used != nil {
		b.opts.Used()
	}
}

// exportDefault fills the namespace of a module that is a value.
func (in *instance) exportDefault(r *record, v goja.Value) {
	if err := in.namespace(r).DefineDataProperty("default", v, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE); err != nil {
		in.throw(err)
	}
}

func trimBOM(s string) string {
	const bom = "\ufeff"
	if len(s) >= len(bom) && s[:len(bom)] == bom {
		return s[len(bom):]
	}
	return s
}

// runCode calls the unit's function. For a module that awaits, it leaves the
// promise in r.promise.
func (in *instance) runCode(r *record) error {
	if !in.early {
		in.use(r)
	}
	prog, err := r.program()
	if err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	fn, err := in.vm.RunProgram(prog)
	if err != nil {
		return err
	}
	call, _ := goja.AssertFunction(fn)
	var exports *goja.Object
	mod := in.esm
	if r.low.format == formatCJS || r.low.async {
		mod = in.vm.NewObject()
	}
	if r.low.format == formatCJS {
		exports = in.vm.NewObject()
		r.cjs = mod
		if err := errors.Join(mod.Set("exports", exports), mod.Set("id", r.name)); err != nil {
			return err
		}
	} else {
		exports = in.namespace(r)
	}
	args := []goja.Value{exports, in.requireOf(r), mod}
	for _, h := range r.low.helpers {
		args = append(args, in.helper(r, h))
	}
	if r.plan != nil {
		counters, err := in.counters(r)
		if err != nil {
			return err
		}
		args = append(args, counters)
	}
	this := goja.Value(goja.Undefined())
	if r.low.format == formatCJS {
		this = exports
	}
	v, err := call(this, args...)
	if err != nil {
		return err
	}
	if r.low.mocking {
		r.promise, _ = v.Export().(*goja.Promise)
	}
	if r.low.async {
		return in.start(r, mod)
	}
	return nil
}

func (in *instance) helper(r *record, name string) goja.Value {
	switch {
	case name == mockHelper:
		return in.mocksHelper(r)
	case name == computedImport:
		return in.vm.ToValue(func(call goja.FunctionCall) goja.Value {
			return in.importComputed(r, call.Argument(0).String())
		})
	case name == "$meta":
		return in.meta(r)
	case name == "__filename":
		return in.vm.ToValue(filepath.ToSlash(r.path))
	case name == "__dirname":
		return in.vm.ToValue(filepath.ToSlash(filepath.Dir(r.path)))
	case name == splitSelf:
		return in.vm.ToValue(func(call goja.FunctionCall) goja.Value {
			export, _ := goja.AssertFunction(in.helpers["__export"])
			if _, err := export(goja.Undefined(), in.selfOf(r), call.Argument(0)); err != nil {
				in.throw(err)
			}
			return goja.Undefined()
		})
	case name == mend.AwaitGuard && r.low.async:
		return in.awaitHelper(r)
	case mend.Name(name) == "__toESM" && r.node:
		return in.helpers["__toESMNode"]
	}
	return in.helpers[mend.Name(name)]
}

// start calls the async function that holds the body of a module with a
// top-level await.
func (in *instance) start(r *record, mod *goja.Object) error {
	init, ok := goja.AssertFunction(mod.Get("exports").ToObject(in.vm).Get("__init"))
	if !ok {
		return fmt.Errorf("bundle: %s: lowering lost its initializer", r.name)
	}
	v, err := init(goja.Undefined())
	if err != nil {
		return err
	}
	if p, ok := v.Export().(*goja.Promise); ok {
		r.promise = p
	}
	return nil
}

// evaluateAsync runs r and what it imports in order, and waits for each module
// that awaits before it runs the next, as one bundled file would.
func (in *instance) evaluateAsync(r *record) *goja.Promise {
	p, resolve, reject := in.vm.NewPromise()
	order := in.order(r)
	var step func(i int) error
	step = func(i int) (err error) {
		for ; i < len(order); i++ {
			rec := in.records[order[i]]
			in.host.Enter(func() { err = in.run(rec) })
			if err != nil {
				return reject(errorValue(in.vm, err))
			}
			if rec.promise != nil && rec.state == stateRunning {
				return in.await(rec, func() error { return step(i + 1) }, reject)
			}
		}
		return resolve(in.exports(r))
	}
	if err := step(0); err != nil {
		in.throw(err)
	}
	return p
}

// await continues with next once rec's own promise is settled.
func (in *instance) await(rec *record, next func() error, reject func(any) error) error {
	settled := func(failed bool) func(goja.FunctionCall) goja.Value {
		return func(call goja.FunctionCall) goja.Value {
			var err error
			if failed {
				if rec.state == stateRunning {
					rec.state, rec.err = stateFailed, thrown(in.vm, call.Argument(0))
				}
				err = reject(call.Argument(0))
			} else {
				rec.state = stateDone
				err = next()
			}
			if err != nil {
				in.throw(err)
			}
			return goja.Undefined()
		}
	}
	p := in.vm.ToValue(rec.promise).ToObject(in.vm)
	then, ok := goja.AssertFunction(p.Get("then"))
	if !ok {
		return fmt.Errorf("bundle: Promise.prototype.then is not a function")
	}
	_, err := then(p, in.vm.ToValue(settled(false)), in.vm.ToValue(settled(true)))
	return err
}

// thrown is the Go error for a value that JavaScript threw.
func thrown(vm *goja.Runtime, v goja.Value) error {
	return vm.Try(func() { panic(v) })
}

// errorValue is the JavaScript value for a Go error.
func errorValue(vm *goja.Runtime, err error) goja.Value {
	var ex *goja.Exception
	if errors.As(err, &ex) {
		return ex.Value()
	}
	return vm.NewGoError(err)
}

// throw raises err in JavaScript, or passes on an interruption, which
// JavaScript cannot catch.
func (in *instance) throw(err error) {
	switch err.(type) {
	case *goja.Exception, *goja.InterruptedError, *goja.StackOverflowError:
		panic(err)
	}
	panic(in.vm.NewGoError(err))
}
