package regex

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

//go:embed data/unicode.txt
var unicodeData string

// propertyTable is a line of data/unicode.txt.
type propertyTable struct{ name, members string }

// propertyTables are the lines of data/unicode.txt, by their kind and each of their
// names.
var propertyTables = sync.OnceValue(func() map[string]propertyTable {
	tables := map[string]propertyTable{}
	for line := range strings.Lines(unicodeData) {
		names, members, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !ok || line[0] == '#' {
			continue
		}
		fields := strings.Fields(names)
		for _, name := range fields[1:] {
			tables[fields[0]+" "+name] = propertyTable{fields[1], members}
		}
	}
	return tables
})

// parseRanges reads "23 30-39" and so on, in hexadecimal.
func parseRanges(text string) Set {
	var ranges []Range
	for field := range strings.FieldsSeq(text) {
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

// propertySets caches the sets of properties, by their text between braces.
// The number of properties bounds it. Safe for concurrent use.
var propertySets sync.Map

// Property is the set of \p{text} (ECMA-262, section 22.2.1.9); ok is false for a
// property that does not exist. Safe for concurrent use.
func Property(text string) (set Set, ok bool) {
	if cached, found := propertySets.Load(text); found {
		return cached.(Set), true
	}
	name, value, hasValue := strings.Cut(text, "=")
	switch {
	case !hasValue:
		if set, ok = listed("gc", name); !ok {
			set, ok = listed("bin", name)
		}
	case name == "General_Category" || name == "gc":
		set, ok = listed("gc", value)
	case name == "Script" || name == "sc":
		set, ok = listed("sc", value)
	case name == "Script_Extensions" || name == "scx":
		if set, ok = listed("sc", value); ok {
			script := propertyTables()["sc "+value].name
			more, less, _ := strings.Cut(propertyTables()["scx "+script].members, "!")
			set = set.union(parseRanges(more)).minus(parseRanges(less))
		}
	}
	if !hasValue && name == "Assigned" {
		unassigned, _ := listed("gc", "Cn")
		set, ok = unassigned.negate(), true
	}
	if ok {
		propertySets.Store(text, set)
	}
	return set, ok
}

// listed is the set of a line of data/unicode.txt.
func listed(kind, name string) (Set, bool) {
	t, ok := propertyTables()[kind+" "+name]
	categories, isUnion := strings.CutPrefix(t.members, "=")
	if !isUnion {
		return parseRanges(t.members), ok
	}
	var ranges []Range
	for category := range strings.FieldsSeq(categories) {
		set, _ := listed("gc", category)
		ranges = append(ranges, set...)
	}
	return newSet(ranges), ok
}

// emoji are the properties of strings that RGI_Emoji is made of (ECMA-262, table 68).
var emoji = []string{"Basic_Emoji", "Emoji_Keycap_Sequence", "RGI_Emoji_Modifier_Sequence", "RGI_Emoji_Flag_Sequence",
	"RGI_Emoji_Tag_Sequence", "RGI_Emoji_ZWJ_Sequence"}

// stringProperty is what \p{name} stands for with the flag v if it is a property of
// strings.
func stringProperty(name string) (v setValue, ok bool) {
	names := []string{name}
	if name == "RGI_Emoji" {
		names = emoji
	}
	var ranges []Range
	for _, name := range names {
		t, found := propertyTables()["seq "+name]
		if !found {
			return v, false
		}
		for member := range strings.FieldsSeq(t.members) {
			runes := []rune(member)
			if len(runes) == 1 {
				ranges = append(ranges, Range{runes[0], runes[0]})
			} else {
				v.strings = append(v.strings, encoded(runes))
			}
		}
	}
	v.set, v.stringy = newSet(ranges), true
	return v, true
}
