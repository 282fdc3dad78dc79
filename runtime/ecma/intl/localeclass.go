package intl

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"golang.org/x/text/language"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// intlLocale is an Intl.Locale (ECMA-402, section 15). Immutable.
type intlLocale struct{ tag language.Tag }

// The forms of subtags (UTS 35, section 3.1).
var (
	languageForm = lazyregexp.New(`^([a-zA-Z]{2,3}|[a-zA-Z]{5,8})$`)
	scriptForm   = lazyregexp.New(`^[a-zA-Z]{4}$`)
	regionForm   = lazyregexp.New(`^([a-zA-Z]{2}|[0-9]{3})$`)
	typeForm     = lazyregexp.New(`^[a-zA-Z0-9]{3,8}(-[a-zA-Z0-9]{3,8})*$`)
)

// localeKeys are the keywords of a locale: option, key of the extension, and what it may be.
var localeKeys = []struct {
	option, key string
	allowed     []string
}{
	{"calendar", "ca", nil}, {"collation", "co", nil}, {"firstDayOfWeek", "fw", nil},
	{"hourCycle", "hc", []string{"h11", "h12", "h23", "h24"}},
	{"caseFirst", "kf", []string{"upper", "lower", "false"}}, {"numeric", "kn", nil}, {"numberingSystem", "nu", nil},
}

// newLocale is the constructor: a tag with the options over it.
func (p *Intl) newLocale(tag goja.Value, options goja.Value) *intlLocale {
	const what = "locale"
	wrong := func() { p.Engine.Throw("RangeError", "Incorrect locale information provided") }
	if _, isObject := tag.(*goja.Object); !isObject {
		if _, isString := tag.(goja.String); !isString {
			p.Engine.Throw("TypeError", "First argument to Intl.Locale constructor can't be empty or missing")
		}
	}
	var l language.Tag
	if given, ok := p.Engine.Attached(tag).(*intlLocale); ok {
		l = given.tag
	} else {
		text := tag.String()
		if text == "" {
			p.Engine.Throw("RangeError", "First argument to Intl.Locale constructor can't be empty or missing")
		}
		if p.VM.Try(func() { l = p.parseLocale(text) }) != nil || strings.HasPrefix(strings.ToLower(text), "x-") {
			wrong()
		}
	}
	if goja.IsNull(options) {
		p.Engine.Throw("TypeError", "Intl.Locale called on null or undefined")
	}
	base, script, region := l.Raw()
	subtag := func(name string, form *lazyregexp.Regexp, set func(text string) error) {
		if text := p.option(what, options, name, ""); text != "" || !goja.IsUndefined(webidl.Get(options, name)) {
			if !form.MatchString(text) || set(text) != nil {
				wrong()
			}
		}
	}
	subtag("language", languageForm, func(text string) (err error) { base, err = language.ParseBase(text); return err })
	subtag("script", scriptForm, func(text string) (err error) { script, err = language.ParseScript(text); return err })
	subtag("region", regionForm, func(text string) (err error) { region, err = language.ParseRegion(text); return err })
	if composed, err := language.Raw.Compose(l, base, script, region); err == nil {
		l = composed
	}
	for _, k := range localeKeys {
		value := p.option(what, options, k.option, "", k.allowed...)
		if goja.IsUndefined(webidl.Get(options, k.option)) {
			continue
		}
		if k.option == "numeric" {
			value = map[bool]string{true: "true", false: "false"}[webidl.Get(options, k.option).ToBoolean()]
		} else if !typeForm.MatchString(value) {
			wrong()
		}
		if set, err := l.SetTypeForKey(k.key, strings.ToLower(value)); err == nil {
			l = set
		}
	}
	return &intlLocale{l}
}

// String is the tag; the value "true" of a keyword is not written.
func (l *intlLocale) String() string { return strings.ReplaceAll(l.tag.String(), "-true", "") }

func (l *intlLocale) baseName() string {
	base, _, _ := strings.Cut(l.tag.String(), "-u-")
	return base
}

// withSubtags is the locale with other subtags before its extensions.
func (l *intlLocale) withSubtags(base language.Base, script language.Script, region language.Region, parts ...any) *intlLocale {
	tag, err := language.Raw.Compose(append([]any{base, script, region}, parts...)...)
	if err != nil {
		return l
	}
	for _, v := range l.tag.Variants() {
		if with, err := language.Raw.Compose(tag, v); err == nil {
			tag = with
		}
	}
	if with, err := language.Raw.Compose(tag, l.tag.Extensions()); err == nil {
		tag = with
	}
	return &intlLocale{tag}
}

func (l *intlLocale) maximize() *intlLocale {
	base, _ := l.tag.Base()
	script, _ := l.tag.Script()
	region, _ := l.tag.Region()
	return l.withSubtags(base, script, region)
}

// minimize removes what maximize would add again (UTS 35, "Likely Subtags").
func (l *intlLocale) minimize() *intlLocale {
	full := l.maximize()
	base, script, region := full.tag.Raw()
	none := language.Und
	_, noScript, noRegion := none.Raw()
	for _, try := range [][2]bool{{false, false}, {false, true}, {true, false}} {
		s, r := noScript, noRegion
		if try[0] {
			s = script
		}
		if try[1] {
			r = region
		}
		if short := l.withSubtags(base, s, r); short.maximize().baseName() == full.baseName() {
			return short
		}
	}
	return full
}

