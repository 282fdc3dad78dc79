package intl

import (
	"maps"
	"sync"
	"unicode"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides/texts"
	"minido.dev/minido/internal/regex"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// segmenter is an Intl.Segmenter (ECMA-402, section 19). Grapheme clusters and
// words follow UAX #29 in what text of agents contains: Hangul syllables,
// marks, emoji sequences and flags; letters, digits and what joins them.
// Dictionaries for scripts without spaces there are none: each ideograph is a
// word. Immutable.
type segmenter struct{ locale, granularity string }

// segment is a piece of text, in UTF-16 code units.
type segment struct {
	start, end int
	wordLike   bool
}

// located is a code point with its place in the UTF-16 string.
type located struct {
	r          rune
	start, end int
}

// segmentTables are the sets of properties that segmentation asks for.
type segmentTables struct{ extend, pictographic, regional map[rune]bool }

var segmentData = sync.OnceValue(func() *segmentTables {
	expand := func(s regex.Set) map[rune]bool {
		m := map[rune]bool{}
		for _, r := range s {
			for c := r.Lo; c <= r.Hi; c++ {
				m[c] = true
			}
		}
		return m
	}
	property := func(name string) map[rune]bool {
		set, _ := regex.Property(name)
		return expand(set)
	}
	data := &segmentTables{
		extend:       property("Grapheme_Extend"),
		pictographic: property("Extended_Pictographic"),
		regional:     property("Regional_Indicator"),
	}
	for _, more := range []map[rune]bool{property("Mc"), property("Emoji_Modifier"), {0x200D: true}} {
		maps.Copy(data.extend, more)
	}
	return data
})

// codePoints are those of a string; a lone surrogate stands for itself.
func codePoints(s goja.String) []rune {
	ascii, units := texts.Text(s)
	if units == nil {
		return []rune(string(ascii))
	}
	return regex.CodePoints(units)
}

// pause ends the turn if it has been interrupted.
type pause func()

// at asks at every so many steps.
func (p pause) at(step int) {
	if step%4096 == 0 {
		p()
	}
}

func locate(s goja.String, wait pause) []located {
	var out []located
	at := 0
	for i, r := range codePoints(s) {
		wait.at(i)
		n := 1
		if r >= 0x10000 {
			n = 2
		}
		out = append(out, located{r, at, at + n})
		at += n
	}
	return out
}

// graphemes splits at the boundaries of extended grapheme clusters.
func graphemes(text []located, wait pause) []segment {
	data := segmentData()
	var out []segment
	flags, pictograph := 0, false
	for i, c := range text {
		wait.at(i)
		joined := false
		if i > 0 {
			joined = joins(text[i-1].r, c.r, flags, pictograph, data)
		}
		if joined {
			out[len(out)-1].end = c.end
		} else {
			out = append(out, segment{start: c.start, end: c.end})
			flags, pictograph = 0, false
		}
		switch {
		case data.regional[c.r]:
			flags++
		case data.pictographic[c.r]:
			pictograph = true
		case c.r != 0x200D && !data.extend[c.r]:
			pictograph = false
		}
	}
	return out
}

// joins holds where there is no boundary between two code points of a text
// (rules GB3 to GB13).
func joins(prev, next rune, flags int, pictograph bool, data *segmentTables) bool {
	control := func(r rune) bool {
		return r != 0x200C && r != 0x200D && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) && !data.extend[r] || r == 0x2028 || r == 0x2029)
	}
	switch {
	case prev == '\r' && next == '\n':
		return true
	case control(prev) || control(next):
		return false
	case data.extend[next]:
		return true
	case prev == 0x200D && pictograph && data.pictographic[next]:
		return true
	case data.regional[prev] && data.regional[next]:
		return flags%2 == 1
	}
	return hangulJoins(prev, next)
}

// hangulJoins holds within a syllable (rules GB6 to GB8).
func hangulJoins(prev, next rune) bool {
	kind := func(r rune) byte {
		switch {
		case r >= 0x1100 && r <= 0x115F || r >= 0xA960 && r <= 0xA97C:
			return 'L'
		case r >= 0x1160 && r <= 0x11A7 || r >= 0xD7B0 && r <= 0xD7C6:
			return 'V'
		case r >= 0x11A8 && r <= 0x11FF || r >= 0xD7CB && r <= 0xD7FB:
			return 'T'
		case r >= 0xAC00 && r <= 0xD7A3 && (r-0xAC00)%28 == 0:
			return 'v' // LV
		case r >= 0xAC00 && r <= 0xD7A3:
			return 't' // LVT
		}
		return 0
	}
	switch k := kind(next); kind(prev) {
	case 'L':
		return k == 'L' || k == 'V' || k == 'v' || k == 't'
	case 'V', 'v':
		return k == 'V' || k == 'T'
	case 'T', 't':
		return k == 'T'
	}
	return false
}

// words splits at the boundaries of words (rules WB3 to WB16, without
// dictionaries).
func words29(text []located, wait pause) []segment {
	data := segmentData()
	clusters := graphemes(text, wait)
	first := make([]rune, len(clusters))
	i := 0
	for k, c := range clusters {
		for text[i].start < c.start {
			i++
		}
		first[k] = text[i].r
	}
	ideograph := func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana) }
	letter := func(r rune) bool {
		return !ideograph(r) && (unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) || unicode.Is(unicode.Pc, r) && r == '_')
	}
	digit := func(r rune) bool { return unicode.Is(unicode.Nd, r) }
	alnum := func(r rune) bool { return letter(r) || digit(r) || unicode.Is(unicode.Pc, r) }
	var out []segment
	for k, c := range clusters {
		wait.at(k)
		if k > 0 {
			prev, next := first[k-1], first[k]
			joined := alnum(prev) && alnum(next) || prev == ' ' && next == ' '
			if !joined && k+1 < len(clusters) { // between: a middle character
				after := first[k+1]
				joined = middle(next, letter(prev) && letter(after), digit(prev) && digit(after))
			}
			if !joined && k > 1 {
				before := first[k-2]
				joined = middle(prev, letter(before) && letter(next), digit(before) && digit(next))
			}
			if joined {
				last := &out[len(out)-1]
				last.end = c.end
				last.wordLike = last.wordLike || alnum(next)
				continue
			}
		}
		r := first[k]
		out = append(out, segment{start: c.start, end: c.end, wordLike: (alnum(r) || ideograph(r)) && !data.pictographic[r] || digit(r)})
	}
	return out
}

