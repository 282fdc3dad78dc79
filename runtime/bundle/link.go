package bundle

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"minido.dev/minido/runtime/bundle/builtins"
)

// target is where an import leads. Immutable.
type target struct {
	module  int    // index of the module, or -1
	self    bool   // the names of a prebuilt bundle's trunk, not its exports
	builtin string // the host's specifier, if the host provides it
	missing string // why the import fails when it runs
	theirs  bool   // missing is a text of the reference's, or of vite's, which is not added to
}

// binding is one export of one module.
type binding struct {
	module int
	name   string
}

// module is a unit in its place in the graph. Immutable once linked.
type module struct {
	*unit
	id       int
	deps     map[string]target // by tagged specifier
	node     bool              // "type": "module" or .mjs: default imports of CommonJS are module.exports
	names    []string          // exported names, sorted; complete if known
	known    bool              // names holds every export
	stars    map[string]binding
	deferred bool // evaluated when first used
	waits    bool // it, or something it imports, awaits at the top level
	mockable bool // some file mocks it
	circular bool // it imports something that imports it
}

// linker turns the metafile's edges into modules. Confined to one build.
type linker struct {
	b        *Bundler
	s        *scan
	meta     *metafile
	mocked   map[string]bool // absentKey of what files mock
	modules  []*module
	byName   map[string]int
	messages []Message
	absences map[int][]string // why import statements lead nowhere, by module
}

func (b *Bundler) link(s *scan, meta *metafile) (*Bundle, error) {
	l := &linker{b: b, s: s, meta: meta, mocked: b.mockedKeys(s), byName: map[string]int{}, absences: map[int][]string{}}
	entry := l.add(relSlash(b.opts.Dir, b.opts.Entry))
	if entry < 0 {
		return nil, fmt.Errorf("bundle: esbuild did not load the entry %s", b.opts.Entry)
	}
	additional := map[string]int{}
	for _, file := range s.extra {
		name := relSlash(b.opts.Dir, file)
		if id := l.add(name); id >= 0 {
			additional[name] = id
		}
	}
	if r := l.modules[entry].refuse; r != nil {
		return nil, &BuildError{[]Message{{File: l.modules[entry].name, Text: r.Text, Hint: r.Hint}}}
	}
	if len(l.messages) > 0 {
		return nil, &BuildError{sortMessages(l.messages)}
	}
	if messages := l.checkNamed(); messages != nil {
		return nil, &BuildError{messages}
	}
	out := &Bundle{bundler: b, modules: l.modules, entry: entry, Warnings: sortMessages(s.warnings), byName: map[string]int{},
		additional: additional}
	l.exportNames()
	l.awaits()
	l.mockable(out)
	project := s.pkgs.ForFile(b.opts.Entry)
	for _, m := range l.modules {
		m.deferred = m.whole != nil || m.id != entry && m.low != nil && m.low.format == formatESM && m.known && !m.waits &&
			filepath.IsAbs(m.path) && b.opts.deferrable(m.path, s.pkgs, project)
	}
	l.circles()
	if msgs := slices.DeleteFunc(l.checkNames(), func(m Message) bool { return l.s.isLate(m.File) }); len(msgs) > 0 {
		return nil, &BuildError{sortMessages(msgs)}
	}
	for _, m := range l.modules {
		out.byName[m.name] = m.id
	}
	out.order = evaluationOrder(l.modules, entry)
	out.precompile()
	return out, nil
}

