package date

import "time"

// commonDate reads the texts that programs write most, which need no parts:
// YYYY-MM-DD, and with THH:mm:ss, .sss or none, and Z. ok is false for any other
// text and for all that is not plainly in range: dateText knows these.
func commonDate(text string) (ms float64, ok bool) {
	switch len(text) {
	case len("2006-01-02"), len("2006-01-02T15:04:05Z"), len("2006-01-02T15:04:05.000Z"):
	default:
		return 0, false
	}
	year, ok := digitsIn(text, 0, 4, true)
	month, ok := digitsIn(text, 5, 2, ok && text[4] == '-')
	day, ok := digitsIn(text, 8, 2, ok && text[7] == '-')
	hour, minute, second, millis := 0, 0, 0, 0
	if len(text) > 10 {
		hour, ok = digitsIn(text, 11, 2, ok && text[10] == 'T' && text[len(text)-1] == 'Z')
		minute, ok = digitsIn(text, 14, 2, ok && text[13] == ':')
		second, ok = digitsIn(text, 17, 2, ok && text[16] == ':')
	}
	if len(text) > 20 {
		millis, ok = digitsIn(text, 20, 3, ok && text[19] == '.')
	}
	if !ok || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	return float64(time.Date(year, time.Month(month), day, hour, minute, second, millis*1e6, time.UTC).UnixMilli()), true
}

// digitsIn is the number of n digits at a place, if there is one and all before it
// was as it should be.
func digitsIn(text string, at, n int, before bool) (value int, ok bool) {
	if !before {
		return 0, false
	}
	for _, c := range []byte(text[at : at+n]) {
		if !isDigit(c) {
			return 0, false
		}
		value = value*10 + int(c-'0')
	}
	return value, true
}
