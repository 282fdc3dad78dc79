package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/golden"
)

// The corpus is the folders of fixtures/strangers that have a requests.txt:
// small projects in the manner of public templates. Each is started as it is, by
// `minido dev` and by `wrangler dev`, and asked what its requests.txt lists; its
// answers.txt is what the reference answered. fixtures/strangers/README.md
// describes the two files.
//
// TestStrangers compares minido with the answers.txt of each project;
// TestDifferentialStrangers (make strangers) runs the reference, too.

// corpus returns the names of the projects; STRANGERS in the environment picks
// those that contain it.
func corpus(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(fixture(t, "strangers"), "*", "requests.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		if name := filepath.Base(filepath.Dir(file)); strings.Contains(name, os.Getenv("STRANGERS")) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		t.Fatal("no project of fixtures/strangers has this name")
	}
	return names
}

func TestStrangers(t *testing.T) {
	for _, name := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := readPlan(t, name)
			want := readAnswers(t, p)
			compareAnswers(t, p, want, p.play(t, minidoAt, want))
		})
	}
}

func TestDifferentialStrangers(t *testing.T) {
	wranglerModules(t)
	for _, name := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := readPlan(t, name)
			var known []answer
			if !golden.Update() {
				known = readAnswers(t, p)
			}
			want := p.play(t, wranglerAt, known)
			golden.Lines(t, filepath.Join(p.dir, "answers.txt"), strings.Split(strings.TrimSuffix(join(want), "\n"), "\n"))
			compareAnswers(t, p, want, p.play(t, minidoAt, want))
		})
	}
}

// starter is how a server is started in a folder.
type starter func(t *testing.T, dir string, flags []string) process.Options

func minidoAt(t *testing.T, dir string, flags []string) process.Options {
	return process.Options{Dir: dir, Command: append([]string{minido, "dev", "--ip", "127.0.0.1", "--port", "0", "--no-control", "--no-watch"}, flags...)}
}

func wranglerAt(t *testing.T, dir string, flags []string) process.Options {
	return wranglerOptions(t, dir, append([]string{"--port", "0"}, flags...)...)
}

// plan is a project's requests.txt. Immutable.
type plan struct {
	name, dir string
	flags     []string
	fails     string            // what both say instead of starting; wrangler then waits for a change
	says      []string          // what both say before they are ready
	in        string            // the folder to start in, below the project's
	masks     []*regexp.Regexp  // what of answers no run repeats
	differs   map[string]string // by the line of a request: why it is answered otherwise
	requests  []exchange
}

type exchange struct {
	line          string // "GET /path"
	method, path  string
	header        http.Header
	body          string
	conversation  []string // of a WebSocket: "> text" is sent, "<" is waited for
	hasWebSockets bool
}

func readPlan(t *testing.T, name string) plan {
	t.Helper()
	p := plan{name: name, dir: filepath.Join(fixture(t, "strangers"), name), differs: map[string]string{}}
	b, err := os.ReadFile(filepath.Join(p.dir, "requests.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(b), "\n") {
		if err := p.read(line); err != nil {
			t.Fatalf("%s/requests.txt:%d: %v", name, i+1, err)
		}
	}
	return p
}

func (p *plan) read(line string) error {
	switch {
	case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
		return nil
	case strings.HasPrefix(line, "  "):
		if len(p.requests) == 0 {
			return errors.New("nothing is asked yet")
		}
		return p.requests[len(p.requests)-1].read(line[2:])
	}
	if word, rest, ok := strings.Cut(line, ": "); ok && !strings.Contains(word, " ") {
		switch word {
		case "flags":
			p.flags = strings.Fields(rest)
		case "fails":
			p.fails = rest
		case "says":
			p.says = append(p.says, rest)
		case "in":
			p.in = rest
		case "mask":
			mask, err := regexp.Compile(rest)
			if err != nil {
				return err
			}
			p.masks = append(p.masks, mask)
		case "differs":
			request, reason, ok := strings.Cut(rest, ": ")
			if !ok {
				return errors.New("a difference needs a reason")
			}
			p.differs[request] = reason
		default:
			return fmt.Errorf("what is %q?", word)
		}
		return nil
	}
	method, path, ok := strings.Cut(line, " ")
	if !ok || !strings.HasPrefix(path, "/") {
		return fmt.Errorf("%q is no request", line)
	}
	p.requests = append(p.requests, exchange{line: line, method: method, path: path, header: http.Header{}, hasWebSockets: method == "WS"})
	return nil
}

func (e *exchange) read(line string) error {
	switch {
	case strings.HasPrefix(line, "<"), e.hasWebSockets && strings.HasPrefix(line, "> "):
		e.conversation = append(e.conversation, line)
	case strings.HasPrefix(line, "> "):
		e.body += line[2:] + "\n"
	default:
		name, value, ok := strings.Cut(line, ": ")
		if !ok {
			return fmt.Errorf("%q is no header", line)
		}
		e.header.Add(name, value)
	}
	return nil
}

// answer is what came back for one request, or how a start ended.
type answer struct{ request, text string }

func join(answers []answer) string {
	var b strings.Builder
	for _, a := range answers {
		fmt.Fprintf(&b, "=== %s\n%s\n", a.request, strings.TrimRight(a.text, "\n"))
	}
	return b.String()
}

func readAnswers(t *testing.T, p plan) (answers []answer) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, "answers.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split("\n"+strings.TrimSuffix(string(b), "\n"), "\n=== ")[1:] {
		request, text, _ := strings.Cut(part, "\n")
		answers = append(answers, answer{request, text})
	}
	return answers
}

