package intl

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// dateDefaults says which fields a format shows if no option asks for any.
type dateDefaults uint8

const (
	dateOnly dateDefaults = iota
	timeOnly
	dateAndTime
)

// dateFormat is an Intl.DateTimeFormat (ECMA-402, section 11). Immutable.
type dateFormat struct {
	locale               string
	zone                 *time.Location
	zoneID               string
	weekday, era         string
	year, month          string
	day, hour, minute    string
	second, zoneStyle    string
	fraction             int
	dayPeriod            string
	cycle                string // h11, h12, h23, h24
	dateStyle, timeStyle string
	usualCycle           string
	data                 *localeData // nil: en-US
	format               *goja.Object
}

var dateOptionValues = []struct {
	name    string
	allowed []string
}{
	{"weekday", []string{"narrow", "short", "long"}},
	{"era", []string{"narrow", "short", "long"}},
	{"year", []string{"2-digit", "numeric"}},
	{"month", []string{"2-digit", "numeric", "narrow", "short", "long"}},
	{"day", []string{"2-digit", "numeric"}},
	{"hour", []string{"2-digit", "numeric"}},
	{"minute", []string{"2-digit", "numeric"}},
	{"second", []string{"2-digit", "numeric"}},
	{"timeZoneName", []string{"short", "long", "shortOffset", "longOffset", "shortGeneric", "longGeneric"}},
}

// field is the option of that name.
func (f *dateFormat) field(name string) *string {
	return map[string]*string{"weekday": &f.weekday, "era": &f.era, "year": &f.year, "month": &f.month, "day": &f.day, "hour": &f.hour,
		"minute": &f.minute, "second": &f.second, "timeZoneName": &f.zoneStyle}[name]
}

func (p *Intl) newDateFormat(what string, locales, options goja.Value, defaults dateDefaults) *dateFormat {
	f := &dateFormat{locale: p.resolveLocale(locales), zoneID: "UTC", zone: time.UTC}
	f.data = p.dataOf(f.locale)
	f.dayPeriod = p.option(what, options, "dayPeriod", "", "narrow", "short", "long")
	if f.dayPeriod != "" && f.data != nil {
		p.Engine.Throw("RangeError", "minido's Intl.DateTimeFormat has the option dayPeriod in en-US alone; leave it out")
	}
	for _, o := range dateOptionValues {
		*f.field(o.name) = p.option(what, options, o.name, "", o.allowed...)
	}
	f.fraction = p.numberOption(options, "fractionalSecondDigits", 1, 3, 0)
	explicit := f.weekday+f.year+f.month+f.day+f.hour+f.minute+f.second+f.dayPeriod != "" || f.fraction > 0
	styles := []string{"full", "long", "medium", "short"}
	f.dateStyle = p.option(what, options, "dateStyle", "", styles...)
	f.timeStyle = p.option(what, options, "timeStyle", "", styles...)
	if f.dateStyle+f.timeStyle != "" && (explicit || f.zoneStyle != "") {
		p.Engine.Throw("TypeError", "Invalid option : option")
	}
	if v := webidl.Get(options, "timeZone"); !goja.IsUndefined(v) {
		f.setZone(p, v.String())
	}
	if f.timeStyle != "" && defaults == dateOnly && strings.HasPrefix(what, "Date.") {
		p.Engine.Throw("TypeError", "Invalid option : timeStyle")
	}
	if f.dateStyle != "" && defaults == timeOnly {
		p.Engine.Throw("TypeError", "Invalid option : dateStyle")
	}
	f.setDefaults(defaults, strings.HasPrefix(what, "Date."))
	f.setCycle(p, what, options)
	return f
}

// setDefaults is the end of CreateDateTimeFormat: fields that nobody chose.
func (f *dateFormat) setDefaults(defaults dateDefaults, strict bool) {
	if f.dateStyle+f.timeStyle != "" {
		return
	}
	hasDate := f.weekday+f.year+f.month+f.day != ""
	hasTime := f.hour+f.minute+f.second+f.dayPeriod != "" || f.fraction > 0
	needed := !hasDate && !hasTime
	if strict && defaults == dateOnly {
		needed = !hasDate
	}
	if strict && defaults == timeOnly {
		needed = !hasTime
	}
	if !needed {
		return
	}
	if defaults != timeOnly {
		f.year, f.month, f.day = "numeric", "numeric", "numeric"
	}
	if defaults != dateOnly {
		f.hour, f.minute, f.second = "numeric", "numeric", "numeric"
	}
}

