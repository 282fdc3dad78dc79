// Command minido runs Cloudflare Workers and Durable Objects on this machine, and
// injects faults into them.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"minido.dev/minido/chaos/child"
	chaoscli "minido.dev/minido/chaos/cli"
	"minido.dev/minido/chaos/demo"
	"minido.dev/minido/internal/crash"
	"minido.dev/minido/internal/hugepages"
	"minido.dev/minido/internal/licenses"
	"minido.dev/minido/internal/version"
	"minido.dev/minido/vitest/bundled"
)

// Exit codes, documented in the help and in docs/chaos.md; crash.Exit is one more.
const (
	exitFailure     = 1   // something went wrong while running
	exitUsage       = 2   // the command line, the configuration or the worker's code is wrong
	exitInterrupted = 130 // Ctrl-C, as shells say it
)

type cli struct {
	Dev        devCommand        `cmd:"" help:"Run a worker project and reload it when its files change."`
	Init       initCommand       `cmd:"" help:"Write a new project, or a first scenario and a CI file for the one in this directory."`
	Doctor     doctorCommand     `cmd:"" help:"Report what in this project will not run here, with file and line, before it runs."`
	Ctl        ctlCommand        `cmd:"" help:"Inspect and control a running server: list, evict, reset, abort, crash, alarm, sql, export."`
	Dashboard  dashboardCommand  `cmd:"" help:"Print the address of the dashboard of the running server: objects, data, a live timeline, logs, chaos, time."`
	KV         kvCommand         `cmd:"" name:"kv" help:"The KV namespaces of the state directory: get, put, list, delete."`
	D1         d1Command         `cmd:"" name:"d1" help:"The D1 databases of the state directory: execute SQL, apply migrations."`
	Queue      queueCommand      `cmd:"" help:"The queues of a running server: pause and resume their delivery."`
	Test       testCommand       `cmd:"" help:"Run vitest suites inside the worker, in simulated worlds; with --chaos, under faults."`
	Analytics  analyticsCommand  `cmd:"" help:"Query what workers wrote to Analytics Engine datasets."`
	Chaos      chaoscli.Chaos    `cmd:"" help:"Kill an agent project where it hurts, and check that it recovers."`
	Child      childCommand      `cmd:"" name:"chaos-child" hidden:"" help:"The server as the chaos harness runs it."`
	Demo       demoCommand       `cmd:"" help:"Watch a real agent die by SIGKILL in the middle of its work, and recover."`
	Completion completionCommand `cmd:"" help:"Print completions for a shell: bash, zsh, fish or powershell."`

	Version versionCommand `cmd:"" help:"Print the version, the commit and its date."`

	Licenses licensesCommand `cmd:"" help:"Print the licences of all code that is compiled into minido."`

	global
}

// global are the flags of every command.
type global struct {
	PrintVersion kong.VersionFlag `name:"version" short:"v" help:"Print the version, the commit and its date."`
}

type versionCommand struct{}

func (versionCommand) Run() error {
	_, err := fmt.Println(version.Current())
	return err
}

type licensesCommand struct{}

func (licensesCommand) Run() error {
	text, err := licenses.Text()
	if err != nil {
		return err
	}
	own, err := bundled.Load()
	switch {
	case err == nil:
		text += own.LicenseText()
	case !errors.Is(err, bundled.ErrNone):
		return err
	}
	_, err = fmt.Print(text)
	return err
}

// demoCommand shows the project's main job on the fiber fixture.
type demoCommand struct {
	Fixture string `arg:"" optional:"" default:"fixtures/fibers" help:"The directory of the fixture \"fibers\", with its npm packages installed."`
}

// Run implements kong's command interface.
func (c *demoCommand) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	report, err := demo.Run(ctx, demo.Options{Fixture: c.Fixture, Out: os.Stdout, Color: useColor()})
	if err != nil || report.Code != 0 {
		return &exitError{int(report.Code), err}
	}
	return nil
}

