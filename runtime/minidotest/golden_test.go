package minidotest

import (
	_ "embed"
	"testing"
)

// ECMA-262, section 21.4.3.2: what Date.parse makes of texts that are not in the
// format of the specification is the engine's.
//
//go:embed testdata/dates.js
var datesWorker string

// ECMA-262, section 21.3.2: what the functions of Math approximate is the engine's.
//
//go:embed testdata/math.js
var mathWorker string

//go:embed testdata/language.js
var languageWorker string

var goldens = []Golden{
	{Name: "dates", Source: datesWorker, Calls: []string{"!texts", "!made"}},
	{Name: "math", Source: mathWorker, Calls: []string{"!one", "!two", "!power"}},
	{Name: "language", Source: languageWorker, Calls: []string{"!texts", "!recursion", "!builtins"}},
	{Name: "crypto", Source: cryptoWorker, Calls: []string{"!secrets", "!pairs", "!refused", "!others"}},
}

// Answers are those of the golden files.
func TestGolden(t *testing.T) { RunGoldens(t, goldens) }

// The reference gives the answers of the golden files, but for those lines that
// are written down.
func TestDifferentialGolden(t *testing.T) { RunDifferentialGoldens(t, goldens) }
