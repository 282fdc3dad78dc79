package durableobject_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

var goldens = []minidotest.Golden{
	{Name: "storage", Source: storageWorker, Calls: []string{"S/a/keys", "S/a/badKeys", "S/a/values", "S/a/clones", "S/b/txns", "S/b/txnSync", "S/b/kvIter",
		"S/b/kvLive", "S/b/deleteAllUncommitted", "S/b/shapes", "S/b/alarmArguments", "S/c/oddArguments"}},
	{Name: "sql", Source: sqlWorker, Calls: []string{"Q/a/cursor", "Q/a/binds", "Q/a/refused", "Q/a/make", "Q/a/unread", "Q/a/count", "Q/a/halfRead", "Q/a/readLater",
		"Q/b/make", "Q/b/one", "Q/b/written", "Q/b/count"}},
	{Name: "limits", Source: limitsWorker, Calls: []string{"L/a/limits", "L/b/authorizer"}},
	{Name: "rows", Source: rowsWorker, Calls: []string{"R/a/rows"}},
	{Name: "alarms", Source: alarmWorker, Calls: []string{`!run:["ok"]`, `!run:["throwOnce",3200]`, `!run:["setAndThrow",500]`, `!run:["setInHandler"]`, `!run:["setPast"]`,
		`!run:["delInHandler"]`, `!run:["delThenThrow",3200]`, `!run:["setDel"]`, `!run:["setDelThrow",3200]`, `!run:["abortOnce",3200]`,
		`!run:["abortNoRetry",3200]`, `!run:["deleteAll"]`, `!run:["deleteAllThrow",3200]`, `!run:["setDeleteAll"]`, `!run:["blockFail",3200]`,
		`!run:["badCommit",3200]`, `!run:["txn"]`, `!run:["waitUntil"]`, `!runSlow:["slow","set"]`, `!runSlow:["slow","delete"]`,
		`!runSlow:["slow","setDelete"]`, `!runSlow:["slowThrow","set"]`, `!runSlow:["slowThrow","delete"]`, `!runSlow:["slowThrow","setDelete"]`,
		`!between:["set"]`, `!between:["delete"]`, `!between:["nothing"]`, `!between:["later"]`, `!faulty:["throw"]`, `!faulty:["block"]`, "!no", "!replace"}},
	{Name: "facets", Source: facetWorker, Calls: []string{"P/a/basic", "P/a/who", "P/a/ids", "P/b/alarms", "P/a/errors", "P/a/die", "P/a/badCommit", "P/a/abort", "P/a/delete",
		"P/a/nested", "P/c/callbacks", "P/d/arguments", "P/a/concurrent", "P/a/fetches", "P/e/deleteAll", "P/f/changesClass", "P/a/blocked", "P/a/sends", "!parent", "!given"}},
	{Name: "blocks", Source: blockWorker, Calls: []string{"!rej", "!deep", "!t"}},
	{Name: "sockets", Source: socketWorker, Calls: []string{"Room/args/arguments"}},
	{Name: "reset", Source: resetWorker, Calls: []string{`!abort:["type"]`, `!abort:["error"]`, `!abort:["text"]`, `!abort:["undefined"]`, `!abort:["null"]`, `!abort:["object"]`,
		`!block:["type"]`, `!block:["text"]`, `!block:["error"]`, "!nested", "!orderOfBlocks", "!constructorThrows", "!constructorBlocks"}},
}

// Answers are those of the golden files.
func TestGolden(t *testing.T) { minidotest.RunGoldens(t, goldens) }

// The reference gives the answers of the golden files, but for those lines that
// are written down.
func TestDifferentialGolden(t *testing.T) { minidotest.RunDifferentialGoldens(t, goldens) }
