package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"minido.dev/minido/runtime/bundle/manifest"
	"minido.dev/minido/runtime/bundle/tsconfig"
)

// The functions here run only when something is wrong. They hand one file to
// esbuild itself, with every other import external, so that its messages carry
// real positions and its own judgement of what may fail (inside try, or with a
// catch) is kept.

// source reads a unit's source text again.
func (b *Bundler) source(u *unit) (source, bool) {
	src := source{path: u.path, text: u.text, tsconfig: "{}", loader: api.LoaderTS}
	if text, ok := b.opts.Virtual[u.path]; ok {
		src.text = text
		return src, true
	}
	_, src.loader = b.classify(u.path)
	src.tsconfig = tsconfigOf(tsconfig.New(b.opts.TSConfig), u.path)
	if src.text == "" {
		text, err := os.ReadFile(u.path)
		if err != nil {
			return src, false
		}
		src.text = string(text)
	}
	src.split, src.entry = b.splitOf(src), src.path == b.opts.Entry
	return src, true
}

// probe builds u alone; onImport decides about the import in question.
func (b *Bundler) probe(u *unit, ref importRef, onImport func() (api.OnResolveResult, error)) (api.BuildResult, bool) {
	src, ok := b.source(u)
	if !ok {
		return api.BuildResult{}, false
	}
	opts := b.resolution()
	opts.Stdin = &api.StdinOptions{Contents: src.text, Sourcefile: u.name, Loader: src.loader}
	if filepath.IsAbs(u.path) {
		opts.Stdin.ResolveDir = filepath.Dir(u.path)
	}
	opts.Define = b.opts.Define
	opts.Plugins = []api.Plugin{{Name: "minido-probe", Setup: func(p api.PluginBuild) {
		p.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			if a.Path == ref.Spec && kindOf(a.Kind) == ref.Kind {
				return onImport()
			}
			return api.OnResolveResult{Path: a.Path, External: true}, nil
		})
		p.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "file"}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
			empty := ""
			return api.OnLoadResult{Contents: &empty, Loader: api.LoaderJS}, nil
		})
	}}}
	return api.Build(opts), true
}

// diagnose returns esbuild's errors about an import that cannot be resolved;
// none means that the code provides for it.
func (b *Bundler) diagnose(u *unit, ref importRef) []Message {
	r, ok := b.probe(u, ref, func() (api.OnResolveResult, error) { return api.OnResolveResult{}, nil })
	if !ok {
		return nil
	}
	out := convertAll(r.Errors, u.name)
	for i := range out {
		out[i].Notes = keepNotes(out[i].Notes)
		out[i].Hint = b.installHint(u, ref.Spec)
	}
	return out
}

// keepNotes drops advice about esbuild's own options.
func keepNotes(notes []string) []string {
	var kept []string
	for _, n := range notes {
		if !strings.Contains(n, "mark the path") && !strings.Contains(n, "Are you trying to bundle for node") {
			kept = append(kept, n)
		}
	}
	return kept
}

// locate is a message at the place where u imports ref.
func (b *Bundler) locate(u *unit, ref importRef, text string) Message {
	r, ok := b.probe(u, ref, func() (api.OnResolveResult, error) {
		return api.OnResolveResult{Errors: []api.Message{{Text: text}}}, nil
	})
	if ok && len(r.Errors) > 0 {
		m := fromEsbuild(r.Errors[0], u.name)
		m.Text, m.Notes = text, nil
		return m
	}
	return Message{File: u.name, Text: text}
}

// installHint says what to do about a package that is not there.
func (b *Bundler) installHint(u *unit, spec string) string {
	if strings.HasPrefix(spec, ".") || strings.HasPrefix(spec, "/") || strings.HasPrefix(spec, "#") {
		return ""
	}
	parts := strings.SplitN(spec, "/", 3)
	name := parts[0]
	if strings.HasPrefix(spec, "@") && len(parts) > 1 {
		name += "/" + parts[1]
	}
	if name == "" || strings.Contains(name, ":") {
		return ""
	}
	dir := b.opts.Dir
	if info := manifest.New().ForFile(b.opts.Entry); info.File != "" {
		dir = info.Dir
		text, err := os.ReadFile(info.File)
		if err == nil && strings.Contains(string(text), `"`+name+`"`) {
			return "run npm install in " + dir
		}
	}
	if st, err := os.Stat(filepath.Join(dir, "node_modules", filepath.FromSlash(name))); err == nil && st.IsDir() {
		return fmt.Sprintf("the package %s is installed in %s but does not provide this path", name, dir)
	}
	return fmt.Sprintf("run npm install %s in %s", name, dir)
}

func unknownText(name string) string {
	return fmt.Sprintf("No such module %q: minido does not provide it", name)
}

// unknownBuiltin is the message about a specifier that only a host could
// provide, and ours does not.
func (b *Bundler) unknownBuiltin(u *unit, ref importRef, name string) Message {
	m := b.locate(u, ref, unknownText(name))
	m.Hint = "check the spelling and the compatibility date and flags"
	if strings.HasPrefix(name, "node:") {
		m.Hint = "set the compatibility flag nodejs_compat if it is missing; otherwise replace what needs this module"
	}
	return m
}
