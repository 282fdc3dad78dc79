package bundle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"minido.dev/minido/runtime/bundle/pack"
	"minido.dev/minido/runtime/bundle/programs"
)

// A frozen bundle is a linked one as a file: which file is imported from where is
// not looked up again, and a source that has changed since is not noticed. It is
// for those who start the same worker again and again and want the same one each
// time. With it goes which modules were evaluated, and their programs: Thaw reads these, and Load
// evaluates also those that could wait; and which positions were mapped to which places
// of the sources, which takes the maps of whole packages to find out.

func frozenVersion() string { return "frozen-4 " + cacheVersion + " " + programs.Build() }

// Freeze writes b to the file at path, in one step. What was evaluated until then
// counts as what will be.
func (b *Bundle) Freeze(path string) error {
	w := packWriter{}
	w.Text(frozenVersion())
	warnings, err := json.Marshal(b.Warnings)
	if err != nil {
		return fmt.Errorf("freeze the bundle: %w", err)
	}
	w.Text(string(warnings))
	w.Number(len(b.modules))
	ids := map[*unit]int{}
	for _, m := range b.modules {
		ids[m.unit] = m.id
		if err := w.module(m, ids); err != nil {
			return fmt.Errorf("freeze the bundle: %w", err)
		}
	}
	w.Number(b.entry)
	w.Numbers(b.order)
	w.Number(len(b.additional))
	for _, name := range slices.Sorted(maps.Keys(b.additional)) {
		w.Text(name)
		w.Number(b.additional[name])
	}
	w.positions(b)
	return pack.WriteFile(path, w.Sealed())
}

// Thaw reads what Freeze has written. opts must be those of the Bundler that built
// it. The result is nil if there is no such file, or another build of this program
// has written it.
func Thaw(path string, opts Options) *Bundle {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	body, ok := pack.Open(data)
	r := packReader{body}
	if !ok || r.Text() != frozenVersion() {
		return nil
	}
	b := &Bundle{frozen: true, bundler: &Bundler{opts: opts.normalized(), store: openStore("", "")}, byName: map[string]int{}, additional: map[string]int{}}
	r.Bad = json.Unmarshal([]byte(r.Text()), &b.Warnings) != nil
	for n := r.Number(); n > 0 && !r.Bad; n-- {
		m := &module{id: len(b.modules), deps: map[string]target{}}
		if r.module(m, b.modules) {
			m.used.Note(&b.bundler.order)
		}
		b.modules = append(b.modules, m)
		if !r.Bad {
			b.byName[m.name] = m.id
		}
	}
	b.entry = r.Number()
	b.order = r.Numbers()
	for n := r.Number(); n > 0 && !r.Bad; n-- {
		name := r.Text()
		b.additional[name] = r.Number()
	}
	r.positions(b)
	if r.Bad {
		return nil
	}
	b.bundler.opts.keepWasm()
	b.compile()
	b.compileWasm()
	return b
}

// module writes m. A part of a prebuilt bundle follows its trunk, and is in there.
func (w *packWriter) module(m *module, ids map[*unit]int) error {
	w.Flag(m.whole != nil)
	if m.whole != nil {
		w.Number(ids[m.whole])
		w.Number(slices.Index(m.whole.parts, m.unit))
	} else {
		w.Text(m.path)
		w.Text(m.name)
		w.Text(m.text)
		refuse, err := json.Marshal(m.refuse)
		if err != nil {
			return err
		}
		w.Text(string(refuse))
		w.Flag(m.low != nil)
		if m.low != nil {
			w.Bytes(m.low.key[:])
			w.lowered(m.low)
		}
		w.Number(len(m.deps))
		for _, spec := range slices.Sorted(maps.Keys(m.deps)) {
			t := m.deps[spec]
			w.Text(spec)
			w.Number(t.module + 1)
			w.Flag(t.self)
			w.Text(t.builtin)
			w.Text(t.missing)
			w.Flag(t.theirs)
		}
	}
	w.Flag(m.node)
	w.Texts(m.names)
	w.Flag(m.known)
	w.Number(len(m.stars))
	for _, name := range slices.Sorted(maps.Keys(m.stars)) {
		w.Text(name)
		w.Number(m.stars[name].module)
		w.Text(m.stars[name].name)
	}
	w.Flag(m.deferred)
	w.Flag(m.circular)
	w.Flag(m.waits)
	used := m.used.Load()
	if w.Flag(used); used && m.low != nil && m.low.code != "" {
		w.Text(m.write())
	}
	return nil
}

// module reads m; earlier are those before it. It reports whether m was evaluated.
func (r *packReader) module(m *module, earlier []*module) (used bool) {
	if r.Flag() {
		trunk, part := r.Number(), r.Number()
		if trunk < 0 || trunk >= len(earlier) || part < 0 || part >= len(earlier[trunk].parts) {
			r.Bad = true
			return false
		}
		m.unit, m.deps = earlier[trunk].parts[part], earlier[trunk].deps
	} else {
		m.unit = &unit{path: r.Text(), name: r.Text(), text: r.Text()}
		r.Bad = json.Unmarshal([]byte(r.Text()), &m.refuse) != nil || r.Bad
		if r.Flag() {
			m.low = &lowered{}
			copy(m.low.key[:], r.Take(len(m.low.key)))
			r.lowered(m.low)
			m.divide()
		}
		for n := r.Number(); n > 0 && !r.Bad; n-- {
			spec := r.Text()
			m.deps[spec] = target{module: r.Number() - 1, self: r.Flag(), builtin: r.Text(), missing: r.Text(), theirs: r.Flag()}
		}
	}
	m.node = r.Flag()
	m.names = r.Texts()
	m.known = r.Flag()
	if n := r.Number(); n > 0 {
		m.stars = map[string]binding{}
		for ; n > 0 && !r.Bad; n-- {
			name := r.Text()
			m.stars[name] = binding{r.Number(), r.Text()}
		}
	}
	m.deferred, m.circular, m.waits = r.Flag(), r.Flag(), r.Flag()
	if used = r.Flag(); used && m.low != nil && m.low.code != "" {
		m.written = r.Text()
	}
	return used
}

// positions writes where positions lie in the sources.
func (w *packWriter) positions(b *Bundle) {
	found := map[position]mappedPosition{}
	b.positions.Range(func(at, p any) bool { // order-independent: sorted below
		found[at.(position)] = p.(mappedPosition)
		return true
	})
	w.Number(len(found))
	for _, at := range slices.SortedFunc(maps.Keys(found), func(a, b position) int {
		return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	}) {
		p := found[at]
		w.Text(at.file)
		w.Numbers([]int{at.line, at.column, p.line, p.column, p.module})
		w.Text(p.source)
		w.Text(p.beside)
	}
}

// positions reads them.
func (r *packReader) positions(b *Bundle) {
	for n := r.Number(); n > 0 && !r.Bad; n-- {
		at, list := position{file: r.Text()}, r.Numbers()
		p := mappedPosition{source: r.Text(), beside: r.Text()}
		if len(list) != 5 || list[4] < 0 || list[4] >= len(b.modules) {
			r.Bad = true
			return
		}
		at.line, at.column = list[0], list[1]
		p.line, p.column, p.module = list[2], list[3], list[4]
		if p.beside != "" {
			m := b.modules[p.module]
			b.origin(m, m.undivided(), p.beside) // makes its source known
		}
		b.positions.Store(at, p)
	}
}
