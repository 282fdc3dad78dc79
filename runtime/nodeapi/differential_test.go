package nodeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/internal/reference"
)

// random is what differs from run to run: names of temporary folders and of the
// reference's internal errors.
var random = regexp.MustCompile(`(tmp/|reference = )[0-9a-z]{8,}`)

// The lines "= value" of testdata are what workerd answers today, but for the files
// whose first line says that they are Node's, and for what only minido's tests can ask.
func TestDifferentialNode(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		first, _, _ := strings.Cut(text, "\n")
		if strings.Contains(first, "Node 24") || strings.Contains(text, "cfnode") {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			prologue, functions := "", []string(nil)
			var expressions, want []string
			for line := range strings.Lines(text) {
				kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
				switch kind {
				case "!":
					prologue += rest + "\n"
				case ">":
					expressions = append(expressions, rest)
					functions = append(functions, "async () => {"+prologue+"; return ("+rest+"); }")
				case "=":
					want = append(want, rest)
				}
			}
			p := reference.Start(t, reference.Options{Name: "test", Dir: t.TempDir(), Date: "2026-09-01", Flags: []string{"nodejs_compat"}, Script: fmt.Sprintf(`
				import { createRequire } from "node:module";
				const require = createRequire("/test.js");
				process.env.FOO = "bar";
				const show = %s;
				const probes = [%s];
				export default { async fetch(request) {
					const one = new URL(request.url).pathname.slice(1);
					const shown = [];
					for (const probe of one === "all" ? probes : [probes[+one]]) {
						try { shown.push(show(await probe())); } catch (e) { shown.push(show(e)); }
					}
					return Response.json(shown);
				} };`, showSource, strings.Join(functions, ",\n"))})
			answers := func(path string) (got []string) {
				status, body := p.Post(path, "")
				if status != http.StatusOK { // the reference cancels a request that nothing can settle
					return []string{"HUNG"}
				}
				if err := json.Unmarshal([]byte(body), &got); err != nil {
					t.Fatal(err)
				}
				return got
			}
			all := answers("/all") // in one request: files below /tmp last as long
			if len(all) != len(expressions) {
				all = nil
				for i := range expressions {
					all = slices.Concat(all, answers(fmt.Sprintf("/%d", i)))
				}
			}
			for i, got := range all {
				if random.ReplaceAllString(got, "*") != random.ReplaceAllString(want[i], "*") {
					t.Errorf("%s\n   = %s\nwant %s", expressions[i], got, want[i])
				}
			}
		})
	}
}