// middle holds for a character that joins letters, or digits, on both sides.
func middle(r rune, letters, digits bool) bool {
	switch r {
	case '\'', '.', 0x2018, 0x2019, 0x2024, 0xFE52, 0xFF07, 0xFF0E:
		return letters || digits
	case ':', 0xB7, 0x387, 0x2027, 0xFE13, 0xFE55, 0xFF1A:
		return letters
	case ',', ';', 0x37E, 0x589, 0x60C, 0x60D, 0x66C, 0x2044, 0xFE10, 0xFE14, 0xFE50, 0xFE54, 0xFF0C, 0xFF1B:
		return digits
	}
	return false
}

// sentences splits after a terminator and the spaces that follow it (rules SB6
// to SB11).
func sentences(text []located, wait pause) []segment {
	var out []segment
	state := 0 // 1: after a terminator, 2: and after a space
	for i, c := range text {
		wait.at(i)
		terminator := c.r == '.' || c.r == '!' || c.r == '?' || c.r == 0x3002 || c.r == 0xFF01 || c.r == 0xFF1F || c.r == 0x2026
		newline := i > 0 && (text[i-1].r == '\n' || text[i-1].r == '\r' && c.r != '\n' || text[i-1].r == 0x2029)
		boundary := newline || state == 2 && !unicode.IsSpace(c.r) && !unicode.IsLower(c.r)
		switch {
		case i == 0 || boundary:
			out = append(out, segment{start: c.start, end: c.end})
			state = 0
		default:
			out[len(out)-1].end = c.end
		}
		switch {
		case terminator:
			state = 1
		case state >= 1 && unicode.IsSpace(c.r):
			state = 2
		case state == 1 && (unicode.Is(unicode.Pe, c.r) || unicode.Is(unicode.Pf, c.r) || c.r == '"' || c.r == '\''):
		default:
			state = 0
		}
	}
	return out
}

// segments is what Segmenter.prototype.segment returns. Immutable.
type segments struct {
	text     goja.String
	list     []segment
	showWord bool
}

func (p *Intl) segmentRecord(s *segments, x segment) goja.Value {
	o := p.Record("segment", s.text.Substring(x.start, x.end), "index", x.start, "input", s.text)
	if s.showWord {
		o.Set("isWordLike", x.wordLike)
	}
	return o
}

func (p *Intl) segmenterClass() *goja.Object {
	result := engine.DefineClass(p.Engine, engine.ClassDef[*segments]{
		Language: true,
		Name:     "Segments",
		Methods: []engine.Method[*segments]{{Name: "containing", Length: 1, Fn: func(s *segments, call goja.FunctionCall) goja.Value {
			at := int(call.Argument(0).ToInteger())
			for _, x := range s.list {
				if at >= x.start && at < x.end {
					return p.segmentRecord(s, x)
				}
			}
			return goja.Undefined()
		}}},
	})
	p.Engine.HideMembers(result.Ctor)
	result.Proto.Delete("constructor") // ECMA-402, section 19.5.2: only these two methods
	result.Proto.DeleteSymbol(goja.SymToStringTag)
	result.Proto.DefineDataPropertySymbol(goja.SymIterator, p.Engine.Func("[Symbol.iterator]", 0, func(call goja.FunctionCall) goja.Value {
		s, i := result.Self(call.This), 0
		return p.LanguageIterator("Segmenter String Iterator", func() (goja.Value, bool) {
			if i >= len(s.list) {
				return nil, false
			}
			i++
			return p.segmentRecord(s, s.list[i-1]), true
		})
	}), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	class := engine.DefineClass(p.Engine, engine.ClassDef[*segmenter]{
		Language: true,
		Name:     "Intl.Segmenter",
		New: func(call goja.ConstructorCall) *segmenter {
			s := &segmenter{locale: "en-US"}
			if tags := p.localeList(call.Argument(0)); len(tags) > 0 {
				s.locale = tags[0]
			}
			s.granularity = p.option("Intl.Segmenter", call.Argument(1), "granularity", "grapheme", "grapheme", "word", "sentence")
			return s
		},
		Methods: []engine.Method[*segmenter]{
			{Name: "segment", Length: 1, Fn: func(s *segmenter, call goja.FunctionCall) goja.Value {
				text := builtin.ToString(p.Engine, call.Argument(0))
				split := map[string]func([]located, pause) []segment{"grapheme": graphemes, "word": words29, "sentence": sentences}[s.granularity]
				wait := pause(p.Engine.Natives.Pause)
				return result.Wrap(&segments{text: text, list: split(locate(text, wait), wait), showWord: s.granularity == "word"})
			}},
			{Name: "resolvedOptions", Fn: func(s *segmenter, _ goja.FunctionCall) goja.Value {
				return p.Record("locale", s.locale, "granularity", s.granularity)
			}},
		},
	})
	return p.intlClass("Segmenter", class.Ctor, true)
}
