package bundle

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"slices"
)

// A frozen bundle is a linked one as a file: which file is imported from where is
// not looked up again, and a source that has changed since is not noticed. It is
// for those who start the same worker again and again and want the same one each
// time. With it goes which modules were evaluated: Thaw compiles them, and Load
// evaluates also those that could wait.

const frozenVersion = "frozen-1 " + cacheVersion

// Freeze writes b to the file at path, in one step. What was evaluated until then
// counts as what will be.
func (b *Bundle) Freeze(path string) error {
	w := packWriter{}
	w.text(frozenVersion)
	warnings, err := json.Marshal(b.Warnings)
	if err != nil {
		return fmt.Errorf("freeze the bundle: %w", err)
	}
	w.text(string(warnings))
	w.number(len(b.modules))
	ids := map[*unit]int{}
	for _, m := range b.modules {
		ids[m.unit] = m.id
		if err := w.module(m, ids); err != nil {
			return fmt.Errorf("freeze the bundle: %w", err)
		}
	}
	w.number(b.entry)
	w.numbers(b.order)
	w.number(len(b.additional))
	for _, name := range slices.Sorted(maps.Keys(b.additional)) {
		w.text(name)
		w.number(b.additional[name])
	}
	return writeFile(path, binary.LittleEndian.AppendUint32(w.buf, crc32.Checksum(w.buf, castagnoli)))
}

// Thaw reads what Freeze has written. opts must be those of the Bundler that built
// it. The result is nil if there is no such file, or another build of this program
// has written it.
func Thaw(path string, opts Options) *Bundle {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	body, ok := checked(data)
	r := packReader{data: body}
	if !ok || r.text() != frozenVersion {
		return nil
	}
	b := &Bundle{frozen: true, bundler: &Bundler{opts: opts.normalized(), store: openStore("", "")}, byName: map[string]int{}, additional: map[string]int{}}
	r.bad = json.Unmarshal([]byte(r.text()), &b.Warnings) != nil
	for n := r.number(); n > 0 && !r.bad; n-- {
		m := &module{id: len(b.modules), deps: map[string]target{}}
		r.module(m, b.modules)
		b.modules = append(b.modules, m)
		if !r.bad {
			b.byName[m.name] = m.id
		}
	}
	b.entry = r.number()
	b.order = r.numbers()
	for n := r.number(); n > 0 && !r.bad; n-- {
		name := r.text()
		b.additional[name] = r.number()
	}
	if r.bad {
		return nil
	}
	b.bundler.opts.keepWasm()
	b.compile()
	b.compileWasm()
	return b
}

// module writes m. A part of a prebuilt bundle follows its trunk, and is in there.
func (w *packWriter) module(m *module, ids map[*unit]int) error {
	w.flag(m.whole != nil)
	if m.whole != nil {
		w.number(ids[m.whole])
		w.number(slices.Index(m.whole.parts, m.unit))
	} else {
		w.text(m.path)
		w.text(m.name)
		w.text(m.text)
		refuse, err := json.Marshal(m.refuse)
		if err != nil {
			return err
		}
		w.text(string(refuse))
		w.flag(m.low != nil)
		if m.low != nil {
			w.buf = append(w.buf, m.low.key[:]...)
			w.lowered(m.low)
		}
		w.number(len(m.deps))
		for _, spec := range slices.Sorted(maps.Keys(m.deps)) {
			t := m.deps[spec]
			w.text(spec)
			w.number(t.module + 1)
			w.flag(t.self)
			w.text(t.builtin)
			w.text(t.missing)
		}
	}
	w.flag(m.node)
	w.texts(m.names)
	w.flag(m.known)
	w.number(len(m.stars))
	for _, name := range slices.Sorted(maps.Keys(m.stars)) {
		w.text(name)
		w.number(m.stars[name].module)
		w.text(m.stars[name].name)
	}
	w.flag(m.deferred)
	w.flag(m.circular)
	w.flag(m.waits)
	w.flag(m.used.Load())
	return nil
}

// module reads m; earlier are those before it.
func (r *packReader) module(m *module, earlier []*module) {
	if r.flag() {
		trunk, part := r.number(), r.number()
		if trunk < 0 || trunk >= len(earlier) || part < 0 || part >= len(earlier[trunk].parts) {
			r.bad = true
			return
		}
		m.unit, m.deps = earlier[trunk].parts[part], earlier[trunk].deps
	} else {
		m.unit = &unit{path: r.text(), name: r.text(), text: r.text()}
		r.bad = json.Unmarshal([]byte(r.text()), &m.refuse) != nil || r.bad
		if r.flag() {
			m.low = &lowered{}
			copy(m.low.key[:], r.take(len(m.low.key)))
			r.lowered(m.low)
			m.divide()
		}
		for n := r.number(); n > 0 && !r.bad; n-- {
			spec := r.text()
			m.deps[spec] = target{module: r.number() - 1, self: r.flag(), builtin: r.text(), missing: r.text()}
		}
	}
	m.node = r.flag()
	m.names = r.texts()
	m.known = r.flag()
	if n := r.number(); n > 0 {
		m.stars = map[string]binding{}
		for ; n > 0 && !r.bad; n-- {
			name := r.text()
			m.stars[name] = binding{r.number(), r.text()}
		}
	}
	m.deferred, m.circular, m.waits = r.flag(), r.flag(), r.flag()
	m.used.Store(r.flag())
}

func (w *packWriter) numbers(list []int) {
	w.number(len(list))
	for _, n := range list {
		w.number(n)
	}
}

func (r *packReader) numbers() []int {
	var list []int
	for n := r.number(); n > 0 && !r.bad; n-- {
		list = append(list, r.number())
	}
	return list
}

func (r *packReader) flag() bool { return r.number() == 1 }
