package intl

import (
	"os"
	"strings"
	"testing"
)

// Dates are formatted as workerd's ICU does for en-US, and as far as numbers go
// for the locales that programs use to get ISO dates.
func TestIntlDates(t *testing.T) {
	newWorld(t).Tries([][2]string{
		{`new Intl.DateTimeFormat().resolvedOptions()`, `{"locale":"en-US","calendar":"gregory","numberingSystem":"latn","timeZone":"UTC","year":"numeric","month":"numeric","day":"numeric"}`},
		{`new Intl.DateTimeFormat("en-US",{timeZone:"America/New_York",hour:"numeric",month:"long"}).resolvedOptions()`, `{"locale":"en-US","calendar":"gregory","numberingSystem":"latn","timeZone":"America/New_York","hourCycle":"h12","hour12":true,"month":"long","hour":"numeric"}`},
		{`new Date(0).toLocaleString()`, `1/1/1970, 12:00:00 AM`},
		{`new Date(0).toLocaleDateString()`, `1/1/1970`},
		{`new Date(0).toLocaleTimeString()`, `12:00:00 AM`},
		{`new Date(NaN).toLocaleString()`, `Invalid Date`},
		{`new Date(1e12).toLocaleString("en-US",{timeZone:"America/New_York"})`, `9/8/2001, 9:46:40 PM`},
		{`new Date(1e12).toLocaleString("en-US",{dateStyle:"full",timeStyle:"long",timeZone:"Asia/Tokyo"})`, `Sunday, September 9, 2001 at 10:46:40 AM GMT+9`},
		{`new Date(1e12).toLocaleString("en-US",{dateStyle:"long",timeStyle:"medium"})`, `September 9, 2001 at 1:46:40 AM`},
		{`new Date(1e12).toLocaleString("en-US",{dateStyle:"medium",timeStyle:"short"})`, `Sep 9, 2001, 1:46 AM`},
		{`new Date(1e12).toLocaleString("en-US",{dateStyle:"short",timeStyle:"full",timeZone:"Europe/Berlin"})`, `9/9/01, 3:46:40 AM Central European Summer Time`},
		{`new Date(1e12).toLocaleDateString("en-US",{weekday:"long",year:"numeric",month:"long",day:"numeric"})`, `Sunday, September 9, 2001`},
		{`new Date(1e12).toLocaleDateString("en-US",{weekday:"short",month:"short",day:"2-digit"})`, `Sun, Sep 09`},
		{`new Date(1e12).toLocaleDateString("en-US",{year:"numeric",month:"2-digit",day:"2-digit"})`, `09/09/2001`},
		{`new Date(1e12).toLocaleDateString("en-US",{year:"2-digit",month:"numeric"})`, `9/01`},
		{`new Date(1e12).toLocaleDateString("en-US",{month:"long"})`, `September`},
		{`new Date(1e12).toLocaleDateString("en-US",{month:"narrow",day:"numeric"})`, `S 9`},
		{`new Date(1e12).toLocaleDateString("en-US",{weekday:"narrow"})`, `S`},
		{`new Date(1e12).toLocaleDateString("en-US",{year:"numeric"})`, `2001`},
		{`new Date(1e12).toLocaleDateString("en-US",{month:"short",year:"numeric"})`, `Sep 2001`},
		{`new Date(1e12).toLocaleDateString("en-US",{weekday:"short",year:"numeric",month:"numeric",day:"numeric"})`, `Sun, 9/9/2001`},
		{`new Date(1e12).toLocaleDateString("en-US",{month:"numeric",day:"numeric"})`, `9/9`},
		{`new Date(1e12).toLocaleTimeString("en-US",{hour:"2-digit",minute:"2-digit"})`, `01:46 AM`},
		{`new Date(1e12).toLocaleTimeString("en-US",{hour:"numeric",minute:"2-digit",hour12:false})`, `01:46`},
		{`new Date(1e12).toLocaleTimeString("en-US",{hour:"numeric"})`, `1 AM`},
		{`new Date(1e12).toLocaleTimeString("en-US",{hour:"numeric",hour12:false})`, `01`},
		{`new Date(1e12).toLocaleTimeString("en-US",{hour:"2-digit",minute:"2-digit",second:"2-digit",fractionalSecondDigits:3,hourCycle:"h23"})`, `01:46:40.000`},
		{`new Date(0).toLocaleTimeString("en-US",{hour12:false})`, `00:00:00`},
		{`new Date(0).toLocaleTimeString("en-US",{hourCycle:"h23"})`, `00:00:00`},
		{`new Date(1e12).toLocaleTimeString("en-US",{timeZoneName:"short",timeZone:"America/Los_Angeles"})`, `6:46:40 PM PDT`},
		{`new Date(1e12).toLocaleTimeString("en-US",{timeZoneName:"long",timeZone:"America/Los_Angeles"})`, `6:46:40 PM Pacific Daylight Time`},
		{`new Date(1e12).toLocaleTimeString("en-US",{timeZoneName:"shortOffset",timeZone:"Asia/Kolkata"})`, `7:16:40 AM GMT+5:30`},
		{`new Date(1e12).toLocaleTimeString("en-US",{timeZoneName:"longOffset",timeZone:"Asia/Kolkata"})`, `7:16:40 AM GMT+05:30`},
		{`new Date(1e12).toLocaleTimeString("en-US",{timeZoneName:"short",timeZone:"Asia/Kolkata"})`, `7:16:40 AM GMT+5:30`},
		{`new Date(1e12).toLocaleString("en-US",{year:"numeric",month:"long",day:"numeric",hour:"numeric",minute:"2-digit"})`, `September 9, 2001 at 1:46 AM`},
		{`new Date(1e12).toLocaleString("en-US",{year:"numeric",month:"short",day:"numeric",hour:"numeric",minute:"2-digit"})`, `Sep 9, 2001, 1:46 AM`},
		{`new Date(1e12).toLocaleString("en-US",{weekday:"long",hour:"numeric"})`, `Sunday 1 AM`},
		{`new Date(1e12).toLocaleString("en-US",{weekday:"long",year:"numeric",month:"long",day:"numeric",hour:"numeric",minute:"2-digit",timeZoneName:"short",timeZone:"America/Chicago"})`, `Saturday, September 8, 2001 at 8:46 PM CDT`},
		{`new Date(1e12).toLocaleString("en-US",{month:"short",day:"numeric",hour:"numeric",minute:"2-digit"})`, `Sep 9, 1:46 AM`},
		{`new Date(1e12).toLocaleString("en-US",{minute:"numeric",second:"numeric"})`, `46:40`},
		{`new Date(1e12).toLocaleString("en-US",{minute:"numeric"})`, `46`},
		{`new Intl.DateTimeFormat("en-US",{year:"numeric",month:"2-digit",day:"2-digit",hour:"2-digit",minute:"2-digit",second:"2-digit",hour12:false,timeZone:"Europe/Paris"}).formatToParts(new Date(1e12))`, `[{"type":"month","value":"09"},{"type":"literal","value":"/"},{"type":"day","value":"09"},{"type":"literal","value":"/"},{"type":"year","value":"2001"},{"type":"literal","value":", "},{"type":"hour","value":"03"},{"type":"literal","value":":"},{"type":"minute","value":"46"},{"type":"literal","value":":"},{"type":"second","value":"40"}]`},
		{`new Intl.DateTimeFormat("en-US",{dateStyle:"medium",timeStyle:"short"}).formatToParts(0)`, `[{"type":"month","value":"Jan"},{"type":"literal","value":" "},{"type":"day","value":"1"},{"type":"literal","value":", "},{"type":"year","value":"1970"},{"type":"literal","value":", "},{"type":"hour","value":"12"},{"type":"literal","value":":"},{"type":"minute","value":"00"},{"type":"literal","value":" "},{"type":"dayPeriod","value":"AM"}]`},
		{`new Intl.DateTimeFormat("en-US").formatRange(0, 864e5*3)`, `1/1/1970 – 1/4/1970`},
		{`new Date(1e12).toLocaleDateString("en-CA")`, `2001-09-09`},
		{`new Date(1e12).toLocaleDateString("en-CA",{year:"numeric",month:"2-digit",day:"2-digit"})`, `2001-09-09`},
		{`new Date(1e12).toLocaleString("sv-SE")`, `2001-09-09 01:46:40`},
		{`new Date(1e12).toLocaleDateString("sv-SE")`, `2001-09-09`},
		{`new Date(1e12).toLocaleTimeString("sv-SE")`, `01:46:40`},
		{`new Date(1e12).toLocaleString("en-GB")`, `09/09/2001, 01:46:40`},
		{`new Date(1e12).toLocaleDateString("en-GB",{day:"numeric",month:"long",year:"numeric"})`, `9 September 2001`},
		{`new Date(1e12).toLocaleDateString("en-GB",{day:"numeric",month:"short",year:"numeric",weekday:"short"})`, `Sun, 9 Sept 2001`},
		{`new Date(1e12).toLocaleTimeString("en-GB",{hour:"2-digit",minute:"2-digit"})`, `01:46`},
		{`new Date(1e12).toLocaleString("en-GB",{dateStyle:"medium",timeStyle:"short"})`, `9 Sept 2001, 01:46`},
		{`new Date(0).toLocaleString("en-US",{timeZone:"Nope/Zone"})`, `RangeError: Invalid time zone specified: Nope/Zone`},
		{`new Date(0).toLocaleString("en-US",{dateStyle:"bad"})`, `RangeError: Value bad out of range for Date.prototype.toLocaleString options property dateStyle`},
		{`new Date(0).toLocaleString("en-US",{dateStyle:"short",year:"numeric"})`, `TypeError: Invalid option : option`},
		{`new Date(0).toLocaleDateString("en-US",{timeStyle:"short"})`, `TypeError: Invalid option : timeStyle`},
		{`new Intl.DateTimeFormat("en-US",{timeZone:"utc"}).resolvedOptions().timeZone + new Intl.DateTimeFormat("en-US",{timeZone:"+05:30",hour:"numeric",minute:"numeric"}).format(0)`, `UTC5:30 AM`},
		{`[Intl.getCanonicalLocales("EN-us"), Intl.DateTimeFormat("en") instanceof Intl.DateTimeFormat, Object.prototype.toString.call(Intl), String(new Intl.DateTimeFormat())]`, `[["en-US"],true,"[object Intl]","[object Intl.DateTimeFormat]"]`},
	})
}

