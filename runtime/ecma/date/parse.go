// Package date parses dates as V8 does (ECMA-262, section 21.4), in UTC.
package date

import (
	"math"
	"time"
	"unicode/utf8"

	"minido.dev/minido/runtime/ecma/builtin"
)

// dateText reads a text as Date.parse of V8 does: the format of ECMA-262, section
// 21.4.1.32, as far as the text has it, and from there on by V8's rules for any
// other text. By those, words before the first number mean nothing, text in
// parentheses never does; a number that a colon follows belongs to the time, any
// other to the day; words of months, halves of the day and zones are known by
// their beginnings. A text without a zone is in the zone of workers, UTC.
type dateText struct {
	text string
	at   int
	next dateToken // read but not taken

	day    []int
	month  int // by name; 0 without one
	iso    bool
	time   []int
	half   int // hours that AM or PM adds; -1 without one
	hour   int // of the zone, -1 where it is not known
	minute int
	west   bool
}

// dateToken is one part of a text. The zero value is its end.
type dateToken struct {
	kind   byte // 'n'umber, 's'ymbol, 'm'onth, 'z'one, 't' before a time, 'h'alf of the day, 'w'ord, ' ', '?', 0
	length int
	value  int // of a number or word; the byte of a symbol
}

func (t dateToken) is(symbol byte) bool { return t.kind == 's' && t.value == int(symbol) }
func (t dateToken) sign() bool          { return t.is('+') || t.is('-') }
func (t dateToken) word() bool          { return t.kind >= 'a' && t.kind != 'n' && t.kind != 's' }
func (t dateToken) digits(n int) bool   { return t.kind == 'n' && t.length == n }
func (t dateToken) utc() bool           { return t.kind == 'z' && t.length == 1 }

// between is for a number of n digits in a range.
func (t dateToken) between(n, low, high int) bool {
	return t.digits(n) && low <= t.value && t.value <= high
}

// dateWords are what a text may name; of months the first three letters count.
var dateWords = map[string]dateToken{
	"jan": {'m', 0, 1}, "feb": {'m', 0, 2}, "mar": {'m', 0, 3}, "apr": {'m', 0, 4}, "may": {'m', 0, 5}, "jun": {'m', 0, 6},
	"jul": {'m', 0, 7}, "aug": {'m', 0, 8}, "sep": {'m', 0, 9}, "oct": {'m', 0, 10}, "nov": {'m', 0, 11}, "dec": {'m', 0, 12},
	"am": {'h', 0, 0}, "pm": {'h', 0, 12}, "t": {'t', 0, 0},
	"ut": {'z', 0, 0}, "utc": {'z', 0, 0}, "z": {'z', 0, 0}, "gmt": {'z', 0, 0},
	"cdt": {'z', 0, -5}, "cst": {'z', 0, -6}, "edt": {'z', 0, -4}, "est": {'z', 0, -5},
	"mdt": {'z', 0, -6}, "mst": {'z', 0, -7}, "pdt": {'z', 0, -7}, "pst": {'z', 0, -8},
}

// maxDateDigits are those of a number that count, after its zeros.
const maxDateDigits = 9

// parseDate is Date.parse: milliseconds since 1970, NaN for what is no date.
func parseDate(text string) float64 {
	if t, ok := commonDate(text); ok {
		return t
	}
	d := dateText{text: text, half: -1, hour: -1, minute: -1}
	d.take()
	rest, ok := d.standard()
	if !ok || !d.legacy(rest) {
		return math.NaN()
	}
	return d.result()
}

// take gives the next part and reads the one after it.
func (d *dateText) take() dateToken {
	t := d.next
	d.next = d.read()
	return t
}

func (d *dateText) skip(symbol byte) bool {
	if !d.next.is(symbol) {
		return false
	}
	d.take()
	return true
}

// byteAt is 0 at the end; a character that is NUL ends the text.
func (d *dateText) byteAt(i int) byte {
	if i < len(d.text) {
		return d.text[i]
	}
	return 0
}

