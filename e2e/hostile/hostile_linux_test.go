// Package hostile runs workers that use everything up, beside one that does
// nothing wrong, in one process; and measures what the neighbour feels.
package hostile

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// What holds for every attack.
const (
	heapMB      = 384
	rssMost     = heapMB * 3 / 2 // in MB
	latencyMost = 500 * time.Millisecond
	healMost    = 3 * time.Second

	cpuMS    = 1500
	attackMS = 10_000 // how long an attack that waits is watched
	beat     = 10 * time.Millisecond
)

// fast are the attacks that make test runs: one of each kind.
var fast = []string{
	"strings that double", "strings that double, kept", "array of objects", "structuredClone that doubles", "zip bomb, sync", "zip bomb, stream", "zip bomb, one chunk",
	"recursion by call", "recursion by sort", "deep objects", "an endless loop", "assign of long text", "pbkdf2", "microtasks", "timers that multiply",
	"tees", "SQL that recurses", "a poisoned Promise", "a thrown error with getters",
}

// figures are what an attack cost.
type figures struct {
	answer    string
	rssMB     int
	latency   time.Duration // the neighbour's worst
	heal      time.Duration // until the hostile worker answers again, if it was condemned
	failure   string        // what must not be
	neighbour int           // its answers
}

// verdict names what is beyond a limit; timed: the times too.
func (f figures) verdict(timed bool) string {
	var bad []string
	if f.failure != "" {
		bad = append(bad, f.failure)
	}
	if f.rssMB > rssMost {
		bad = append(bad, "RSS")
	}
	if timed && f.latency > latencyMost {
		bad = append(bad, "latency")
	}
	if timed && f.heal > healMost {
		bad = append(bad, "recovery")
	}
	return strings.Join(bad, ", ")
}

// server is a process with both workers.
type server struct {
	cmd    *exec.Cmd
	url    string
	log    strings.Builder
	mu     sync.Mutex
	exited chan struct{}
}

func launch(t *testing.T) *server {
	t.Helper()
	bin := os.Getenv("MINIDO_BIN")
	if bin == "" {
		t.Skip("MINIDO_BIN names the binary to test; make test sets it")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the memory of a process is read from /proc")
	}
	s := &server{exited: make(chan struct{})}
	s.cmd = exec.Command(bin, "dev", "-c", "testdata/neighbour/wrangler.jsonc", "-c", "testdata/hostile/wrangler.jsonc", "--port", "0",
		"--persist-to", t.TempDir(), "--no-control", "--no-watch", "--heap-mb", strconv.Itoa(heapMB), "--cpu-ms", strconv.Itoa(cpuMS))
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stderr = s.cmd.Stdout
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	go func() {
		defer close(s.exited)
		br := bufio.NewReader(out)
		for {
			line, err := br.ReadString('\n')
			s.mu.Lock()
			if s.log.Len() < 1<<20 {
				s.log.WriteString(line)
			}
			s.mu.Unlock()
			if _, at, ok := strings.Cut(line, "Ready on "); ok {
				ready <- strings.Fields(at)[0]
			}
			if err != nil {
				s.cmd.Wait()
				return
			}
		}
	}()
	select {
	case s.url = <-ready:
	case <-s.exited:
		t.Fatalf("the server did not start:\n%s", s.text())
	}
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		<-s.exited
	})
	return s
}

func (s *server) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// rss is the process's memory in MB.
func (s *server) rss() int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(status), "\n") {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			kb, _ := strconv.Atoi(f[1])
			return kb >> 10
		}
	}
	return 0
}

func (s *server) get(path string, patience time.Duration) (string, error) {
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(s.url + path)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 300))
	return strconv.Itoa(resp.StatusCode) + " " + string(body), err
}

