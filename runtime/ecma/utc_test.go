package ecma

import "testing"

// Dates are local to UTC; run with TZ=Asia/Tokyo to see it on a machine elsewhere.
func TestDatesAreUTC(t *testing.T) {
	w := newWorld(t)
	w.script(nil, `const d = new Date(2024, 0, 15, 12); say([d.getTimezoneOffset(), d.toISOString(), String(new Date(0)).slice(16, 33)].join())`)
	w.said("0,2024-01-15T12:00:00.000Z,00:00:00 GMT+0000")
}