func (d *dateText) read() dateToken {
	from := d.at
	switch c := d.byteAt(from); {
	case c == 0:
		return dateToken{}
	case isDigit(c):
		for d.byteAt(d.at) == '0' {
			d.at++
		}
		n := 0
		for first := d.at; isDigit(d.byteAt(d.at)); d.at++ {
			if d.at-first < maxDateDigits {
				n = n*10 + int(d.text[d.at]-'0')
			}
		}
		return dateToken{'n', d.at - from, n}
	case c == ':' || c == '-' || c == '+' || c == '.' || c == ')':
		d.at++
		return dateToken{'s', 1, int(c)}
	case c == '(':
		for depth := 0; d.byteAt(d.at) != 0; {
			switch d.text[d.at] {
			case '(':
				depth++
			case ')':
				depth--
			}
			if d.at++; depth == 0 {
				break
			}
		}
		return dateToken{kind: '?'}
	}
	for i, r := range d.text[from:] {
		if r >= 'A' && !builtin.IsWhiteSpace(r) {
			d.at = from + i + utf8.RuneLen(r)
			continue
		}
		if i > 0 {
			break
		}
		d.at += utf8.RuneLen(r)
		if builtin.IsWhiteSpace(r) {
			return dateToken{kind: ' '}
		}
		return dateToken{kind: '?'}
	}
	return dateWord(d.text[from:d.at])
}

