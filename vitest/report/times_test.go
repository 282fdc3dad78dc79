package report_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// How long minido test takes (make test-times): from start to exit with one test of an
// object and with a hundred, and from a change of the worker to the next report with --watch.
// The least and the median of several runs are printed; nothing is asserted but that tests pass.
func TestTimes(t *testing.T) {
	binary := os.Getenv("MINIDO_BIN")
	if os.Getenv("MINIDO_TIMES") == "" || binary == "" {
		t.Skip("use make test-times")
	}
	const runs = 7
	dir := t.TempDir()
	fixture, err := filepath.Abs("../../fixtures/testing")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(fixture, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(fixture, "times"))); err != nil {
		t.Fatal(err)
	}
	show := func(what string, wall, cpu []time.Duration) {
		slices.Sort(wall)
		slices.Sort(cpu)
		text := ""
		if len(cpu) > 0 {
			text = "; of CPU " + cpu[0].String() + ", median " + cpu[len(cpu)/2].String()
		}
		t.Logf("%-40s wall %v, median %v%s", what, wall[0].Round(time.Millisecond), wall[len(wall)/2].Round(time.Millisecond), text)
	}
	for _, file := range []string{"one", "hundred"} {
		var wall, cpu []time.Duration
		for n := range runs + 1 {
			cmd := exec.Command(binary, "test", file, "--dir", dir)
			began := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if n > 0 { // the first one fills the cache of transformed modules
				wall, cpu = append(wall, time.Since(began)), append(cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
			}
		}
		show("minido test "+file, wall, cpu)
	}
	cmd := exec.Command(binary, "test", "one", "--watch", "--dir", dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	next := func() {
		for lines.Scan() {
			if strings.Contains(lines.Text(), "Waiting for changes") {
				return
			}
		}
		t.Fatal("it ended")
	}
	next()
	text, err := os.ReadFile(filepath.Join(dir, "worker.ts"))
	if err != nil {
		t.Fatal(err)
	}
	var wall []time.Duration
	for n := range runs {
		began := time.Now()
		replace(t, filepath.Join(dir, "worker.ts"), string(text)+strings.Repeat("\n", n+1))
		next()
		wall = append(wall, time.Since(began))
	}
	show("--watch, the worker changed", wall, nil)
	if _, err := in.Write([]byte("q\n")); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
