// Command bench measures minido from outside, as a user sees it: the time to a
// project's first answer, the recovery of a killed agent, requests a second, memory.
// It prints one table and judges nothing.
//
// Beside minido stand the goals that were set for it, a bare net/http server
// (what the machine and the generator of load can do), and, where they are
// installed, raw workerd with a prebuilt bundle and "wrangler dev". All run the
// same workers, on this machine, within the same minutes. Each server and the
// generator of load are processes of their own.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"minido.dev/minido/chaos/upstream"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

// closeLimit is how long the end waits for killed servers to be reaped.
const closeLimit = 10 * time.Second

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) > 0 {
		switch arguments[0] {
		case loadMode:
			return generateMain(arguments[1:], os.Stdout)
		case floorMode:
			return serveFloor(arguments[1])
		}
	}
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&o.only, "only", "", "measure only the rows and the targets whose names contain one of these words, separated by commas: \"hello,workerd\"")
	flags.Float64Var(&o.seconds, "seconds", 3, "how long each load lasts, at most 5")
	flags.BoolVar(&o.json, "json", false, "print JSON instead of the table")
	flags.BoolVar(&o.docs, "docs", false, "write docs/benchmarks.json, and the tables of docs/benchmarks.md and README.md, from this run")
	flags.StringVar(&o.profile, "profile", "", "take profiles of minido in the agents' rows and write them below this directory; needs a minido that was built with -tags profile")
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if o.seconds <= 0 || o.seconds > 5 {
		return fmt.Errorf("-seconds %v: must be above 0 and at most 5", o.seconds)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return measure(ctx, o)
}

type options struct {
	only    string
	seconds float64
	json    bool
	docs    bool
	profile string
}

// bench is one run. Immutable after prepare, but for the counter of
// directories, which the one goroutine that measures owns.
type bench struct {
	options
	clock   clock.Clock
	sched   *sched.Threads
	self    string // this program
	top     string // the repository
	binary  string // minido
	tmp     string
	dirs    int
	targets []*target

	hello, objects, fibers, bindings *project
	agents                           *project         // nil if its npm packages are not installed
	provider                         *upstream.Server // the model that agents ask; nil without agents
}

func measure(ctx context.Context, o options) (err error) {
	b := &bench{options: o, clock: clock.Real{}, sched: sched.NewThreads(clock.Real{})}
	if b.tmp, err = os.MkdirTemp("", "minido-bench-"); err != nil {
		return err
	}
	defer func() {
		if b.provider != nil {
			err = errors.Join(err, b.provider.Close())
		}
		closing, cancel := context.WithCancel(context.Background())
		defer cancel()
		defer b.clock.AfterFunc(closeLimit, cancel).Stop()
		err = errors.Join(err, b.sched.Close(closing), os.RemoveAll(b.tmp))
	}()
	if err := b.prepare(ctx); err != nil {
		return err
	}
	before := machine()
	results, err := b.measureRows(ctx)
	if err != nil {
		return err
	}
	after := machine()
	f := newFigures(before, after, results)
	if o.docs {
		if err := b.sign(ctx, &f); err != nil {
			return err
		}
		if err := f.writeDocs(b.top); err != nil {
			return err
		}
	}
	if !o.json {
		return writeTable(os.Stdout, before, after, results)
	}
	data, err := f.json()
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(data)
	return err
}

// sign says what was measured, and when.
func (b *bench) sign(ctx context.Context, f *figures) error {
	git := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty")
	git.Dir, git.Stderr = b.top, os.Stderr
	commit, err := git.Output()
	if err != nil {
		return fmt.Errorf("the commit that was measured: %w", err)
	}
	f.Commit, f.Date = strings.TrimSpace(string(commit)), b.clock.Now().UTC().Format(time.DateOnly)
	return nil
}

