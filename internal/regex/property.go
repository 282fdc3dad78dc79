package regex

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

//go:embed data/unicode.txt
var unicodeData string

// extraProperties are the tables of data/unicode.txt.
var extraProperties = sync.OnceValue(func() map[string]string {
	tables := map[string]string{}
	for _, line := range strings.Split(unicodeData, "\n") {
		if name, ranges, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, "#") {
			tables[name] = ranges
		}
	}
	return tables
})

// parseRanges reads "23 30-39" and so on, in hexadecimal.
func parseRanges(text string) Set {
	var ranges []Range
	for _, field := range strings.Fields(text) {
		lo, hi, isRange := strings.Cut(field, "-")
		if !isRange {
			hi = lo
		}
		from, err1 := strconv.ParseUint(lo, 16, 32)
		to, err2 := strconv.ParseUint(hi, 16, 32)
		if err1 != nil || err2 != nil {
			panic("data/unicode.txt: bad range " + field)
		}
		ranges = append(ranges, Range{rune(from), rune(to)})
	}
	return newSet(ranges)
}

// categoryNames are the long names of general categories (UAX #44, table 12).
var categoryNames = map[string]string{
	"Letter": "L", "Cased_Letter": "LC", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Titlecase_Letter": "Lt",
	"Modifier_Letter": "Lm", "Other_Letter": "Lo", "Mark": "M", "Combining_Mark": "M", "Nonspacing_Mark": "Mn",
	"Spacing_Mark": "Mc", "Enclosing_Mark": "Me", "Number": "N", "Decimal_Number": "Nd", "digit": "Nd", "Letter_Number": "Nl",
	"Other_Number": "No", "Punctuation": "P", "punct": "P", "Connector_Punctuation": "Pc", "Dash_Punctuation": "Pd",
	"Open_Punctuation": "Ps", "Close_Punctuation": "Pe", "Initial_Punctuation": "Pi", "Final_Punctuation": "Pf",
	"Other_Punctuation": "Po", "Symbol": "S", "Math_Symbol": "Sm", "Currency_Symbol": "Sc", "Modifier_Symbol": "Sk",
	"Other_Symbol": "So", "Separator": "Z", "Space_Separator": "Zs", "Line_Separator": "Zl", "Paragraph_Separator": "Zp",
	"Other": "C", "Control": "Cc", "cntrl": "Cc", "Format": "Cf", "Surrogate": "Cs", "Private_Use": "Co", "Unassigned": "Cn",
}

// binaryShort are the short names of binary properties (ECMA-262, table 67).
var binaryShort = map[string]string{
	"AHex": "ASCII_Hex_Digit", "Alpha": "Alphabetic", "Bidi_C": "Bidi_Control", "Bidi_M": "Bidi_Mirrored", "CI": "Case_Ignorable",
	"CWCF": "Changes_When_Casefolded", "CWCM": "Changes_When_Casemapped", "CWL": "Changes_When_Lowercased", "CWT": "Changes_When_Titlecased",
	"CWU": "Changes_When_Uppercased", "DI": "Default_Ignorable_Code_Point", "Dep": "Deprecated", "Dia": "Diacritic",
	"EBase": "Emoji_Modifier_Base", "EComp": "Emoji_Component", "EMod": "Emoji_Modifier", "EPres": "Emoji_Presentation",
	"ExtPict": "Extended_Pictographic", "Ext": "Extender", "Gr_Base": "Grapheme_Base", "Gr_Ext": "Grapheme_Extend", "Hex": "Hex_Digit",
	"IDSB": "IDS_Binary_Operator", "IDST": "IDS_Trinary_Operator", "IDC": "ID_Continue", "IDS": "ID_Start", "Ideo": "Ideographic",
	"Join_C": "Join_Control", "LOE": "Logical_Order_Exception", "Lower": "Lowercase", "NChar": "Noncharacter_Code_Point",
	"Pat_Syn": "Pattern_Syntax", "Pat_WS": "Pattern_White_Space", "QMark": "Quotation_Mark", "RI": "Regional_Indicator",
	"STerm": "Sentence_Terminal", "SD": "Soft_Dotted", "Term": "Terminal_Punctuation", "UIdeo": "Unified_Ideograph", "Upper": "Uppercase",
	"VS": "Variation_Selector", "space": "White_Space", "XIDC": "XID_Continue", "XIDS": "XID_Start",
}

// scriptShort are the four-letter names of scripts that programs use; the long
// names are Go's.
var scriptShort = map[string]string{
	"Arab": "Arabic", "Armn": "Armenian", "Beng": "Bengali", "Bopo": "Bopomofo", "Brai": "Braille", "Cher": "Cherokee", "Copt": "Coptic",
	"Qaac": "Coptic", "Cyrl": "Cyrillic", "Deva": "Devanagari", "Egyp": "Egyptian_Hieroglyphs", "Ethi": "Ethiopic", "Geor": "Georgian",
	"Goth": "Gothic", "Grek": "Greek", "Gujr": "Gujarati", "Guru": "Gurmukhi", "Hang": "Hangul", "Hani": "Han", "Hebr": "Hebrew",
	"Hira": "Hiragana", "Kana": "Katakana", "Khmr": "Khmer", "Knda": "Kannada", "Laoo": "Lao", "Latn": "Latin", "Mlym": "Malayalam",
	"Mong": "Mongolian", "Mymr": "Myanmar", "Orya": "Oriya", "Runr": "Runic", "Sinh": "Sinhala", "Syrc": "Syriac", "Taml": "Tamil",
	"Telu": "Telugu", "Thaa": "Thaana", "Tibt": "Tibetan", "Zinh": "Inherited", "Qaai": "Inherited", "Zyyy": "Common",
}

