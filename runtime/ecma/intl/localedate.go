package intl

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// datePattern is the pattern of a date by its key. The table leaves out what
// follows: two digits from the pattern of one, and long weekdays from short ones.
func (d *localeData) datePattern(key string) string {
	if v := d.find("d " + key); v != "" {
		return v
	}
	b := []byte(key)
	switch {
	case b[3] == '2':
		b[3] = 'n'
		return strings.ReplaceAll(d.datePattern(string(b)), "{d}", "{dd}")
	case b[1] == '2':
		b[1] = 'n'
		return strings.ReplaceAll(d.datePattern(string(b)), "{y}", "{yy}")
	case b[2] == '2':
		b[2] = 'n'
		return strings.ReplaceAll(d.datePattern(string(b)), "{M}", "{MM}")
	case b[0] == 'l':
		b[0] = 's'
		return strings.NewReplacer("{Eshort}", "{Elong}", "{cshort}", "{clong}").Replace(d.datePattern(string(b)))
	case b[0] == 'n':
		b[0] = 's'
		return strings.NewReplacer("{Eshort}", "{Enarrow}", "{cshort}", "{cnarrow}").Replace(d.datePattern(string(b)))
	case b[2] == 'w':
		b[2] = 's'
		return strings.NewReplacer("{Mshort}", "{Mnarrow}", "{Lshort}", "{Lnarrow}").Replace(d.datePattern(string(b)))
	}
	return ""
}

func first(option string) byte {
	switch option {
	case "":
		return '-'
	case "narrow":
		return 'w'
	}
	return option[0]
}

// localized is parts by the patterns of a locale.
func (f *dateFormat) localized(d *localeData, t time.Time) []part {
	pattern := f.pattern(d)
	if style := map[string]string{"full": "long", "long": "short"}[f.timeStyle]; style != "" {
		named := *f
		named.zoneStyle = style
		f = &named
	}
	return f.fill(d, pattern, t)
}

// shown is what the pattern makes of an option: some have two digits however they
// were asked for.
func (f *dateFormat) shown(name, option string) string {
	if f.data == nil || option != "numeric" && option != "2-digit" {
		return option
	}
	tokens := map[string][2]string{"year": {"{y}", "{yy}"}, "month": {"{M}", "{MM}"}, "day": {"{d}", "{dd}"}, "hour": {"{H}", "{HH}"},
		"minute": {"{m}", "{mm}"}, "second": {"{s}", "{ss}"}}[name]
	switch pattern := f.pattern(f.data); {
	case strings.Contains(pattern, tokens[1]):
		return "2-digit"
	case strings.Contains(pattern, tokens[0]):
		return "numeric"
	}
	return option
}

// pattern is what a locale makes of the options.
func (f *dateFormat) pattern(d *localeData) string {
	weekday := first(f.weekday)
	if weekday == 'w' {
		weekday = 'n'
	}
	key := string([]byte{weekday, first(f.year), first(f.month), first(f.day)})
	date, clock := "", ""
	if key != "----" {
		date = d.datePattern(key)
		if f.era != "" {
			date += " {G}"
		}
	}
	if f.dateStyle != "" {
		date = d.find("s d" + f.dateStyle)
	}
	cycle := byte('1')
	if f.cycle == "h23" || f.cycle == "h24" {
		cycle = '2'
	}
	switch {
	case f.timeStyle != "" && f.cycle == f.usualCycle:
		clock = d.find("s t" + f.timeStyle)
	case f.timeStyle != "":
		clock = d.find("t " + string(cycle) + "nn-")
		if f.timeStyle != "short" {
			clock = d.find("t " + string(cycle) + "nnn")
		}
		if f.timeStyle == "full" || f.timeStyle == "long" {
			clock += " {z}"
		}
	case f.hour+f.minute+f.second != "":
		minute := f.minute
		if f.hour != "" && minute == "" && f.second != "" {
			minute = "2-digit"
		}
		k := []byte{cycle, first(f.hour), first(minute), first(f.second)}
		if clock = d.find("t " + string(k)); clock == "" && k[3] == '2' {
			k[3] = 'n'
			clock = d.find("t " + string(k))
		}
	}
	if f.fraction > 0 {
		clock = strings.Replace(strings.Replace(clock, "{ss}", "{ss}"+d.find("n decimal")+"{f}", 1), "{s}", "{s}"+d.find("n decimal")+"{f}", 1)
		if clock == "" {
			clock = "{f}"
		}
	}
	zone := ""
	if f.zoneStyle != "" {
		zone = "{z}"
	}
	switch {
	case clock != "" && zone != "":
		clock += " " + zone
	case zone != "":
		clock = zone
	}
	glue := ""
	if date != "" && clock != "" {
		switch {
		case f.dateStyle != "":
			glue = d.find("g s" + f.dateStyle)
		case clock == zone:
			glue = d.findOr("g kzone", ", ")
		case f.year+f.month+f.day == "":
			glue = d.findOr("g kweek", d.find("g kshort"))
		default:
			glue = d.find("g k" + f.dateKind())
		}
	}
	return date + glue + clock
}

