package bundle

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"minido.dev/minido/runtime/bundle/builtins"
)

// maxAdditional bounds the files taken from Options.Additional: a worker of
// more modules than that points at the wrong directory.
const maxAdditional = 2000

// additional lists the files below Options.Additional that a rule matches, by
// their absolute paths in lexical order.
func (b *Bundler) additional() ([]string, error) {
	root := b.opts.Additional
	if b.opts.Named != nil {
		return b.namedFiles(), nil
	}
	if root == "" {
		return nil, nil
	}
	var list []string
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() {
			if file != root && (name == "node_modules" || strings.HasPrefix(name, ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		if _, ruled := b.opts.moduleType(file); ruled && file != b.opts.Entry && d.Type().IsRegular() {
			list = append(list, file)
		}
		if len(list) > maxAdditional {
			return fmt.Errorf("more than %d files match the module rules; set base_dir to a directory that holds the worker's modules alone", maxAdditional)
		}
		return nil
	})
	if err != nil {
		return nil, &BuildError{[]Message{{Text: fmt.Sprintf("find_additional_modules: %s: %v", relSlash(b.opts.Dir, root), err)}}}
	}
	return list, nil
}

// additionalStub imports the files, to bring them into the graph.
func additionalStub(files []string) string {
	var sb strings.Builder
	for _, f := range files {
		spec, err := json.Marshal(f)
		if err != nil {
			panic("bundle: stub: " + err.Error()) // strings always marshal
		}
		fmt.Fprintf(&sb, "import(%s).catch(()=>{})\n", spec)
	}
	return sb.String()
}

// computed finds what from names by a specifier that was computed when the code ran: what
// is required by that name elsewhere, or an additional module, relative to from, as workerd
// resolves module names.
func (in *instance) computed(from *record, spec string) (importRef, target, bool) {
	ref := importRef{requireCall, spec}
	if t, ok := from.deps[ref.tagged()]; ok {
		return ref, t, true
	}
	if in.b.bundler.opts.Mocks {
		t, ok := in.meant(from, spec)
		return importRef{dynamicImport, spec}, t, ok
	}
	id, ok := in.b.additional[path.Join(from.folder(), spec)]
	return importRef{dynamicImport, spec}, target{module: id}, ok
}

// provided is the module of the host that import() of a computed specifier finds.
func (in *instance) provided(spec string) (target, bool) {
	name, _, ok := builtins.Spec(spec)
	return target{module: -1, builtin: name}, ok && in.host.Provides != nil && in.host.Provides(name)
}

// noSuchModule is workerd's text about a module that from names and nobody has.
func (in *instance) noSuchModule(from *record, spec string) string {
	if in.b.bundler.opts.Mocks {
		text := in.b.bundler.notFound(from.path, spec)
		if in.b.unreached != "" {
			text += " (only files that something imports by a literal are looked for: " + in.b.unreached + ")"
		}
		return text
	}
	if in.host.Registry {
		return "Module not found: " + in.resolve(from, spec)
	}
	return noSuchModule(in.absent(from, spec))
}

// folder is where r's relative specifiers start.
func (r *record) folder() string {
	if r.whole != nil {
		return path.Dir(r.whole.name)
	}
	return path.Dir(r.name)
}

// absent is what workerd calls a module that from names and nobody has: a specifier is a
// path, a relative one below the folder of the entry.
func (in *instance) absent(from *record, spec string) string {
	if !strings.HasPrefix(spec, ".") {
		return spelled(spec)
	}
	root := in.records[in.b.entry].folder()
	return strings.TrimPrefix(path.Join(from.folder(), spec), root+"/")
}

// noSuchModule is workerd's text about a module of that name.
func noSuchModule(name string) string { return fmt.Sprintf("No such module %q.", name) }

// spelled is a specifier that is not relative as workerd, which knows paths, writes it.
func spelled(spec string) string { return strings.TrimPrefix(path.Clean(spec), "/") }
