package bundle

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"minido.dev/minido/runtime/bundle/builtins"
)

// meant is the name of what a module names: like workerd's registry of modules it knows
// paths from the importer's folder alone.
func meant(from, spec string) string {
	if strings.HasPrefix(spec, "/") {
		return path.Clean(spec[1:])
	}
	return path.Join(path.Dir(from), spec)
}

// namedFiles are the files of Options.Named but for the entry.
func (b *Bundler) namedFiles() (files []string) {
	for _, name := range slices.Sorted(maps.Keys(b.opts.Named)) {
		if file := b.opts.Named[name]; file != b.opts.Entry {
			files = append(files, file)
		}
	}
	return files
}

// resolvesNamed resolves an import where Options.Named says all there is.
func (b *Bundler) resolvesNamed(a api.OnResolveArgs) (api.OnResolveResult, error) {
	name, _, host := builtins.Spec(a.Path)
	if file, ok := b.opts.Named[meant(relSlash(b.opts.Dir, a.Importer), a.Path)]; ok && !(host && b.opts.Builtins(name)) {
		return api.OnResolveResult{Path: file}, nil
	}
	if slices.Contains(b.scan.extra, a.Path) { // of additionalStub
		return api.OnResolveResult{Path: a.Path}, nil
	}
	return api.OnResolveResult{Path: a.Path, External: true}, nil
}

// absent is the target of an import of what nobody has, in workerd's words.
func (l *linker) absent(m *module, ref importRef) target {
	name := ref.Spec
	if _, certain, _ := builtins.Spec(name); !certain {
		name = meant(m.name, name)
	}
	text := noSuchModule(name)
	if ref.Kind == importStatement {
		text += fmt.Sprintf("\n  imported from %q", m.name)
		l.absences[m.id] = append(l.absences[m.id], text)
	}
	return target{module: -1, missing: text, theirs: true}
}

// checkNamed are the messages about modules that do not load, and about imports that lead
// nowhere, of what is evaluated with the entry: workerd compiles every module, and looks
// for imports when they are linked.
func (l *linker) checkNamed() (messages []Message) {
	if l.b.opts.Named == nil {
		return nil
	}
	for _, m := range l.modules {
		if m.refuse != nil {
			return []Message{{File: m.name, Text: m.refuse.Text, kind: m.refuse.kind}}
		}
	}
	for _, id := range evaluationOrder(l.modules, l.byName[relSlash(l.b.opts.Dir, l.b.opts.Entry)]) {
		for _, text := range l.absences[id] {
			messages = append(messages, Message{Text: text, kind: absentModule})
		}
	}
	return messages
}
