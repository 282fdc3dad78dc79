package main

import (
	"encoding/json"
	"path/filepath"
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
		"dev --compatibility-flags a b --define X:1 Y:2 --port 1": "dev --compatibility-flags a --compatibility-flags b --define X:1 --define Y:2 --port 1",
		"dev --no-such-flag --such-flag v":                        "dev --no-such-flag --such-flag v",
		"dev --var aB:cD -- --persistTo":                          "dev --var aB:cD -- --persistTo",
		"ctl --fooBar":                                            "ctl --fooBar",
	} {
		if got, _ := asWranglerReadsThem(strings.Fields(in)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q", in, got)
		}
	}
	_, notes := asWranglerReadsThem(strings.Fields("dev --site X --local --dispatch-namespace n"))
	if len(notes) != 2 || !strings.HasPrefix(notes[0], "--site is not obeyed here: ") {
		t.Errorf("notes %q", notes)
	}
}

// Flags that stand for members of the wrangler file become these members.
func TestInFile(t *testing.T) {
	dir := t.TempDir()
	f := wranglerFlags{Assets: dir, Name: "w", Define: []string{"A:1", `B:"x:y"`}, Alias: []string{"a:./b"}, JSXFactory: "h", TSConfig: filepath.Join(dir, "t.json")}
	got, err := f.inFile()
	quoted, quoteErr := json.Marshal(dir)
	if err != nil || quoteErr != nil {
		t.Fatal(err, quoteErr)
	}
	want := `{"alias":{"a":"./b"},"assets":{"directory":` + string(quoted) + `},"define":{"A":"1","B":"\"x:y\""},"jsx_factory":"h","name":"w","tsconfig":`
	if !strings.HasPrefix(string(got), want) {
		t.Errorf("%s", got)
	}
	if got, err := (wranglerFlags{}).inFile(); got != nil || err != nil {
		t.Errorf("no flag: %s %v", got, err)
	}
	for want, f := range map[string]wranglerFlags{`The directory specified by the "--assets" command line argument does not exist`: {Assets: filepath.Join(dir, "none")},
		"--define A is not NAME:VALUE": {Define: []string{"A"}}} {
		if _, err := f.inFile(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// What each --log-level prints is what wrangler prints with it: console.debug counts
// as info, and info prints no console.log.
func TestLogLevels(t *testing.T) {
	for name, want := range map[string]string{
		"debug": "debug info log ▲ [WARNING] warn ✘ [ERROR] error", "log": "debug info log ▲ [WARNING] warn ✘ [ERROR] error",
		"info": "debug info ▲ [WARNING] warn ✘ [ERROR] error", "warn": "▲ [WARNING] warn ✘ [ERROR] error", "error": "✘ [ERROR] error", "none": "",
	} {
		var out strings.Builder
		term := newTerminal(levels[name])
		term.out, term.err, term.color = &out, &out, false
		for _, said := range []string{"debug", "info", "log", "warn", "error"} {
			term.console(levels[said], nil, said)
		}
		if got := strings.Join(strings.Fields(out.String()), " "); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
