package intl

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/engine"
)

//go:embed intlnames/en.txt
var intlNames string

// englishNames are the names of codes: "r US" is "United States|US|US".
var englishNames = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for line := range strings.Lines(intlNames) {
		if key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok && line[0] != '#' {
			names[key] = value
		}
	}
	return names
})

// displayNames is an Intl.DisplayNames (ECMA-402, section 12), in English. Immutable.
type displayNames struct{ locale, style, kind, fallback, dialects string }

// nameKinds are the types: the letter in the table, and the form of a code.
var nameKinds = map[string]struct {
	letter string
	form   *lazyregexp.Regexp
}{
	"language":      {"l", lazyregexp.New(`^[a-zA-Z]{2,3}(-[a-zA-Z]{4})?(-([a-zA-Z]{2}|[0-9]{3}))?(-([a-zA-Z0-9]{5,8}|[0-9][a-zA-Z0-9]{3}))*$`)},
	"region":        {"r", regionForm},
	"script":        {"s", scriptForm},
	"currency":      {"c", lazyregexp.New(`^[a-zA-Z]{3}$`)},
	"calendar":      {"k", typeForm},
	"dateTimeField": {"f", lazyregexp.New(`^(era|year|quarter|month|weekOfYear|weekday|day|dayPeriod|hour|minute|second|timeZoneName)$`)},
}

func (d *displayNames) find(letter, code string) string {
	forms := strings.Split(englishNames()[letter+" "+code], "|")
	if len(forms) == 3 {
		return forms[map[string]int{"long": 0, "short": 1, "narrow": 2}[d.style]]
	}
	return forms[0]
}

// of is the name of a code in its usual letters; "" if it has none.
func (d *displayNames) of(code string) string {
	if d.kind != "language" {
		return d.find(nameKinds[d.kind].letter, code)
	}
	if d.dialects == "dialect" || !strings.Contains(code, "-") {
		if name := d.find("l", code); name != "" {
			return name
		}
	}
	parts := strings.Split(code, "-")
	used := 1
	name := d.find("l", parts[0])
	if len(parts) > 2 && d.dialects == "dialect" { // "Traditional Chinese (Taiwan)"
		if two := d.find("l", parts[0]+"-"+parts[1]); two != "" {
			name, used = two, 2
		}
	}
	if name == "" {
		return ""
	}
	var more []string
	for _, part := range parts[used:] {
		text := part
		if len(part) == 4 {
			text = d.find("s", part)
		} else if regionForm.MatchString(part) {
			text = d.find("r", part)
		}
		if text == "" {
			text = part
		}
		more = append(more, text)
	}
	return name + " (" + strings.Join(more, ", ") + ")"
}

// usualCase writes a code as its kind is written.
func (d *displayNames) usualCase(code string) string {
	title := func(s string) string { return strings.ToUpper(s[:1]) + strings.ToLower(s[1:]) }
	switch d.kind {
	case "region", "currency":
		return strings.ToUpper(code)
	case "script":
		return title(code)
	case "language":
		parts := strings.Split(code, "-")
		for i, part := range parts {
			switch {
			case i > 0 && len(part) == 4 && scriptForm.MatchString(part):
				parts[i] = title(part)
			case i > 0 && len(part) == 2:
				parts[i] = strings.ToUpper(part)
			default:
				parts[i] = strings.ToLower(part)
			}
		}
		return strings.Join(parts, "-")
	case "calendar":
		return strings.ToLower(code)
	}
	return code
}

func (p *Intl) displayNamesClass() *goja.Object {
	class := engine.DefineClass(p.Engine, engine.ClassDef[*displayNames]{
		Language: true,
		Name:     "Intl.DisplayNames", Length: 2,
		New: func(call goja.ConstructorCall) *displayNames {
			const what = "Intl.DisplayNames"
			options := call.Argument(1)
			d := &displayNames{locale: p.resolveLocale(call.Argument(0))}
			if _, isObject := options.(*goja.Object); !isObject {
				p.Engine.Throw("TypeError", "invalid_argument")
			}
			d.style = p.option(what, options, "style", "long", "narrow", "short", "long")
			d.kind = p.option(what, options, "type", "", "language", "region", "script", "currency", "calendar", "dateTimeField")
			if d.kind == "" {
				p.Engine.Throw("TypeError", "invalid_argument")
			}
			d.fallback = p.option(what, options, "fallback", "code", "code", "none")
			d.dialects = p.option(what, options, "languageDisplay", "dialect", "dialect", "standard")
			if !strings.HasPrefix(d.locale, "en") {
				p.englishOnly(d.locale)
			}
			return d
		},
		Methods: []engine.Method[*displayNames]{
			{Name: "of", Length: 1, Fn: func(d *displayNames, call goja.FunctionCall) goja.Value {
				code := call.Argument(0).String()
				if !nameKinds[d.kind].form.MatchString(code) {
					p.Engine.Throw("RangeError", "invalid_argument")
				}
				code = d.usualCase(code)
				name := d.of(code)
				if name == "" && d.fallback == "none" {
					return goja.Undefined()
				}
				if name == "" {
					name = code
				}
				return p.VM.ToValue(name)
			}},
			{Name: "resolvedOptions", Fn: func(d *displayNames, _ goja.FunctionCall) goja.Value {
				o := p.Record("locale", d.locale, "style", d.style, "type", d.kind, "fallback", d.fallback)
				if d.kind == "language" {
					o.Set("languageDisplay", d.dialects)
				}
				return o
			}},
		},
	})
	return p.intlClass("DisplayNames", class.Ctor, false)
}

// englishOnly says once that names come in English.
func (p *Intl) englishOnly(locale string) {
	if p.warned == nil {
		p.warned = map[string]bool{}
	}
	if key := "names " + locale; !p.warned[key] {
		p.warned[key] = true
		p.Engine.Log(engine.Warn, "Intl.DisplayNames: minido has English names only, and shows them for \""+locale+"\"; production has its own")
	}
}
