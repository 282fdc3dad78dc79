package lazyregexp

import (
	"reflect"
	"regexp"
	"testing"
)

// Methods answer as those of regexp.Regexp do.
func TestMethodsAreTheirs(t *testing.T) {
	const text, s = `(b)(\d+)`, "a1 b2 b33"
	lazy, own := New(text), regexp.MustCompile(text)
	upper := func(string) string { return "X" }
	for name, got := range map[string][2]any{
		"MatchString":                {lazy.MatchString(s), own.MatchString(s)},
		"FindString":                 {lazy.FindString(s), own.FindString(s)},
		"FindStringIndex":            {lazy.FindStringIndex(s), own.FindStringIndex(s)},
		"FindSubmatch":               {lazy.FindSubmatch([]byte(s)), own.FindSubmatch([]byte(s))},
		"FindStringSubmatch":         {lazy.FindStringSubmatch(s), own.FindStringSubmatch(s)},
		"FindStringSubmatchIndex":    {lazy.FindStringSubmatchIndex(s), own.FindStringSubmatchIndex(s)},
		"FindAllString":              {lazy.FindAllString(s, -1), own.FindAllString(s, -1)},
		"FindAllStringIndex":         {lazy.FindAllStringIndex(s, 1), own.FindAllStringIndex(s, 1)},
		"FindAllStringSubmatch":      {lazy.FindAllStringSubmatch(s, -1), own.FindAllStringSubmatch(s, -1)},
		"FindAllStringSubmatchIndex": {lazy.FindAllStringSubmatchIndex(s, -1), own.FindAllStringSubmatchIndex(s, -1)},
		"ReplaceAllString":           {lazy.ReplaceAllString(s, "$2"), own.ReplaceAllString(s, "$2")},
		"ReplaceAllStringFunc":       {lazy.ReplaceAllStringFunc(s, upper), own.ReplaceAllStringFunc(s, upper)},
	} {
		if !reflect.DeepEqual(got[0], got[1]) {
			t.Errorf("%s is %v, not %v", name, got[0], got[1])
		}
	}
}

// What does not parse is noticed by every test of its package.
func TestBadExpressionsFailTests(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("nothing happened")
		}
	}()
	New(`(`)
}
