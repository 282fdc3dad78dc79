// Package sourcemap reads source maps: from a position in lowered code to the one
// in the source.
package sourcemap

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf16"
)

// Map maps positions in esbuild's output for one file back to sources.
// Only the encoded mappings and the state at the start of each line are kept;
// a line is decoded when a position in it is asked for. Immutable.
type Map struct {
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

// Parse reads a source map (version 3, ECMA-426); false if it is no JSON object.
func Parse(text []byte) (*Map, bool) {
	var raw struct {
		Sources  []string `json:"sources"`
		Mappings string   `json:"mappings"`
	}
	if json.Unmarshal(text, &raw) != nil {
		return nil, false
	}
	m := &Map{sources: raw.Sources, mappings: raw.Mappings}
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

// Content is the text of a source in a source map (its sourcesContent); false if the map
// has none, or is damaged.
func Content(text []byte, source string) (string, bool) {
	var raw struct {
		Sources []string  `json:"sources"`
		Content []*string `json:"sourcesContent"`
	}
	if json.Unmarshal(text, &raw) != nil {
		return "", false
	}
	if i := slices.Index(raw.Sources, source); i >= 0 && i < len(raw.Content) && raw.Content[i] != nil {
		return *raw.Content[i], true
	}
	return "", false
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

// Lookup finds the source position of a zero-based line and UTF-16 column. A
// position before the first segment of its line has none.
func (m *Map) Lookup(line, col int) (source string, srcLine, srcCol int, ok bool) {
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

// Column converts a 1-based byte column of the code to zero-based
// UTF-16 units.
func Column(code string, line, col int) int {
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

// Segments calls fn with all places of the map, in the order of the code: a zero-based
// line and UTF-16 column of the code, and those of the source that they come from.
func (m *Map) Segments(fn func(line, col int, source string, srcLine, srcCol int)) {
	for line, st := range m.lines {
		gen := 0
		for i := st.offset; i < len(m.mappings) && m.mappings[i] != ';'; {
			if m.mappings[i] == ',' {
				i++
				continue
			}
			fields, next := decodeSegment(m.mappings, i)
			i = next
			gen += fields[0]
			st.advance(fields)
			if st.source >= 0 && st.source < len(m.sources) {
				fn(line, gen, m.sources[st.source], st.line, st.column)
			}
		}
	}
}

// Offset is the byte of a text at a zero-based line and UTF-16 column, -1 if there is none. It
// is pure.
func Offset(text string, line, col int) int {
	offset := 0
	for ; line > 0; line-- {
		i := strings.IndexByte(text[offset:], '\n')
		if i < 0 {
			return -1
		}
		offset += i + 1
	}
	for i, r := range text[offset:] {
		if col <= 0 {
			return offset + i
		}
		col -= utf16.RuneLen(r)
	}
	return -1
}
