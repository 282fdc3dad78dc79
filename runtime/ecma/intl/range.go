package intl

import (
	"math"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/webidl"
)

// rangePart is a part with what it belongs to: startRange, endRange or shared.
type rangePart struct {
	part
	source string
}

func (p *Intl) rangeParts(parts []rangePart) goja.Value {
	list := make([]any, len(parts))
	for i, x := range parts {
		list[i] = p.Record("type", x.kind, "value", x.value, "source", x.source)
	}
	return p.VM.NewArray(list...)
}

func joinRange(parts []rangePart) string {
	plain := make([]part, len(parts))
	for i, x := range parts {
		plain[i] = x.part
	}
	return joinParts(plain)
}

func from(source string, parts []part) []rangePart {
	out := make([]rangePart, len(parts))
	for i, x := range parts {
		out[i] = rangePart{x, source}
	}
	return out
}

// numberRange is PartitionNumberRangePattern (ECMA-402, section 16.5.19).
func (p *Intl) numberRange(f *numberFormat, call goja.FunctionCall) []rangePart {
	read := func(i int, name string) decimal {
		v := call.Argument(i)
		if webidl.IsUndefined(v) {
			p.Engine.Throw("TypeError", "Invalid %s : undefined", name)
		}
		d := p.decimalOf(v)
		if d.special == "NaN" {
			p.Engine.Throw("RangeError", "Invalid %s : NaN", name)
		}
		return d
	}
	a, b := f.parts(read(0, "start")), f.parts(read(1, "end"))
	if joinParts(a) == joinParts(b) {
		return from("shared", append([]part{{"approximatelySign", "~"}}, a...))
	}
	var tail []part
	if n, m := len(a), len(b); f.style == "unit" && n > 1 && m > 1 && a[n-1] == b[m-1] {
		cut := 1
		if a[n-2].kind == "literal" && a[n-2] == b[m-2] {
			cut = 2
		}
		tail, a, b = b[m-cut:], a[:n-cut], b[:m-cut]
	}
	glue := "–"
	for _, x := range append(append([]part{}, a...), b...) {
		switch x.kind {
		case "integer", "group", "decimal", "fraction":
		default:
			glue = " – "
		}
	}
	out := append(from("startRange", a), rangePart{part{"literal", glue}, "shared"})
	return append(append(out, from("endRange", b)...), from("shared", tail)...)
}

// selectRange is the plural form of a range: that of its end, but where the form
// of the start decides (CLDR, plural ranges).
func (p *Intl) selectRange(r *pluralRules, call goja.FunctionCall) goja.Value {
	if r.kind == "ordinal" {
		return p.VM.ToValue("other")
	}
	var forms [2]string
	for i, name := range []string{"startRange", "endRange"} {
		v := call.Argument(i)
		if webidl.IsUndefined(v) {
			p.Engine.Throw("TypeError", "Invalid %s : undefined", name)
		}
		x := v.ToFloat()
		if math.IsNaN(x) {
			p.Engine.Throw("RangeError", "Invalid %s : NaN", name)
		}
		forms[i] = r.category(floatDecimal(math.Abs(x)))
	}
	base, _ := r.tag.Base()
	if language := base.String(); language == "pt" || language == "fa" || language == "ar" && forms[1] != "few" && forms[1] != "many" {
		if forms[0] == "one" && forms[1] == "other" {
			return p.VM.ToValue("other")
		}
		return p.VM.ToValue(forms[0])
	}
	return p.VM.ToValue(forms[1])
}
