package intl

import (
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// numberFormat is an Intl.NumberFormat (ECMA-402, section 16). Immutable but
// for its bound function.
type numberFormat struct {
	locale, style                         string
	currency, currencyDisplay, accounting string
	unit, unitDisplay                     string
	notation, compactDisplay, sign        string
	grouping                              string // "auto", "always", "min2", "false"
	minInteger, minFraction, maxFraction  int
	minSignificant, maxSignificant        int // 0: fractions count
	compactRounding                       bool
	rounding                              rounding
	data                                  *localeData // nil: en-US
	format                                *goja.Object
}

// currencies are the symbols and names that en-US has; the digits are ISO 4217's.
var currencies = map[string]struct {
	symbol, one, many string
	digits            int
}{
	"USD": {"$", "US dollar", "US dollars", 2}, "EUR": {"€", "euro", "euros", 2}, "GBP": {"£", "British pound", "British pounds", 2},
	"JPY": {"¥", "Japanese yen", "Japanese yen", 0}, "CNY": {"CN¥", "Chinese yuan", "Chinese yuan", 2}, "INR": {"₹", "Indian rupee", "Indian rupees", 2},
	"KRW": {"₩", "South Korean won", "South Korean won", 0}, "BRL": {"R$", "Brazilian real", "Brazilian reals", 2},
	"CAD": {"CA$", "Canadian dollar", "Canadian dollars", 2}, "AUD": {"A$", "Australian dollar", "Australian dollars", 2},
	"NZD": {"NZ$", "New Zealand dollar", "New Zealand dollars", 2}, "MXN": {"MX$", "Mexican peso", "Mexican pesos", 2},
	"HKD": {"HK$", "Hong Kong dollar", "Hong Kong dollars", 2}, "TWD": {"NT$", "New Taiwan dollar", "New Taiwan dollars", 2},
	"ILS": {"₪", "Israeli new shekel", "Israeli new shekels", 2}, "VND": {"₫", "Vietnamese dong", "Vietnamese dong", 0},
	"PHP": {"₱", "Philippine peso", "Philippine pesos", 2}, "CHF": {"CHF", "Swiss franc", "Swiss francs", 2},
	"SEK": {"SEK", "Swedish krona", "Swedish kronor", 2}, "NOK": {"NOK", "Norwegian krone", "Norwegian kroner", 2},
	"DKK": {"DKK", "Danish krone", "Danish kroner", 2}, "PLN": {"PLN", "Polish zloty", "Polish zlotys", 2},
	"CZK": {"CZK", "Czech koruna", "Czech korunas", 2}, "SGD": {"SGD", "Singapore dollar", "Singapore dollars", 2},
	"ZAR": {"ZAR", "South African rand", "South African rand", 2}, "KWD": {"KWD", "Kuwaiti dinar", "Kuwaiti dinars", 3},
	"CLP": {"CLP", "Chilean peso", "Chilean pesos", 0}, "ISK": {"ISK", "Icelandic króna", "Icelandic krónur", 0},
}

// units are the short, narrow and long forms (one, many) that en-US has; the
// number stands before them.
var units = map[string][4]string{
	"bit": {" bit", "bit", " bit", " bits"}, "byte": {" byte", "B", " byte", " bytes"}, "kilobit": {" kb", "kb", " kilobit", " kilobits"},
	"kilobyte": {" kB", "kB", " kilobyte", " kilobytes"}, "megabit": {" Mb", "Mb", " megabit", " megabits"},
	"megabyte": {" MB", "MB", " megabyte", " megabytes"}, "gigabit": {" Gb", "Gb", " gigabit", " gigabits"},
	"gigabyte": {" GB", "GB", " gigabyte", " gigabytes"}, "terabyte": {" TB", "TB", " terabyte", " terabytes"},
	"petabyte": {" PB", "PB", " petabyte", " petabytes"}, "percent": {"%", "%", " percent", " percent"},
	"nanosecond": {" ns", "ns", " nanosecond", " nanoseconds"}, "microsecond": {" μs", "μs", " microsecond", " microseconds"}, "millisecond": {" ms", "ms", " millisecond", " milliseconds"},
	"second": {" sec", "s", " second", " seconds"}, "minute": {" min", "m", " minute", " minutes"}, "hour": {" hr", "h", " hour", " hours"},
	"day": {" day", "d", " day", " days"}, "week": {" wk", "w", " week", " weeks"}, "month": {" mth", "m", " month", " months"},
	"year": {" yr", "y", " year", " years"}, "meter": {" m", "m", " meter", " meters"}, "kilometer": {" km", "km", " kilometer", " kilometers"},
	"centimeter": {" cm", "cm", " centimeter", " centimeters"}, "millimeter": {" mm", "mm", " millimeter", " millimeters"},
	"mile": {" mi", "mi", " mile", " miles"}, "foot": {" ft", "′", " foot", " feet"}, "inch": {" in", "″", " inch", " inches"},
	"gram": {" g", "g", " gram", " grams"}, "kilogram": {" kg", "kg", " kilogram", " kilograms"}, "pound": {" lb", "#", " pound", " pounds"},
	"liter": {" L", "L", " liter", " liters"}, "milliliter": {" mL", "mL", " milliliter", " milliliters"},
	"celsius": {"°C", "°C", " degree Celsius", " degrees Celsius"}, "fahrenheit": {"°F", "°", " degree Fahrenheit", " degrees Fahrenheit"},
	"degree": {" deg", "°", " degree", " degrees"}, "kilometer-per-hour": {" km/h", "km/h", " kilometer per hour", " kilometers per hour"},
	"mile-per-hour": {" mph", "mph", " mile per hour", " miles per hour"}, "meter-per-second": {" m/s", "m/s", " meter per second", " meters per second"},
}

// shortUnitPlurals are the short forms that differ for many.
var shortUnitPlurals = map[string]string{"day": " days", "week": " wks", "month": " mths", "year": " yrs"}

func (p *Intl) newNumberFormat(what string, locales, options goja.Value) *numberFormat {
	f := &numberFormat{locale: p.resolveLocale(locales)}
	f.data = p.dataOf(f.locale)
	f.style = p.option(what, options, "style", "decimal", "decimal", "percent", "currency", "unit")
	f.currency = strings.ToUpper(p.option(what, options, "currency", ""))
	f.currencyDisplay = p.option(what, options, "currencyDisplay", "symbol", "code", "symbol", "narrowSymbol", "name")
	f.accounting = p.option(what, options, "currencySign", "standard", "standard", "accounting")
	f.unit = p.option(what, options, "unit", "")
	f.unitDisplay = p.option(what, options, "unitDisplay", "short", "short", "narrow", "long")
	f.notation = p.option(what, options, "notation", "standard", "standard", "scientific", "engineering", "compact")
	f.compactDisplay = p.option(what, options, "compactDisplay", "short", "short", "long")
	f.sign = p.option(what, options, "signDisplay", "auto", "auto", "never", "always", "exceptZero", "negative")
	f.checkStyle(p)
	f.grouping = "auto"
	if f.notation == "compact" {
		f.grouping = "min2"
	}
	switch v := webidl.Get(options, "useGrouping"); {
	case goja.IsUndefined(v):
	case v == p.VM.ToValue(true):
		f.grouping = "always"
	case !v.ToBoolean() || v.String() == "false":
		f.grouping = "false"
	default:
		f.grouping = p.option(what, options, "useGrouping", "auto", "min2", "auto", "always", "true")
	}
	f.rounding = p.readRounding(what, options)
	f.setDigits(p, options)
	if f.rounding.increment > 1 && (f.maxSignificant > 0 || f.rounding.priority != "auto") {
		p.Engine.Throw("TypeError", "Invalid option : roundingIncrement")
	}
	if f.rounding.increment > 1 && f.minFraction != f.maxFraction {
		p.Engine.Throw("RangeError", "roundingIncrement value is out of range.")
	}
	return f
}

func (f *numberFormat) checkStyle(p *Intl) {
	if f.currency != "" && (len(f.currency) != 3 || strings.Trim(f.currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "") {
		p.Engine.Throw("RangeError", "Invalid currency code : %s", f.currency)
	}
	if f.style == "currency" && f.currency == "" {
		p.Engine.Throw("TypeError", "Currency code is required with currency style.")
	}
	if f.style == "unit" {
		if f.unit == "" {
			p.Engine.Throw("TypeError", "Unit is required with unit style.")
		}
		if _, ok := units[f.unit]; !ok {
			p.Engine.Throw("RangeError", "Invalid unit argument for Intl.NumberFormat() '%s' (minido knows the units of Intl.supportedValuesOf(\"unit\"))", f.unit)
		}
	}
}

// setDigits is SetNumberFormatDigitOptions (ECMA-402, section 16.1.3).
func (f *numberFormat) setDigits(p *Intl, options goja.Value) {
	low, high := 0, 3
	switch {
	case f.style == "currency" && f.notation == "standard":
		low = 2
		if c, ok := currencies[f.currency]; ok {
			low = c.digits
		}
		high = low
	case f.style == "percent", f.notation == "compact":
		high = 0
	}
	f.minInteger = p.numberOption(options, "minimumIntegerDigits", 1, 21, 1)
	if !goja.IsUndefined(webidl.Get(options, "minimumSignificantDigits")) || !goja.IsUndefined(webidl.Get(options, "maximumSignificantDigits")) {
		f.minSignificant = p.numberOption(options, "minimumSignificantDigits", 1, 21, 1)
		f.maxSignificant = p.numberOption(options, "maximumSignificantDigits", f.minSignificant, 21, 21)
		if f.rounding.priority == "auto" || f.rounding.priority == "" {
			return
		}
	}
	if f.rounding.increment > 1 {
		high = low
	}
	least, most := p.numberOption(options, "minimumFractionDigits", 0, 100, -1), p.numberOption(options, "maximumFractionDigits", 0, 100, -1)
	f.compactRounding = f.notation == "compact" && least < 0 && most < 0
	switch {
	case least < 0 && most < 0:
		least, most = low, high
	case least < 0:
		least = min(low, most)
	case most < 0:
		most = max(high, least)
	case least > most:
		p.Engine.Throw("RangeError", "maximumFractionDigits value is out of range.")
	}
	f.minFraction, f.maxFraction = least, most
}

// round gives the digits that the format shows.
func (f *numberFormat) round(d decimal) decimal {
	d, _ = f.roundBy(d)
	return d
}

// compactSteps are the suffixes of notation: "compact".
var compactSteps = []struct {
	exp         int
	short, long string
}{{12, "T", "trillion"}, {9, "B", "billion"}, {6, "M", "million"}, {3, "K", "thousand"}}

// parts formats a number.
func (f *numberFormat) parts(d decimal) []part {
	if f.style == "percent" {
		d = d.shift(2)
	}
	var suffix []part
	exponent, form := 0, ""
	switch {
	case f.notation == "compact" && f.data != nil:
		exponent, form = f.step(f.data, d)
	}
	switch f.notation {
	case "compact":
		if f.data != nil {
			break
		}
		exponent, suffix = f.compact(d)
	case "scientific", "engineering":
		if !d.isZero() && d.special == "" {
			exponent = d.exp - 1
			if f.notation == "engineering" {
				exponent -= ((exponent % 3) + 3) % 3
			}
		}
	}
	r, by := f.roundBy(d.shift(-exponent))
	if (f.notation == "scientific") && r.exp > 1 && r.special == "" {
		exponent++
		r = r.shift(-1)
	}
	number := by.digitParts(r)
	if f.notation == "scientific" || f.notation == "engineering" {
		separator, minus := "E", "-"
		if f.data != nil {
			separator, minus = f.data.find("n exp"), f.data.find("n minus")
		}
		suffix = append(suffix, part{"exponentSeparator", separator})
		if exponent < 0 {
			suffix = append(suffix, part{"exponentMinusSign", minus})
		}
		suffix = append(suffix, part{"exponentInteger", strings.TrimPrefix(strconv.Itoa(exponent), "-")})
	}
	if form != "" {
		number = compactParts(pluralForm(form, f.locale, r), number)
	}
	return f.decorate(d.negative, r, append(number, suffix...))
}

// compact chooses the step of a number: 999,999 rounds to 1M.
func (f *numberFormat) compact(d decimal) (exponent int, suffix []part) {
	if d.special != "" {
		return 0, nil
	}
	for i, s := range compactSteps {
		at := d
		if i > 0 { // would it round up to the next step?
			if r := f.round(d.shift(-s.exp)); r.exp > 3 {
				s = compactSteps[i-1]
				at = r.shift(s.exp)
			}
		}
		if at.exp <= s.exp {
			continue
		}
		if f.compactDisplay == "long" {
			return s.exp, []part{{"literal", " "}, {"compact", s.long}}
		}
		return s.exp, []part{{"compact", s.short}}
	}
	return 0, nil
}

func (f *numberFormat) isOne(r decimal) bool {
	return r.digits == "1" && r.exp == 1 && f.minFraction == 0 && f.minSignificant <= 1
}

// digitParts writes the digits with groups and point.
func (f *numberFormat) digitParts(r decimal) []part {
	if r.special != "" {
		if r.special == "∞" {
			return []part{{"infinity", r.special}}
		}
		if f.data != nil {
			return []part{{"nan", f.data.find("n nan")}}
		}
		return []part{{"nan", r.special}}
	}
	fractions := f.minFraction
	if f.minSignificant > 0 {
		fractions = max(f.minSignificant-max(r.exp, 1), 0)
		if r.exp < 1 && !r.isZero() {
			fractions = f.minSignificant - r.exp
		}
	}
	whole, fraction := r.split(max(f.minInteger, 1), fractions)
	var out []part
	separator, point, size, least := ",", ".", 3, 4
	if d := f.data; d != nil {
		separator, point = d.find("n group"), d.find("n decimal")
		if own := d.find("n curdecimal"); own != "" && f.style == "currency" {
			separator, point = d.find("n curgroup"), own
		}
		if d.find("n groups") == "2" {
			size = 2
		}
		if d.find("n min") == "2" && f.grouping != "always" {
			least = 5
		}
	}
	group := f.grouping != "false" && len(whole) >= least && (f.grouping != "min2" || len(whole) > 4)
	for i := 0; i < len(whole); {
		n := len(whole)
		if group {
			if n = i + (len(whole)-3-i-1)%size + 1; len(whole)-i <= 3 {
				n = len(whole)
			}
		}
		if i > 0 {
			out = append(out, part{"group", separator})
		}
		out = append(out, part{"integer", whole[i:n]})
		i = n
	}
	if fraction != "" && (f.rounding.trailing != "stripIfInteger" || strings.Trim(fraction, "0") != "") {
		out = append(out, part{"decimal", point}, part{"fraction", fraction})
	}
	return out
}

// decorate adds sign, currency, percent sign or unit.
func (f *numberFormat) decorate(negative bool, r decimal, number []part) []part {
	zero, nan, one := r.isZero(), r.special == "NaN", f.isOne(r)
	var sign []part
	switch {
	case nan && f.sign != "always":
	case f.sign == "never":
	case negative && (!zero || f.sign == "auto" || f.sign == "always"):
		sign = []part{{"minusSign", "-"}}
	case !negative && (f.sign == "always" || f.sign == "exceptZero" && !zero):
		sign = []part{{"plusSign", "+"}}
	}
	if f.data != nil {
		own := part{}
		if len(sign) > 0 {
			own = sign[0]
		}
		return f.dress(f.data, own, negative, r, number)
	}
	var before, after []part
	switch f.style {
	case "percent":
		after = []part{{"percentSign", "%"}}
	case "unit":
		after = unitParts(f.unit, f.unitDisplay, one)
	case "currency":
		before, after = f.currencyParts(one)
		if f.accounting == "accounting" && len(sign) > 0 && sign[0].value == "-" {
			out := append([]part{{"literal", "("}}, before...)
			return append(append(append(out, number...), after...), part{"literal", ")"})
		}
	}
	return append(append(append(sign, before...), number...), after...)
}

func unitParts(unit, display string, one bool) []part {
	forms := units[unit]
	text := forms[0]
	switch {
	case display == "narrow":
		text = forms[1]
	case display == "long" && one:
		text = forms[2]
	case display == "long":
		text = forms[3]
	case !one && shortUnitPlurals[unit] != "":
		text = shortUnitPlurals[unit]
	}
	kind := "unit"
	if text == "%" {
		kind = "percentSign"
	}
	if name, spaced := strings.CutPrefix(text, " "); spaced {
		return []part{{"literal", " "}, {kind, name}}
	}
	return []part{{kind, text}}
}

func (f *numberFormat) currencyParts(one bool) (before, after []part) {
	c, known := currencies[f.currency]
	symbol := c.symbol
	switch {
	case f.currencyDisplay == "name" && known:
		name := c.many
		if one {
			name = c.one
		}
		return nil, []part{{"literal", " "}, {"currency", name}}
	case f.currencyDisplay == "name":
		return nil, []part{{"literal", " "}, {"currency", f.currency}}
	case f.currencyDisplay == "code" || !known:
		symbol = f.currency
	case f.currencyDisplay == "narrowSymbol":
		symbol = strings.TrimLeft(symbol, "ACHKMNTXZ")
		if symbol == "" {
			symbol = c.symbol
		}
	}
	before = []part{{"currency", symbol}}
	if last := symbol[len(symbol)-1]; last >= 'A' && last <= 'Z' {
		before = append(before, part{"literal", "\u00a0"})
	}
	return before, nil
}

func (p *Intl) numberFormatClass() *goja.Object {
	class := engine.DefineClass(p.Engine, engine.ClassDef[*numberFormat]{
		Language: true,
		Name:     "Intl.NumberFormat", CallIsNew: true,
		New: func(call goja.ConstructorCall) *numberFormat {
			return p.newNumberFormat("Intl.NumberFormat", call.Argument(0), call.Argument(1))
		},
		Accessors: []engine.Accessor[*numberFormat]{webidl.Reader("format", func(f *numberFormat) goja.Value {
			if f.format == nil {
				f.format = p.Engine.Func("", 1, func(call goja.FunctionCall) goja.Value {
					return p.VM.ToValue(joinParts(f.parts(p.decimalOf(call.Argument(0)))))
				})
			}
			return f.format
		})},
		Methods: []engine.Method[*numberFormat]{
			{Name: "formatToParts", Length: 1, Fn: func(f *numberFormat, call goja.FunctionCall) goja.Value {
				return p.partList(f.parts(p.decimalOf(call.Argument(0))))
			}},
			{Name: "formatRange", Length: 2, Fn: func(f *numberFormat, call goja.FunctionCall) goja.Value {
				return p.VM.ToValue(joinRange(p.numberRange(f, call)))
			}},
			{Name: "formatRangeToParts", Length: 2, Fn: func(f *numberFormat, call goja.FunctionCall) goja.Value {
				return p.rangeParts(p.numberRange(f, call))
			}},
			{Name: "resolvedOptions", Fn: func(f *numberFormat, _ goja.FunctionCall) goja.Value { return p.numberOptions(f) }},
		},
	})
	return p.intlClass("NumberFormat", class.Ctor, false)
}

func (p *Intl) numberOptions(f *numberFormat) goja.Value {
	o := p.Record("locale", f.locale, "numberingSystem", "latn", "style", f.style)
	if f.style == "currency" {
		o.Set("currency", f.currency)
		o.Set("currencyDisplay", f.currencyDisplay)
		o.Set("currencySign", f.accounting)
	}
	if f.style == "unit" {
		o.Set("unit", f.unit)
		o.Set("unitDisplay", f.unitDisplay)
	}
	o.Set("minimumIntegerDigits", f.minInteger)
	if f.maxSignificant > 0 {
		o.Set("minimumSignificantDigits", f.minSignificant)
		o.Set("maximumSignificantDigits", f.maxSignificant)
	} else {
		o.Set("minimumFractionDigits", f.minFraction)
		o.Set("maximumFractionDigits", f.maxFraction)
	}
	if f.grouping == "false" {
		o.Set("useGrouping", false)
	} else {
		o.Set("useGrouping", f.grouping)
	}
	o.Set("notation", f.notation)
	if f.notation == "compact" {
		o.Set("compactDisplay", f.compactDisplay)
	}
	o.Set("signDisplay", f.sign)
	f.rounding.show(o)
	return o
}

// show adds the options of rounding to those of a format.
func (r rounding) show(o *goja.Object) {
	o.Set("roundingIncrement", r.increment)
	o.Set("roundingMode", r.mode)
	o.Set("roundingPriority", r.priority)
	o.Set("trailingZeroDisplay", r.trailing)
}
