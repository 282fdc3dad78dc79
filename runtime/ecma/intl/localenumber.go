package intl

import (
	"math"
	"strconv"
	"strings"
)

// signed puts digits, and where it stands a sign, into a pattern of a locale
// ("-# ¤"): numbers are "#", a currency "¤".
func signed(pattern string, number []part, currency string, sign part) []part {
	var out []part
	literal := func(s string) {
		if s == "" {
			return
		}
		out = append(out, part{"literal", s})
	}
	start := 0
	for i, r := range pattern {
		var with []part
		switch {
		case r == '#':
			with = number
		case r == '¤':
			with = []part{{"currency", currency}}
		case r == '%':
			with = []part{{"percentSign", "%"}}
		case r == '-' && sign.kind != "":
			with = []part{sign}
		default:
			continue
		}
		literal(pattern[start:i])
		out = append(out, with...)
		start = i + len(string(r))
	}
	literal(pattern[start:])
	return out
}

// dress is decorate in a locale: r is what the digits show.
func (f *numberFormat) dress(d *localeData, sign part, negative bool, r decimal, number []part) []part {
	if sign.kind == "minusSign" {
		sign.value = d.find("n minus")
	}
	prefix := []part{sign}
	if sign.kind == "" {
		prefix = nil
	}
	switch f.style {
	case "percent":
		return append(prefix, signed(d.find("n percent"), number, "", part{})...)
	case "currency":
		return f.money(d, sign, negative, r, number)
	case "unit":
		form := map[string]string{"short": "s", "narrow": "n", "long": "l"}[f.unitDisplay]
		pattern := pluralForm(d.find("u "+f.unit+" "+form), f.locale, r)
		if pattern == "" {
			return append(append(prefix, number...), unitParts(f.unit, f.unitDisplay, f.isOne(r))...)
		}
		before, after, _ := strings.Cut(pattern, "#")
		out := append(spaced(before, "unit"), append(prefix, number...)...)
		if before == "%" || before == "" && strings.TrimSpace(after) == "%" {
			return append(prefix, signed(pattern, number, "", part{})...)
		}
		return append(out, spaced(after, "unit")...)
	}
	return append(prefix, number...)
}

// spaced is a name with the spaces around it.
func spaced(text, kind string) []part {
	name := strings.Trim(text, " \u00a0\u202f")
	if name == "" {
		if text == "" {
			return nil
		}
		return []part{{"literal", text}}
	}
	before, after, _ := strings.Cut(text, name)
	var out []part
	for _, x := range []part{{"literal", before}, {kind, name}, {"literal", after}} {
		if x.value != "" {
			out = append(out, x)
		}
	}
	return out
}

func (f *numberFormat) money(d *localeData, sign part, negative bool, r decimal, number []part) []part {
	symbols := strings.Split(d.find("y "+f.currency), "|")
	symbol := symbols[0]
	if f.currencyDisplay == "narrowSymbol" {
		symbol = symbols[len(symbols)-1]
	}
	if f.currencyDisplay == "code" || symbol == "" {
		symbol = f.currency
	}
	if f.currencyDisplay == "name" {
		pattern := pluralForm(d.find("c "+f.currency), f.locale, r)
		if pattern == "" {
			pattern = "# " + f.currency
		}
		before, after, _ := strings.Cut(pattern, "#")
		out := spaced(before, "currency")
		if sign.kind != "" {
			out = append(out, sign)
		}
		return append(append(out, number...), spaced(after, "currency")...)
	}
	pattern := d.find("n cur")
	if f.accounting == "accounting" {
		pattern = d.find("n curaccpos")
	}
	apart := strings.HasPrefix(pattern, "¤#") && letter(symbol[len(symbol)-1]) || strings.HasSuffix(pattern, "#¤") && letter(symbol[0])
	switch {
	case sign.kind == "minusSign" && f.accounting == "accounting":
		pattern = d.find("n curacc")
	case sign.kind == "minusSign":
		pattern = d.find("n curneg")
	case sign.kind != "":
		pattern = strings.Replace(d.find("n curneg"), "-", "-", 1)
	}
	if apart {
		pattern = strings.Replace(strings.Replace(pattern, "¤#", "¤\u00a0#", 1), "#¤", "#\u00a0¤", 1)
	}
	return signed(pattern, number, symbol, sign)
}

func letter(c byte) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }

// step is the step of notation "compact" in a locale: how far the point moves,
// and what stands after the digits.
func (f *numberFormat) step(d *localeData, n decimal) (exponent int, pattern string) {
	if n.special != "" || n.isZero() {
		return 0, ""
	}
	at := func(e int) (int, string) {
		form := d.find("k " + f.compactDisplay[:1] + strconv.Itoa(min(e, 15)))
		shown := strings.IndexByte(form, '#')
		if shown < 0 {
			return 0, ""
		}
		digits := int(form[shown+1] - '0')
		if e > 15 {
			digits += e - 15
		}
		return e - digits + 1, form
	}
	e := n.exp - 1
	if e < 3 {
		if r := f.round(n); r.exp-1 < 3 {
			return 0, ""
		}
		e = 3
	}
	exponent, pattern = at(e)
	if r := f.round(n.shift(-exponent)); r.exp-1 > e-exponent { // 999,999 rounds up to the next step
		exponent, pattern = at(e + 1)
	}
	return exponent, pattern
}

// compactParts puts digits into the form of a step ("#1 Mio.").
func compactParts(form string, number []part) []part {
	at := strings.IndexByte(form, '#')
	if at < 0 { // a word for one ("mille")
		return spaced(form, "compact")
	}
	out := append(spaced(form[:at], "compact"), number...)
	return append(out, spaced(form[at+2:], "compact")...)
}

// localized is parts of a relative time in a locale.
func (f *relativeTime) localized(d *localeData, n float64, unit string) []part {
	if f.numeric == "auto" && n == math.Trunc(n) && math.Abs(n) <= 2 {
		if word := d.find("a " + unit + " " + f.style[:1] + " " + strconv.Itoa(int(n))); word != "" {
			return []part{{"literal", word}}
		}
	}
	key := map[string]string{"minute": "mi", "month": "mo"}[unit]
	if key == "" {
		key = unit[:1]
	}
	future, past, _ := strings.Cut(d.find("r "+key+f.style[:1]), ">")
	if math.Signbit(n) {
		future = past
	}
	size := floatDecimal(math.Abs(n))
	before, after, _ := strings.Cut(pluralForm(future, f.locale, f.number.round(size)), "#")
	var out []part
	if before != "" {
		out = append(out, part{"literal", before})
	}
	out = append(out, f.number.parts(size)...)
	if after != "" {
		out = append(out, part{"literal", after})
	}
	return out
}
