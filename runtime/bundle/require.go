package bundle

import (
	"fmt"
	"slices"

	"github.com/dop251/goja"
)

// requireOf is the `require` of one module.
func (in *instance) requireOf(r *record) goja.Value {
	fn := in.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		return in.require(r, call.Argument(0).String())
	})
	for _, ref := range r.low.imports {
		if ref.Kind == requireResolve {
			resolve := func(goja.FunctionCall) goja.Value {
				panic(in.failure(r, "require.resolve is not available in Workers"))
			}
			if err := fn.ToObject(in.vm).Set("resolve", resolve); err != nil {
				in.throw(err)
			}
			break
		}
	}
	return fn
}

// failure is the Error that an import throws when it runs: it names the importer.
func (in *instance) failure(r *record, text string) goja.Value {
	if in.b.bundler.opts.Named == nil {
		text = fmt.Sprintf("%s (imported by %s)", text, r.name)
	}
	return in.newError(text)
}

func (in *instance) newError(text string) goja.Value {
	ctor, ok := goja.AssertConstructor(in.vm.GlobalObject().Get("Error"))
	msg := in.vm.ToValue(text)
	if ok {
		if o, err := ctor(nil, msg); err == nil {
			return o
		}
	}
	return msg
}

// require is the end of every import: tagged says which, and how.
func (in *instance) require(from *record, tagged string) goja.Value {
	ref, ok := parseTagged(tagged)
	t, known := from.deps[tagged]
	if !ok || !known {
		// The specifier was computed when the code ran.
		if in.b.bundler.opts.bundles() {
			panic(in.newError(noDynamicRequire(tagged)))
		}
		if ref, t, known = in.computed(from, tagged); !known {
			panic(in.newError(in.noSuchModule(from, tagged)))
		}
	}
	return in.load(from, ref, t)
}

// noDynamicRequire is the text of the require that esbuild puts into the bundles of wrangler: it
// knows no module.
func noDynamicRequire(spec string) string {
	return `Dynamic require of "` + spec + `" is not supported`
}

// importComputed is the end of import() of what is computed when the code runs.
func (in *instance) importComputed(from *record, spec string) goja.Value {
	ref, t, known := in.computed(from, spec)
	if !known {
		if t, known = in.provided(spec); !known {
			panic(in.newError(in.noSuchModule(from, spec)))
		}
	}
	return in.load(from, ref, t)
}

// load gives what one import gets of its target.
func (in *instance) load(from *record, ref importRef, t target) goja.Value {
	switch {
	case t.builtin != "" && !inNodeModules(from.path) && slices.Contains(in.b.mockedBuiltins, t.builtin):
		return in.forward(t, ref)
	case t.builtin != "":
		return in.builtin(from, ref, t.builtin)
	case t.module < 0 && t.theirs:
		panic(in.newError(t.missing))
	case t.module < 0:
		panic(in.failure(from, t.missing))
	}
	to := in.records[t.module]
	if to.refuse != nil {
		panic(in.failure(from, to.refuse.Text))
	}
	if t.self {
		return in.selfOf(to)
	}
	if to.mockable {
		return in.forward(t, ref)
	}
	if ref.Kind == importStatement && to.lazy() && to.state == stateNew {
		if to.importer == "" {
			to.importer = from.name
		}
		return in.namespace(to)
	}
	if to.waits && to.state != stateDone {
		switch {
		case ref.Kind == dynamicImport:
			p := in.vm.ToValue(in.evaluateAsync(to)).ToObject(in.vm)
			in.spaces[p] = true // import() resolves to what it resolves to: __toESM must not wrap it
			return p
		case ref.Kind == requireCall:
			panic(in.failure(from, fmt.Sprintf("require() cannot load %s: it awaits at its top level; use import()", to.name)))
		}
	}
	if err := in.evaluate(to); err != nil {
		in.throw(err)
	}
	if ref.Kind == requireCall && in.b.bundler.opts.Named != nil && to.low.format == formatESM { // as workerd's registry
		return orUndefined(in.exports(to).ToObject(in.vm).Get("default"))
	}
	return in.exports(to)
}

// builtin is a module of the host, in the shape that the kind of import wants.
func (in *instance) builtin(from *record, ref importRef, spec string) goja.Value {
	v, ok := in.builtins[spec]
	if !ok {
		if in.host.Builtin == nil {
			panic(in.failure(from, fmt.Sprintf("No such module %q", spec)))
		}
		var err error
		if v, err = in.host.Builtin(spec); err != nil {
			in.throw(err)
		}
		in.builtins[spec] = orUndefined(v)
		if o, isObj := v.(*goja.Object); isObj && (o.Prototype() == nil || hasOwn(o, "default")) {
			in.spaces[o] = true
		}
	}
	if o, isObj := v.(*goja.Object); isObj && in.spaces[o] && ref.Kind == requireCall && hasOwn(o, "default") {
		return orUndefined(o.Get("default"))
	}
	return v
}

func hasOwn(o *goja.Object, name string) bool {
	for _, k := range o.GetOwnPropertyNames() {
		if k == name {
			return true
		}
	}
	return false
}
