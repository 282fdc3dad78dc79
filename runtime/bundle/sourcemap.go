package bundle

import (
	"encoding/json"
	"minido.dev/minido/runtime/bundle/mend"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/evanw/esbuild/pkg/api"
)

// sourceMap maps positions in esbuild's output for one file back to sources.
// Only the encoded mappings and the state at the start of each line are kept;
// a line is decoded when a position in it is asked for. Immutable.
type sourceMap struct {
	sources  []string
	mappings string
	lines    []lineState
}

// lineState is what the deltas of a line add to. offset is where the line's
// mappings begin.
type lineState struct {
	offset               int
	source, line, column int
}

func newSourceMap(text []byte) (*sourceMap, bool) {
	var raw struct {
		Sources  []string `json:"sources"`
		Mappings string   `json:"mappings"`
	}
	if json.Unmarshal(text, &raw) != nil {
		return nil, false
	}
	m := &sourceMap{sources: raw.Sources, mappings: raw.Mappings}
	st := lineState{}
	m.lines = append(m.lines, st)
	for i := 0; i < len(m.mappings); {
		switch m.mappings[i] {
		case ';':
			i++
			st.offset = i
			m.lines = append(m.lines, st)
		case ',':
			i++
		default:
			fields, next := decodeSegment(m.mappings, i)
			i = next
			st.advance(fields)
		}
	}
	return m, true
}

func (st *lineState) advance(f [4]int) {
	st.source += f[1]
	st.line += f[2]
	st.column += f[3]
}

// decodeSegment reads the Base64 VLQ numbers of one segment; a name index is
// read and dropped.
func decodeSegment(s string, i int) (fields [4]int, next int) {
	for n := 0; i < len(s) && s[i] != ',' && s[i] != ';'; n++ {
		value, shift := 0, 0
		for i < len(s) {
			digit := strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", s[i])
			i++
			if digit < 0 {
				break
			}
			value |= digit & 31 << shift
			shift += 5
			if digit&32 == 0 {
				break
			}
		}
		if value&1 != 0 {
			value = -(value >> 1)
		} else {
			value >>= 1
		}
		if n < len(fields) {
			fields[n] = value
		}
	}
	return fields, i
}

// lookup finds the source position of a zero-based line and UTF-16 column. A
// position before the first segment of its line has none.
func (m *sourceMap) lookup(line, col int) (source string, srcLine, srcCol int, ok bool) {
	if line < 0 || line >= len(m.lines) {
		return "", 0, 0, false
	}
	st := m.lines[line]
	gen := 0
	for i := st.offset; i < len(m.mappings) && m.mappings[i] != ';'; {
		if m.mappings[i] == ',' {
			i++
			continue
		}
		fields, next := decodeSegment(m.mappings, i)
		i = next
		if gen += fields[0]; gen > col && ok {
			break
		}
		st.advance(fields)
		if st.source >= 0 && st.source < len(m.sources) {
			source, srcLine, srcCol, ok = m.sources[st.source], st.line, st.column, true
		}
		if gen > col {
			break
		}
	}
	return source, srcLine, srcCol, ok
}

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
	sm := b.bundler.sourceMap(m.unit)
	if sm == nil {
		return "", 0, 0, false
	}
	// The program's first line is the function's head; its second is the line
	// of esbuild's output after the cut.
	src, l, c, ok = sm.lookup(line-2+m.low.cut, generatedColumn(m.low.code, line, col))
	if !ok {
		return "", 0, 0, false
	}
	return m.sourceName(src), l + 1, c + 1, true
}

// generatedColumn converts a 1-based byte column of the code to zero-based
// UTF-16 units.
func generatedColumn(code string, line, col int) int {
	for ; line > 1; line-- {
		i := strings.IndexByte(code, '\n')
		if i < 0 {
			return max(0, col-1)
		}
		code = code[i+1:]
	}
	end := min(max(0, col-1), len(code))
	return len(utf16.Encode([]rune(code[:end])))
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
	return path.Join(path.Dir(name), source)
}

// sourceMap returns u's map, or nil if it cannot be had.
func (b *Bundler) sourceMap(u *unit) *sourceMap {
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
			u.sm, _ = newSourceMap(b.opts.mapOf(src, u.low.async))
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
		if r = api.Build(opts); len(globDirs(r.Errors)) > 0 {
			r = o.buildGlobs(s, true)
		}
	}
	return mapFile(r)
}

// splitMap is the map of a prebuilt bundle's trunk (0) or of one of its parts.
func (o *Options) splitMap(s source, owner int) *sourceMap {
	sp := o.newSplitter(s)
	if sp == nil || owner >= len(sp.paths) {
		return nil
	}
	sm, _ := newSourceMap(mapFile(api.Build(sp.build([]int{owner}, true))))
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