// childCommand is what the chaos harness starts; people do not.
type childCommand struct {
	Config   string   `required:""`
	Name     string   ``
	Env      string   ``
	Var      []string `sep:"none"`
	CacheDir string   `required:""`
	Idle     float64  ``
	AIURL    string   `name:"ai-url"`
	Frozen   string   ``
}

// Run implements kong's command interface.
func (c *childCommand) Run() error {
	return child.Run(child.Options{Config: c.Config, Name: c.Name, Env: c.Env, Vars: c.Var, CacheDir: c.CacheDir, AI: c.AIURL, Frozen: c.Frozen,
		Idle: time.Duration(c.Idle * float64(time.Second)), In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}

const description = `Runs Cloudflare Workers and Durable Objects on this machine, with no account and no network.

  minido dev                          run the project in this directory on http://127.0.0.1:8787
  minido dev src/worker.ts            run a single file without a wrangler file
  minido dev --port 0 --persist-to /tmp/state
  minido chaos enumerate . --call 'ResearchAgent/r1.startResearch("tides")'
                                      kill the agent at every point where it can be killed, and check that it recovers
  minido test --chaos evict           run the project's vitest suites, and again with objects evicted at every effect point
  minido ctl list                     the objects of the running server, and what they do

State is kept in wrangler's own layout, so a directory written by "wrangler dev" opens here and the reverse.

Exit codes: 0 stopped as asked, 1 failed while running, 2 wrong flags, configuration or worker code,
128+n ended by signal n.`

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	var c cli
	read, notes := asWranglerReadsThem(args)
	parser, err := c.parser(read)
	if err != nil {
		fmt.Fprintln(os.Stderr, "minido:", err)
		return exitFailure
	}
	code := 0
	func() {
		defer func() {
			if x := recover(); x != nil {
				p, ok := x.(exitPanic)
				if !ok {
					crash.End("main", x, debug.Stack())
				}
				code = int(p)
			}
		}()
		for _, note := range notes {
			fmt.Fprintln(os.Stderr, "note:", note)
		}
		code = execute(parser, &c, read)
	}()
	return code
}

// parser is the command line, which fills c. If args name a command it knows that
// command alone: the tables of all of them would take a third of the time that
// `minido version` takes.
func (c *cli) parser(args []string) (*kong.Kong, error) {
	options := []kong.Option{kong.Name("minido"), kong.Description(description), kong.UsageOnError(), kong.Vars{"version": version.Current().String()},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
		kong.Exit(func(code int) { panic(exitPanic(code)) })}
	all := reflect.ValueOf(c).Elem()
	for i := range all.NumField() {
		field := all.Type().Field(i)
		if _, is := field.Tag.Lookup("cmd"); !is || len(args) == 0 || args[0] != cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name)) {
			continue
		}
		one := kong.DynamicCommand(args[0], field.Tag.Get("help"), "", all.Field(i).Addr().Interface(), string(field.Tag))
		return kong.New(&c.global, append(options, one)...)
	}
	return kong.New(c, options...)
}

// exitPanic carries the exit that kong asks for (--help) out of the parser.
type exitPanic int

// heapReach is how far Go's heap may grow in large pages, in bytes.
const heapReach = 512 << 20

func execute(parser *kong.Kong, c *cli, args []string) int {
	ctx, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "minido: %v\nTry \"minido --help\".\n", err)
		return exitUsage
	}
	if slices.Contains([]string{"chaos", "doctor", "test"}, args[0]) {
		hugepages.Prepare(heapReach) // they run workers, as dev does, and give nothing back
	}
	err = ctx.Run(&c.Ctl)
	if err == nil {
		return 0
	}
	var ended *chaoscli.ExitError
	if errors.As(err, &ended) {
		err = &exitError{ended.ExitCode(), nil}
		if ended.Text != "" {
			err = &exitError{ended.ExitCode(), ended}
		}
	}
	var coded *exitError
	if errors.As(err, &coded) {
		if coded.err != nil {
			fmt.Fprintln(os.Stderr, coded.err)
		}
		return coded.code
	}
	fmt.Fprintln(os.Stderr, "minido:", err)
	return exitFailure
}

// exitError is an error with its exit code; its text has been made for people.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return fmt.Sprint(e.err) }
