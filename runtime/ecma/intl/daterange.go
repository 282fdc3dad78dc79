package intl

import (
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/webidl"
)

// between stands between the ends of a range of dates (CLDR: an en dash between spaces).
const between = " – "

// dayPeriodName is the part of the day that English names (CLDR, day period rules).
func (f *dateFormat) dayPeriodName(t time.Time) string {
	h := t.Hour()
	switch {
	case h == 12 && t.Minute() == 0 && t.Second() == 0:
		if f.dayPeriod == "narrow" {
			return "n"
		}
		return "noon"
	case h < 12:
		return "in the morning"
	case h < 18:
		return "in the afternoon"
	case h < 21:
		return "in the evening"
	}
	return "at night"
}

// dateRange is PartitionDateTimeRangePattern (ECMA-402, section 11.5.12): what both
// ends have in common is written once where English does so.
func (p *Intl) dateRange(f *dateFormat, call goja.FunctionCall) []rangePart {
	if webidl.IsUndefined(call.Argument(0)) || webidl.IsUndefined(call.Argument(1)) {
		p.Engine.Throw("TypeError", "Invalid time value")
	}
	start, end := p.dateArgument(call.Argument(0)), p.dateArgument(call.Argument(1))
	a, b := time.UnixMilli(int64(start)).In(f.zone), time.UnixMilli(int64(end)).In(f.zone)
	whole := func(g *dateFormat) []rangePart {
		out := append(from("startRange", g.parts(start)), rangePart{part{"literal", between}, "shared"})
		return append(out, from("endRange", g.parts(end))...)
	}
	sameDay := a.Year() == b.Year() && a.YearDay() == b.YearDay()
	g := f.styled()
	hasTime := g.hour+g.minute+g.second != "" || g.fraction > 0
	if f.data == nil && hasTime && !sameDay && g.weekday+g.year+g.month+g.day == "" { // a clock alone does not tell the days apart
		dated := *g
		dated.dateStyle, dated.timeStyle, dated.year, dated.month, dated.day = "", "", "numeric", "numeric", "numeric"
		return whole(&dated)
	}
	if joinParts(f.parts(start)) == joinParts(f.parts(end)) && (f.data != nil || a.Year() == b.Year() || g.year != "" || g.month == "") {
		return from("shared", f.parts(start))
	}
	switch {
	case f.data != nil:
		return whole(f)
	case hasTime && sameDay:
		return g.clockRange(a, b)
	case hasTime:
		return whole(f)
	case a.Year() != b.Year() && g.year == "" && g.month != "":
		dated := *g
		dated.dateStyle, dated.year = "", "numeric"
		return whole(&dated)
	case g.month == "long" || g.month == "short":
		return g.textRange(a, b)
	}
	return whole(f)
}

// clockRange is a range within a day: the date once, and AM or PM too.
func (f *dateFormat) clockRange(a, b time.Time) []rangePart {
	date := f.dateParts(a)
	out := from("shared", date)
	if len(date) > 0 {
		out = append(out, rangePart{part{"literal", ", "}, "shared"})
	}
	first, second := f.timeParts(a), f.timeParts(b)
	var tail []part
	if f.second == "" && (a.Hour() < 12) == (b.Hour() < 12) { // one AM for both
		for i, x := range first {
			if x.kind == "dayPeriod" && i > 0 && i < len(second) {
				tail = second[i-1:]
				first, second = first[:i-1], second[:i-1]
				break
			}
		}
	}
	out = append(out, from("startRange", first)...)
	out = append(out, rangePart{part{"literal", between}, "shared"})
	out = append(out, from("endRange", second)...)
	return append(out, from("shared", tail)...)
}

// textRange is a range of dates with the names of months: "Jan 1 – 2, 1970".
func (f *dateFormat) textRange(a, b time.Time) []rangePart {
	first, second := f.dateParts(a), f.dateParts(b)
	glue := rangePart{part{"literal", between}, "shared"}
	sameYear, sameMonth := a.Year() == b.Year(), a.Month() == b.Month()
	whole := append(append(from("startRange", first), glue), from("endRange", second)...)
	year := -1 // where what both share begins at the end
	for i, x := range first {
		if x.kind == "year" {
			year = i - 1
		}
	}
	head := func(parts []part) []part {
		if year >= 0 {
			return parts[:year]
		}
		return parts
	}
	var tail []part
	if year >= 0 {
		tail = first[year:]
	}
	switch {
	case !sameYear:
		return whole
	case f.weekday != "" || !sameMonth || f.day == "":
		out := append(from("startRange", head(first)), glue)
		return append(append(out, from("endRange", head(second))...), from("shared", tail)...)
	}
	one, two := head(first), head(second)
	out := append(from("shared", one[:len(one)-1]), from("startRange", one[len(one)-1:])...)
	out = append(append(out, glue), from("endRange", two[len(two)-1:])...)
	return append(out, from("shared", tail)...)
}