// compareAnswers fails for what differs and is not listed with a reason, and for
// what is listed and does not differ.
func compareAnswers(t *testing.T, p plan, want, got []answer) {
	t.Helper()
	if _, listed := p.differs["start"]; listed && len(want) != len(got) {
		return
	}
	if len(want) != len(got) {
		t.Errorf("the reference gives %d answers, minido %d:\n%s", len(want), len(got), join(got))
		return
	}
	for i, w := range want {
		g := got[i]
		reason, listed := p.differs[w.request]
		switch equal := w.request == g.request && strings.TrimRight(w.text, "\n") == strings.TrimRight(g.text, "\n"); {
		case equal && listed:
			t.Errorf("%s: answered as the reference answers, though listed as different (%s)", w.request, reason)
		case !equal && !listed:
			t.Errorf("--- the reference\n%s+++ minido\n%s", join([]answer{w}), join([]answer{g}))
		}
	}
}

// play starts a copy of the project and asks everything. A server that does not
// start gives one answer, "start". want is what is expected, nil if that is not known.
func (p plan) play(t *testing.T, start starter, want []answer) []answer {
	t.Helper()
	options := start(t, filepath.Join(p.copy(t), p.in), p.flags)
	if p.fails != "" {
		c := child(t, options)
		err := wait.Until(context.Background(), clock.Real{}, readyLimit, "says "+p.fails, func() (bool, error) {
			return strings.Contains(escape.ReplaceAllString(c.Output(), ""), p.fails), nil
		})
		if err != nil {
			t.Error(err)
		}
		return []answer{{"start", p.fails}}
	}
	s, err := launch(t, options)
	if err != nil {
		var exit *process.ExitError
		if !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return []answer{{"start", "it does not start"}}
	}
	for _, text := range p.says {
		if said := escape.ReplaceAllString(s.Output(), ""); !strings.Contains(said, text) {
			t.Errorf("%s does not say %q:\n%s", options.Command[0], text, said)
			break
		}
	}
	var answers []answer
	for _, e := range p.requests {
		text := e.ask(t, s.url)
		if e.hasWebSockets {
			text = e.converse(t, s.url)
		}
		answers = append(answers, answer{e.line, p.mask(s, text)})
	}
	// The last lines come through two pipes. What is not there in a while is missing.
	_ = wait.Until(context.Background(), clock.Real{}, 3*time.Second, "the log", func() (bool, error) {
		log := strings.TrimRight(p.mask(s, workerLog(s)), "\n")
		return slices.ContainsFunc(want, func(w answer) bool { return w.request == "log" && strings.TrimRight(w.text, "\n") == log }), nil
	})
	return append(answers, answer{"log", p.mask(s, workerLog(s))})
}

