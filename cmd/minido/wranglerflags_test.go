package main

import (
	"slices"
	"strings"
	"testing"
)

// The forms in which wrangler takes flags, and what minido's parser gets.
func TestAsWranglerReadsThem(t *testing.T) {
	for in, want := range map[string]string{
		"dev --port 1 --persistTo /p":                             "dev --port 1 --persist-to /p",
		"dev --persistTo=/P/aB":                                   "dev --persist-to=/P/aB",
		"dev --show-interactive-dev-session false src/w.ts":       "dev --show-interactive-dev-session=false src/w.ts",
		"dev --showInteractiveDevSession=false":                   "dev --show-interactive-dev-session=false",
		"dev --x-provision --experimental-provision false -c a.b": "dev -c a.b",
		"dev --var aB:cD -- --persistTo":                          "dev --var aB:cD -- --persistTo",
		"ctl --fooBar":                                            "ctl --fooBar",
	} {
		if got := asWranglerReadsThem(strings.Fields(in)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q", in, got)
		}
	}
}