// prepare builds minido, unless MINIDO_BIN names it, and the projects.
func (b *bench) prepare(ctx context.Context) error {
	top, err := repository()
	if err != nil {
		return err
	}
	b.top = top
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	binary := os.Getenv("MINIDO_BIN")
	if binary == "" {
		binary = filepath.Join(b.tmp, "minido")
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary, "./cmd/minido")
		build.Dir, build.Env, build.Stderr = top, append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("building minido: %w", err)
		}
	}
	b.binary = binary
	reference := os.Getenv("MINIDO_REFERENCE")
	if reference == "" {
		reference = filepath.Join(top, "e2e", "reference", "node_modules")
	}
	b.targets = []*target{minidoTarget(binary), floorTarget(b.self), workerdTarget(reference), wranglerTarget(reference)}

	workers, projects := filepath.Join(top, "e2e", "bench", "workers"), filepath.Join(b.tmp, "projects")
	b.hello, err = newProject(project{name: "hello", main: "worker.ts"}, filepath.Join(workers, "hello"), projects)
	if err != nil {
		return err
	}
	b.objects, err = newProject(project{name: "objects", main: "worker.ts", classes: []string{"Thing"}},
		filepath.Join(workers, "objects"), projects)
	if err != nil {
		return err
	}
	b.bindings, err = newProject(project{name: "bindings", main: "worker.ts", bindings: map[string]any{
		"kv_namespaces": []any{map[string]any{"binding": "KV", "id": "bench"}},
		"d1_databases":  []any{map[string]any{"binding": "DB", "database_name": "bench", "database_id": "bench"}},
		"queues":        map[string]any{"producers": []any{map[string]any{"binding": "JOBS", "queue": "bench"}}},
	}}, filepath.Join(workers, "bindings"), projects)
	if err != nil {
		return err
	}
	fibers := filepath.Join(top, "fixtures", "fibers")
	if _, err := os.Stat(filepath.Join(fibers, "node_modules")); err != nil {
		return errors.New("the npm packages of fixtures/fibers are not installed: run make npm")
	}
	b.fibers, err = newProject(project{
		name: "fibers", main: "src/worker.ts", classes: []string{"ResearchAgent"}, flags: []string{"nodejs_compat"},
		vars: []variable{{"STEP_MS", fiberStep}, {"KEEP_ALIVE_MS", fmt.Sprint(heartbeat.Milliseconds())}},
	}, fibers, projects)
	if err != nil {
		return err
	}
	return b.prepareAgents(filepath.Join(workers, "agents"), projects)
}

// prepareAgents starts the model provider, whose address the project is told.
func (b *bench) prepareAgents(from, projects string) (err error) {
	if _, err := os.Stat(filepath.Join(from, "node_modules")); err != nil {
		return nil // its rows say so
	}
	if b.provider, err = startProvider(b.sched); err != nil {
		return err
	}
	b.agents, err = newProject(project{
		name: "agents", main: "src/worker.ts", classes: []string{"BenchChat", "BenchFiber"}, flags: []string{"nodejs_compat"},
		vars: []variable{{"OPENAI_BASE_URL", b.provider.URL() + "/v1"}},
	}, from, projects)
	return err
}

// repository is the directory of go.mod, here or above.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("run it within the repository")
		}
		dir = parent
	}
}

// freshDir names a directory that does not exist yet.
func (b *bench) freshDir() string {
	b.dirs++
	return filepath.Join(b.tmp, fmt.Sprintf("run%d", b.dirs))
}

// fresh are options for a server that has no state and no cache.
func (b *bench) fresh(p *project) startOptions {
	return startOptions{project: p, state: b.freshDir(), cache: b.freshDir()}
}

// selects applies -only to rows and targets: words that are in a target's name
// choose among targets, the others among rows.
func (b *bench) selects(rowName, targetName string) bool {
	rowWords, rowFits, targetWords, targetFits := false, false, false, false
	for word := range strings.SplitSeq(b.only, ",") {
		switch {
		case word == "":
		case b.namesTarget(word):
			targetWords = true
			targetFits = targetFits || strings.Contains(targetName, word)
		default:
			rowWords = true
			rowFits = rowFits || strings.Contains(rowName, word)
		}
	}
	return (rowFits || !rowWords) && (targetFits || !targetWords)
}

func (b *bench) namesTarget(word string) bool {
	for _, t := range b.targets {
		if strings.Contains(t.name, word) {
			return true
		}
	}
	return false
}
