package bundle

import (
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/bundle/toplevel"
)

// importVar finds the variables that hold imported namespaces.
var importVar = lazyregexp.New(`(?m)^var ([\w$]+) = (?:__toESM\()?require\("i/((?:[^"\\]|\\.)*)"\)`)

// noExport is esbuild's text of a missing export.
var noExport = lazyregexp.New(`^No matching export in "(.*)" for import "(.*)"$`)

// checkNames reports imports of names that their module does not export, in
// the project's own files, prebuilt bundles aside. Per-file lowering cannot see them; the lowered code
// is searched for suspects, and esbuild confirms each and says where it is.
func (l *linker) checkNames() []Message {
	var out []Message
	for _, m := range l.modules {
		if m.low == nil || m.low.format != formatESM || inNodeModules(m.path) || !filepath.IsAbs(m.path) ||
			m.whole != nil || len(m.low.code) > splitMin {
			continue
		}
		for _, match := range importVar.FindAllStringSubmatch(m.low.code, -1) {
			spec := unquoteJS(`"` + match[2] + `"`)
			ref := importRef{importStatement, spec}
			dep := l.imported(m.deps[ref.tagged()])
			if dep != nil && toplevel.Suspect(m.low.code, match[1], dep.names) {
				out = append(out, l.confirm(m, ref, dep)...)
			}
		}
	}
	return out
}

// imported is what is imported, if all its names are known; nil if they are not.
func (l *linker) imported(t target) *module {
	switch {
	case t.builtin != "" && l.b.opts.Exports != nil:
		if names := l.b.opts.Exports(t.builtin); names != nil {
			return &module{unit: &unit{name: t.builtin}, names: names}
		}
	case t.module >= 0 && l.modules[t.module].known:
		return l.modules[t.module]
	case t.module >= 0 && l.b.opts.Named != nil && l.modules[t.module].low != nil && l.modules[t.module].low.format != formatESM:
		return &module{unit: &unit{name: l.modules[t.module].name}, names: []string{"default"}}
	}
	return nil
}

// confirm lets esbuild link u against a module that has just those names.
func (l *linker) confirm(m *module, ref importRef, dep *module) []Message {
	var sb strings.Builder
	sb.WriteString("let v;\n")
	for _, n := range dep.names {
		sb.WriteString("export { v as \"" + strings.ReplaceAll(n, `"`, `\"`) + "\" };\n")
	}
	text := sb.String()
	src, ok := l.b.source(m.unit)
	if !ok {
		return nil
	}
	opts := l.b.resolution()
	opts.Stdin = &api.StdinOptions{Contents: src.text, Sourcefile: m.name, Loader: src.loader}
	opts.TsconfigRaw, opts.Tsconfig, opts.Define = src.tsconfig, "", l.b.opts.Define
	opts.Plugins = []api.Plugin{{Name: "minido-names", Setup: func(p api.PluginBuild) {
		p.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			if a.Path == ref.Spec && kindOf(a.Kind) == ref.Kind {
				return api.OnResolveResult{Path: dep.name, Namespace: "names"}, nil
			}
			return api.OnResolveResult{Path: a.Path, External: true}, nil
		})
		p.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "names"}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
			return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
		})
	}}}
	out := convertAll(api.Build(opts).Errors, m.name)
	for i := range out {
		out[i].Text = strings.ReplaceAll(out[i].Text, "names:"+dep.name, dep.name)
		if l.b.opts.Named != nil {
			out[i].Text = noExport.ReplaceAllString(out[i].Text, "The requested module '"+strings.ReplaceAll(ref.Spec, "$", "$$")+"' does not provide an export named '$2'")
		}
		if dep.low == nil { // a module of the host: workerd's text
			out[i].Text = noExport.ReplaceAllString(out[i].Text, "The requested module '$1' does not provide an export named '$2'")
		}
	}
	return out
}
