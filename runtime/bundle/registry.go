package bundle

import (
	"net/url"
	"path"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/bundle/builtins"
)

// bundleRoot is where workerd's registry has a worker's modules (jsg/modules-new.c++).
const bundleRoot = "file:///bundle/"

// urlOf is the URL of the module that has r: what is bundled is in that of the entry, which
// wrangler gives the entry's name.
func (in *instance) urlOf(r *record) string {
	entry := in.records[in.b.entry]
	name := path.Base(entry.name)
	if id, own := in.b.additional[r.name]; own && id == r.id {
		name = strings.TrimPrefix(r.name, entry.folder()+"/")
	} else if ext := path.Ext(name); !in.b.bundler.opts.NoBundle {
		name = strings.TrimSuffix(name, ext) + ".js"
	}
	return bundleRoot + name
}

// resolve is the URL of what a module names, or the name of a module of the host.
func (in *instance) resolve(from *record, spec string) string {
	if name, _, ok := builtins.Spec(spec); ok {
		return name
	}
	base, err := url.Parse(in.urlOf(from))
	if err != nil {
		return spec
	}
	u, err := base.Parse(spec)
	if err != nil {
		return spec
	}
	return u.String()
}

// registered is import.meta since new_module_registry, one for each module.
func (in *instance) registered(r *record) goja.Value {
	at := in.urlOf(r)
	if o := in.metas[at]; o != nil {
		return o
	}
	file := strings.TrimPrefix(at, "file://")
	o := in.vm.CreateObject(nil)
	resolve := in.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		if len(call.Arguments) == 0 {
			panic(in.vm.NewTypeError("import.meta.resolve requires a specifier argument"))
		}
		return in.vm.ToValue(in.resolve(r, call.Arguments[0].String()))
	}).ToObject(in.vm)
	if err := resolve.DefineDataProperty("name", in.vm.ToValue(""), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
		in.throw(err)
	}
	for _, member := range []struct {
		name  string
		value any
	}{{"main", at == in.urlOf(in.records[in.b.entry])}, {"url", at}, {"filename", file}, {"dirname", path.Dir(file)}, {"resolve", resolve}} {
		if err := o.Set(member.name, member.value); err != nil {
			in.throw(err)
		}
	}
	if in.metas == nil {
		in.metas = map[string]*goja.Object{}
	}
	in.metas[at] = o
	return o
}