func (p *Intl) localeClass() *goja.Object {
	text := func(name string, read func(l *intlLocale) string) engine.Accessor[*intlLocale] {
		return webidl.Reader(name, func(l *intlLocale) goja.Value {
			if s := read(l); s != "" {
				return p.VM.ToValue(s)
			}
			return goja.Undefined()
		})
	}
	keyword := func(name, key string) engine.Accessor[*intlLocale] {
		return text(name, func(l *intlLocale) string { return l.tag.TypeForKey(key) })
	}
	var class *engine.Class[*intlLocale]
	another := func(name string, of func(l *intlLocale) *intlLocale) engine.Method[*intlLocale] {
		return engine.Method[*intlLocale]{Name: name, Fn: func(l *intlLocale, _ goja.FunctionCall) goja.Value { return class.Wrap(of(l)) }}
	}
	list := func(name string, of func(l *intlLocale) []string) engine.Method[*intlLocale] {
		return engine.Method[*intlLocale]{Name: name, Fn: func(l *intlLocale, _ goja.FunctionCall) goja.Value {
			return p.VM.NewArray(anys(of(l))...)
		}}
	}
	class = engine.DefineClass(p.Engine, engine.ClassDef[*intlLocale]{
		Language: true,
		Name:     "Intl.Locale", Length: 1,
		New: func(call goja.ConstructorCall) *intlLocale { return p.newLocale(call.Argument(0), call.Argument(1)) },
		Accessors: []engine.Accessor[*intlLocale]{
			text("language", func(l *intlLocale) string { b, _, _ := l.tag.Raw(); return b.String() }),
			text("script", func(l *intlLocale) string {
				_, s, _ := l.tag.Raw()
				return strings.TrimPrefix(s.String(), "Zzzz")
			}),
			text("region", func(l *intlLocale) string {
				_, _, r := l.tag.Raw()
				return strings.TrimPrefix(r.String(), "ZZ")
			}),
			text("baseName", (*intlLocale).baseName),
			text("variants", func(l *intlLocale) string {
				var names []string
				for _, v := range l.tag.Variants() {
					names = append(names, v.String())
				}
				return strings.Join(names, "-")
			}),
			keyword("calendar", "ca"), keyword("collation", "co"), keyword("firstDayOfWeek", "fw"), keyword("hourCycle", "hc"),
			keyword("caseFirst", "kf"), keyword("numberingSystem", "nu"),
			webidl.Reader("numeric", func(l *intlLocale) goja.Value {
				value := l.tag.TypeForKey("kn")
				return p.VM.ToValue(value == "true" || value == "" && slices.Contains(strings.Split(l.tag.String(), "-"), "kn"))
			}),
		},
		Methods: []engine.Method[*intlLocale]{
			{Name: "toString", Fn: func(l *intlLocale, _ goja.FunctionCall) goja.Value { return p.VM.ToValue(l.String()) }},
			another("maximize", (*intlLocale).maximize), another("minimize", (*intlLocale).minimize),
			list("getCalendars", func(l *intlLocale) []string { return l.keywordOr("ca", "gregory") }),
			list("getCollations", func(l *intlLocale) []string { return l.keywordOr("co", "emoji", "eor") }),
			list("getHourCycles", func(l *intlLocale) []string {
				usual := "h12"
				if d := p.dataOf(l.baseName()); d != nil {
					usual = d.find("cycle")
				}
				return l.keywordOr("hc", usual)
			}),
			list("getNumberingSystems", func(l *intlLocale) []string { return l.keywordOr("nu", "latn") }),
			{Name: "getTimeZones", Fn: func(l *intlLocale, _ goja.FunctionCall) goja.Value {
				_, _, region := l.tag.Raw()
				if zones := englishNames()["z "+region.String()]; zones != "" {
					return p.VM.NewArray(anys(strings.Split(zones, ","))...)
				}
				return goja.Undefined()
			}},
			{Name: "getWeekInfo", Fn: func(l *intlLocale, _ goja.FunctionCall) goja.Value {
				_, _, region := l.maximize().tag.Raw()
				info := cmp.Or(englishNames()["w "+region.String()], "1 6,7")
				var weekend []any
				for _, day := range strings.Split(info[2:], ",") {
					weekend = append(weekend, int(day[0]-'0'))
				}
				return p.Record("firstDay", int(info[0]-'0'), "weekend", p.VM.NewArray(weekend...))
			}},
			{Name: "getTextInfo", Fn: func(l *intlLocale, _ goja.FunctionCall) goja.Value {
				_, script, _ := l.maximize().tag.Raw()
				direction := "ltr"
				if rightToLeft[script.String()] {
					direction = "rtl"
				}
				return p.Record("direction", direction)
			}},
		},
	})
	return p.intlClass("Locale", class.Ctor, true)
}

// rightToLeft are the scripts that are written so.
var rightToLeft = map[string]bool{"Arab": true, "Hebr": true, "Thaa": true, "Syrc": true, "Nkoo": true, "Adlm": true, "Rohg": true, "Mand": true, "Samr": true}

func (l *intlLocale) keywordOr(key string, usual ...string) []string {
	if value := l.tag.TypeForKey(key); value != "" {
		return []string{value}
	}
	return usual
}
