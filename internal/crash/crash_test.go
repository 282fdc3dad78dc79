package crash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"minido.dev/minido/internal/clock"
)

// panics is what a loop of the process below runs.
func panics() {
	var none []int
	_ = none[len(os.Args)+3]
}

// A panic of a background function or of a loop ends the process with a report for
// people, the place of the mistake first, and an exit code of its own.
func TestReport(t *testing.T) {
	if where := os.Getenv("MINIDO_TEST_PANIC"); where != "" {
		threads := NewThreads(clock.Real{})
		AtEnd(func() { fmt.Fprintln(os.Stderr, "given back") })
		AtEnd(func() { fmt.Fprintln(os.Stderr, "too much") })()
		if where == "loop" {
			_ = threads.NewLoop("isolate").Post(panics)
		} else {
			threads.Go("watcher", panics)
		}
		<-t.Context().Done() // it does not come
	}
	for where, name := range map[string]string{"loop": "loop isolate", "background": "watcher"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestReport$", "-test.timeout=1m")
		cmd.Env = append(os.Environ(), "MINIDO_TEST_PANIC="+where)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != Exit {
			t.Fatalf("%s: %v\n%s", where, err, out)
		}
		rest, given := strings.CutPrefix(string(out), "given back\n")
		if !given {
			t.Errorf("%s: what AtEnd was told has not run first:\n%s", where, out)
		}
		lines := strings.Split(rest, "\n")
		if len(lines) < 6 || !strings.HasPrefix(lines[0], `minido: internal error in "`+name+`": runtime error: index out of range [`) ||
			!strings.Contains(lines[1], "not of your project") || !strings.HasPrefix(lines[4], "minido.dev/minido/internal/crash.panics(") {
			t.Errorf("%s:\n%s", where, out)
		}
	}
}
