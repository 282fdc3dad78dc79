package intl

import (
	"math"
	"strings"
	"unicode"

	"github.com/dop251/goja"
	"golang.org/x/text/collate"
	pluralrules "golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// pluralRules is an Intl.PluralRules (ECMA-402, section 17), of any locale.
// Immutable.
type pluralRules struct {
	tag    language.Tag
	kind   string
	digits *numberFormat
}

var pluralForms = map[pluralrules.Form]string{pluralrules.Other: "other", pluralrules.Zero: "zero", pluralrules.One: "one", pluralrules.Two: "two",
	pluralrules.Few: "few", pluralrules.Many: "many"}

// category is the plural form of a number as the digits show it.
func (r *pluralRules) category(d decimal) string {
	if d.special != "" {
		return "other"
	}
	rules := pluralrules.Cardinal
	if r.kind == "ordinal" {
		rules = pluralrules.Ordinal
	}
	rounded := r.digits.round(d)
	whole, fraction := rounded.split(1, r.digits.minFraction)
	trimmed := strings.TrimRight(fraction, "0")
	// The rules look at no more than the last digits (TR35, operands).
	return pluralForms[rules.MatchPlural(r.tag, lastDigits(whole), len(fraction), len(trimmed), lastDigits(fraction), lastDigits(trimmed))]
}

func lastDigits(s string) int {
	n := 0
	big := len(s) > 7
	if big {
		s = s[len(s)-7:]
	}
	for _, c := range s {
		n = n*10 + int(c-'0')
	}
	if big {
		n += 10000000 // still a multiple of what was cut off
	}
	return n
}

func (p *Intl) pluralRulesClass() *goja.Object {
	class := engine.DefineClass(p.Engine, engine.ClassDef[*pluralRules]{
		Language: true,
		Name:     "Intl.PluralRules",
		New: func(call goja.ConstructorCall) *pluralRules {
			const what = "Intl.PluralRules"
			r := &pluralRules{tag: language.AmericanEnglish, digits: &numberFormat{style: "decimal", notation: "standard"}}
			if tags := p.localeList(call.Argument(0)); len(tags) > 0 {
				r.tag = p.parseLocale(tags[0])
			}
			r.kind = p.option(what, call.Argument(1), "type", "cardinal", "cardinal", "ordinal")
			r.digits.rounding = p.readRounding(what, call.Argument(1))
			r.digits.setDigits(p, call.Argument(1))
			return r
		},
		Methods: []engine.Method[*pluralRules]{
			{Name: "select", Length: 1, Fn: func(r *pluralRules, call goja.FunctionCall) goja.Value {
				return p.VM.ToValue(r.category(floatDecimal(math.Abs(call.Argument(0).ToFloat()))))
			}},
			{Name: "selectRange", Length: 2, Fn: func(r *pluralRules, call goja.FunctionCall) goja.Value { return p.selectRange(r, call) }},
			{Name: "resolvedOptions", Fn: func(r *pluralRules, _ goja.FunctionCall) goja.Value {
				o := p.Record("locale", r.tag.String(), "type", r.kind, "notation", "standard", "minimumIntegerDigits", r.digits.minInteger,
					"minimumFractionDigits", r.digits.minFraction, "maximumFractionDigits", r.digits.maxFraction, "pluralCategories", r.categories(p))
				r.digits.rounding.show(o)
				return o
			}},
		},
	})
	return p.intlClass("PluralRules", class.Ctor, true)
}

// categories are the forms that numbers of the locale take.
func (r *pluralRules) categories(p *Intl) goja.Value {
	seen := map[string]bool{"other": true}
	for n := 0; n < 1000; n++ {
		seen[r.category(floatDecimal(float64(n)))] = true
	}
	seen[r.category(floatDecimal(1.5))] = true
	seen[r.category(floatDecimal(1e6))] = true
	var list []any
	for _, form := range []string{"few", "many", "one", "two", "zero", "other"} {
		if seen[form] {
			list = append(list, form)
		}
	}
	return p.VM.NewArray(list...)
}

// listFormat is an Intl.ListFormat (ECMA-402, section 14). Immutable.
type listFormat struct {
	locale, kind, style string
	data                *localeData // nil: en-US
}

func (f *listFormat) parts(items []string) []part {
	word := "and"
	if f.kind == "disjunction" {
		word = "or"
	} else if f.style != "long" {
		word = "&"
	}
	middle, last, pair := ", ", ", "+word+" ", " "+word+" "
	switch {
	case f.kind == "unit" && f.style == "narrow":
		middle, last, pair = " ", " ", " "
	case f.kind == "unit":
		last, pair = ", ", ", "
	case f.kind == "conjunction" && f.style == "narrow":
		last, pair = ", ", ", "
	}
	if f.data != nil {
		own := f.data.list("l " + f.kind[:1] + f.style[:1])
		pair, middle, last = own[0], own[1], own[2]
	}
	var out []part
	for i, item := range items {
		switch {
		case i == 0:
		case len(items) == 2:
			out = append(out, part{"literal", pair})
		case i == len(items)-1:
			out = append(out, part{"literal", last})
		default:
			out = append(out, part{"literal", middle})
		}
		out = append(out, part{"element", item})
	}
	return out
}

func (p *Intl) listFormatClass() *goja.Object {
	items := func(v goja.Value) []string {
		var list []string
		if webidl.IsUndefined(v) {
			return nil
		}
		p.ForOf(v, func(item goja.Value) {
			if _, ok := item.(goja.String); !ok {
				p.Engine.Throw("TypeError", "Iterable yielded %s which is not a string", p.Engine.Text(item))
			}
			list = append(list, item.String())
		})
		return list
	}
	class := engine.DefineClass(p.Engine, engine.ClassDef[*listFormat]{
		Language: true,
		Name:     "Intl.ListFormat",
		New: func(call goja.ConstructorCall) *listFormat {
			const what = "Intl.ListFormat"
			f := &listFormat{locale: p.resolveLocale(call.Argument(0))}
			f.data = p.dataOf(f.locale)
			f.kind = p.option(what, call.Argument(1), "type", "conjunction", "conjunction", "disjunction", "unit")
			f.style = p.option(what, call.Argument(1), "style", "long", "long", "short", "narrow")
			return f
		},
		Methods: []engine.Method[*listFormat]{
			{Name: "format", Length: 1, Fn: func(f *listFormat, call goja.FunctionCall) goja.Value {
				return p.VM.ToValue(joinParts(f.parts(items(call.Argument(0)))))
			}},
			{Name: "formatToParts", Length: 1, Fn: func(f *listFormat, call goja.FunctionCall) goja.Value {
				return p.partList(f.parts(items(call.Argument(0))))
			}},
			{Name: "resolvedOptions", Fn: func(f *listFormat, _ goja.FunctionCall) goja.Value {
				return p.Record("locale", f.locale, "type", f.kind, "style", f.style)
			}},
		},
	})
	return p.intlClass("ListFormat", class.Ctor, false)
}

// relativeTime is an Intl.RelativeTimeFormat (ECMA-402, section 18). Immutable.
type relativeTime struct {
	locale, style, numeric string
	number                 *numberFormat
}

// relativeUnits are the abbreviations of units: short one, short many, narrow.
var relativeUnits = map[string][3]string{
	"second": {"sec.", "sec.", "s"}, "minute": {"min.", "min.", "min"}, "hour": {"hr.", "hr.", "h"}, "day": {"day", "days", "d"},
	"week": {"wk.", "wk.", "w"}, "month": {"mo.", "mo.", "mo"}, "quarter": {"qtr.", "qtrs.", "q"}, "year": {"yr.", "yr.", "y"},
}

// parts formats a distance; the sign of zero counts.
func (f *relativeTime) parts(n float64, unit string) []part {
	if d := f.number.data; d != nil {
		return f.localized(d, n, unit)
	}
	if f.numeric == "auto" {
		if word := relativeWord(n, unit); word != "" {
			return []part{{"literal", word}}
		}
	}
	past := math.Signbit(n)
	d := floatDecimal(math.Abs(n))
	number := f.number.parts(d)
	text := joinParts(number)
	name := " " + unit
	switch {
	case f.style == "narrow":
		name = relativeUnits[unit][2]
		if unit == "minute" {
			name = "m"
			if !past {
				name = "min"
			}
		}
	case f.style == "short" && text == "1":
		name = " " + relativeUnits[unit][0]
	case f.style == "short":
		name = " " + relativeUnits[unit][1]
	case text != "1":
		name += "s"
	}
	if past {
		return append(number, part{"literal", name + " ago"})
	}
	return append(append([]part{{"literal", "in "}}, number...), part{"literal", name})
}

func relativeWord(n float64, unit string) string {
	if n != 0 && n != 1 && n != -1 {
		return ""
	}
	switch {
	case unit == "day":
		return map[float64]string{0: "today", 1: "tomorrow", -1: "yesterday"}[n]
	case unit == "second" && n == 0:
		return "now"
	case n == 0:
		return "this " + unit
	case unit == "second" || unit == "minute" || unit == "hour":
		return ""
	case n == 1:
		return "next " + unit
	}
	return "last " + unit
}

func (p *Intl) relativeTimeClass() *goja.Object {
	parts := func(f *relativeTime, call goja.FunctionCall, method string) []part {
		n, unit := call.Argument(0).ToFloat(), strings.TrimSuffix(call.Argument(1).String(), "s")
		if _, ok := relativeUnits[unit]; !ok {
			p.Engine.Throw("RangeError", "Invalid unit argument for Intl.RelativeTimeFormat.prototype.%s() '%s'", method, call.Argument(1))
		}
		if math.IsNaN(n) || math.IsInf(n, 0) {
			p.Engine.Throw("RangeError", "Invalid time value for Intl.RelativeTimeFormat.prototype.%s()", method)
		}
		return f.parts(n, unit)
	}
	class := engine.DefineClass(p.Engine, engine.ClassDef[*relativeTime]{
		Language: true,
		Name:     "Intl.RelativeTimeFormat",
		New: func(call goja.ConstructorCall) *relativeTime {
			const what = "Intl.RelativeTimeFormat"
			f := &relativeTime{locale: p.resolveLocale(call.Argument(0)), number: p.newNumberFormat(what, call.Argument(0), goja.Undefined())}
			f.style = p.option(what, call.Argument(1), "style", "long", "long", "short", "narrow")
			f.numeric = p.option(what, call.Argument(1), "numeric", "always", "always", "auto")
			return f
		},
		Methods: []engine.Method[*relativeTime]{
			{Name: "format", Length: 2, Fn: func(f *relativeTime, call goja.FunctionCall) goja.Value {
				return p.VM.ToValue(joinParts(parts(f, call, "format")))
			}},
			{Name: "formatToParts", Length: 2, Fn: func(f *relativeTime, call goja.FunctionCall) goja.Value {
				return p.partList(parts(f, call, "formatToParts"))
			}},
			{Name: "resolvedOptions", Fn: func(f *relativeTime, _ goja.FunctionCall) goja.Value {
				return p.Record("locale", f.locale, "style", f.style, "numeric", f.numeric, "numberingSystem", "latn")
			}},
		},
	})
	return p.intlClass("RelativeTimeFormat", class.Ctor, false)
}

// collatorOptions are those of Intl.Collator (ECMA-402, section 10).
type collatorOptions struct {
	locale                        language.Tag
	usage, sensitivity, caseFirst string
	numeric                       bool
}

// collation compares strings. Loop-confined: x/text's collators keep buffers.
type collation struct {
	options collatorOptions
	full    *collate.Collator
	caseOff *collate.Collator // decides before case does, for caseFirst: "upper"
	bound   *goja.Object
}

func newCollation(o collatorOptions) *collation {
	var with []collate.Option
	if o.numeric {
		with = append(with, collate.Numeric)
	}
	c := &collation{options: o}
	if o.caseFirst == "upper" {
		c.caseOff = collate.New(o.locale, append(with[:len(with):len(with)], collate.IgnoreCase)...)
	}
	switch o.sensitivity {
	case "base":
		with = append(with, collate.IgnoreCase, collate.IgnoreDiacritics)
	case "accent":
		with = append(with, collate.IgnoreCase)
	}
	c.full = collate.New(o.locale, with...)
	return c
}

// withoutMarks takes the diacritics away: what is left differs in case at most.
func withoutMarks(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(s))
}

