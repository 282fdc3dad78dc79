package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// commandsOf are the shell lines of a CI file that call minido, in their order.
func commandsOf(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "ci", name))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^\s*(?:- )?(?:run: )?(minido chaos .*)$`).FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	return out
}

// The shell lines of docs/ci work as they stand there: the shards of a workflow
// and of an indexed Job leave reports that the last line puts together.
func TestLinesOfCI(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the lines are for a POSIX shell")
	}
	for name, c := range map[string]struct {
		shards int
		env    func(shard int) string
		merge  string
	}{
		"chaos-github.yml":      {4, nil, ""},
		"chaos-kubernetes.yaml": {8, func(shard int) string { return "JOB_COMPLETION_INDEX=" + string(rune('0'+shard)) }, "minido chaos merge out/*/report.json"},
		"chaos-gitlab.yml":      {4, func(shard int) string { return "CI_NODE_INDEX=" + string(rune('1'+shard)) }, ""},
		"action.yml":            {1, func(int) string { return "SHARD=1/8" }, "minido chaos merge out/report.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(fixture(t, "planted"))); err != nil {
				t.Fatal(err)
			}
			run := func(line, env string) {
				t.Helper()
				// The whole campaign takes longer than the lines' proof: two cases of each shard do.
				line = strings.Replace(line, "minido chaos enumerate .", "minido chaos enumerate . --max 2", 1)
				cmd := exec.Command("sh", "-ec", `minido() { "$MINIDO" "$@"; }; `+line)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "MINIDO="+minido, env)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", line, err, out)
				}
			}
			lines := commandsOf(t, name)
			if c.merge != "" {
				lines = append(lines, c.merge)
			}
			if len(lines) != 2 {
				t.Fatalf("its lines: %q", lines)
			}
			for shard := range c.shards {
				env := "SHARD=1"
				if c.env != nil {
					env = c.env(shard)
				}
				line := strings.ReplaceAll(lines[0], "${{ matrix.shard }}", string(rune('1'+shard)))
				run(strings.ReplaceAll(line, `"/out/`, `"out/`), env)
				if c.env == nil { // what upload-artifact and download-artifact do
					if err := os.Rename(filepath.Join(dir, "out"), filepath.Join(dir, "chaos-"+string(rune('1'+shard)))); err != nil {
						t.Fatal(err)
					}
				}
			}
			run(lines[1], "")
		})
	}
}
