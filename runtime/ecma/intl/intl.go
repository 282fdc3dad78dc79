// Package intl is Intl (ECMA-402), the methods of the language that use it, and
// Intl.Segmenter (UAX #29). Its data is en-US, production's default, and that of
// intldata.
package intl

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/dop251/goja"
	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// Intl is Intl in one isolate. Loop-confined; warned is bounded by the number of
// locales.
type Intl struct {
	*webidl.Realm

	object *goja.Object
	warned map[string]bool
	data   map[string]*localeData // that was read
}

// New makes the part; Install defines its globals.
func New(r *webidl.Realm) *Intl { return &Intl{Realm: r} }

// ownCase are the languages whose letters change their case in a way of their own
// (SpecialCasing.txt).
var ownCase = map[string]bool{"tr": true, "az": true, "lt": true}

// installIntl defines Intl (ECMA-402) and the methods that go through it. Its
// data is en-US, production's default locale, and that of intldata; plural rules are
// of all locales.
func (p *Intl) Install() {
	p.Engine.Lazies.Global("Intl", func() goja.Value { return p.namespace() })
	e := p.Engine
	through := func(proto *goja.Object, name string, length int, fn func(call goja.FunctionCall) goja.Value) {
		proto.DefineDataProperty(name, e.Func(name, length, fn), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	proto := func(name string) *goja.Object { return e.Primordial(name).Get("prototype").(*goja.Object) }
	for _, m := range []struct {
		name string
		kind dateDefaults
	}{{"toLocaleString", dateAndTime}, {"toLocaleDateString", dateOnly}, {"toLocaleTimeString", timeOnly}} {
		name, kind := m.name, m.kind
		through(proto("Date"), name, 0, func(call goja.FunctionCall) goja.Value {
			ms := e.Call(e.Primordial("DatePrototypeGetTime"), goja.Undefined(), call.This).ToFloat()
			if math.IsNaN(ms) {
				return p.VM.ToValue("Invalid Date")
			}
			f := p.newDateFormat("Date.prototype."+name, call.Argument(0), call.Argument(1), kind)
			return p.VM.ToValue(joinParts(f.parts(ms)))
		})
	}
	for _, class := range []string{"Number", "BigInt"} {
		through(proto(class), "toLocaleString", 0, func(call goja.FunctionCall) goja.Value {
			v := e.Call(e.Primordial(class+"PrototypeValueOf"), goja.Undefined(), call.This)
			f := p.newNumberFormat("Intl.NumberFormat", call.Argument(0), call.Argument(1))
			return p.VM.ToValue(joinParts(f.parts(p.decimalOf(v))))
		})
	}
	for name, upper := range map[string]bool{"toLocaleUpperCase": true, "toLocaleLowerCase": false} { // order-independent: each is its own method
		e.Builtins.Amend(proto("String"), name, func(c goja.FunctionCall, method func(goja.FunctionCall) goja.Value) goja.Value {
			if webidl.IsUndefined(c.Argument(0)) || webidl.IsMissing(c.This) {
				return method(c)
			}
			text := c.This.ToString()
			tags := p.localeList(c.Argument(0))
			if len(tags) > 0 {
				if tag := language.Make(tags[0]); ownCase[tag.Parent().String()] || ownCase[tag.String()] {
					if upper {
						return p.Engine.String(cases.Upper(tag).String(text.String()))
					}
					return p.Engine.String(cases.Lower(tag).String(text.String()))
				}
			}
			return method(goja.FunctionCall{This: text})
		})
	}
	var plain *collation // made at the first use: its tables are large
	through(proto("String"), "localeCompare", 1, func(call goja.FunctionCall) goja.Value {
		if webidl.IsMissing(call.This) {
			e.Throw("TypeError", "String.prototype.localeCompare called on null or undefined")
		}
		if plain == nil {
			plain = newCollation(collatorOptions{sensitivity: "variant", caseFirst: "false"})
		}
		c := plain
		if !webidl.IsUndefined(call.Argument(1)) || !webidl.IsUndefined(call.Argument(2)) {
			c = newCollation(p.collatorOptions(call.Argument(1), call.Argument(2)))
		}
		return p.VM.ToValue(p.order(c, call.This, call.Argument(0)))
	})
}

// maxCompared bounds, in bytes, texts that are compared and differ: to compare more takes
// seconds, and cannot be interrupted.
const maxCompared = 1 << 20

// order compares two values as texts.
func (p *Intl) order(c *collation, left, right goja.Value) int {
	a, b := left.String(), right.String()
	if max(len(a), len(b)) > maxCompared && a != b {
		p.Engine.Throw("RangeError", "minido compares texts of up to 1 MB in the order of a locale.")
	}
	return c.compare(a, b)
}

// intl is the Intl object.
func (p *Intl) namespace() *goja.Object {
	if p.object != nil {
		return p.object
	}
	p.object = p.VM.NewObject()
	p.object.DefineDataPropertySymbol(goja.SymToStringTag, p.VM.ToValue("Intl"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	hide := func(name string, v goja.Value) {
		p.object.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	hide("getCanonicalLocales", p.Engine.Func("getCanonicalLocales", 1, func(call goja.FunctionCall) goja.Value {
		return p.VM.NewArray(anys(p.localeList(call.Argument(0)))...)
	}))
	hide("supportedValuesOf", p.Engine.Func("supportedValuesOf", 1, p.supportedValuesOf))
	for _, c := range []struct {
		name string
		make func() *goja.Object
	}{
		{"DateTimeFormat", p.dateTimeFormatClass}, {"NumberFormat", p.numberFormatClass}, {"Collator", p.collatorClass},
		{"PluralRules", p.pluralRulesClass}, {"ListFormat", p.listFormatClass}, {"RelativeTimeFormat", p.relativeTimeClass},
		{"Segmenter", p.segmenterClass}, {"Locale", p.localeClass}, {"DisplayNames", p.displayNamesClass}, {"DurationFormat", p.durationFormatClass},
	} {
		p.Engine.Lazies.Property(p.object, c.name, goja.FLAG_FALSE, func() goja.Value { return c.make() })
	}
	return p.object
}

// intlClass completes a class of Intl: its name and supportedLocalesOf.
func (p *Intl) intlClass(name string, ctor *goja.Object, all bool) *goja.Object {
	p.Engine.HideMembers(ctor)
	ctor.DefineDataProperty("name", p.VM.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	ctor.DefineDataProperty("supportedLocalesOf", p.Engine.Func("supportedLocalesOf", 1, func(call goja.FunctionCall) goja.Value {
		var found []any
		for _, tag := range p.localeList(call.Argument(0)) {
			if all || hasLocale(tag) {
				found = append(found, tag)
			}
		}
		return p.VM.NewArray(found...)
	}), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return ctor
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// localeList is CanonicalizeLocaleList (ECMA-402, section 9.2.1).
func (p *Intl) localeList(v goja.Value) []string {
	if webidl.IsUndefined(v) {
		return nil
	}
	if goja.IsNull(v) {
		p.Engine.Throw("TypeError", "Cannot convert undefined or null to object")
	}
	var tags []string
	add := func(v goja.Value) {
		if locale, ok := p.Engine.Attached(v).(*intlLocale); ok {
			tags = append(tags, locale.tag.String())
			return
		}
		if _, isObject := v.(*goja.Object); !isObject {
			if _, isString := v.(goja.String); !isString {
				p.Engine.Throw("TypeError", "Language ID should be string or object.")
			}
		}
		tags = append(tags, p.parseLocale(v.String()).String())
	}
	_, isLocale := p.Engine.Attached(v).(*intlLocale)
	if _, isString := v.(goja.String); isString || isLocale {
		add(v)
		return tags
	}
	obj := v.ToObject(p.VM)
	length := webidl.Get(obj, "length").ToInteger()
	for i := int64(0); i < length; i++ {
		p.Engine.Natives.Pause()
		if item := obj.Get(fmt.Sprint(i)); item != nil {
			add(item)
		}
	}
	return tags
}

// maxTag is the longest tag, in characters: parsing one takes time with the square of it.
const maxTag = 1 << 14

func (p *Intl) parseLocale(text string) language.Tag {
	if len(text) > maxTag {
		p.Engine.Throw("RangeError", "Invalid language tag: %s", text)
	}
	tag, err := language.Raw.Parse(text)
	var unknown language.ValueError
	if errors.As(err, &unknown) {
		err = nil // well formed, and of a language that nobody has data of
	}
	if err == nil {
		tag, err = language.Default.Canonicalize(tag)
	}
	if err != nil || strings.Contains(text, "_") || text == "" {
		p.Engine.Throw("RangeError", "Invalid language tag: %s", text)
	}
	return tag
}

// resolveLocale is the first requested locale that there is data of, en-US
// without one.
func (p *Intl) resolveLocale(v goja.Value) string {
	tags := p.localeList(v)
	for _, tag := range tags {
		base, _, _ := strings.Cut(tag, "-u-")
		if hasLocale(base) {
			return base
		}
	}
	if len(tags) > 0 && !p.warned[tags[0]] {
		if p.warned == nil {
			p.warned = map[string]bool{}
		}
		p.warned[tags[0]] = true
		p.Engine.Log(engine.Warn, fmt.Sprintf("Intl: minido has no data of the locale %q and formats as en-US instead; production has it", tags[0]))
	}
	return "en-US"
}

// option reads a string option; of the allowed values, if any are given.
func (p *Intl) option(what string, options goja.Value, name, def string, allowed ...string) string {
	v := webidl.Get(options, name)
	if goja.IsUndefined(v) {
		return def
	}
	s := v.String()
	if len(allowed) == 0 {
		return s
	}
	for _, a := range allowed {
		if a == s {
			return s
		}
	}
	p.Engine.Throw("RangeError", "Value %s out of range for %s options property %s", s, what, name)
	return ""
}

// numberOption reads an integer option between low and high; def if absent.
func (p *Intl) numberOption(options goja.Value, name string, low, high, def int) int {
	v := webidl.Get(options, name)
	if goja.IsUndefined(v) {
		return def
	}
	n := v.ToFloat()
	if math.IsNaN(n) || n < float64(low) || n > float64(high) {
		p.Engine.Throw("RangeError", "%s value is out of range.", name)
	}
	return int(n)
}

// part is one piece of formatted text.
type part struct{ kind, value string }

func joinParts(parts []part) string {
	var b strings.Builder
	for _, x := range parts {
		b.WriteString(x.value)
	}
	return b.String()
}

// partList shows parts as formatToParts does.
func (p *Intl) partList(parts []part) goja.Value {
	list := make([]any, len(parts))
	for i, x := range parts {
		list[i] = p.Record("type", x.kind, "value", x.value)
	}
	return p.VM.NewArray(list...)
}

func (p *Intl) supportedValuesOf(call goja.FunctionCall) goja.Value {
	var values []string
	switch key := call.Argument(0).String(); key {
	case "calendar":
		values = []string{"gregory"}
	case "collation":
		values = []string{"default"}
	case "numberingSystem":
		values = []string{"latn"}
	case "currency":
		for code := range currencies {
			values = append(values, code)
		}
	case "unit":
		for unit := range units {
			values = append(values, unit)
		}
	case "timeZone":
		for zone := range zoneNames {
			values = append(values, zone)
		}
	default:
		p.Engine.Throw("RangeError", "Invalid key : %s", key)
	}
	sort.Strings(values)
	return p.VM.NewArray(anys(values)...)
}