func (f *dateFormat) setCycle(p *Intl, what string, options goja.Value) {
	f.cycle = "h12"
	if f.data != nil {
		f.cycle = f.data.find("cycle")
	}
	f.usualCycle = f.cycle
	f.cycle = p.option(what, options, "hourCycle", f.cycle, "h11", "h12", "h23", "h24")
	if v := webidl.Get(options, "hour12"); !goja.IsUndefined(v) {
		f.cycle = "h23"
		if v.ToBoolean() {
			f.cycle = "h12"
		}
	}
}

func (f *dateFormat) setZone(p *Intl, name string) {
	if len(name) > 0 && (name[0] == '+' || name[0] == '-') {
		digits := strings.Replace(name[1:], ":", "", 1)
		if len(digits) == 2 {
			digits += "00"
		}
		n, err := strconv.Atoi(digits)
		if err != nil || len(digits) != 4 || n%100 > 59 || n/100 > 23 {
			p.Engine.Throw("RangeError", "Invalid time zone specified: %s", name)
		}
		seconds := (n/100*60 + n%100) * 60
		if name[0] == '-' {
			seconds = -seconds
		}
		f.zoneID = fmt.Sprintf("%c%02d:%02d", name[0], n/100, n%100)
		f.zone = time.FixedZone(f.zoneID, seconds)
		return
	}
	switch upper := strings.ToUpper(name); upper {
	case "UTC", "GMT", "ETC/UTC", "ETC/GMT", "ETC/UCT", "ETC/ZULU", "ETC/GREENWICH":
		return
	}
	if known := canonicalZone(name); known != "" {
		name = known
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || strings.EqualFold(name, "local") {
		p.Engine.Throw("RangeError", "Invalid time zone specified: %s", name)
	}
	f.zone, f.zoneID = zone, name
}

// canonicalZone is the usual spelling of a zone's name.
func canonicalZone(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '/' })
	for i, word := range words {
		pieces := strings.Split(word, "_")
		for j, piece := range pieces {
			if lower := strings.ToLower(piece); piece != "" && lower != "of" && lower != "au" && lower != "es" {
				pieces[j] = strings.ToUpper(piece[:1]) + lower[1:]
			}
		}
		words[i] = strings.Join(pieces, "_")
	}
	if canonical := strings.Join(words, "/"); strings.EqualFold(canonical, name) && len(words) > 1 {
		if _, err := time.LoadLocation(canonical); err == nil {
			return canonical
		}
	}
	return ""
}

// styled is the format that dateStyle and timeStyle stand for.
func (f *dateFormat) styled() *dateFormat {
	if f.dateStyle+f.timeStyle == "" {
		return f
	}
	g := *f
	switch f.dateStyle {
	case "full":
		g.weekday, g.month, g.day, g.year = "long", "long", "numeric", "numeric"
	case "long":
		g.month, g.day, g.year = "long", "numeric", "numeric"
	case "medium":
		g.month, g.day, g.year = "short", "numeric", "numeric"
	case "short":
		g.month, g.day, g.year = "numeric", "numeric", "2-digit"
	}
	switch f.timeStyle {
	case "full":
		g.hour, g.minute, g.second, g.zoneStyle = "numeric", "2-digit", "2-digit", "long"
	case "long":
		g.hour, g.minute, g.second, g.zoneStyle = "numeric", "2-digit", "2-digit", "short"
	case "medium":
		g.hour, g.minute, g.second = "numeric", "2-digit", "2-digit"
	case "short":
		g.hour, g.minute = "numeric", "2-digit"
	}
	return &g
}

// parts formats a time in ms since 1970.
func (f *dateFormat) parts(ms float64) []part {
	t := time.UnixMilli(int64(math.Trunc(ms))).In(f.zone)
	if f.data != nil {
		return f.localized(f.data, t)
	}
	g := f.styled()
	date, clock := g.dateParts(t), g.timeParts(t)
	if len(date) == 0 || len(clock) == 0 {
		return append(date, clock...)
	}
	glue := ", "
	switch {
	case g.day == "" && g.month == "" && g.year == "":
		glue = " " // a weekday alone
	case g.month == "long":
		glue = " at "
	}
	return append(append(date, part{"literal", glue}), clock...)
}

