package cfapi_test

import (
	_ "embed"
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

//go:embed testdata/entrypoints.js
var entrypointsWorker string

//go:embed testdata/redirects.js
var redirectsWorker string

//go:embed testdata/framing.js
var framingWorker string

//go:embed testdata/awaits.js
var awaitsWorker string

var goldens = []minidotest.Golden{
	{Name: "rpc", Source: rpcWorker, Calls: []string{"!methods", "!shapes", "!targets", "!nested", "!params", "!values", "!order", "!pipeOrder", "!localStub", "!ids", "!fetches",
		"!dispose", "!promises", `!thrown:["type"]`, `!thrown:["text"]`, `!thrown:["object"]`, `!thrown:["undefined"]`, `!thrown:["custom"]`,
		`!thrown:["fn"]`, `!thrown:["cause"]`, `!thrown:["aggregate"]`, "!twice"}},
	{Name: "entrypoints", Source: entrypointsWorker, Calls: []string{"!errors", "!pipeline", "!values", "!streams", "!exports", "!env", "!more", "!args"}},
	{Name: "redirects", Source: redirectsWorker, Calls: []string{"!object", "!service"}},
	{Name: "framing", Source: framingWorker, Calls: []string{"!object", "!service"}},
	{Name: "errors", Source: errorsWorker, Calls: []string{"!rpc", "!arpc", "!fetch", "!ctor"}},
	{Name: "awaits", Source: awaitsWorker, Calls: []string{"!all"}},
	{Name: "names", Source: namesWorker, Calls: []string{"!names", "!foreign", "!alarms"}},
}

// Answers are those of the golden files.
func TestGolden(t *testing.T) { minidotest.RunGoldens(t, goldens) }

// The reference gives the answers of the golden files, but for those lines that
// are written down.
func TestDifferentialGolden(t *testing.T) { minidotest.RunDifferentialGoldens(t, goldens) }
