package isolate

import (
	"encoding/json"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// Evaluated is a value as an inspector shows it. Immutable.
type Evaluated struct {
	Type        string // typeof, or "object" with a Subtype
	Subtype     string // null, array, error, promise; "" for others
	ClassName   string // of objects
	Description string // as console.log shows it
	// JSON is the value; nil where JSON has none, or not the same.
	JSON json.RawMessage
}

// EvaluateOptions say how an expression is evaluated.
type EvaluateOptions struct {
	// Await waits for a promise that the expression gives.
	Await bool
}

// Evaluate runs code that a person typed, in a turn and a context of its own: it
// waits until other turns are over. An expression sees env, besides the globals; any
// other program is run as a script, which does not. done is called exactly once, with
// what the code threw if thrown is true. err says that it could not be run. Safe for
// concurrent use.
func (i *Isolate) Evaluate(code string, o EvaluateOptions, done func(value Evaluated, thrown bool, err error)) {
	told := false
	tell := func(v Evaluated, thrown bool, err error) {
		if !told {
			told = true
			done(v, thrown, err)
		}
	}
	i.dispatch(i.Engine.NewContext(engine.RequestContext, ""), nil, "inspector", func(ctx *engine.Context, end func()) {
		give := func(v goja.Value, thrown bool) { tell(i.evaluated(v), thrown, nil); end() }
		forget := ctx.AtDeath(func(reason error) { tell(Evaluated{}, false, reason) })
		defer forget()
		var value goja.Value
		thrown := i.Engine.Try(func() {
			value = i.typed(code)
			if o.Await {
				if _, promise := value.Export().(*goja.Promise); promise {
					i.Engine.Await(value, func(v goja.Value) { give(v, false) }, func(reason goja.Value) { give(reason, true) })
					value = nil
				}
			}
		})
		switch {
		case thrown != nil:
			give(thrown, true)
		case value != nil:
			give(value, false)
		}
	}, func(err error) { tell(Evaluated{}, false, err) })
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

// evaluated describes a value. A getter or toJSON that throws makes it less.
func (i *Isolate) evaluated(v goja.Value) (out Evaluated) {
	out.Type = "undefined"
	switch v := v.(type) {
	case nil:
		return out
	case *goja.Object:
		out.Type, out.ClassName = "object", v.ClassName()
		if _, callable := goja.AssertFunction(v); callable {
			out.Type = "function"
		}
		out.Subtype = map[string]string{"Array": "array", "Error": "error", "Promise": "promise", "Date": "date", "RegExp": "regexp", "Map": "map", "Set": "set"}[v.ClassName()]
		i.Engine.Try(func() {
			if name := v.Get("constructor"); name != nil {
				out.ClassName = name.ToObject(i.vm).Get("name").String()
			}
		})
	default:
		out.Type = builtin.TypeOf(i.Engine, v)
		if goja.IsNull(v) {
			out.Subtype = "null"
		}
	}
	out.Description = out.Type
	i.Engine.Try(func() { out.Description = i.Platform.Console.InspectWith(v, goja.Undefined(), goja.Undefined()) })
	if goja.IsNull(v) {
		out.JSON = json.RawMessage("null")
	}
	if goja.IsNull(v) || goja.IsUndefined(v) {
		return out
	}
	i.Engine.Try(func() {
		object, ok := v.(*goja.Object)
		if ok && out.Type == "function" {
			return
		}
		if ok && out.Subtype == "error" {
			if stack := object.Get("stack"); stack != nil {
				out.Description = stack.String()
			}
		}
		text, err := json.Marshal(v)
		if err == nil && json.Valid(text) {
			out.JSON = text
		}
	})
	return out
}
