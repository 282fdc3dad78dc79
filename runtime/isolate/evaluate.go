package isolate

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// EvaluateOptions say how code is evaluated, and what is told of its result.
type EvaluateOptions struct {
	// Await waits for a promise that the code gives.
	Await bool
	// ByValue wants the result's JSON, and no id for it.
	ByValue bool
	// Preview wants the first properties of an object.
	Preview bool
	// Group is what the ids of objects are released with.
	Group string
}

// Evaluate runs code that a person typed, in a turn and a context of its own: it
// waits until other turns are over. An expression sees env, besides the globals; any
// other program is run as a script, which does not. done is called exactly once, with
// what the code threw if thrown is true. err says that it could not be run. Safe for
// concurrent use.
func (i *Isolate) Evaluate(code string, o EvaluateOptions, done func(value Remote, thrown bool, err error)) {
	i.inTurn(o, func() (goja.Value, error) { return i.typed(code), nil }, done)
}

// Call is a function that a tool calls. This and objects among Args are ids of Remote.
type Call struct {
	Function string // its source
	This     string // "": undefined
	Args     []CallArgument
}

// CallArgument is one argument: an object's id, or a JSON value, or a number or
// bigint that JSON does not have, as Runtime.CallArgument has them.
type CallArgument struct {
	ID             string          `json:"objectId"`
	Value          json.RawMessage `json:"value"`
	Unserializable string          `json:"unserializableValue"`
}

// CallFunction is Evaluate for a function with a receiver and arguments.
func (i *Isolate) CallFunction(c Call, o EvaluateOptions, done func(value Remote, thrown bool, err error)) {
	i.inTurn(o, func() (goja.Value, error) {
		this := goja.Undefined()
		if c.This != "" {
			obj, err := i.remotes.find(c.This)
			if err != nil {
				return nil, err
			}
			this = obj
		}
		var args []goja.Value
		for _, a := range c.Args {
			v, err := i.argument(a)
			if err != nil {
				return nil, err
			}
			args = append(args, v)
		}
		return i.Engine.Call(i.typed(c.Function), this, args...), nil
	}, done)
}

func (i *Isolate) argument(a CallArgument) (goja.Value, error) {
	switch {
	case a.ID != "":
		return i.remotes.find(a.ID)
	case a.Unserializable != "":
		return i.typed(a.Unserializable), nil // NaN, Infinity, -0, 1n
	case len(a.Value) == 0:
		return goja.Undefined(), nil
	}
	return i.Engine.Call(i.Engine.Primordial("JSONParse"), goja.Undefined(), i.vm.ToValue(string(a.Value))), nil
}

// inTurn runs a tool's code in a turn of its own; see Evaluate.
func (i *Isolate) inTurn(o EvaluateOptions, run func() (goja.Value, error), done func(value Remote, thrown bool, err error)) {
	told := false
	tell := func(v Remote, thrown bool, err error) {
		if !told {
			told = true
			done(v, thrown, err)
		}
	}
	i.dispatch(i.Engine.NewContext(engine.RequestContext, ""), nil, "inspector", func(ctx *engine.Context, end func()) {
		give := func(v goja.Value, thrown bool) { tell(i.remotes.of(v, o), thrown, nil); end() }
		forget := ctx.AtDeath(func(reason error) { tell(Remote{}, false, reason) })
		defer forget()
		var value goja.Value
		var failed error
		thrown := i.Engine.Try(func() {
			value, failed = run()
			if failed == nil && o.Await {
				if _, promise := value.Export().(*goja.Promise); promise {
					i.Engine.Await(value, func(v goja.Value) { give(v, false) }, func(reason goja.Value) { give(reason, true) })
					value = nil
				}
			}
		})
		switch {
		case failed != nil:
			tell(Remote{}, false, failed)
			end()
		case thrown != nil:
			give(thrown, true)
		case value != nil:
			give(value, false)
		}
	}, func(err error) { tell(Remote{}, false, err) })
}

// typed evaluates code as an expression if it is one, else as a script. Syntax errors
// are thrown.
func (i *Isolate) typed(code string) goja.Value {
	program, err := goja.Compile("inspector", "(function (env) { return (\n"+code+"\n); })", false)
	if err == nil {
		fn, err := i.vm.RunProgram(program)
		if err != nil {
			panic(i.Engine.Errors.FromGo(err))
		}
		return i.Engine.Call(fn, goja.Undefined(), i.CF.Env())
	}
	v, err := i.vm.RunScript("inspector", code)
	if err != nil {
		panic(i.Engine.Errors.FromGo(err))
	}
	return v
}

// PropertiesOptions choose properties, as Runtime.getProperties does.
type PropertiesOptions struct {
	Own, Accessors, Preview bool
}

// Property is one property of an object, or what V8 shows in double brackets.
type Property struct {
	Name                                    string
	Symbol, Value, Get, Set                 *Remote // nil: it has none
	Writable, Configurable, Enumerable, Own bool
}

// Properties lists those of the object with that id, as Evaluate runs code: internal
// are those in double brackets.
func (i *Isolate) Properties(id string, o PropertiesOptions, done func(list, internal []Property, err error)) {
	var list, internal []Property
	i.inTurn(EvaluateOptions{}, func() (goja.Value, error) {
		obj, err := i.remotes.find(id)
		if err != nil {
			return nil, err
		}
		of := EvaluateOptions{Preview: o.Preview, Group: i.remotes.group(id)}
		console := i.Platform.Console
		members, more := console.Members(obj, o.Own, o.Accessors)
		for _, m := range members {
			list = append(list, i.remotes.property(m, of))
		}
		if !o.Accessors {
			for _, m := range console.Internals(obj) {
				internal = append(internal, i.remotes.property(m, of))
			}
			if more > 0 {
				text := i.remotes.of(i.vm.ToValue(strconv.Itoa(more)+" more properties"), of)
				internal = append(internal, Property{Name: "[[More]]", Value: &text})
			}
		}
		return goja.Undefined(), nil
	}, func(_ Remote, thrown bool, err error) {
		if thrown {
			err = errors.New("the properties cannot be read")
		}
		done(list, internal, err)
	})
}

// MapPosition is where a position of the code that runs stands in the sources; ok is
// false where it stands in none. Lines and columns count from 1. Safe for concurrent use.
func (i *Isolate) MapPosition(file string, line, column int) (source string, sourceLine, sourceColumn int, ok bool) {
	if i.opts.Bundle == nil {
		return "", 0, 0, false
	}
	return i.opts.Bundle.MapPosition(file, line, column)
}

// positions is what the engine asks of an isolate's bundle, which may come later than the
// engine.
type positions struct{ *Isolate }

// FunctionText is bundle.(*Bundle).FunctionText.
func (p positions) FunctionText(text string) (original string, ok bool) {
	if p.opts.Bundle == nil {
		return "", false
	}
	return p.opts.Bundle.FunctionText(text)
}

// Release forgets the object with that id; ReleaseGroup all of a group. What a client
// is not done with keeps memory. Safe for concurrent use.
func (i *Isolate) Release(id string) {
	_ = i.Engine.PostLoop(func() { i.remotes.release(id) }) // an isolate that has ended holds nothing
}

// ReleaseGroup forgets the objects of that group.
func (i *Isolate) ReleaseGroup(group string) {
	_ = i.Engine.PostLoop(func() { i.remotes.releaseGroup(group) })
}