func (f *dateFormat) dateParts(t time.Time) []part {
	n, age := t.Year(), eras[f.era][1]
	if n <= 0 { // the year before 1 AD is 1 BC
		n, age = 1-n, eras[f.era][0]
	}
	year := strconv.Itoa(n)
	if f.year == "2-digit" {
		year = fmt.Sprintf("%02d", n%100)
	}
	day := f.digits(f.day, t.Day())
	month := f.digits(f.month, int(t.Month()))
	text := false
	switch f.month {
	case "long":
		month, text = t.Month().String(), true
	case "short":
		month, text = t.Month().String()[:3], true
	case "narrow":
		month, text = t.Month().String()[:1], true
	}
	var out []part
	add := func(glue, kind, option, value string) {
		if option == "" {
			return
		}
		if len(out) > 0 {
			out = append(out, part{"literal", glue})
		}
		out = append(out, part{kind, value})
	}
	if f.month == "" && f.weekday != "" && f.day != "" { // "9 Sunday"
		add("", "day", f.day, day)
		add(" ", "weekday", f.weekday, f.weekdayName(t))
		add(" ", "year", f.year, year)
		return out
	}
	add("", "weekday", f.weekday, f.weekdayName(t))
	after := len(out)
	comma := func(glue string) string {
		if len(out) == after && after > 0 {
			return ", "
		}
		return glue
	}
	switch {
	case text:
		add(comma(""), "month", f.month, month)
		add(comma(" "), "day", f.day, day)
		glue := " "
		if f.day != "" {
			glue = ", "
		}
		add(comma(glue), "year", f.year, year)
	default:
		add(comma(""), "month", f.month, month)
		add(comma("/"), "day", f.day, day)
		add(comma("/"), "year", f.year, year)
	}
	if len(out) > 0 {
		add(" ", "era", f.era, age)
	}
	return out
}

// eras are the names of the eras before and since year 1, by the option.
var eras = map[string][2]string{"narrow": {"B", "A"}, "short": {"BC", "AD"}, "long": {"Before Christ", "Anno Domini"}}

func (f *dateFormat) weekdayName(t time.Time) string {
	switch name := t.Weekday().String(); f.weekday {
	case "short":
		return name[:3]
	case "narrow":
		return name[:1]
	default:
		return name
	}
}

func (f *dateFormat) digits(option string, n int) string {
	if option == "2-digit" {
		return fmt.Sprintf("%02d", n)
	}
	return strconv.Itoa(n)
}

func (f *dateFormat) timeParts(t time.Time) []part {
	var out []part
	add := func(glue, kind, value string) {
		if len(out) > 0 {
			out = append(out, part{"literal", glue})
		}
		out = append(out, part{kind, value})
	}
	half := f.cycle == "h12" || f.cycle == "h11"
	if f.hour != "" {
		h, option := t.Hour(), f.hour
		switch f.cycle {
		case "h12":
			h = (h+11)%12 + 1
		case "h11":
			h %= 12
		case "h24":
			h = (h+23)%24 + 1
		}
		if !half {
			option = "2-digit"
		}
		add("", "hour", f.digits(option, h))
	}
	if f.minute != "" {
		option := f.minute
		if f.hour != "" || f.second != "" {
			option = "2-digit"
		}
		add(":", "minute", f.digits(option, t.Minute()))
	}
	if f.second != "" {
		option := f.second
		if f.minute != "" {
			option = "2-digit"
		}
		add(":", "second", f.digits(option, t.Second()))
	}
	if f.fraction > 0 {
		add(".", "fractionalSecond", fmt.Sprintf("%03d", t.Nanosecond()/1e6)[:f.fraction])
	}
	if f.dayPeriod != "" && (half || f.hour == "") {
		add(" ", "dayPeriod", f.dayPeriodName(t))
	} else if f.hour != "" && half {
		period := "AM"
		if t.Hour() >= 12 {
			period = "PM"
		}
		add(" ", "dayPeriod", period)
	}
	if f.zoneStyle != "" {
		add(" ", "timeZoneName", f.zoneName(t))
	}
	return out
}

