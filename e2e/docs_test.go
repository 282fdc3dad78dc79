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

// script is what the blocks of a page run in. A server in the background takes a free
// port; what it prints is read until it is ready, so that the next line finds it.
const script = `
minido() { "$MINIDO" "$@"; }
URL=; PID=
stop() { if [ -n "$PID" ]; then kill "$PID"; wait "$PID" 2>/dev/null || true; PID=; fi; }
trap stop EXIT
serve() {
  stop
  rm -f "$FIFO"; mkfifo "$FIFO"
  "$MINIDO" dev --port 0 "$@" > "$FIFO" & PID=$!
  exec 3< "$FIFO"
  URL=
  while [ -z "$URL" ] && read -r line <&3; do
    case $line in "Ready on "*) URL=${line#Ready on }; URL=${URL%% *} ;; esac
  done
  [ -n "$URL" ]
}
set -ex
`

var (
	shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	background = regexp.MustCompile(`(?m)^minido dev(.*?) &$`)
)

// Every shell block of these pages does what the page says, from top to bottom.
func TestDocumentedCommandsRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the lines are for a POSIX shell")
	}
	for page, wants := range map[string][]string{
		"quickstart.md": {"wrote jobs/jobs.chaos.ts", `{"steps":[`, "PASS", "It runs."},
		"guides.md":     {`"search"`, "kill@commit:after(Order/o1)/alarm#1", "minido chaos replay", `{"steps":["search","read","summarize"],"done":true}`},
	} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("..", "docs", page))
			if err != nil {
				t.Fatal(err)
			}
			lines := script
			for _, block := range shellBlock.FindAllStringSubmatch(string(text), -1) {
				lines += background.ReplaceAllString(block[1], "serve $1")
			}
			lines = strings.ReplaceAll(lines, "http://127.0.0.1:8787", "$URL")
			cmd := exec.Command("sh", "-c", lines)
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "MINIDO="+minido, "FIFO="+filepath.Join(t.TempDir(), "output"), "MINIDO_CONTROL_DIR="+t.TempDir())
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, want := range wants {
				if !strings.Contains(string(out), want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
		})
	}
}
