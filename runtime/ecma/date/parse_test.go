package date

import (
	"math"
	"testing"
)

// ECMA-262, section 21.4.3.2: Date.parse of other texts is the engine's own. V8
// counts nine digits of a number, after the zeros that it begins with.
func TestZerosBeforeNumbersOfDates(t *testing.T) {
	for text, want := range map[string]float64{
		"0000002020-01-01":                      1577836800000,
		"-0000012020":                           317147356800000,
		"01/0000000000002/20":                   1577923200000,
		"+0000002020-01-01":                     1577836800000,
		"2020-01-01T00:00:00.0000000001234567Z": 1577836800001,
		"2020-01-01T00:00:00.00123456789Z":      1577836800123, // not 1: nine digits after the zeros
	} {
		if got := parseDate(text); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// Section 21.4.1.32: what commonDate reads, dateText reads alike; what it does not
// read it leaves.
func TestCommonDates(t *testing.T) {
	for text, common := range map[string]bool{
		"2024-02-29": true, "2023-02-31": true, "0000-01-01": true, "9999-12-31": true,
		"2024-02-29T23:59:59Z": true, "2024-02-29T23:59:59.999Z": true, "0099-04-31T00:00:00.001Z": true,
		"2024-13-01": false, "2024-00-01": false, "2024-01-00": false, "2024-01-32": false, "2024/01/01": false,
		"2024-01-01T24:00:00Z": false, "2024-01-01T24:00:00.000Z": false, "2024-01-01T23:60:00Z": false, "2024-01-01T23:00:60Z": false,
		"2024-01-01t23:00:00Z": false, "2024-01-01T23:00:00z": false, "2024-01-01 23:00:00Z": false, "2024-01-01T23:00:00.00xZ": false,
		"": false, "xxxxxxxxxx": false, "2024-01-0\u00e9": false,
	} {
		ms, ok := commonDate(text)
		if ok != common {
			t.Errorf("%s: read %v", text, ok)
		}
		d := dateText{text: text, half: -1, hour: -1, minute: -1}
		d.take()
		if rest, going := d.standard(); ok && (!going || rest.kind != 0 || d.result() != ms || math.IsNaN(ms)) {
			t.Errorf("%s: %v", text, ms)
		}
	}
}

func BenchmarkDateParse(b *testing.B) {
	for range b.N {
		parseDate("2024-02-29T23:59:59.999Z")
	}
}