// zoneNames are the names that en-US has for zones: long standard and daylight,
// short standard and daylight ("" where it shows the offset).
var zoneNames = map[string][4]string{
	"America/New_York":    {"Eastern Standard Time", "Eastern Daylight Time", "EST", "EDT"},
	"America/Toronto":     {"Eastern Standard Time", "Eastern Daylight Time", "EST", "EDT"},
	"America/Detroit":     {"Eastern Standard Time", "Eastern Daylight Time", "EST", "EDT"},
	"America/Chicago":     {"Central Standard Time", "Central Daylight Time", "CST", "CDT"},
	"America/Denver":      {"Mountain Standard Time", "Mountain Daylight Time", "MST", "MDT"},
	"America/Phoenix":     {"Mountain Standard Time", "Mountain Daylight Time", "MST", "MDT"},
	"America/Los_Angeles": {"Pacific Standard Time", "Pacific Daylight Time", "PST", "PDT"},
	"America/Vancouver":   {"Pacific Standard Time", "Pacific Daylight Time", "PST", "PDT"},
	"America/Anchorage":   {"Alaska Standard Time", "Alaska Daylight Time", "AKST", "AKDT"},
	"Pacific/Honolulu":    {"Hawaii-Aleutian Standard Time", "Hawaii-Aleutian Daylight Time", "HST", "HDT"},
	"America/Halifax":     {"Atlantic Standard Time", "Atlantic Daylight Time", "AST", "ADT"},
	"America/Sao_Paulo":   {"Brasilia Standard Time", "Brasilia Summer Time", "", ""},
	"Europe/London":       {"Greenwich Mean Time", "British Summer Time", "GMT", ""},
	"Europe/Dublin":       {"Greenwich Mean Time", "Irish Standard Time", "GMT", ""},
	"Europe/Lisbon":       {"Western European Standard Time", "Western European Summer Time", "", ""},
	"Europe/Paris":        centralEurope, "Europe/Berlin": centralEurope, "Europe/Madrid": centralEurope, "Europe/Rome": centralEurope,
	"Europe/Amsterdam": centralEurope, "Europe/Brussels": centralEurope, "Europe/Vienna": centralEurope, "Europe/Zurich": centralEurope,
	"Europe/Stockholm": centralEurope, "Europe/Oslo": centralEurope, "Europe/Copenhagen": centralEurope, "Europe/Prague": centralEurope,
	"Europe/Warsaw": centralEurope, "Europe/Budapest": centralEurope,
	"Europe/Athens":    {"Eastern European Standard Time", "Eastern European Summer Time", "", ""},
	"Europe/Helsinki":  {"Eastern European Standard Time", "Eastern European Summer Time", "", ""},
	"Europe/Kiev":      {"Eastern European Standard Time", "Eastern European Summer Time", "", ""},
	"Europe/Moscow":    {"Moscow Standard Time", "Moscow Summer Time", "", ""},
	"Asia/Tokyo":       {"Japan Standard Time", "Japan Daylight Time", "", ""},
	"Asia/Seoul":       {"Korean Standard Time", "Korean Daylight Time", "", ""},
	"Asia/Shanghai":    {"China Standard Time", "China Daylight Time", "", ""},
	"Asia/Hong_Kong":   {"Hong Kong Standard Time", "Hong Kong Summer Time", "", ""},
	"Asia/Singapore":   {"Singapore Standard Time", "Singapore Standard Time", "", ""},
	"Asia/Kolkata":     {"India Standard Time", "India Standard Time", "", ""},
	"Asia/Calcutta":    {"India Standard Time", "India Standard Time", "", ""},
	"Asia/Dubai":       {"Gulf Standard Time", "Gulf Standard Time", "", ""},
	"Australia/Sydney": {"Australian Eastern Standard Time", "Australian Eastern Daylight Time", "", ""},
	"Pacific/Auckland": {"New Zealand Standard Time", "New Zealand Daylight Time", "", ""},
	"UTC":              {"Coordinated Universal Time", "Coordinated Universal Time", "UTC", "UTC"},
}