// attack measures one attack in a process of its own.
func attack(t *testing.T, name string) (f figures) {
	s := launch(t)
	if got, err := s.get("/alive", time.Minute); err != nil || got != "200 alive" {
		t.Fatalf("before the attack: %q %v", got, err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(beat)
		defer tick.Stop()
		for last := 0; ; {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			at := time.Now()
			got, err := s.get("/count", 30*time.Second)
			f.latency = max(f.latency, time.Since(at))
			n, _ := strconv.Atoi(strings.TrimPrefix(got, "200 "))
			if err != nil || n <= last {
				f.failure = fmt.Sprintf("the neighbour answered %.60q %v after %d", got, err, last)
				return
			}
			last, f.neighbour = n, n
		}
	}()
	answer, err := s.get("/"+url.PathEscape(name), attackMS*time.Millisecond)
	if f.answer = answer; err != nil {
		f.answer = "no answer"
	}
	at := time.Now()
	condemned := strings.Contains(s.text(), "was restarted")
	for {
		got, err := s.get("/alive", time.Minute)
		if err == nil && (got == "200 alive" || strings.Contains(name, "globals") || strings.Contains(name, "poison")) {
			break
		}
		if time.Since(at) > time.Minute {
			f.failure = fmt.Sprintf("it does not recover: %.80q %v", got, err)
			break
		}
	}
	if condemned { // else it is well, and busy with what it has set in motion
		f.heal = time.Since(at)
	}
	close(stop)
	<-stopped
	select {
	case <-s.exited:
		f.failure = "THE PROCESS ENDED: " + last(s.text(), 2000)
	default:
	}
	f.rssMB = s.rss()
	if log := s.text(); strings.Contains(log, "panic") || strings.Contains(log, "goroutine ") {
		f.failure += " a panic in the log: " + last(log, 1500)
	}
	if strings.Contains(s.text(), "neighbour") && strings.Contains(s.text(), "[neighbour] the worker was restarted") {
		f.failure += " the neighbour was condemned"
	}
	return f
}

func last(s string, n int) string { return s[max(0, len(s)-n):] }

// No worker stops the process, starves its neighbour or takes more memory than
// is allowed, and each is back soon after it was stopped. MINIDO_HOSTILE=all
// runs every attack, or those whose names contain its value, and prints a table;
// without it one of each kind runs, and how long things take is not judged: other
// tests run beside it.
func TestHostile(t *testing.T) {
	names := fast
	which := os.Getenv("MINIDO_HOSTILE")
	if which != "" {
		s := launch(t)
		list, err := http.Get(s.url + "/list")
		if err != nil {
			t.Fatal(err)
		}
		defer list.Body.Close()
		if err := json.NewDecoder(list.Body).Decode(&names); err != nil {
			t.Fatal(err)
		}
	}
	table, failed, ran := &strings.Builder{}, 0, 0
	for _, name := range names {
		if which != "" && which != "all" && !strings.Contains(name, which) {
			continue
		}
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			f := attack(t, name)
			verdict := f.verdict(which != "")
			ran++
			if verdict != "" {
				failed++
				t.Errorf("%s: RSS %d MB, latency %v, recovery %v; answer %.80q", verdict, f.rssMB, f.latency.Round(time.Millisecond), f.heal.Round(time.Millisecond), f.answer)
			}
			line := fmt.Sprintf("%-36s %5d MB %6d ms %6d ms  %-28.28s %.60s\n", name, f.rssMB, f.latency.Milliseconds(), f.heal.Milliseconds(), strings.ReplaceAll(f.answer, "\n", " "), strings.ReplaceAll(verdict, "\n", " "))
			table.WriteString(line)
			if which != "" {
				fmt.Print(line)
			}
		})
	}
	if which != "" {
		fmt.Printf("%d attacks, %d beyond a limit (RSS %d MB, latency %v, recovery %v)\n", ran, failed, rssMost, latencyMost, healMost)
		if out := os.Getenv("MINIDO_HOSTILE_TABLE"); out != "" {
			if err := os.WriteFile(filepath.Clean(out), []byte(table.String()), 0o644); err != nil {
				t.Error(err)
			}
		}
	}
}