func (c *collation) compare(a, b string) int {
	if c.options.sensitivity == "case" {
		a, b = withoutMarks(a), withoutMarks(b)
	}
	if c.caseOff != nil {
		if n := c.caseOff.CompareString(a, b); n != 0 {
			return n
		}
		return -c.full.CompareString(a, b)
	}
	return c.full.CompareString(a, b)
}

func (p *Intl) collatorOptions(locales, options goja.Value) collatorOptions {
	const what = "Intl.Collator"
	o := collatorOptions{locale: language.AmericanEnglish}
	if tags := p.localeList(locales); len(tags) > 0 {
		o.locale = p.parseLocale(tags[0])
		if key := o.locale.TypeForKey("kn"); key == "true" {
			o.numeric = true
		}
	}
	o.usage = p.option(what, options, "usage", "sort", "sort", "search")
	o.sensitivity = p.option(what, options, "sensitivity", "variant", "base", "accent", "case", "variant")
	o.caseFirst = p.option(what, options, "caseFirst", "false", "upper", "lower", "false")
	if v := webidl.Get(options, "numeric"); !goja.IsUndefined(v) {
		o.numeric = v.ToBoolean()
	}
	return o
}

func (p *Intl) collatorClass() *goja.Object {
	class := engine.DefineClass(p.Engine, engine.ClassDef[*collation]{
		Language: true,
		Name:     "Intl.Collator", CallIsNew: true,
		New: func(call goja.ConstructorCall) *collation {
			return newCollation(p.collatorOptions(call.Argument(0), call.Argument(1)))
		},
		Accessors: []engine.Accessor[*collation]{webidl.Reader("compare", func(c *collation) goja.Value {
			if c.bound == nil {
				c.bound = p.Engine.Func("", 2, func(call goja.FunctionCall) goja.Value {
					return p.VM.ToValue(p.order(c, call.Argument(0), call.Argument(1)))
				})
			}
			return c.bound
		})},
		Methods: []engine.Method[*collation]{
			{Name: "resolvedOptions", Fn: func(c *collation, _ goja.FunctionCall) goja.Value {
				o := c.options
				base, _, _ := strings.Cut(o.locale.String(), "-u-")
				return p.Record("locale", base, "usage", o.usage, "sensitivity", o.sensitivity, "ignorePunctuation", false,
					"collation", "default", "numeric", o.numeric, "caseFirst", o.caseFirst)
			}},
		},
	})
	return p.intlClass("Collator", class.Ctor, true)
}
