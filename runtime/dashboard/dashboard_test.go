package dashboard

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The pages fit into 200 kB, make no markup from text, and load nothing from elsewhere.
func TestProgram(t *testing.T) {
	code, err := compile()
	if err != nil {
		t.Fatal(err)
	}
	total := len(code)
	for _, name := range []string{"index.html", "style.css"} {
		b, err := sources.ReadFile("app/" + name)
		if err != nil {
			t.Fatal(err)
		}
		total += len(b)
	}
	if total > 200<<10 {
		t.Errorf("the pages are %d bytes", total)
	}
	t.Logf("%d bytes", total)
	for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "https://", "http://"} {
		if strings.Contains(string(code), bad) {
			t.Errorf("the program has %s", bad)
		}
	}
}

// Every colour of text is legible on what it stands on, in light and dark: WCAG 2.2,
// 1.4.3, level AA.
func TestContrast(t *testing.T) {
	style, err := sources.ReadFile("app/style.css")
	if err != nil {
		t.Fatal(err)
	}
	colours := map[string][2]string{}
	for _, m := range regexp.MustCompile(`--(\w+): light-dark\((#\w+), (#\w+)\)`).FindAllStringSubmatch(string(style), -1) {
		colours[m[1]] = [2]string{m[2], m[3]}
	}
	pairs := map[string][]string{"text": {"back", "panel", "pick", "line"}, "faint": {"back", "panel", "pick"}, "accent": {"back", "panel", "pick"},
		"good": {"back", "panel", "pick"}, "warn": {"back", "panel", "pick"}, "bad": {"back", "panel", "pick"}}
	for text, grounds := range pairs { // order-independent: each is looked at by itself
		for _, ground := range grounds {
			for scheme, name := range []string{"light", "dark"} {
				a, b := luminance(t, colours[text][scheme]), luminance(t, colours[ground][scheme])
				if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f", name, text, ground, ratio)
				}
			}
		}
	}
}

// luminance is the relative luminance of a colour such as #fff or #1b1f24.
func luminance(t *testing.T, colour string) float64 {
	digits := strings.TrimPrefix(colour, "#")
	if len(digits) == 3 {
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) != 6 {
		t.Fatalf("the colour %q", colour)
	}
	linear := func(shift int) float64 {
		c := float64(n>>shift&255) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(16) + 0.7152*linear(8) + 0.0722*linear(0)
}