// Numbers, lists, relative times, plurals, collation and segments are those of
// workerd's ICU.
func TestIntlNumbersAndText(t *testing.T) {
	newWorld(t).Tries([][2]string{
		{`(1234567.891).toLocaleString()`, `1,234,567.891`},
		{`(-1234.5).toLocaleString()`, `-1,234.5`},
		{`(0.000001234).toLocaleString()`, `0`},
		{`(1e21).toLocaleString()`, `1,000,000,000,000,000,000,000`},
		{`(NaN).toLocaleString() + (Infinity).toLocaleString() + (-Infinity).toLocaleString() + (-0).toLocaleString()`, `NaN∞-∞-0`},
		{`(12345678901234567890n).toLocaleString()`, `12,345,678,901,234,567,890`},
		{`(1234.5).toLocaleString("en-US",{minimumFractionDigits:2})`, `1,234.50`},
		{`(1234.5678).toLocaleString("en-US",{maximumFractionDigits:2})`, `1,234.57`},
		{`(1234.5678).toLocaleString("en-US",{maximumFractionDigits:0})`, `1,235`},
		{`(2.5).toLocaleString("en-US",{maximumFractionDigits:0}) + (1.005).toLocaleString("en-US",{maximumFractionDigits:2}) + (-2.5).toLocaleString("en-US",{maximumFractionDigits:0})`, `31.01-3`},
		{`(1234.5).toLocaleString("en-US",{style:"currency",currency:"USD"})`, `$1,234.50`},
		{`(-1234.5).toLocaleString("en-US",{style:"currency",currency:"USD"})`, `-$1,234.50`},
		{`(1234.5).toLocaleString("en-US",{style:"currency",currency:"EUR"})`, `€1,234.50`},
		{`(1234.5).toLocaleString("en-US",{style:"currency",currency:"JPY"})`, `¥1,235`},
		{`(1234.5).toLocaleString("en-US",{style:"currency",currency:"CHF"})`, `CHF 1,234.50`},
		{`(1234.5).toLocaleString("en-US",{style:"currency",currency:"USD",currencyDisplay:"code"})`, `USD 1,234.50`},
		{`(1234.5).toLocaleString("en-US",{style:"currency",currency:"USD",currencyDisplay:"name"})`, `1,234.50 US dollars`},
		{`(1234.5).toLocaleString("en-US",{style:"currency",currency:"USD",minimumFractionDigits:0,maximumFractionDigits:0})`, `$1,235`},
		{`(-1234.5).toLocaleString("en-US",{style:"currency",currency:"USD",currencySign:"accounting"})`, `($1,234.50)`},
		{`(0.256).toLocaleString("en-US",{style:"percent"})`, `26%`},
		{`(0.2567).toLocaleString("en-US",{style:"percent",maximumFractionDigits:1})`, `25.7%`},
		{`(1234.5).toLocaleString("en-US",{useGrouping:false})`, `1234.5`},
		{`(5).toLocaleString("en-US",{minimumIntegerDigits:3})`, `005`},
		{`(123456).toLocaleString("en-US",{maximumSignificantDigits:3})`, `123,000`},
		{`(1.2).toLocaleString("en-US",{minimumSignificantDigits:4})`, `1.200`},
		{`(1234).toLocaleString("en-US",{notation:"compact"})`, `1.2K`},
		{`(1500000).toLocaleString("en-US",{notation:"compact",maximumFractionDigits:1})`, `1.5M`},
		{`(999999).toLocaleString("en-US",{notation:"compact"})`, `1M`},
		{`(12345).toLocaleString("en-US",{notation:"compact",compactDisplay:"long"})`, `12 thousand`},
		{`(0.5).toLocaleString("en-US",{notation:"compact"})`, `0.5`},
		{`(15).toLocaleString("en-US",{notation:"compact"}) + " " + (15.55).toLocaleString("en-US",{notation:"compact"}) + " " + (1e15).toLocaleString("en-US",{notation:"compact"})`, `15 16 1000T`},
		{`(123456).toLocaleString("en-US",{notation:"scientific"})`, `1.235E5`},
		{`(123456).toLocaleString("en-US",{notation:"engineering"})`, `123.456E3`},
		{`(5).toLocaleString("en-US",{signDisplay:"always"}) + (0).toLocaleString("en-US",{signDisplay:"exceptZero"}) + (-5).toLocaleString("en-US",{signDisplay:"never"}) + (-0).toLocaleString("en-US",{signDisplay:"negative"})`, `+5050`},
		{`(16).toLocaleString("en-US",{style:"unit",unit:"kilobyte"})`, `16 kB`},
		{`(16).toLocaleString("en-US",{style:"unit",unit:"megabyte",unitDisplay:"long"}) + (1).toLocaleString("en-US",{style:"unit",unit:"day",unitDisplay:"long"})`, `16 megabytes1 day`},
		{`(16).toLocaleString("en-US",{style:"unit",unit:"second",unitDisplay:"narrow"}) + (16).toLocaleString("en-US",{style:"unit",unit:"celsius"}) + (5).toLocaleString("en-US",{style:"unit",unit:"kilometer-per-hour"})`, `16s16°C5 km/h`},
		{`new Intl.NumberFormat("en-US",{style:"currency",currency:"USD"}).formatToParts(-1234.5)`, `[{"type":"minusSign","value":"-"},{"type":"currency","value":"$"},{"type":"integer","value":"1"},{"type":"group","value":","},{"type":"integer","value":"234"},{"type":"decimal","value":"."},{"type":"fraction","value":"50"}]`},
		{`new Intl.NumberFormat("en-US",{style:"currency",currency:"USD"}).resolvedOptions()`, `{"locale":"en-US","numberingSystem":"latn","style":"currency","currency":"USD","currencyDisplay":"symbol","currencySign":"standard","minimumIntegerDigits":1,"minimumFractionDigits":2,"maximumFractionDigits":2,"useGrouping":"auto","notation":"standard","signDisplay":"auto","roundingIncrement":1,"roundingMode":"halfExpand","roundingPriority":"auto","trailingZeroDisplay":"auto"}`},
		{`new Intl.NumberFormat().resolvedOptions()`, `{"locale":"en-US","numberingSystem":"latn","style":"decimal","minimumIntegerDigits":1,"minimumFractionDigits":0,"maximumFractionDigits":3,"useGrouping":"auto","notation":"standard","signDisplay":"auto","roundingIncrement":1,"roundingMode":"halfExpand","roundingPriority":"auto","trailingZeroDisplay":"auto"}`},
		{`new Intl.NumberFormat("en-US",{style:"currency"})`, `TypeError: Currency code is required with currency style.`},
		{`new Intl.NumberFormat("en-US",{style:"nope"})`, `RangeError: Value nope out of range for Intl.NumberFormat options property style`},
		{`new Intl.NumberFormat("en-US",{maximumFractionDigits:101})`, `RangeError: maximumFractionDigits value is out of range.`},
		{`new Intl.NumberFormat("en-US",{minimumFractionDigits:5,maximumFractionDigits:2})`, `RangeError: maximumFractionDigits value is out of range.`},
		{`new Intl.NumberFormat("en-US",{style:"currency",currency:"US"})`, `RangeError: Invalid currency code : US`},
		{`[new Intl.NumberFormat().format("12.5"), new Intl.NumberFormat().format(null), new Intl.NumberFormat().format(undefined), [1,2].map(new Intl.NumberFormat("en-US",{minimumFractionDigits:1}).format)]`, `["12.5","0","NaN",["1.0","2.0"]]`},
		{`[new Intl.PluralRules("en").select(1), new Intl.PluralRules("en").select(0), new Intl.PluralRules("en",{type:"ordinal"}).select(22), new Intl.PluralRules("en",{type:"ordinal"}).select(11), new Intl.PluralRules("en",{type:"ordinal"}).select(3), new Intl.PluralRules("ru").select(3), new Intl.PluralRules("en").select(1.5)]`, `["one","other","two","other","few","few","other"]`},
		{`new Intl.PluralRules("en").resolvedOptions()`, `{"locale":"en","type":"cardinal","notation":"standard","minimumIntegerDigits":1,"minimumFractionDigits":0,"maximumFractionDigits":3,"pluralCategories":["one","other"],"roundingIncrement":1,"roundingMode":"halfExpand","roundingPriority":"auto","trailingZeroDisplay":"auto"}`},
		{`[new Intl.ListFormat("en").format(["a","b","c"]), new Intl.ListFormat("en").format(["a","b"]), new Intl.ListFormat("en").format(["a"]), new Intl.ListFormat("en",{type:"disjunction"}).format(["a","b","c"]), new Intl.ListFormat("en",{type:"unit"}).format(["a","b"]), new Intl.ListFormat("en",{style:"narrow",type:"unit"}).format(["a","b"]), new Intl.ListFormat("en",{style:"short"}).format(["a","b","c"]), new Intl.ListFormat("en").format([])]`, `["a, b, and c","a and b","a","a, b, or c","a, b","a b","a, b, & c",""]`},
		{`new Intl.ListFormat("en").formatToParts(["a","b","c"])`, `[{"type":"element","value":"a"},{"type":"literal","value":", "},{"type":"element","value":"b"},{"type":"literal","value":", and "},{"type":"element","value":"c"}]`},
		{`[new Intl.RelativeTimeFormat("en").format(-1,"day"), new Intl.RelativeTimeFormat("en",{numeric:"auto"}).format(-1,"day"), new Intl.RelativeTimeFormat("en").format(3,"hours"), new Intl.RelativeTimeFormat("en",{numeric:"auto"}).format(0,"year"), new Intl.RelativeTimeFormat("en",{style:"short"}).format(2,"month"), new Intl.RelativeTimeFormat("en",{style:"narrow"}).format(-5,"minute"), new Intl.RelativeTimeFormat("en").format(1234.5,"week"), new Intl.RelativeTimeFormat("en",{numeric:"auto"}).format(1,"week"), new Intl.RelativeTimeFormat("en").format(-0,"second")]`, `["1 day ago","yesterday","in 3 hours","this year","in 2 mo.","5m ago","in 1,234.5 weeks","next week","0 seconds ago"]`},
		{`new Intl.RelativeTimeFormat("en").format(1,"nope")`, `RangeError: Invalid unit argument for Intl.RelativeTimeFormat.prototype.format() 'nope'`},
		{`["b","a","C","B","é","e","f","10","2"].sort(new Intl.Collator("en").compare)`, `["10","2","a","b","B","C","e","é","f"]`},
		{`["b10","b2","a"].sort(new Intl.Collator("en",{numeric:true}).compare)`, `["a","b2","b10"]`},
		{`[new Intl.Collator("en",{sensitivity:"base"}).compare("a","Á"), new Intl.Collator("en",{sensitivity:"accent"}).compare("a","A"), new Intl.Collator("en",{sensitivity:"accent"}).compare("a","á"), new Intl.Collator("en",{sensitivity:"case"}).compare("a","á"), new Intl.Collator("en").compare("a","A"), new Intl.Collator("en",{caseFirst:"upper"}).compare("a","A")]`, `[0,0,-1,0,-1,1]`},
		{`new Intl.Collator("en").resolvedOptions()`, `{"locale":"en","usage":"sort","sensitivity":"variant","ignorePunctuation":false,"collation":"default","numeric":false,"caseFirst":"false"}`},
		{`["a".localeCompare("b"), "a".localeCompare("A"), "a".localeCompare("Á","en",{sensitivity:"base"}), "a10".localeCompare("a2",undefined,{numeric:true}), "résumé".localeCompare("resume"), "a b".localeCompare("ab"), "co-op".localeCompare("coop")]`, `[-1,-1,0,1,1,-1,-1]`},
		{`[..."👨‍👩‍👧e\u0301🇩🇪x"].length + "|" + [...new Intl.Segmenter("en",{granularity:"grapheme"}).segment("👨‍👩‍👧e\u0301🇩🇪🇫🇷x\r\n")].map(s => s.segment.length + "@" + s.index)`, `10|8@0,2@8,4@10,4@14,1@18,2@19`},
		{`[...new Intl.Segmenter("en",{granularity:"word"}).segment("Hello, world 3.5 it's")].map(s => s.segment + "/" + s.isWordLike)`, `["Hello/true",",/false"," /false","world/true"," /false","3.5/true"," /false","it's/true"]`},
		{`[...new Intl.Segmenter("en",{granularity:"sentence"}).segment("Hello there. How are you? Fine!")].map(s => s.segment)`, `["Hello there. ","How are you? ","Fine!"]`},
		{`[...new Intl.Segmenter().segment(123)].length + "|" + [...new Intl.Segmenter("en",{granularity:"word"}).segment()].map(s => s.segment) + "|" + [...new Intl.Segmenter("en",{granularity:"sentence"}).segment(true)][0].segment`, `3|undefined|true`},
		{`new Intl.Segmenter().segment(Symbol())`, `TypeError: Cannot convert a Symbol value to a string`},
		{`[new Intl.Locale("en-Latn-US").language, new Intl.Locale("de-at").region, String(new Intl.Locale("EN-us")), new Intl.Locale("zh-TW").maximize().toString()]`, `["en","AT","en-US","zh-Hant-TW"]`},
	})
}