// copy makes a copy of the project, with the packages that projects share above
// it: hono and the agents SDK of other fixtures, and the folders of
// fixtures/strangers/packages.
func (p plan) copy(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, p.name)
	if err := os.CopyFS(dir, os.DirFS(p.dir)); err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(root, "node_modules")
	if err := os.Mkdir(modules, 0o755); err != nil {
		t.Fatal(err)
	}
	shared := fixture(t, "strangers")
	links := map[string]string{"hono": filepath.Join(shared, "notes", "node_modules", "hono"), "agents": filepath.Join(fixture(t, "fibers"), "node_modules", "agents")}
	packages, err := os.ReadDir(filepath.Join(shared, "packages"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range packages {
		links[e.Name()] = filepath.Join(shared, "packages", e.Name())
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(modules, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// exchangeLimit is how long one exchange of the corpus may take.
const exchangeLimit = 30 * time.Second

// notCompared are headers that say nothing about the project.
var notCompared = []string{"Date", "Connection", "Keep-Alive", "Content-Length", "Transfer-Encoding"}

var direct = &http.Client{Timeout: exchangeLimit, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func (e exchange) ask(t *testing.T, url string) string {
	t.Helper()
	if e.hasWebSockets {
		return ""
	}
	request, err := http.NewRequest(e.method, url+e.path, strings.NewReader(strings.TrimSuffix(e.body, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = e.header.Clone()
	request.Header.Set("User-Agent", "corpus")
	if e.header.Get("Accept-Encoding") == "" {
		request.Header.Set("Accept-Encoding", "identity")
	}
	if host := e.header.Get("Host"); host != "" {
		request.Host = host
	}
	response, err := direct.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body := new(strings.Builder)
	var lines []string
	for name, values := range response.Header {
		if !slices.Contains(notCompared, name) {
			lines = append(lines, strings.ToLower(name)+": "+strings.Join(values, " | "))
		}
	}
	slices.Sort(lines)
	fmt.Fprintf(body, "%d\n", response.StatusCode)
	for _, line := range lines {
		fmt.Fprintln(body, line)
	}
	b, err := io.ReadAll(response.Body)
	fmt.Fprintf(body, "\n%s\n", b)
	if err != nil {
		fmt.Fprintf(body, "the body breaks off\n")
	}
	return body.String()
}

func (e exchange) converse(t *testing.T, url string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), exchangeLimit)
	defer cancel()
	conn, response, err := websocket.Dial(ctx, url+e.path, &websocket.DialOptions{HTTPHeader: e.header})
	if err != nil {
		if response != nil {
			return fmt.Sprintf("%d\n", response.StatusCode)
		}
		return err.Error()
	}
	defer conn.CloseNow()
	var b strings.Builder
	for _, line := range e.conversation {
		if text, ok := strings.CutPrefix(line, "> "); ok {
			if err := conn.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		kind, data, err := conn.Read(ctx)
		switch {
		case err != nil:
			var closed websocket.CloseError
			if !errors.As(err, &closed) {
				fmt.Fprintf(&b, "broken\n")
			} else {
				fmt.Fprintf(&b, "close %d %s\n", closed.Code, closed.Reason)
			}
		case kind == websocket.MessageText:
			fmt.Fprintf(&b, "%s\n", data)
		default:
			fmt.Fprintf(&b, "%x\n", data)
		}
	}
	return b.String()
}

// mask leaves out of an answer what no other run would repeat. The reference's
// ETags are made of paths and times of files, and its stacks name whole paths.
func (p plan) mask(s server, text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, s.url, "http://HOST"), strings.TrimPrefix(s.url, "http://"), "HOST")
	text = ourPlaces.ReplaceAllString(text, "")
	text = hashedETag.ReplaceAllString(text, "etag: …")
	for _, mask := range p.masks {
		text = mask.ReplaceAllString(text, "…")
	}
	return text
}

var (
	hashedETag = regexp.MustCompile(`etag: "[0-9a-f]{32}"`)
	ourPlaces  = regexp.MustCompile(`\n +at [^\n]*(:\d+:\d+\)?|<anonymous>\)?)`)
	escape     = regexp.MustCompile("\x1b\\[[0-9;]*m")
	// How the servers mark what is more than a log, and what each says in its own way: of
	// requests, of errors that nothing caught, and workerd of its own alarms (NOSENTRY).
	marks = regexp.MustCompile(`^(✘ \[ERROR\]|▲ \[WARNING\]|\[(wrangler|minido):\w+\]) `)
	own   = regexp.MustCompile(`^([A-Z]+ \S+ \d{3} |QUEUE |NOSENTRY |(\[\w+\] )?Uncaught |\w*Error: |scheduled: |at )`)
)

// workerLog is what the worker logged since the server was ready.
func workerLog(s server) string {
	_, after, _ := strings.Cut(escape.ReplaceAllString(s.Output(), ""), "Ready on ")
	var lines []string
	for _, line := range strings.Split(after, "\n")[1:] {
		if line = marks.ReplaceAllString(strings.TrimSpace(line), ""); line != "" && !own.MatchString(line) {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines) // two streams, whose order is nobody's
	return strings.Join(lines, "\n")
}
