package bundle

import "testing"

func TestHasCostlyRegexp(t *testing.T) {
	for code, want := range map[string]bool{
		"var a = 1;\nvar re = /^(?:\\S+@)?(?!10\\.)x/i;\n":   true,
		"var re = /(?<=a)\\W/gi.exec(s), b = c / d;":         true,
		"var re = /(?!10)\\S/;":                              false, // minds case
		"var re = /\\S/i;":                                   false, // Go's engine takes it
		"var re = /(?!10)[a-z]/i;":                           false,
		"var re = /(?!10)/;\nvar other = /\\S/i;":            false,
		"var re = /(?=10)/;\nvar other = /(?=1)\\D\\d/mi;\n": true,
		"": false,
	} {
		if got := hasCostlyRegexp(code); got != want {
			t.Errorf("%q: %v", code, got)
		}
	}
}