// What Intl lacks is named: an option throws, a locale without data is logged
// once and formats as en-US.
func TestIntlGaps(t *testing.T) {
	w := newWorld(t)
	w.Run(`
		for (const f of [() => new Date(0).toLocaleString("de", { hour: "numeric", dayPeriod: "short" }), () => new Date(0).toLocaleString("not a tag")])
			try { f(); say("formatted") } catch (e) { say(e.name + ": " + e.message) }
		say(new Date(0).toLocaleDateString("mt-MT") + new Date(0).toLocaleDateString("mt-MT"));
	`)
	log := w.Logs
	w.Logs = nil
	w.Said("RangeError: minido's Intl.DateTimeFormat has the option dayPeriod in en-US alone; leave it out",
		"RangeError: Invalid language tag: not a tag", "1/1/19701/1/1970")
	if len(log) != 1 || !strings.Contains(log[0], `no data of the locale "mt-MT"`) {
		t.Errorf("log: %q", log)
	}
}

// Other languages have their numbers, dates, lists and relative times (ECMA-402;
// CLDR as workerd's ICU has it).
func TestIntlLocales(t *testing.T) { intlGolden(t, "intl_locales") }

// Names, durations, ranges, rounding, parts of the day and the members of locales
// (ECMA-402, sections 12 to 16) are the reference's.
func TestIntlAPI(t *testing.T) { intlGolden(t, "intl_api") }

// intlGolden compares JSON texts of expressions with testdata/<name>.txt.
func intlGolden(t *testing.T, name string) {
	data, err := os.ReadFile("testdata/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	prologue, expr, want := "", "", ""
	check := func() {
		if expr == "" {
			return
		}
		w.Run("(() => { " + prologue + " say(JSON.stringify(" + expr + ")); })()")
		if got := w.Out; len(got) != 1 || got[0] != want {
			t.Errorf("%.200s\n got %.2000s\nwant %.2000s", expr, got, want)
		}
		w.Out = nil
	}
	for line := range strings.Lines(string(data)) {
		kind, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch kind {
		case "!":
			prologue = text
		case ">":
			check()
			expr = text
		case "=", "~":
			want = text
		}
	}
	check()
}