var centralEurope = [4]string{"Central European Standard Time", "Central European Summer Time", "", ""}

func (f *dateFormat) zoneName(t time.Time) string {
	_, offset := t.Zone()
	names, daylight := zoneNames[f.zoneID], 0
	if t.IsDST() {
		daylight = 1
	}
	switch f.zoneStyle {
	case "long", "longGeneric":
		if names[daylight] != "" {
			return names[daylight]
		}
		return gmtOffset(offset, true)
	case "short", "shortGeneric":
		if names[2+daylight] != "" {
			return names[2+daylight]
		}
	case "longOffset":
		return gmtOffset(offset, true)
	}
	return gmtOffset(offset, false)
}

func gmtOffset(seconds int, long bool) string {
	if seconds == 0 {
		return "GMT"
	}
	sign := '+'
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	h, m := seconds/3600, seconds/60%60
	switch {
	case long:
		return fmt.Sprintf("GMT%c%02d:%02d", sign, h, m)
	case m == 0:
		return fmt.Sprintf("GMT%c%d", sign, h)
	}
	return fmt.Sprintf("GMT%c%d:%02d", sign, h, m)
}

// dateArgument is the time to format, now if v is undefined.
func (p *Intl) dateArgument(v goja.Value) float64 {
	if webidl.IsUndefined(v) {
		return p.Milliseconds()
	}
	ms := v.ToFloat()
	if math.IsNaN(ms) || math.Abs(ms) > 8.64e15 {
		p.Engine.Throw("RangeError", "Invalid time value")
	}
	return ms
}

func (p *Intl) dateTimeFormatClass() *goja.Object {
	class := engine.DefineClass(p.Engine, engine.ClassDef[*dateFormat]{
		Language: true,
		Name:     "Intl.DateTimeFormat", CallIsNew: true,
		New: func(call goja.ConstructorCall) *dateFormat {
			return p.newDateFormat("Intl.DateTimeFormat", call.Argument(0), call.Argument(1), dateOnly)
		},
		Accessors: []engine.Accessor[*dateFormat]{webidl.Reader("format", func(f *dateFormat) goja.Value {
			if f.format == nil {
				f.format = p.Engine.Func("", 1, func(call goja.FunctionCall) goja.Value {
					return p.VM.ToValue(joinParts(f.parts(p.dateArgument(call.Argument(0)))))
				})
			}
			return f.format
		})},
		Methods: []engine.Method[*dateFormat]{
			{Name: "formatToParts", Length: 1, Fn: func(f *dateFormat, call goja.FunctionCall) goja.Value {
				return p.partList(f.parts(p.dateArgument(call.Argument(0))))
			}},
			{Name: "formatRange", Length: 2, Fn: func(f *dateFormat, call goja.FunctionCall) goja.Value {
				return p.VM.ToValue(joinRange(p.dateRange(f, call)))
			}},
			{Name: "formatRangeToParts", Length: 2, Fn: func(f *dateFormat, call goja.FunctionCall) goja.Value {
				return p.rangeParts(p.dateRange(f, call))
			}},
			{Name: "resolvedOptions", Fn: func(f *dateFormat, _ goja.FunctionCall) goja.Value { return p.dateOptions(f) }},
		},
	})
	return p.intlClass("DateTimeFormat", class.Ctor, false)
}

func (p *Intl) dateOptions(f *dateFormat) goja.Value {
	o := p.Record("locale", f.locale, "calendar", "gregory", "numberingSystem", "latn", "timeZone", f.zoneID)
	if f.hour != "" || f.timeStyle != "" {
		o.Set("hourCycle", f.cycle)
		o.Set("hour12", f.cycle == "h12" || f.cycle == "h11")
	}
	for _, x := range dateOptionValues {
		if v := *f.field(x.name); v != "" {
			o.Set(x.name, f.shown(x.name, v))
		}
	}
	if f.fraction > 0 {
		o.Set("fractionalSecondDigits", f.fraction)
	}
	if f.dateStyle != "" {
		o.Set("dateStyle", f.dateStyle)
	}
	if f.timeStyle != "" {
		o.Set("timeStyle", f.timeStyle)
	}
	return o
}