func dateWord(word string) dateToken {
	var lower [3]byte
	n := copy(lower[:], word)
	for i := range n {
		if c := lower[i]; c >= 'A' && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	t, known := dateWords[string(lower[:n])]
	if !known || len(word) > 3 && t.kind != 'm' {
		return dateToken{'w', len(word), 0}
	}
	t.length = len(word)
	return t
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// standard reads a Date Time String (ECMA-262, section 21.4.1.32), or its
// beginning, and gives the part that legacy begins with: none if all was read. ok
// is false for a text that cannot be anything else after its T.
func (d *dateText) standard() (rest dateToken, ok bool) {
	switch {
	case d.next.sign():
		sign := d.take()
		if !d.next.digits(6) {
			return sign, true
		}
		year := d.take().value
		if sign.is('-') {
			if year = -year; year == 0 {
				return sign, true
			}
		}
		d.day = append(d.day, year)
	case d.next.digits(4):
		d.day = append(d.day, d.take().value)
	default:
		return d.take(), true
	}
	for _, last := range []int{12, 31} { // a month, a day
		if !d.skip('-') {
			break
		}
		if !d.next.between(2, 1, last) {
			return d.take(), true
		}
		d.day = append(d.day, d.take().value)
	}
	switch d.next.kind {
	case 0:
		d.hour, d.minute = 0, 0 // a date alone is in UTC
	case 't':
		d.take()
		if !d.standardTime() || !d.standardZone() || d.next.kind != 0 {
			return dateToken{}, false
		}
	default:
		return d.take(), true
	}
	d.iso = true
	return dateToken{}, true
}

// standardTime reads HH:mm[:ss[.sss]]; of the hour 24 there is its beginning.
func (d *dateText) standardTime() bool {
	if !d.next.between(2, 0, 24) {
		return false
	}
	last := 59
	if d.next.value == 24 {
		last = 0
	}
	d.time = append(d.time, d.take().value)
	for i := range 2 { // minutes, seconds
		if !d.skip(':') {
			return i > 0
		}
		if !d.next.between(2, 0, last) {
			return false
		}
		d.time = append(d.time, d.take().value)
	}
	if d.skip('.') {
		if d.next.kind != 'n' || last == 0 && d.next.value > 0 {
			return false
		}
		d.time = append(d.time, d.take().milliseconds())
	}
	return true
}

// standardZone reads Z, an offset as hh:mm or hhmm, or nothing.
func (d *dateText) standardZone() bool {
	switch {
	case d.next.utc():
		d.take()
		d.hour, d.minute = 0, 0
		return true
	case !d.next.sign():
		return true
	}
	d.west = d.take().is('-')
	if d.next.digits(4) {
		n := d.take().value
		d.hour, d.minute = n/100, n%100
		return d.hour < 24 && d.minute < 60
	}
	if !d.next.between(2, 0, 23) {
		return false
	}
	d.hour = d.take().value
	if !d.skip(':') || !d.next.between(2, 0, 59) {
		return false
	}
	d.minute = d.take().value
	return true
}

// milliseconds are the first three digits of a number that follows a point.
func (t dateToken) milliseconds() int {
	n, length := t.value, min(t.length, maxDateDigits)
	for ; length < 3; length++ {
		n *= 10
	}
	for ; length > 3; length-- {
		n /= 10
	}
	return n
}

// legacy reads the rest, part by part.
func (d *dateText) legacy(t dateToken) bool {
	numbered := len(d.day) > 0
	for ; t.kind != 0; t = d.take() {
		ok := true
		switch {
		case t.kind == 'n':
			numbered, ok = true, d.number(t.value)
		case t.kind == 'h' && len(d.time) > 0:
			d.half = t.value
		case t.kind == 'm':
			d.month = t.value
			d.skip('-')
		case t.kind == 'z' && numbered:
			d.west, d.hour, d.minute = t.value < 0, max(t.value, -t.value), 0
		case t.word(): // means nothing, where there may be one
			ok = !numbered && d.next.kind != 'n'
		case t.sign() && (d.hour == 0 && d.minute == 0 || len(d.time) > 0):
			d.west = t.is('-')
			numbered, ok = true, d.offset()
		case t.sign() || t.is(')'):
			ok = !numbered
		}
		if !ok {
			return false
		}
	}
	return true
}

// expects reports whether a time that has begun can go on with n.
func (d *dateText) expects(n int) bool {
	switch len(d.time) {
	case 1, 2:
		return n < 60
	case 3:
		return n < 1000
	}
	return false
}

// finish adds the last part of a time that is given.
func (d *dateText) finish(n int) {
	for d.time = append(d.time, n); len(d.time) < 4; {
		d.time = append(d.time, 0)
	}
}

// number takes a number that is no offset: what follows it says what it is.
func (d *dateText) number(n int) bool {
	switch {
	case d.skip(':'):
		if d.skip(':') {
			if len(d.time) > 0 {
				return false
			}
			d.time = append(d.time, n, 0)
			return true
		}
		if len(d.time) == 4 {
			return false
		}
		d.time = append(d.time, n)
		d.skip('.')
		return true
	case d.skip('.') && d.expects(n):
		d.time = append(d.time, n)
		if d.next.kind != 'n' || len(d.time) > 4 {
			return false
		}
		if ms := d.take().milliseconds(); len(d.time) < 4 {
			d.finish(ms)
		}
		return true
	case d.hour >= 0 && d.minute < 0 && n < 60:
		d.minute = n
		return true
	case d.expects(n):
		d.finish(n)
		return d.next.kind == 0 || d.next.kind == ' ' || d.next.utc() || d.next.sign()
	}
	if len(d.day) == 3 {
		return false
	}
	d.day = append(d.day, n)
	d.skip('-')
	return true
}

// offset reads what follows the sign of a zone: h, hh, hmm, hhmm or hh:mm.
func (d *dateText) offset() bool {
	var t dateToken
	if d.next.kind == 'n' {
		t = d.take()
	}
	switch {
	case d.next.is(':'):
		d.hour, d.minute = t.value, -1
	case t.length == 1 || t.length == 2:
		d.hour, d.minute = t.value, 0
	case t.length == 3 || t.length == 4:
		d.hour, d.minute = t.value/100, t.value%100
	default:
		return false
	}
	return true
}

// result puts the parts together, if they are in range.
func (d *dateText) result() float64 {
	if len(d.day) == 0 {
		return math.NaN()
	}
	for len(d.day) < 3 {
		d.day = append(d.day, 1) // a year too: 2001
	}
	year, month, day := 0, d.month, d.day[0]
	isDay := d.day[0] >= 1 && d.day[0] <= 31
	switch {
	case d.month == 0 && (d.iso || !isDay):
		year, month, day = d.day[0], d.day[1], d.day[2]
	case d.month == 0:
		month, day, year = d.day[0], d.day[1], d.day[2]
	case !isDay:
		year, day = d.day[0], d.day[1]
	default:
		year = d.day[1]
	}
	if !d.iso && year >= 0 && year < 100 {
		if year += 1900; year < 1950 {
			year += 100
		}
	}
	for len(d.time) < 4 {
		d.time = append(d.time, 0)
	}
	hour, minute, second, ms := d.time[0], d.time[1], d.time[2], d.time[3]
	if d.half >= 0 {
		if hour > 12 {
			return math.NaN()
		}
		hour = hour%12 + d.half
	}
	midnight := hour == 24 && minute == 0 && second == 0 && ms == 0
	if month < 1 || month > 12 || day < 1 || day > 31 || !midnight && (hour > 23 || minute > 59 || second > 59 || ms > 999) {
		return math.NaN()
	}
	zone := max(d.hour, 0)*60 + max(d.minute, 0)
	if d.west {
		zone = -zone
	}
	const furthest = 300_000 // years, beyond those of dates
	if year > furthest || year < -furthest || zone > 1<<40 {
		return math.NaN()
	}
	t := time.Date(year, time.Month(month), day, hour, minute-zone, second, ms*1e6, time.UTC).UnixMilli()
	if t > maxDate || t < -maxDate {
		return math.NaN()
	}
	return float64(t)
}

// maxDate is the last millisecond that a Date can have (ECMA-262, section 21.4.1.1).
const maxDate = 8_640_000_000_000_000
