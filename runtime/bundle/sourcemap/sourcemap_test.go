package sourcemap

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzSourceMap: any text is a source map or none; every position has a source of
// its list or none. A map of numbers in range is read as a slow decoder reads it.
func FuzzSourceMap(f *testing.F) {
	for _, seed := range []string{"AAAA;AACA,IAAI;;AAEA", ";;;", "A,AAAAA,gggggggggggggggggC", "!!,AA%AA;", "AADA;AADA", ""} {
		f.Add(seed, "a.ts", 2, 3)
	}
	f.Add("0", "\xe5\xe7", 0, -24) // encoding/json replaces each byte that is no UTF-8
	f.Fuzz(func(t *testing.T, mappings, source string, line, column int) {
		text, err := json.Marshal(map[string]any{"version": 3, "sources": []string{source, "b"}, "mappings": mappings})
		if err != nil {
			t.Fatal(err)
		}
		m, ok := Parse(text)
		if !ok {
			t.Fatalf("%s is no source map", text)
		}
		got, gotLine, gotColumn, ok := m.Lookup(line, column)
		if known := string([]rune(source)); ok && got != known && got != "b" {
			t.Fatalf("%d:%d is in %q", line, column, got)
		}
		if strings.Trim(mappings, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/;,") != "" {
			return
		}
		want, wantLine, wantColumn, found := plainLookup(mappings, []string{m.sources[0], m.sources[1]}, line, column)
		if !found { // numbers beyond what a map has
			return
		}
		if !ok || got != want || gotLine != wantLine || gotColumn != wantColumn {
			t.Fatalf("%q at %d:%d: %q %d:%d %v, want %q %d:%d", mappings, line, column, got, gotLine, gotColumn, ok, want, wantLine, wantColumn)
		}
		Parse([]byte(mappings)) // no JSON
	})
}

// plainLookup decodes everything, and gives the last segment of the line that
// begins at the column or before it; found is false without one, and for maps that
// are not in order, have segments without a source, or numbers of no use.
func plainLookup(mappings string, sources []string, line, column int) (source string, srcLine, srcColumn int, found bool) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	state := [5]int{}
	for at, row := range strings.Split(mappings, ";") {
		state[0] = 0
		before := -1
		for _, segment := range strings.Split(row, ",") {
			if segment == "" {
				continue
			}
			field, value, shift := 0, 0, 0
			for _, c := range []byte(segment) {
				digit := strings.IndexByte(digits, c)
				if shift > 20 || field > 4 {
					return "", 0, 0, false
				}
				value += digit % 32 << shift
				if shift += 5; digit >= 32 {
					continue
				}
				if value%2 != 0 {
					value = -(value - 1)
				}
				state[field] += value / 2
				field, value, shift = field+1, 0, 0
			}
			if shift != 0 || field < 4 || state[0] <= before || state[1] < 0 || state[1] >= len(sources) {
				return "", 0, 0, false
			}
			before = state[0]
			if at == line && state[0] <= column {
				source, srcLine, srcColumn, found = sources[state[1]], state[2], state[3], true
			}
		}
	}
	return source, srcLine, srcColumn, found
}
