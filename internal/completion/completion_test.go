package completion

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

type app struct {
	Run struct {
		Fast struct {
			Mode string `enum:"sim,process" default:"sim" help:"Where it's run. More."`
		} `cmd:"" help:"Fast."`
		Slow  struct{} `cmd:"" help:"Slow."`
		Quiet bool     `help:"Say \"nothing\"."`
	} `cmd:"" help:"Run: it."`
	Show struct {
		What string `arg:"" enum:"one,two" help:"What to show."`
	} `cmd:"" help:"Show."`
	Secret struct{} `cmd:"" hidden:""`
}

func script(t *testing.T, shell string) string {
	t.Helper()
	k, err := kong.New(&app{}, kong.Name("minido"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := Script(k.Model, shell)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Every shell's script has every command and flag, and none that is hidden.
func TestScripts(t *testing.T) {
	for _, shell := range Shells() {
		text := script(t, shell)
		for _, want := range []string{"run", "run fast", "show", "quiet", "mode", "sim process", "two"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", shell, want, text)
			}
		}
		if strings.Contains(text, "secret") {
			t.Errorf("%s completes what is hidden", shell)
		}
	}
	if _, err := Script(nil, "tcsh"); err == nil || !strings.Contains(err.Error(), "bash, fish, powershell, zsh") {
		t.Errorf("an unknown shell: %v", err)
	}
}

// bash completes subcommands at each depth, flags of the commands above too, and the
// values of flags.
func TestBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	file := filepath.Join(t.TempDir(), "completion")
	if err := os.WriteFile(file, []byte(script(t, "bash")), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"minido ":                           "run show --help",
		"minido r":                          "run",
		"minido run ":                       "fast slow --help --quiet",
		"minido run --quiet fa":             "fast",
		"minido run fast --":                "--help --quiet --mode",
		"minido run fast --mode ":           "sim process",
		"minido run fast --mode p":          "process",
		"minido show t":                     "two",
		"minido show --config run --mode x": "",
	} {
		words := strings.Split(line, " ")
		cmd := exec.Command(bash, append([]string{"--norc", "-c", `. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _minido; echo "${COMPREPLY[*]}"`, file}, words...)...)
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", line, got, err, want)
		}
	}
}

// The other shells read their scripts, where they are installed.
func TestSyntax(t *testing.T) {
	for shell, flags := range map[string][]string{"zsh": {"-n"}, "fish": {"--no-execute"}} {
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("no %s here", shell)
			continue
		}
		file := filepath.Join(t.TempDir(), "completion")
		if err := os.WriteFile(file, []byte(script(t, shell)), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(path, append(flags, file)...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", shell, err, out)
		}
	}
}
