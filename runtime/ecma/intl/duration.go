package intl

import (
	"math"
	"math/big"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// durationUnits are the units of a duration from the longest, in the singular
// of Intl.NumberFormat.
var durationUnits = []string{"year", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond", "nanosecond"}

const (
	hourUnit   = 4
	minuteUnit = 5
	secondUnit = 6
	milliUnit  = 7
)

// durationFormat is an Intl.DurationFormat (ECMA-402, section 13). Immutable.
type durationFormat struct {
	locale, style  string
	styles, shown  [10]string // by unit: its style, and "auto" or "always"
	fractionDigits int        // -1: as many as there are
	list           *listFormat
	p              *Intl
}

func numericStyle(style string) bool { return style == "numeric" || style == "2-digit" }

func (p *Intl) newDurationFormat(locales, options goja.Value) *durationFormat {
	const what = "Intl.DurationFormat"
	if !webidl.IsUndefined(options) {
		if _, isObject := options.(*goja.Object); !isObject {
			p.Engine.Throw("TypeError", "Incorrect options information provided")
		}
	}
	f := &durationFormat{locale: p.resolveLocale(locales), p: p}
	f.style = p.option(what, options, "style", "short", "long", "short", "narrow", "digital")
	previous := ""
	for i, unit := range durationUnits {
		allowed := []string{"long", "short", "narrow"}
		if i >= hourUnit {
			allowed = append(allowed, "numeric")
			if i <= secondUnit {
				allowed = append(allowed, "2-digit")
			}
		}
		style := p.option(what, options, unit+"s", "", allowed...)
		usual := "auto"
		if style != "" {
			usual = "always"
		} else {
			switch {
			case f.style == "digital" && i >= hourUnit:
				style = "numeric"
				if i <= secondUnit {
					usual = "always"
				}
			case f.style == "digital":
				style = "short"
			case numericStyle(previous):
				style = "numeric"
				if i == minuteUnit || i == secondUnit {
					usual = "always"
				}
			default:
				style = f.style
			}
		}
		if numericStyle(style) && i >= milliUnit {
			usual = "auto"
		}
		f.shown[i] = p.option(what, options, unit+"sDisplay", usual, "auto", "always")
		if numericStyle(previous) && !numericStyle(style) {
			p.Engine.Throw("RangeError", "Value %s out of range for %s options property %ss", style, what, unit)
		}
		if numericStyle(previous) && (i == minuteUnit || i == secondUnit) {
			style = "2-digit"
		}
		f.styles[i], previous = style, style
	}
	f.fractionDigits = p.numberOption(options, "fractionalDigits", 0, 9, -1)
	list := f.style
	if list == "digital" {
		list = "short"
	}
	f.list = &listFormat{locale: f.locale, kind: "unit", style: list, data: p.dataOf(f.locale)}
	return f
}

// durationOf reads a duration: an object with at least one unit.
func (p *Intl) durationOf(v goja.Value) [10]float64 {
	var d [10]float64
	obj, isObject := v.(*goja.Object)
	if !isObject {
		if text, isText := v.(goja.String); isText {
			return p.durationText(text.String())
		}
		p.Engine.Throw("TypeError", "Temporal error: Duration argument must be Duration or string.")
	}
	any, sign := false, 0.0
	for i, unit := range durationUnits {
		v := obj.Get(unit + "s")
		if webidl.IsUndefined(v) {
			continue
		}
		any = true
		n := v.ToFloat()
		if n != math.Trunc(n) || math.IsInf(n, 0) || math.IsNaN(n) {
			p.Engine.Throw("RangeError", "Temporal error: Expected finite integer.")
		}
		if n != 0 && sign != 0 && (n < 0) != (sign < 0) || math.Abs(n) > 1<<53 {
			p.Engine.Throw("RangeError", "Temporal error: Duration was not valid.")
		}
		if n != 0 {
			sign = n
		}
		d[i] = n + 0 // no negative zero
	}
	if !any {
		p.Engine.Throw("TypeError", "Temporal error: Did not provide any valid Duration fields.")
	}
	return d
}

// durationText reads the form of ISO 8601 ("P1DT2H30M").
func (p *Intl) durationText(text string) [10]float64 {
	var d [10]float64
	rest, sign := strings.ToUpper(text), 1.0
	if cut, ok := strings.CutPrefix(rest, "-"); ok {
		rest, sign = cut, -1
	}
	rest, ok := strings.CutPrefix(strings.TrimPrefix(rest, "+"), "P")
	letters, base := "YMWD", 0
	number, any := 0.0, false
	digits := false
	for _, c := range rest {
		switch {
		case c >= '0' && c <= '9':
			number, digits = number*10+float64(c-'0'), true
			continue
		case c == 'T' && !digits && base == 0:
			letters, base = "HMS", hourUnit
			continue
		}
		at := strings.IndexRune(letters, c)
		if at < 0 || !digits {
			ok = false
			break
		}
		if base == 0 {
			d[at] = sign * number
		} else {
			d[hourUnit+at] = sign * number
		}
		number, digits, any = 0, false, true
	}
	if !ok || !any || digits {
		p.Engine.Throw("RangeError", "Temporal error: Invalid duration string: %s", text)
	}
	return d
}

// unitPart is a part with the unit that it belongs to; "" between units.
type unitPart struct {
	part
	unit string
}

// parts is PartitionDurationFormatPattern (ECMA-402, section 13.5.11).
func (f *durationFormat) parts(d [10]float64) []unitPart {
	var groups [][]unitPart
	signed := true // the sign stands before the first unit alone
	negative := false
	for _, n := range d {
		negative = negative || n < 0
	}
	needSeparator := false
	for i := 0; i < len(durationUnits); i++ {
		unit, style := durationUnits[i], f.styles[i]
		value := floatDecimal(d[i])
		done := false
		fraction := 0
		if i >= secondUnit && i < len(durationUnits)-1 && numericStyle(f.styles[i+1]) { // what is shorter is the fraction
			value, fraction = f.withFraction(d, i), f.fractionDigits
			done = true
		}
		shown := !value.isZero() || f.shown[i] == "always"
		if i == minuteUnit && needSeparator && (f.shown[secondUnit] == "always" || d[6] != 0 || d[7] != 0 || d[8] != 0 || d[9] != 0) {
			shown = true
		}
		if shown {
			nf := &numberFormat{locale: f.locale, data: f.p.dataOf(f.locale), notation: "standard", sign: "auto", grouping: "auto", minInteger: 1,
				rounding: rounding{mode: "trunc", priority: "auto", trailing: "auto", increment: 1}}
			if done {
				nf.maxFraction = 9
				if fraction >= 0 {
					nf.minFraction, nf.maxFraction = fraction, fraction
				}
			}
			value.negative = negative && signed
			if !signed {
				nf.sign = "never"
			}
			if numericStyle(style) {
				nf.style, nf.grouping = "decimal", "false"
				if style == "2-digit" {
					nf.minInteger = 2
				}
			} else {
				nf.style, nf.unit, nf.unitDisplay = "unit", unit, style
			}
			var own []unitPart
			for _, x := range nf.parts(value) {
				own = append(own, unitPart{x, unit})
			}
			if needSeparator && numericStyle(style) && len(groups) > 0 {
				last := append(groups[len(groups)-1], unitPart{part{"literal", ":"}, ""})
				groups[len(groups)-1] = append(last, own...)
			} else {
				groups = append(groups, own)
			}
			signed = false
			needSeparator = numericStyle(style) && (i == hourUnit || i == minuteUnit)
		}
		if done {
			break
		}
	}
	var out []unitPart
	items := make([]string, len(groups))
	next := 0
	for _, x := range f.list.parts(items) {
		if x.kind == "element" {
			out = append(out, groups[next]...)
			next++
			continue
		}
		out = append(out, unitPart{x, ""})
	}
	return out
}

// withFraction is a unit with all that is shorter as its fraction.
func (f *durationFormat) withFraction(d [10]float64, unit int) decimal {
	total := new(big.Int)
	for i := unit; i < len(d); i++ {
		n, _ := new(big.Float).SetFloat64(math.Abs(d[i])).Int(nil)
		total.Add(total.Mul(total, big.NewInt(1000)), n)
	}
	if unit == len(d)-1 {
		return newDecimal(total.String())
	}
	return newDecimal(total.String()).shift(-3 * (len(d) - 1 - unit))
}

func (p *Intl) durationFormatClass() *goja.Object {
	class := engine.DefineClass(p.Engine, engine.ClassDef[*durationFormat]{
		Language: true,
		Name:     "Intl.DurationFormat",
		New: func(call goja.ConstructorCall) *durationFormat {
			return p.newDurationFormat(call.Argument(0), call.Argument(1))
		},
		Methods: []engine.Method[*durationFormat]{
			{Name: "format", Length: 1, Fn: func(f *durationFormat, call goja.FunctionCall) goja.Value {
				var b strings.Builder
				for _, x := range f.parts(p.durationOf(call.Argument(0))) {
					b.WriteString(x.value)
				}
				return p.VM.ToValue(b.String())
			}},
			{Name: "formatToParts", Length: 1, Fn: func(f *durationFormat, call goja.FunctionCall) goja.Value {
				var list []any
				for _, x := range f.parts(p.durationOf(call.Argument(0))) {
					o := p.Record("type", x.kind, "value", x.value)
					if x.unit != "" {
						o.Set("unit", x.unit)
					}
					list = append(list, o)
				}
				return p.VM.NewArray(list...)
			}},
			{Name: "resolvedOptions", Fn: func(f *durationFormat, _ goja.FunctionCall) goja.Value {
				o := p.Record("locale", f.locale, "numberingSystem", "latn", "style", f.style)
				for i, unit := range durationUnits {
					o.Set(unit+"s", f.styles[i])
					o.Set(unit+"sDisplay", f.shown[i])
				}
				if f.fractionDigits >= 0 {
					o.Set("fractionalDigits", f.fractionDigits)
				}
				return o
			}},
		},
	})
	return p.intlClass("DurationFormat", class.Ctor, false)
}
