package e2e

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/runtime/control"
)

// session is a program on a pseudo-terminal of its own. It is for one goroutine.
type session struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	read   string // what it has printed so far
}

// onTerminal runs minido with a new terminal as its controlling one.
func onTerminal(t *testing.T, env []string, args ...string) *session {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Skip("no pseudo-terminals on this machine: ", err)
	}
	t.Cleanup(func() { _ = master.Close() }) // twice where the test has hung up
	raw, err := master.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	var failed error
	if err := raw.Control(func(fd uintptr) {
		failed = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)
		if failed == nil {
			number, failed = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	}); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	cmd := exec.Command(minido, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, master: master, cmd: cmd}
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Process.Kill() // the test has failed
			_ = s.cmd.Wait()
		}
	})
	return s
}

// until reads until a pattern has come behind what was matched before, and returns its
// first group.
func (s *session) until(pattern string) string {
	s.t.Helper()
	re := regexp.MustCompile(pattern)
	if err := s.master.SetReadDeadline(clock.Real{}.Now().Add(patience)); err != nil {
		s.t.Fatal(err)
	}
	buffer := make([]byte, 4096)
	for {
		if at := re.FindStringSubmatchIndex(s.read); at != nil {
			found := ""
			if len(at) > 2 {
				found = s.read[at[2]:at[3]]
			}
			s.read = s.read[at[1]:]
			return found
		}
		n, err := s.master.Read(buffer)
		s.read += string(buffer[:n])
		if err != nil {
			s.t.Fatalf("%q never comes (%v); it printed:\n%q, exit %d", pattern, err, s.read, s.ends())
		}
	}
}

func (s *session) press(key string) {
	s.t.Helper()
	if _, err := io.WriteString(s.master, key); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for the program's end and returns its exit code.
func (s *session) ends() int {
	s.t.Helper()
	late := clock.Real{}.AfterFunc(patience, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	var exit *exec.ExitError
	if err := s.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return s.cmd.ProcessState.ExitCode()
}

// echoes reports whether the terminal shows what is typed, line by line.
func (s *session) echoes() (is bool) {
	s.t.Helper()
	raw, err := s.master.SyscallConn()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		mode, err := unix.IoctlGetTermios(int(fd), unix.TCGETS)
		if err != nil {
			s.t.Error(err)
			return
		}
		is = mode.Lflag&(unix.ECHO|unix.ICANON) == unix.ECHO|unix.ICANON
	}); err != nil {
		s.t.Fatal(err)
	}
	return is
}

// controlAddress is the control API of the one server whose files are in a directory.
func controlAddress(t *testing.T, variable string) string {
	t.Helper()
	sessions, err := control.Sessions(strings.TrimPrefix(variable, control.DirVariable+"="))
	if err != nil || len(sessions) != 1 {
		t.Fatalf("%d servers, %v", len(sessions), err)
	}
	return sessions[0].URL
}

const hotkeysWorker = `export default { fetch() { console.log("a plain line"); console.warn("a warning"); return new Response("ok"); } };`

