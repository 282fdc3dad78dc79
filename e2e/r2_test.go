package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/internal/golden"
)

// bucketWorker starts the worker of testdata/r2 under a runtime.
func bucketWorker(t *testing.T, who, state string) server {
	t.Helper()
	config, err := filepath.Abs("testdata/r2/wrangler.json")
	if err != nil {
		t.Fatal(err)
	}
	return runtimes[who](t, "--config", config, "--port", "0", "--persist-to", state)
}

const goldenBuckets = "testdata/r2/answers.golden"

// The answers of a bucket are those that wrangler dev gave.
func TestBucketAnswers(t *testing.T) {
	want, err := os.ReadFile(goldenBuckets)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "wrangler answers, minido answers", string(want), lookAt(t, bucketWorker(t, "minido", t.TempDir()), ""))
}

// wrangler dev gives the answers of the golden file, which -update writes; and a
// directory that one runtime wrote and was killed on opens in the other.
func TestDifferentialBuckets(t *testing.T) {
	for _, hands := range handovers {
		t.Run(strings.Join(hands, " to "), func(t *testing.T) {
			wranglerModules(t)
			state := t.TempDir()
			s := bucketWorker(t, hands[0], state)
			answers, left := lookAt(t, s, ""), lookAt(t, s, "look")
			kill(t, s)
			if hands[0] == "wrangler" && golden.Update() {
				if err := os.WriteFile(goldenBuckets, []byte(answers), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(goldenBuckets)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "golden, "+hands[0], string(want), answers)
			for _, who := range hands[1:] {
				s := bucketWorker(t, who, state)
				same(t, hands[0]+" wrote, "+who+" reads", left, lookAt(t, s, "look"))
				kill(t, s)
			}
		})
	}
}
