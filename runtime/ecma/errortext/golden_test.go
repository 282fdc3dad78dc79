package errortext_test

import (
	_ "embed"
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

//go:embed testdata/refused.js
var refusedWorker string

var goldens = []minidotest.Golden{
	{Name: "refused", Source: refusedWorker, Calls: []string{"!calls", "!iterations", "!receivers", "!expressions"}},
}

// What built-ins and expressions throw has V8's text: which names the value where there
// is no source to show, by its type or by what it is, and the expression elsewhere.
func TestTextsOfRefusals(t *testing.T) { minidotest.RunGoldens(t, goldens) }

// The reference gives these texts, but for those lines that are written down.
func TestDifferentialTextsOfRefusals(t *testing.T) { minidotest.RunDifferentialGoldens(t, goldens) }
