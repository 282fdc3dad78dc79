package minidotest

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"minido.dev/minido/internal/reference"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden is a worker and calls to it whose answers are written down in
// testdata/<name>.golden, a line for each element of the answer.
// testdata/<name>.differs has the lines of the reference that are not ours.
type golden struct {
	name   string
	source string
	calls  []string // "path" or "path:arguments"
}

//go:embed testdata/entrypoints.js
var entrypointsWorker string

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

var goldens = []golden{
	{"dates", datesWorker, []string{"!texts", "!made"}},
	{"math", mathWorker, []string{"!one", "!two", "!power"}},
	{"language", languageWorker, []string{"!texts", "!recursion", "!builtins"}},
	{"storage", storageWorker, []string{"S/a/keys", "S/a/badKeys", "S/a/values", "S/a/clones", "S/b/txns", "S/b/txnSync", "S/b/kvIter",
		"S/b/kvLive", "S/b/deleteAllUncommitted", "S/b/shapes", "S/b/alarmArguments"}},
	{"sql", sqlWorker, []string{"Q/a/cursor", "Q/a/binds", "Q/a/refused", "Q/a/make", "Q/a/unread", "Q/a/count", "Q/a/halfRead", "Q/a/readLater",
		"Q/b/make", "Q/b/one", "Q/b/written", "Q/b/count"}},
	{"limits", limitsWorker, []string{"L/a/limits", "L/b/authorizer"}},
	{"rows", rowsWorker, []string{"R/a/rows"}},
	{"rpc", rpcWorker, []string{"!methods", "!shapes", "!targets", "!nested", "!params", "!values", "!order", "!pipeOrder", "!localStub", "!ids", "!fetches",
		"!dispose", "!promises", `!thrown:["type"]`, `!thrown:["text"]`, `!thrown:["object"]`, `!thrown:["undefined"]`, `!thrown:["custom"]`,
		`!thrown:["fn"]`, `!thrown:["cause"]`, `!thrown:["aggregate"]`, "!twice"}},
	{"entrypoints", entrypointsWorker, []string{"!errors", "!pipeline", "!values", "!streams", "!exports", "!env", "!more", "!args"}},
	{"alarms", alarmWorker, []string{`!run:["ok"]`, `!run:["throwOnce",3200]`, `!run:["setAndThrow",500]`, `!run:["setInHandler"]`, `!run:["setPast"]`,
		`!run:["delInHandler"]`, `!run:["delThenThrow",3200]`, `!run:["setDel"]`, `!run:["setDelThrow",3200]`, `!run:["abortOnce",3200]`,
		`!run:["abortNoRetry",3200]`, `!run:["deleteAll"]`, `!run:["deleteAllThrow",3200]`, `!run:["setDeleteAll"]`, `!run:["blockFail",3200]`,
		`!run:["badCommit",3200]`, `!run:["txn"]`, `!run:["waitUntil"]`, `!runSlow:["slow","set"]`, `!runSlow:["slow","delete"]`,
		`!runSlow:["slow","setDelete"]`, `!runSlow:["slowThrow","set"]`, `!runSlow:["slowThrow","delete"]`, `!runSlow:["slowThrow","setDelete"]`,
		`!between:["set"]`, `!between:["delete"]`, `!between:["nothing"]`, `!between:["later"]`, `!faulty:["throw"]`, `!faulty:["block"]`, "!no", "!replace"}},
	{"facets", facetWorker, []string{"P/a/basic", "P/a/who", "P/a/ids", "P/b/alarms", "P/a/errors", "P/a/die", "P/a/badCommit", "P/a/abort", "P/a/delete",
		"P/a/nested", "P/c/callbacks", "P/d/arguments", "P/a/concurrent", "P/a/fetches", "P/e/deleteAll", "P/f/changesClass", "P/a/blocked", "P/a/sends", "!parent", "!given"}},
	{"errors", errorsWorker, []string{"!rpc", "!arpc", "!fetch", "!ctor"}},
	{"names", namesWorker, []string{"!names", "!alarms"}},
	{"crypto", cryptoWorker, []string{"!secrets", "!pairs", "!refused", "!others"}},
	{"blocks", blockWorker, []string{"!rej", "!deep", "!t"}},
	{"sockets", socketWorker, []string{"Room/args/arguments"}},
	{"reset", resetWorker, []string{`!abort:["type"]`, `!abort:["error"]`, `!abort:["text"]`, `!abort:["undefined"]`, `!abort:["null"]`, `!abort:["object"]`,
		`!block:["type"]`, `!block:["text"]`, `!block:["error"]`, "!nested", "!orderOfBlocks", "!constructorThrows", "!constructorBlocks"}},
}