// propertySets caches the sets of properties, by their text between braces.
// The number of properties bounds it. Safe for concurrent use.
var propertySets sync.Map

// Property is the set of \p{text} (ECMA-262, section 22.2.1.9); ok is false for a
// property that does not exist or that there is no table for. Safe for concurrent
// use.
func Property(text string) (set Set, ok bool) {
	if cached, found := propertySets.Load(text); found {
		return cached.(Set), true
	}
	name, value, hasValue := strings.Cut(text, "=")
	if !hasValue {
		if set, ok = categorySet(name); !ok {
			set, ok = binarySet(name)
		}
	} else {
		switch name {
		case "General_Category", "gc":
			set, ok = categorySet(value)
		case "Script", "sc":
			set, ok = scriptSet(value)
		case "Script_Extensions", "scx":
			if set, ok = scriptSet(value); ok {
				if long := scriptShort[value]; long != "" {
					value = long
				}
				more, less, _ := strings.Cut(extraProperties()["scx="+value], "!")
				set = set.union(parseRanges(more)).minus(parseRanges(less))
			}
		}
	}
	if ok {
		propertySets.Store(text, set)
	}
	return set, ok
}

func categorySet(name string) (Set, bool) {
	if short := categoryNames[name]; short != "" {
		name = short
	}
	switch name {
	case "LC":
		return setOf(unicode.Lu, unicode.Ll, unicode.Lt), true
	case "Cn":
		return assigned().negate(), true
	case "C":
		return assigned().negate().union(setOf(unicode.C)), true
	}
	if t := unicode.Categories[name]; t != nil && len(name) <= 2 {
		return setOf(t), true
	}
	return nil, false
}

// assigned is every code point with a category other than Cn.
func assigned() Set {
	return setOf(unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs)
}

func scriptSet(name string) (Set, bool) {
	if long := scriptShort[name]; long != "" {
		name = long
	}
	if t := unicode.Scripts[name]; t != nil {
		return setOf(t), true
	}
	return nil, false
}

// binarySet derives the binary properties (UAX #44, DerivedCoreProperties).
func binarySet(name string) (Set, bool) {
	if long := binaryShort[name]; long != "" {
		name = long
	}
	prop := func(name string) *unicode.RangeTable { return unicode.Properties[name] }
	switch name {
	case "Any":
		return Set{{0, maxRune}}, true
	case "ASCII":
		return Set{{0, 0x7F}}, true
	case "Assigned":
		return assigned(), true
	case "Alphabetic":
		return setOf(unicode.L, unicode.Nl, prop("Other_Alphabetic")), true
	case "Lowercase":
		return setOf(unicode.Ll, prop("Other_Lowercase")), true
	case "Uppercase":
		return setOf(unicode.Lu, prop("Other_Uppercase")), true
	case "Cased":
		return setOf(unicode.Lu, unicode.Ll, unicode.Lt, prop("Other_Lowercase"), prop("Other_Uppercase")), true
	case "Math":
		return setOf(unicode.Sm, prop("Other_Math")), true
	case "ID_Start", "XID_Start":
		return idStart(), true
	case "ID_Continue", "XID_Continue":
		return idStart().union(setOf(unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, prop("Other_ID_Continue"))), true
	case "Grapheme_Extend":
		return graphemeExtend(), true
	case "Grapheme_Base":
		return assigned().minus(setOf(unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co, unicode.Zl, unicode.Zp)).minus(graphemeExtend()), true
	case "Default_Ignorable_Code_Point":
		return setOf(prop("Other_Default_Ignorable_Code_Point"), unicode.Cf, prop("Variation_Selector")).
			minus(setOf(unicode.White_Space, prop("Prepended_Concatenation_Mark"))).minus(Set{{0xFFF9, 0xFFFB}, {0x13430, 0x1345F}}), true
	case "Changes_When_Lowercased":
		return runesWhere(func(r rune) bool { return unicode.ToLower(r) != r }), true
	case "Changes_When_Uppercased":
		return runesWhere(func(r rune) bool { return unicode.ToUpper(r) != r }), true
	}
	if ranges, ok := extraProperties()[name]; ok && !strings.Contains(name, "=") {
		return parseRanges(ranges), true
	}
	if t := prop(name); t != nil && !strings.HasPrefix(name, "Other_") && name != "STerm" && name != "Hyphen" {
		return setOf(t), true
	}
	return nil, false
}

func idStart() Set {
	return setOf(unicode.L, unicode.Nl, unicode.Properties["Other_ID_Start"]).
		minus(setOf(unicode.Properties["Pattern_Syntax"], unicode.Properties["Pattern_White_Space"]))
}

func graphemeExtend() Set {
	return setOf(unicode.Me, unicode.Mn, unicode.Properties["Other_Grapheme_Extend"])
}
