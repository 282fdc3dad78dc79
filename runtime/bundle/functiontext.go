package bundle

import (
	"os"
	"strings"

	"minido.dev/minido/runtime/bundle/sourcemap"
	"minido.dev/minido/runtime/bundle/toplevel"
)

// FunctionText is the text that a function has in its file, where that is run as it is
// (Options.NoBundle); text is the one in the program. Frameworks write such texts into
// pages. ok is false for arrow functions without braces, and where the file has changed.
// Safe for concurrent use.
func (b *Bundle) FunctionText(text string) (original string, ok bool) {
	if !b.bundler.opts.NoBundle || !strings.HasSuffix(text, "}") {
		return "", false
	}
	if known, found := b.texts.Load(text); found {
		original, ok = known.(string)
		return original, ok && original != ""
	}
	for _, m := range b.modules {
		if m.low == nil {
			continue
		}
		at := strings.Index(m.low.code, text)
		if at < 0 {
			continue
		}
		original = b.originalText(m, at, text)
		break
	}
	b.texts.Store(text, original) // as many as the bundle has functions
	return original, original != ""
}

// originalText is the text in m's file of the function at an offset of its code; "" if it
// cannot be told.
func (b *Bundle) originalText(m *module, at int, text string) string {
	whole := m.undivided()
	file := whole.text
	if file == "" {
		data, err := os.ReadFile(whole.path)
		if err != nil {
			return "" // gone: what runs is all that is known
		}
		file = string(data)
	}
	begin, end := b.ownOffset(m, file, at), b.ownOffset(m, file, at+len(text)-1)
	if begin < 0 || end < begin || file[end] != '}' || !strings.HasPrefix(file[begin:], toplevel.FirstWord(text)) {
		return ""
	}
	return file[begin : end+1]
}

// ownOffset is where in m's file something at an offset of its code comes from, -1 if it
// comes from elsewhere.
func (b *Bundle) ownOffset(m *module, file string, at int) int {
	before := m.low.code[:at]
	line := strings.Count(before, "\n") + 1
	col := at - (strings.LastIndexByte(before, '\n') + 1) + 1
	sm := b.bundler.sourceMap(m.unit)
	if sm == nil {
		return -1
	}
	source, l, c, ok := sm.Lookup(m.low.outputLine(line), sourcemap.Column(m.low.code, line, col))
	if !ok {
		return -1
	}
	if _, own := m.sourceName(source); !own {
		return -1
	}
	return sourcemap.Offset(file, l, c)
}
