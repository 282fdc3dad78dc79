package bundle

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"minido.dev/minido/runtime/bundle/glob"
	"minido.dev/minido/runtime/bundle/mend"
	"minido.dev/minido/runtime/bundle/sourcemap"
)

// position is a place in a program, as goja's stacks give it.
type position struct {
	file         string
	line, column int
}

// mappedPosition is where in the sources a position is. beside is what the map beside the
// module's file names, "" if there is none or it does not know the position.
type mappedPosition struct {
	source       string
	line, column int
	module       int
	beside       string
}

// MapPosition maps a position in a program, as goja's stacks give it (file is
// the program's name, line and col count from 1), to the source. The map is
// made when it is first asked for, by lowering the file once more; it fails
// for files that are not part of the bundle, or have changed since. What it has found it
// knows from then on, and so does a bundle that is frozen after that. Columns
// count UTF-16 units. Safe for concurrent use.
func (b *Bundle) MapPosition(file string, line, col int) (src string, l, c int, ok bool) {
	at := position{file, line, col}
	if known, ok := b.positions.Load(at); ok {
		p := known.(mappedPosition)
		return p.source, p.line, p.column, true
	}
	p, ok := b.mapPosition(at)
	if ok {
		b.positions.Store(at, p)
	}
	return p.source, p.line, p.column, ok
}

func (b *Bundle) mapPosition(at position) (p mappedPosition, ok bool) {
	id, known := b.byName[at.file]
	if !known {
		return p, false
	}
	m := b.modules[id]
	sm := b.bundler.sourceMap(m.unit)
	if sm == nil {
		return p, false
	}
	src, l, c, ok := sm.Lookup(m.low.outputLine(at.line), sourcemap.Column(m.low.code, at.line, at.column))
	if !ok {
		return p, false
	}
	name, own := m.sourceName(src)
	p = mappedPosition{source: name, line: l + 1, column: c + 1, module: id}
	if !own {
		return p, true
	}
	whole := m.undivided()
	if beside := whole.mapBeside(); beside != nil {
		if from, fl, fc, ok := beside.Lookup(l, c); ok {
			p = mappedPosition{source: b.origin(m, whole, from), line: fl + 1, column: fc + 1, module: id, beside: from}
		}
	}
	return p, true
}

// undivided is the unit, or the one that it is a part of.
func (m *module) undivided() *unit {
	if m.whole != nil {
		return m.whole
	}
	return m.unit
}

// outputLine is the line of esbuild's output, from 0, that a line of the code is. The
// first line is the function's head; the second is that after the cut.
func (l *lowered) outputLine(line int) int {
	out := line - 2 - len(l.hoisted)
	if out < 0 && line >= 2 {
		out = l.hoisted[line-2]
	}
	return out + l.cut
}

// sourceName turns a name in the source map into the name shown to the user; own tells
// that it is the file itself, which is listed by its base name. A file that has a source
// map of its own in it lists its sources relative to itself.
func (m *module) sourceName(source string) (name string, own bool) {
	name = m.name
	if m.whole != nil {
		name = m.whole.name
	}
	if source == filepath.Base(filepath.FromSlash(m.path)) || strings.Contains(source, mend.AsyncUnit) ||
		strings.HasPrefix(source, splitNamespace+":") {
		return name, true
	}
	return path.Join(path.Dir(name), source), false
}

// origin is the name shown to the user of a source that the map beside m's file names,
// which is whole.
func (b *Bundle) origin(m *module, whole *unit, source string) string {
	if strings.Contains(source, "://") {
		return source // of a tool that names its files in a way of its own
	}
	file := filepath.FromSlash(source)
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(m.path), file)
	}
	name := relSlash(b.bundler.opts.Dir, file)
	if strings.HasPrefix(name, "../") {
		// What a build was made from lies outside of what it has made: nobody knows from
		// where "../" leads.
		name = filepath.ToSlash(file)
	}
	if _, own := b.byName[name]; !own {
		b.mapped.Store(name, original{file, whole, source})
	}
	return name
}

// mapBeside is the source map that lies beside the unit's file (ECMA-426, section 11), nil
// if there is none or it is damaged. It is read when it is first asked for.
func (u *unit) mapBeside() *sourcemap.Map {
	u.besideOnce.Do(func() {
		if text := u.textBeside(); text != nil {
			u.beside, _ = sourcemap.Parse(text)
		}
	})
	return u.beside
}

// textBeside is the file of mapBeside; nil if there is none that can be read.
func (u *unit) textBeside() []byte {
	if !filepath.IsAbs(u.path) {
		return nil
	}
	if u.text != "" {
		return sourcemap.Beside(u.path, u.text)
	}
	text, err := os.ReadFile(u.path)
	if err != nil {
		return nil
	}
	return sourcemap.Beside(u.path, string(text))
}

// original is a source that the map beside a unit's file names: packages publish what
// they are made of, or keep its text in the map alone.
type original struct {
	path string
	unit *unit
	name string // in the map
}

func (o original) text() (string, bool) {
	if text, err := os.ReadFile(o.path); err == nil {
		return string(text), true
	}
	return sourcemap.Content(o.unit.textBeside(), o.name)
}

// sourceMap returns u's map, or nil if it cannot be had.
func (b *Bundler) sourceMap(u *unit) *sourcemap.Map {
	u.mapOnce.Do(func() {
		if u.low == nil || u.low.code == "" {
			return
		}
		whole := u
		if u.whole != nil {
			whole = u.whole
		}
		src, ok := b.source(whole)
		if !ok || b.opts.hash(src) != u.low.key {
			return // the file has changed since
		}
		if len(whole.parts) > 0 {
			u.sm = b.opts.splitMap(src, 1+slices.Index(whole.parts, u))
		} else {
			u.sm, _ = sourcemap.Parse(b.opts.mapOf(src, u.low.async))
		}
	})
	return u.sm
}

// mapOf lowers the file again, this time with a source map.
func (o *Options) mapOf(s source, async bool) []byte {
	var r api.BuildResult
	if async {
		code, err := outputCode(o.asyncStage(s, true))
		if err != nil {
			return nil
		}
		r = o.asyncSecond(s, code, true)
	} else {
		opts := o.inner(s)
		opts.Sourcemap, opts.SourcesContent = api.SourceMapExternal, api.SourcesContentExclude
		if r = api.Build(opts); len(glob.Dirs(r.Errors)) > 0 {
			r = o.buildGlobs(s, true)
		}
	}
	return mapFile(r)
}

// splitMap is the map of a prebuilt bundle's trunk (0) or of one of its parts.
func (o *Options) splitMap(s source, owner int) *sourcemap.Map {
	sp := o.newSplitter(s)
	if sp == nil || owner >= len(sp.paths) {
		return nil
	}
	sm, _ := sourcemap.Parse(mapFile(api.Build(sp.build([]int{owner}, true))))
	return sm
}

func mapFile(r api.BuildResult) []byte {
	for _, f := range r.OutputFiles {
		if strings.HasSuffix(f.Path, ".map") {
			return f.Contents
		}
	}
	return nil
}