// Answers are those of the golden files.
func TestGolden(t *testing.T) {
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			w := newTest(t, g.source, Options{})
			got := g.lines(func(path, body string) (int, string) {
				r := w.Do("POST", "http://localhost/"+path, body)
				if r.Err != nil {
					return 500, r.Err.Error()
				}
				return r.Status, r.Body
			})
			compare(t, filepath.Join("testdata", g.name+".golden"), got)
		})
	}
}

// The reference gives the answers of the golden files, but for those lines
// that are written down.
func TestDifferentialGolden(t *testing.T) {
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			var names []string
			for _, m := range classes.FindAllStringSubmatch(g.source, -1) {
				names = append(names, m[1])
			}
			p := reference.Start(t, reference.Options{Name: "test", Classes: names, Dir: t.TempDir(), Script: `import { DurableObject, RpcTarget, WorkerEntrypoint, RpcStub } from "cloudflare:workers";
` + strings.ReplaceAll(harness, "export ", "") + g.source})
			theirs := g.lines(func(path, body string) (int, string) { return p.Post("/"+path, body) })
			differing(t, filepath.Join("testdata", g.name), theirs)
		})
	}
}

// differing holds those lines of the reference that are not in path's golden
// file against path's file of differences.
func differing(t *testing.T, path string, theirs []string) {
	t.Helper()
	b, err := os.ReadFile(path + ".golden")
	if err != nil {
		t.Fatal(err)
	}
	ours := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		ours[strings.TrimSuffix(line, "\n")] = true
	}
	var differ []string
	for _, line := range theirs {
		if !ours[line] {
			differ = append(differ, line)
		}
	}
	compare(t, path+".differs", differ)
}

var incident = regexp.MustCompile(`internal error; reference = \w+`)

// lines calls and splits the answers.
func (g golden) lines(post func(path, body string) (int, string)) []string {
	var out []string
	for _, call := range g.calls {
		path, body, found := strings.Cut(call, ":")
		if !found {
			body = "[]"
		}
		status, text := post(path, body)
		text = incident.ReplaceAllString(text, "internal error; reference = ...")
		var answer struct{ OK []json.RawMessage }
		if status != 200 || json.Unmarshal([]byte(text), &answer) != nil || answer.OK == nil {
			out = append(out, fmt.Sprintf("%s => %d %s", call, status, text))
			continue
		}
		for i, element := range answer.OK {
			out = append(out, fmt.Sprintf("%s %d => %s", call, i, element))
		}
	}
	return out
}

// compare holds lines against a golden file; none need no file.
func compare(t *testing.T, path string, lines []string) {
	t.Helper()
	got := ""
	if len(lines) > 0 {
		got = strings.Join(lines, "\n") + "\n"
	}
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if got == "" {
			if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			return
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(path)
	if err != nil && !(os.IsNotExist(err) && got == "") {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	if got == string(b) {
		return
	}
	for i := range max(len(lines), len(want)) {
		g, w := "(nothing)", "(nothing)"
		if i < len(lines) {
			g = lines[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("%s line %d:\n got %s\nwant %s", path, i+1, g, w)
		}
	}
}
