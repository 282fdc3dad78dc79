package date

import (
	"math"
	"strings"
	"testing"
	"time"
)

// FuzzParse: a text is a date in the range of ECMA-262, section 21.4.1.1, or none;
// what RFC 3339 and RFC 1123 know has their value, and a date's own text, in both
// forms that JavaScript writes, is that date.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"2024-02-29T23:59:59.999Z", "2024-02-30", "+275760-09-13T00:00:00.000Z", "-000001-01-01", "Thu, 01 Jan 1970 00:00:00 GMT+0200", "Jan 1 (x (y)) 99 12:0 PM PST", "1/2/3 4:5:6",
		"2024-01-01T24:00:00Z", "T1", "1e9", "12 mar 2020 utc+25:99", "2020-01-01T00:00+14:00", "((", "99999999999999999999", "Sat Jan 01 2000 08:00:00 GMT+0100 (CET)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "?") // as strings of JavaScript come
		ms := parseDate(text)
		if math.IsNaN(ms) {
			if at, err := time.Parse(time.RFC3339, text); err == nil && len(text) > 13 && text[10] == 'T' && text[13] == ':' && at.Year() > 0 { // time takes hours of one digit
				t.Fatalf("%q is %v, and no date", text, at)
			}
			return
		}
		if ms != math.Trunc(ms) || math.Abs(ms) > 8.64e15 {
			t.Fatalf("%q is %v", text, ms)
		}
		if at, err := time.Parse(time.RFC3339, text); err == nil && at.Nanosecond()%1e6 == 0 && float64(at.UnixMilli()) != ms {
			t.Fatalf("%q is %v, want %v", text, ms, at.UnixMilli())
		}
		at := time.UnixMilli(int64(ms)).UTC()
		if at.Year() < 100 || at.Year() > 9999 { // two digits are of this century or the last
			return
		}
		if again := parseDate(at.Format("2006-01-02T15:04:05.000Z")); again != ms {
			t.Fatalf("%q is %v, its ISO form %v", text, ms, again)
		}
		if again := parseDate(at.Format("Mon, 02 Jan 2006 15:04:05 GMT")); again != ms-float64(at.Nanosecond()/1e6) {
			t.Fatalf("%q is %v, its UTC form %v", text, ms, again)
		}
	})
}
