package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/internal/golden"
)

// bindings have a worker below testdata each that tells what a binding answers,
// and what wrangler dev answered, in answers.golden.
var bindings = []struct {
	name string
	// handedOver says that /look shows what is on disk, also after a minute.
	handedOver bool
}{
	{name: "d1", handedOver: true},
	{name: "kv", handedOver: true},
	{name: "r2", handedOver: true},
	{name: "images", handedOver: true},
	{name: "hello", handedOver: true},
	{name: "stream", handedOver: true},
	{name: "email"},
	{name: "loader"},
	{name: "ratelimit"},
	{name: "data"},
	{name: "remote"},
	{name: "stubs"},
	{name: "callers"},
	{name: "rest"},
}

// bindingWorker starts the worker of a binding under a runtime.
func bindingWorker(t *testing.T, who, name, state string) server {
	t.Helper()
	config, err := filepath.Abs(filepath.Join("testdata", name, "wrangler.json"))
	if err != nil {
		t.Fatal(err)
	}
	return runtimes[who](t, "--config", config, "--port", "0", "--persist-to", state)
}

func answersOf(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name, "answers.golden"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The answers of a binding are those that wrangler dev gave.
func TestBindingAnswers(t *testing.T) {
	t.Parallel()
	for _, b := range bindings {
		t.Run(b.name, func(t *testing.T) {
			same(t, "wrangler answers, minido answers", answersOf(t, b.name), lookAt(t, bindingWorker(t, "minido", b.name, t.TempDir()), ""))
		})
	}
}

// wrangler dev gives the answers of the golden files, which -update writes; and a
// directory that one runtime wrote and was killed on opens in the other.
func TestDifferentialBindings(t *testing.T) {
	for _, b := range bindings {
		for _, hands := range handovers {
			t.Run(b.name+" from "+strings.Join(hands, " to "), func(t *testing.T) {
				wranglerModules(t)
				state := t.TempDir()
				s := bindingWorker(t, hands[0], b.name, state)
				answers, left := lookAt(t, s, ""), lookAt(t, s, "look")
				kill(t, s)
				if hands[0] == "wrangler" && golden.Update() {
					if err := os.WriteFile(filepath.Join("testdata", b.name, "answers.golden"), []byte(answers), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				same(t, "golden, "+hands[0], answersOf(t, b.name), answers)
				for _, who := range hands[1:] {
					if !b.handedOver {
						break
					}
					s := bindingWorker(t, who, b.name, state)
					same(t, hands[0]+" wrote, "+who+" reads", left, lookAt(t, s, "look"))
					kill(t, s)
				}
			})
		}
	}
}

// A worker drives a Chromium of this machine over both protocols of the browser
// binding, and closes it; without one the first use says what to do.
func TestBrowserBinding(t *testing.T) {
	t.Parallel()
	s := bindingWorker(t, "minido", "browser", t.TempDir())
	if !strings.Contains(s.Output(), "env.BROWSER  browser    ready") {
		contains(t, s.Output(), "Install a Chromium")
		t.Skip("no chromium on this machine: install Debian's package chromium")
	}
	var answers []any
	get(t, s.url+"/", &answers)
	const want = `[[object Fetcher] Fetcher of a page42 of a page42 1 true 1.3 map[status:closed] 0 400 404]`
	if got := fmt.Sprint(answers); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
