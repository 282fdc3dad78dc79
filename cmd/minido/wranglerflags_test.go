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
		"dev --showInteractiveDevSession=false -l --port 1":       "dev --show-interactive-dev-session=false --port 1",
		"dev --no-live-reload --no-bundle src/w.ts":               "dev src/w.ts",
		"dev --test-scheduled false --no-test-scheduled --remote": "dev --test-scheduled=false --test-scheduled=false --remote",
		"dev --inspector-port 9229 --inspectorPort=0 src/w.ts":    "dev --inspector-port 9229 --inspector-port=0 src/w.ts",
		"dev --x-provision --experimental-provision false -c a.b": "dev -c a.b",
		"dev --no-x-provision --no-watch":                         "dev --no-watch",
		"dev --var A:1 B:2 src/w.ts --var=C:3":                    "dev --var A:1 --var B:2 src/w.ts --var=C:3",
		"dev --compatibility-flags a b --define X:1 Y:2 --port 1": "dev --compatibility-flags a --compatibility-flags b --port 1",
		"dev --no-such-flag --such-flag v":                        "dev --no-such-flag --such-flag v",
		"dev --var aB:cD -- --persistTo":                          "dev --var aB:cD -- --persistTo",
		"ctl --fooBar":                                            "ctl --fooBar",
	} {
		if got, _ := asWranglerReadsThem(strings.Fields(in)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q", in, got)
		}
	}
	_, notes := asWranglerReadsThem(strings.Fields("dev --define X:1 --local --tsconfig t.json"))
	if len(notes) != 2 || !strings.HasPrefix(notes[0], "--define is not obeyed here: ") {
		t.Errorf("notes %q", notes)
	}
}