// The keys of `minido dev` on a real terminal, one after another; the terminal is as it
// was when it ends, by x as well as by ^C. Where nobody sits there are none.
func TestHotkeys(t *testing.T) {
	dir := project(t, map[string]string{"worker.js": hotkeysWorker, "wrangler.json": `{"name": "keys", "main": "worker.js", "compatibility_date": "2026-08-01"}`})
	tools := t.TempDir()
	opened := filepath.Join(tools, "opened")
	if err := syscall.Mkfifo(opened, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tools, "xdg-open"), []byte("#!/bin/sh\necho \"$1\" > "+opened+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := []string{"MINIDO_CONTROL_DIR=" + t.TempDir(), "PATH=" + tools + ":" + os.Getenv("PATH"), "CI=", "NO_COLOR=1"}
	args := []string{"dev", "--ip", "127.0.0.1", "-c", filepath.Join(dir, "wrangler.json"), "--port", "0", "--persist-to", filepath.Join(t.TempDir(), "state")}
	browsed := func() string {
		b, err := os.ReadFile(opened) // a pipe: it waits for who writes
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(b))
	}

	s := onTerminal(t, env, args...)
	url := s.until(`Ready on (\S+)`)
	s.until(`\[b\] open a browser \[d\] open the dashboard \[c\] clear console \[l\] log level \[r\] rebuild \[h\] help \[x\] to exit\r\n`)
	if s.echoes() {
		t.Error("the terminal shows the keys that are pressed")
	}
	s.press("b")
	if got := browsed(); strings.TrimSuffix(got, "/") != strings.TrimSuffix(url, "/") {
		t.Errorf("b opens %q, want %s", got, url)
	}
	s.press("d")
	page := s.until(`Dashboard: (\S+)`)
	if got := browsed(); got != page {
		t.Errorf("d opens %q and prints %q", got, page)
	}
	if resp, err := http.Get(page); err != nil || resp.StatusCode != 200 {
		t.Errorf("the dashboard: %v, %v", resp, err)
	} else {
		resp.Body.Close()
	}
	for key, want := range map[string]string{"e": `press d for the dashboard.*` + regexp.QuoteMeta(url) + `\S*/cdn-cgi/local/explorer/api`, "t": `There are no tunnels.*--allowed-hosts`, "a": `There are no tunnels.*` + regexp.QuoteMeta(url)} {
		s.press(key)
		s.until(`\[` + key + `\] .*` + want)
	}
	top := onTerminal(t, append(env, "NO_COLOR="), "ctl", "top", "--server", controlAddress(t, env[0]))
	top.until(`\x1b\[2J\x1b\[\?7l(?s:.*)keys  http://\S+  pid (?s:.*)\x1b\[\?7h`) // lines do not wrap, and do again behind it
	top.press("\x03")
	if code := top.ends(); code != 0 || !top.echoes() {
		t.Errorf("ctl top, ^C: exit code %d, the terminal shows what is typed: %v", code, top.echoes())
	}
	s.press("R")
	s.until(`Files changed, reloading|Reloaded`)
	s.until(`Reloaded\.\r\n`)
	for _, level := range []string{"info", "warn"} { // below the default, log, in wrangler's order
		s.press("l")
		s.until("Log level: " + level + `\r\n`)
	}
	ask(t, "GET", url)
	s.until(`^▲ \[WARNING\] a warning\r\n`) // the request's line and the plain one are below the level
	s.press("\x1b[Hc")                      // the key Home is no h
	s.until(`^\x1b\[H\x1b\[2J\x1b\[3J`)
	s.press("h")
	s.until(`^\[b\] open a browser .*\r\n`)
	s.press("x")
	s.until(`^Stopping\.\.\.\r\n`)
	if code := s.ends(); code != 0 || !s.echoes() {
		t.Errorf("x: exit code %d, the terminal shows what is typed: %v", code, s.echoes())
	}

	s = onTerminal(t, env, args...)
	s.until(`\[x\] to exit`)
	s.press("\x03") // the terminal may throw away what is printed at that moment
	if code := s.ends(); code != 0 || !s.echoes() {
		t.Errorf("^C: exit code %d, the terminal shows what is typed: %v", code, s.echoes())
	}

	for name, quiet := range map[string]func() *session{
		"CI=true": func() *session { return onTerminal(t, append(env, "CI=true"), args...) },
		"--show-interactive-dev-session=false": func() *session {
			return onTerminal(t, env, append(args, "--show-interactive-dev-session=false")...)
		},
	} {
		s := quiet()
		s.until(`Ready on (\S+).*\r\n`)
		if !s.echoes() {
			t.Errorf("%s: the terminal is read", name)
		}
		s.press("\x03")
		if code := s.ends(); code != 0 {
			t.Errorf("%s: exit code %d", name, code)
		}
	}
}