// add gives the file a number, and all that it imports after it, in import
// order. It returns -1 for a file that was not loaded.
func (l *linker) add(name string) int {
	if id, ok := l.byName[name]; ok {
		return id
	}
	u := l.s.seen[name]
	if u == nil {
		if !strings.HasPrefix(name, "(disabled):") {
			return -1
		}
		// A package's "browser" field replaces this file by nothing.
		u = &unit{path: name, name: name, low: &lowered{format: formatJSON}, text: "{}"}
	}
	m := &module{unit: u, id: len(l.modules), deps: map[string]target{}}
	l.modules = append(l.modules, m)
	l.byName[name] = m.id
	if u.low == nil {
		return m.id
	}
	m.node = strings.HasSuffix(u.path, ".mjs") || strings.HasSuffix(u.path, ".mts") ||
		filepath.IsAbs(u.path) && l.s.pkgs.ForFile(u.path).Module && !strings.HasSuffix(u.path, ".cjs") && !strings.HasSuffix(u.path, ".cts")
	type edge struct{ kind, spec string }
	paths := map[edge]string{}
	for _, imp := range l.meta.Inputs[name].Imports {
		if !imp.External {
			paths[edge{imp.Kind, imp.Original}] = imp.Path
		}
	}
	l.addParts(m)
	for _, ref := range u.low.imports {
		if strings.HasPrefix(ref.Spec, splitPrefix) {
			continue
		}
		path, ok := paths[edge{metaKind(ref.Kind), ref.Spec}]
		m.deps[ref.tagged()] = l.target(m, ref, path, ok)
	}
	l.linkParts(m)
	return m.id
}

// addParts numbers the parts of a prebuilt bundle.
func (l *linker) addParts(trunk *module) {
	trunk.deps[importRef{importStatement, splitTrunk}.tagged()] = target{module: trunk.id, self: true}
	for i, u := range trunk.parts {
		p := &module{unit: u, id: len(l.modules), deps: map[string]target{}, node: trunk.node}
		l.modules = append(l.modules, p)
		trunk.deps[importRef{importStatement, specifier(i + 1)}.tagged()] = target{module: p.id}
	}
}

// linkParts gives the parts the trunk's imports, of which theirs are a subset.
func (l *linker) linkParts(trunk *module) {
	for _, p := range l.modules {
		if p.whole == trunk.unit {
			p.deps = trunk.deps
		}
	}
}

func metaKind(k importKind) string {
	switch k {
	case requireCall:
		return "require-call"
	case dynamicImport:
		return "dynamic-import"
	case requireResolve:
		return "require-resolve"
	default:
		return "import-statement"
	}
}

// target decides about one import: a module, a builtin, an error now, or an
// error when it runs.
func (l *linker) target(m *module, ref importRef, path string, found bool) target {
	if found {
		id := l.add(path)
		if id < 0 {
			return l.fail(m, ref, fmt.Sprintf("%q resolves to %s, which minido cannot load", ref.Spec, path), "", true)
		}
		if r := l.modules[id].refuse; r != nil {
			if l.b.opts.Named != nil { // checkNamed tells
				return target{module: -1, missing: r.Text}
			}
			return l.fail(m, ref, r.Text, r.Hint, !inNodeModules(m.path) && m.low.globs == nil)
		}
		return target{module: id}
	}
	if ref.Kind == requireResolve {
		return target{module: -1, missing: "require.resolve is not available in Workers"}
	}
	if name, _, ok := builtins.Spec(ref.Spec); ok {
		if l.b.opts.Builtins(name) {
			return target{module: -1, builtin: name}
		}
		if l.b.opts.Named != nil {
			return l.absent(m, ref)
		}
		if !inNodeModules(m.path) && ref.Kind == importStatement && !l.s.isLate(m.name) {
			l.messages = append(l.messages, l.b.unknownBuiltin(m.unit, ref, name))
		}
		return target{module: -1, missing: unknownText(name)}
	}
	if l.b.opts.Named != nil {
		return l.absent(m, ref)
	}
	if l.b.opts.NoBundle && !strings.HasPrefix(ref.Spec, ".") {
		return l.fail(m, ref, fmt.Sprintf("No such module %q: with no_bundle, packages are not looked up", ref.Spec),
			"remove no_bundle, or bundle the package into the main file", !inNodeModules(m.path))
	}
	if key := absentKey(filepath.Dir(m.path), ref.Spec); l.mocked[key] && !inNodeModules(m.path) {
		return target{module: -1, builtin: key}
	}
	if l.b.opts.Mocks && ref.Kind == dynamicImport && !inNodeModules(m.path) || l.s.isLate(m.name) {
		return target{module: -1, missing: l.b.notFound(m.path, ref.Spec), theirs: true}
	}
	if !l.b.store.maySoft(m.low, ref) {
		msgs := l.b.diagnose(m.unit, ref)
		if len(msgs) == 0 {
			l.b.store.setSoft(m.low, ref)
		}
		l.messages = append(l.messages, msgs...)
	}
	switch bundled := l.b.opts.bundles(); {
	case bundled && ref.Kind == requireCall:
		return target{module: -1, missing: noDynamicRequire(ref.Spec), theirs: true}
	case bundled && ref.Kind == dynamicImport:
		return target{module: -1, missing: noSuchModule(spelled(ref.Spec)), theirs: true}
	}
	return target{module: -1, missing: fmt.Sprintf("Cannot find module %q", ref.Spec)}
}