// dateKind says how long a date is, by which what follows it is chosen.
func (f *dateFormat) dateKind() string {
	switch {
	case f.month == "long" && f.weekday != "":
		return "full"
	case f.month == "long":
		return "long"
	case f.month == "short":
		return "medium"
	}
	return "short"
}

// fill puts the fields of a time into a pattern.
func (f *dateFormat) fill(d *localeData, pattern string, t time.Time) []part {
	var out []part
	two := func(kind string, n int) { out = append(out, part{kind, fmt.Sprintf("%02d", n)}) }
	add := func(kind, value string) { out = append(out, part{kind, value}) }
	year, age := t.Year(), eras[f.era][1]
	if year <= 0 {
		year, age = 1-year, eras[f.era][0]
	}
	pieces(pattern, func(s string) {
		if n := len(out); n > 0 && out[n-1].kind == "literal" {
			out[n-1].value += s
			return
		}
		add("literal", s)
	}, func(name string) {
		switch name {
		case "d":
			add("day", strconv.Itoa(t.Day()))
		case "dd":
			two("day", t.Day())
		case "M":
			add("month", strconv.Itoa(int(t.Month())))
		case "MM":
			two("month", int(t.Month()))
		case "y":
			add("year", strconv.Itoa(year))
		case "yy":
			two("year", year%100)
		case "G":
			add("era", age)
		case "H":
			add("hour", strconv.Itoa(f.clockHour(t)))
		case "HH":
			two("hour", f.clockHour(t))
		case "m":
			add("minute", strconv.Itoa(t.Minute()))
		case "mm":
			two("minute", t.Minute())
		case "s":
			add("second", strconv.Itoa(t.Second()))
		case "ss":
			two("second", t.Second())
		case "f":
			add("fractionalSecond", fmt.Sprintf("%03d", t.Nanosecond()/1e6)[:f.fraction])
		case "a":
			add("dayPeriod", d.list("name a")[t.Hour()/12])
		case "z":
			add("timeZoneName", f.localZone(d, t))
		default:
			list := d.list("name " + name)
			if name[0] == 'E' || name[0] == 'c' {
				add("weekday", list[t.Weekday()])
			} else {
				add("month", list[t.Month()-1])
			}
		}
	})
	return out
}

func (f *dateFormat) clockHour(t time.Time) int {
	h := t.Hour()
	switch f.cycle {
	case "h12":
		return (h+11)%12 + 1
	case "h11":
		return h % 12
	case "h24":
		return (h+23)%24 + 1
	}
	return h
}

// localZone is the name of the zone: of UTC, else its distance from it.
func (f *dateFormat) localZone(d *localeData, t time.Time) string {
	if f.locale[:2] == "en" {
		return f.zoneName(t)
	}
	style := f.zoneStyle
	if f.zoneID == "UTC" && !strings.HasSuffix(style, "Offset") {
		if style == "long" || style == "longGeneric" {
			return d.find("utc")
		}
		return "UTC"
	}
	_, offset := t.Zone()
	text := strings.Replace(gmtOffset(offset, strings.HasPrefix(style, "long")), ":", d.find("gmt colon"), 1)
	return strings.Replace(strings.Replace(text, "-", d.find("gmt minus"), 1), "GMT", d.find("gmt"), 1)
}
