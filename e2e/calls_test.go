package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"minido.dev/minido/internal/calls"
)

// callsProject is what the worker of the calls is started with.
const callsProject = `{ "name": "calls", "main": "index.mjs", "compatibility_date": "2026-11-01", "compatibility_flags": ["nodejs_compat"],
  "kv_namespaces": [{ "binding": "KV", "id": "k" }], "r2_buckets": [{ "binding": "R2", "bucket_name": "bucket" }],
  "d1_databases": [{ "binding": "DB", "database_name": "d", "database_id": "d" }],
  "durable_objects": { "bindings": [{ "name": "DO", "class_name": "Thing" }] }, "migrations": [{ "tag": "v1", "new_sqlite_classes": ["Thing"] }],
  "queues": { "producers": [{ "binding": "Q", "queue": "q" }] }, "analytics_engine_datasets": [{ "binding": "AE", "dataset": "ds" }],
  "ratelimits": [{ "name": "RL", "namespace_id": "1", "simple": { "limit": 10000, "period": 60 } }],
  "workflows": [{ "binding": "WF", "name": "wf", "class_name": "Flow" }] }`

// Calls of the whole API with odd arguments give what they give in the reference, texts
// of errors included, but for what internal/calls/data/known.txt has a reason for.
// MINIDO_CALLS says how many calls, and the seed: 4000 or 4000@7. Without it the test is
// skipped: it looks for what is not known yet.
func TestDifferentialCalls(t *testing.T) {
	wranglerModules(t)
	text := os.Getenv("MINIDO_CALLS")
	if text == "" {
		t.Skip("set MINIDO_CALLS, or use make differential-calls")
	}
	n, from, found := strings.Cut(text, "@")
	count, err := strconv.Atoi(n)
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(1)
	if found {
		if seed, err = strconv.ParseUint(from, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	known, err := calls.KnownDifferences()
	if err != nil {
		t.Fatal(err)
	}
	var members []calls.Member
	surface := startCalls(t, "wrangler", calls.Surface())
	if status, body := ask(t, "GET", surface.url+"/surface"); status != http.StatusOK || json.Unmarshal([]byte(body), &members) != nil {
		t.Fatalf("the surface of the reference: %d %.300s", status, body)
	}
	if err := surface.Close(); err != nil {
		t.Fatal(err)
	}
	program := calls.Draw(seed, members, count)
	want := outcomes(t, "wrangler", program)
	got := outcomes(t, "minido", program)
	total, excused := 0, map[string]int{}
	for _, place := range calls.Places {
		total += len(program.Cases[place])
		groups, by := calls.Differences(program.Cases[place], want[place], got[place], known)
		for why, n := range by { // order-independent: adds up
			excused[why] += n
		}
		if len(groups) > 0 {
			t.Errorf("%s: these calls differ; MINIDO_CALLS=%d@%d makes them again\n%s", place, count, seed, calls.Report(groups, 3))
		}
	}
	for _, k := range known {
		if n := excused[k.Why]; n > 0 {
			t.Logf("%d calls: %s", n, k.Why)
		}
	}
	t.Logf("%d calls of %d members", total, len(members))
}

// startCalls starts a runtime on a worker of internal/calls.
func startCalls(t *testing.T, who, source string) server {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"index.mjs": source, "wrangler.jsonc": callsProject} { // order-independent: two files
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return runtimes[who](t, "--config", filepath.Join(dir, "wrangler.jsonc"), "--port", "0", "--persist-to", filepath.Join(dir, "state"))
}

// callsAtOnce is how many calls a request makes, by place: those of an object share it.
var callsAtOnce = map[string]int{calls.Plain: 100, calls.Bound: 25, calls.Object: 15}

// outcomes are what the calls of a program give, by place and source.
func outcomes(t *testing.T, who string, program calls.Program) map[string]map[string]string {
	t.Helper()
	s := startCalls(t, who, program.Source)
	all := map[string]map[string]string{}
	for _, place := range calls.Places {
		all[place] = map[string]string{}
		for from := 0; from < len(program.Cases[place]); from += callsAtOnce[place] {
			to := min(from+callsAtOnce[place], len(program.Cases[place]))
			if s.calls(t, place, from, to, all[place]) {
				continue
			}
			for one := from; one < to; one++ { // one of them ends the request
				if !s.calls(t, place, one, one+1, all[place]) {
					all[place][program.Cases[place][one].Source] = "no answer"
				}
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

// calls adds the outcomes of some calls to those of their place; false if there is no
// answer.
func (s server) calls(t *testing.T, place string, from, to int, outcomes map[string]string) bool {
	t.Helper()
	_, body, err := tryAsk("GET", fmt.Sprintf("%s/%s?from=%d&to=%d", s.url, place, from, to))
	if err != nil {
		return false
	}
	for line := range strings.Lines(body) {
		var one [2]string
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			return false
		}
		outcomes[one[0]] = one[1]
	}
	return true
}
