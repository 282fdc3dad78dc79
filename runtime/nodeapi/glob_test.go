package nodeapi

import "testing"

// A pattern that is none matches nothing; one that stands for too much says so.
func TestGlobBounds(t *testing.T) {
	check(t, newWorld(t, Options{}), `const { matchesGlob } = require("path"), { globSync } = require("fs");`, [][2]string{
		{`[matchesGlob("a.js", "{a,b}.js"), matchesGlob("b", "[z-a]"), globSync("[z-a]").length]`, `[true, false, 0]`},
		{`matchesGlob("a", "a".repeat(20000))`, `TypeError: pattern is too long: more than 16384 bytes`},
		{`globSync("{1..999}{1..999}".slice(0, 16))`, `TypeError: pattern "{1..999}{1..999}" stands for too many: more than 1000`},
	})
}
