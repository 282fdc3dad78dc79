package bundle

import (
	"encoding/base64"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"minido.dev/minido/runtime/bundle/mend"
	"minido.dev/minido/runtime/bundle/sourcemap"
)

// MapPosition maps a position in a program, as goja's stacks give it (file is
// the program's name, line and col count from 1), to the source. The map is
// made when it is first asked for, by lowering the file once more; it fails
// for files that are not part of the bundle, or have changed since. Columns
// count UTF-16 units. Safe for concurrent use.
func (b *Bundle) MapPosition(file string, line, col int) (src string, l, c int, ok bool) {
	id, known := b.byName[file]
	if !known {
		return "", 0, 0, false
	}
	m := b.modules[id]
	for _, sm := range b.bundler.sourceMaps(m.unit) {
		if src, l, c, ok = sm.Lookup(m.low.outputLine(line), sourcemap.Column(m.low.code, line, col)); ok {
			break
		}
	}
	if !ok {
		return "", 0, 0, false
	}
	name := m.sourceName(src)
	if _, own := b.byName[name]; !own && filepath.IsAbs(m.path) && !strings.Contains(src, "://") {
		b.mapped.Store(name, filepath.Join(filepath.Dir(m.path), filepath.FromSlash(src)))
	}
	return name, l + 1, c + 1, true
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

// sourceName turns a name in the source map into the name shown to the user.
// The file itself is listed by its base name; a file that came with a source
// map of its own lists its sources relative to itself.
func (m *module) sourceName(source string) string {
	name := m.name
	if m.whole != nil {
		name = m.whole.name
	}
	if source == filepath.Base(filepath.FromSlash(m.path)) || strings.Contains(source, mend.AsyncUnit) ||
		strings.HasPrefix(source, splitNamespace+":") {
		return name
	}
	if strings.Contains(source, "://") || strings.HasPrefix(source, "/") {
		return source // of a tool that names its files in a way of its own
	}
	if name = path.Join(path.Dir(name), source); strings.HasPrefix(name, "../") && filepath.IsAbs(m.path) {
		// A build's sources lie outside of what it has made: nobody knows from where "../" leads.
		return filepath.ToSlash(filepath.Join(filepath.Dir(m.path), filepath.FromSlash(source)))
	}
	return name
}

// maxMapFile bounds the source map beside a file, in bytes.
const maxMapFile = 64 << 20

// withMap is the text of a file, with the source map that lies beside it (ECMA-426,
// section 11) inside: so esbuild leads to what the file was made from, as wrangler does.
func withMap(s source) string {
	const mark = "//# sourceMappingURL="
	at := strings.LastIndex(s.text, "\n"+mark)
	if at < 0 || !filepath.IsAbs(s.path) {
		return s.text
	}
	at += len("\n" + mark)
	link, rest, _ := strings.Cut(s.text[at:], "\n")
	file, err := url.PathUnescape(strings.TrimRight(link, "\r"))
	if err != nil || file == "" || strings.ContainsAny(file, `/\:`) {
		return s.text // inside already, or somewhere else
	}
	file = filepath.Join(filepath.Dir(s.path), file)
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || info.Size() > maxMapFile {
		return s.text
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return s.text
	}
	return s.text[:at] + "data:application/json;base64," + base64.StdEncoding.EncodeToString(text) + "\n" + rest
}

// sourceMaps are those of u, the best first: one that leads to what its file was made
// from, if the file came with a source map, and the file's own. There may be none.
func (b *Bundler) sourceMaps(u *unit) []*sourcemap.Map {
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
		texts := []string{src.text}
		if text := withMap(src); text != src.text {
			texts = []string{text, src.text}
		}
		for _, src.text = range texts {
			var sm *sourcemap.Map
			if len(whole.parts) > 0 {
				sm = b.opts.splitMap(src, 1+slices.Index(whole.parts, u))
			} else {
				sm, _ = sourcemap.Parse(b.opts.mapOf(src, u.low.async))
			}
			if sm != nil {
				u.maps = append(u.maps, sm)
			}
		}
	})
	return u.maps
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
		if r = api.Build(opts); len(globDirs(r.Errors)) > 0 {
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