// root is where the project begins.
func (b *Bundler) root() string { return cmp.Or(b.opts.Root, b.opts.Dir) }

// notFound is vite's text for an import() of what nobody has.
func (b *Bundler) notFound(from, spec string) string {
	what := fmt.Sprintf("package '%s'", spec)
	if strings.HasPrefix(spec, ".") {
		what = fmt.Sprintf("module '/%s'", relSlash(b.root(), filepath.Join(filepath.Dir(from), spec)))
	}
	return fmt.Sprintf("Cannot find %s imported from %s", what, filepath.ToSlash(from))
}

// fail records an error at the import, or leaves it to the moment it runs.
func (l *linker) fail(m *module, ref importRef, text, hint string, now bool) target {
	if now && !l.s.isLate(m.name) {
		msg := l.b.locate(m.unit, ref, text)
		msg.Hint = hint
		l.messages = append(l.messages, msg)
	}
	return target{module: -1, missing: text}
}

// exportNames computes what each module exports, through `export *`.
func (l *linker) exportNames() {
	for _, m := range l.modules {
		if m.low == nil || m.low.format != formatESM {
			continue
		}
		m.stars = map[string]binding{}
		own := map[string]bool{}
		for _, n := range m.low.exports {
			own[n] = true
		}
		m.known = l.collectStars(m, m.id, own, map[int]bool{})
		for n := range own {
			m.names = append(m.names, n)
		}
		for n := range m.stars {
			m.names = append(m.names, n)
		}
		slices.Sort(m.names)
	}
}

// collectStars adds to root.stars what m's stars export. Of two stars with one
// name the first wins. It reports whether all names could be known.
func (l *linker) collectStars(root *module, id int, own map[string]bool, visited map[int]bool) bool {
	visited[id] = true
	m := l.modules[id]
	known := true
	for _, spec := range m.low.stars {
		t, ok := m.deps[importRef{importStatement, spec}.tagged()]
		if !ok || t.module < 0 || l.modules[t.module].low == nil || l.modules[t.module].low.format != formatESM {
			known = false
			continue
		}
		if visited[t.module] {
			continue
		}
		for _, n := range l.modules[t.module].low.exports {
			if _, dup := root.stars[n]; !dup && !own[n] && n != "default" {
				root.stars[n] = binding{t.module, n}
			}
		}
		known = l.collectStars(root, t.module, own, visited) && known
	}
	return known
}

// awaits marks every module that a top-level await holds up.
func (l *linker) awaits() {
	importers := make([][]int, len(l.modules))
	var queue []int
	for _, m := range l.modules {
		if m.low == nil {
			continue
		}
		for _, ref := range m.low.imports {
			if t := m.deps[ref.tagged()]; ref.Kind == importStatement && t.module >= 0 {
				importers[t.module] = append(importers[t.module], m.id)
			}
		}
		if m.low.async || m.low.mocking {
			m.waits = true
			queue = append(queue, m.id)
		}
	}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		for _, i := range importers[id] {
			if !l.modules[i].waits {
				l.modules[i].waits = true
				queue = append(queue, i)
			}
		}
	}
}

// evaluationOrder lists the modules that evaluating root evaluates, in that order.
func evaluationOrder(modules []*module, root int) []int {
	var order []int
	seen := map[int]bool{}
	var visit func(id int)
	visit = func(id int) {
		m := modules[id]
		if seen[id] || m.low == nil {
			return
		}
		seen[id] = true
		for _, ref := range m.low.imports {
			if t := m.deps[ref.tagged()]; ref.Kind == importStatement && t.module >= 0 && !modules[t.module].deferred && !m.low.mocking && (!modules[t.module].mockable || modules[t.module].waits) {
				visit(t.module)
			}
		}
		order = append(order, id)
	}
	visit(root)
	return order
}
