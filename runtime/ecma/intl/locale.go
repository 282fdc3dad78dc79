package intl

import (
	"embed"
	"strings"
	"sync"

	"golang.org/x/text/language"
)

// intlFiles hold what each locale beside en-US has of its own, a key and its
// value a line. A locale with a region has what differs from its language's.
// The keys:
//
//	name Mlong      months within dates (M, else L: alone), weekdays (E, c); a: AM and PM
//	d wyMd          the pattern of a date: weekday, year, month (w: narrow) and day, each by the
//	                first letter of its option (2: 2-digit, -: not shown); see datePattern for the rest
//	t 1nnn          of a clock: 1 for h12 and 2 for h23, then hour, minute, second (2 as n, where it is left out)
//	s dfull         of dateStyle (d) and timeStyle (t)
//	g sfull, g kfull what stands between date and clock, by dateStyle and by the kind of date
//	n …, y, c, k, u numbers: signs and patterns, symbols of currencies and their names, compact steps, units
//	l cl            lists: type and style; between two, between many, before the last
//	r sl, a …       relative times: unit and style, future>past; words of numeric "auto"
//
//go:embed intldata/*.txt
var intlFiles embed.FS

// localeData is the data of a locale. Immutable.
type localeData struct {
	values map[string]string
	parent *localeData
}

var localeTables = sync.OnceValue(func() map[string]*localeData {
	entries, err := intlFiles.ReadDir("intldata")
	if err != nil {
		panic(err)
	}
	tables := map[string]*localeData{}
	for _, e := range entries { // languages stand before their regions: "de.txt" sorts after "de-AT.txt"
		name := strings.TrimSuffix(e.Name(), ".txt")
		tables[name] = &localeData{}
	}
	for name, d := range tables { // order-independent: each gets its own parent
		if lang, _, regional := strings.Cut(name, "-"); regional {
			d.parent = tables[lang]
		}
	}
	return tables
})

// dataOf is the data of a locale that resolveLocale chose; nil for en-US.
// It is read at its first use.
func (p *Intl) dataOf(locale string) *localeData {
	tables := localeTables()
	name := locale
	if same := sameData[locale]; same != "" {
		name = same
	}
	d := tables[name]
	if d == nil {
		name, _, _ = strings.Cut(locale, "-")
		if same := sameData[name]; same != "" {
			name = same
		}
		if d = tables[name]; d == nil {
			return nil
		}
	}
	if p.data == nil {
		p.data = map[string]*localeData{}
	}
	if read := p.data[name]; read != nil {
		return read
	}
	read := readLocale(name)
	if d.parent != nil {
		lang, _, _ := strings.Cut(name, "-")
		read.parent = p.dataOf(lang)
	}
	p.data[name] = read
	return read
}

func readLocale(name string) *localeData {
	text, err := intlFiles.ReadFile("intldata/" + name + ".txt")
	if err != nil {
		panic(err)
	}
	d := &localeData{values: map[string]string{}}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok && line[0] != '#' {
			d.values[key] = value
		}
	}
	return d
}

// find is a value of the locale or of its language; "" if there is none.
func (d *localeData) find(key string) string { return d.findOr(key, "") }

// findOr is find with another value where there is none.
func (d *localeData) findOr(key, otherwise string) string {
	for ; d != nil; d = d.parent {
		if v, ok := d.values[key]; ok {
			return v
		}
	}
	return otherwise
}

// list is a value with several parts.
func (d *localeData) list(key string) []string { return strings.Split(d.find(key), "|") }

// pluralForm chooses among the forms that a locale has for 1, 2, 5 and 1.5.
func pluralForm(forms string, locale string, n decimal) string {
	list := strings.Split(forms, "|")
	if len(list) < 4 {
		return list[0]
	}
	rules := &pluralRules{tag: language.Make(locale), kind: "cardinal", digits: &numberFormat{style: "decimal", notation: "standard", maxFraction: 100}}
	form := rules.category(n)
	of := func(sample float64) bool { return rules.category(floatDecimal(sample)) == form }
	switch {
	case n.digits == "1" && n.exp == 1:
		return list[0]
	case of(1.5) && (len(n.digits) > n.exp || !of(2) && !of(5)):
		return list[3]
	case of(2):
		return list[1]
	case of(5):
		return list[2]
	}
	return list[0]
}

// sameData are locales whose data is another's.
var sameData = map[string]string{"no": "nb", "nn": "nb", "zh-Hant": "zh-TW", "zh-Hant-TW": "zh-TW", "zh-HK": "zh-TW", "zh-MO": "zh-TW", "es-US": "es-MX"}

// hasLocale reports whether there is data of a locale: of itself, or of its language.
func hasLocale(tag string) bool {
	lang, _, _ := strings.Cut(tag, "-")
	return lang == "en" || localeTables()[lang] != nil || localeTables()[sameData[lang]] != nil
}

// pieces cuts a pattern at its fields: "{d}. {Mlong}".
func pieces(pattern string, literal, field func(string)) {
	for pattern != "" {
		before, rest, found := strings.Cut(pattern, "{")
		if before != "" {
			literal(before)
		}
		if !found {
			return
		}
		name, after, _ := strings.Cut(rest, "}")
		field(name)
		pattern = after
	}
}
