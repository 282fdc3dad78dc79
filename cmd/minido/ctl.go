package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"minido.dev/minido/runtime/control"
)

// ctlCommand is `minido ctl`: the control API of a running server.
type ctlCommand struct {
	Server string `placeholder:"URL" help:"Control address of the server, if several run. Default: the one whose project contains this directory."`
	JSON   bool   `name:"json" help:"Print the API's own JSON."`

	List       ctlList       `cmd:"" help:"List the objects: in memory, with clients, with an alarm, or only on disk."`
	Evict      ctlEvict      `cmd:"" help:"Evict an object from memory, as Cloudflare does with idle ones."`
	Hibernate  ctlHibernate  `cmd:"" help:"Hibernate an object now; its WebSockets stay connected. If this is not allowed, the reason is printed."`
	Reset      ctlReset      `cmd:"" help:"Reset an object as a deployment of new code does: work in flight stops at its next storage access."`
	Abort      ctlAbort      `cmd:"" help:"Abort an object, as ctx.abort(reason) does."`
	Crash      ctlCrash      `cmd:"" help:"Crash an object at once, as if its machine died: uncommitted data is lost."`
	Alarm      ctlAlarm      `cmd:"" help:"Make an object's alarm due now."`
	SQL        ctlSQL        `cmd:"" name:"sql" help:"Run one SELECT on an object's database, read-only."`
	Moments    ctlMoments    `cmd:"" help:"List the past states of an object that can be read and restored: those on disk after each sync of commits."`
	Difference ctlDifference `cmd:"" help:"Show the differences of an object's tables between two moments."`
	Restore    ctlRestore    `cmd:"" help:"Restore an object to the state of a moment, as onNextSessionRestoreBookmark does. The object is evicted."`
	Export     ctlExport     `cmd:"" help:"Write a consistent copy of an object's database to a file."`
	Clock      ctlClock      `cmd:"" help:"Show the server's clock, advance it, or change its mode."`
	Logs       ctlLogs       `cmd:"" help:"Show logs of workers, requests, and events of the server."`
	Turns      ctlTurns      `cmd:"" help:"Show turns as they happen: the cause, the computing time, and the time including commits."`
	Top        ctlTop        `cmd:"" help:"Show the objects in memory, once a second."`
	Status     ctlStatus     `cmd:"" help:"Show the server: addresses, memory, state directory."`
}

// Help implements kong's HelpProvider.
func (ctlCommand) Help() string {
	return `Inspects and controls the server that "minido dev" runs for this project. Objects are written CLASS/NAME, or CLASS/ID
with the 64 hexadecimal digits of an id.

  minido ctl list
  minido ctl evict Room/lobby                   refused, with the reason, while the object is busy
  minido ctl evict Room/lobby --force           callers in flight get "Network connection lost."
  minido ctl evict --scope isolate              also module variables, and every object of the worker
  minido ctl sql Room/lobby 'SELECT name, sql FROM sqlite_schema'
  minido ctl difference Room/lobby 1            what changed since the moment before
  minido ctl export Room/lobby /tmp/lobby.sqlite

A table in docs/control.md says what each verb does to module state, open calls, sockets and alarms; the HTTP API
of these commands is described there, too. Exit codes: 0 done, 1 failed, 2 wrong flags, 3 refused (production would not do it now).`
}

const exitRefused = 3

// connect finds the server and returns a client of it.
func (c *ctlCommand) connect() (*control.Client, error) {
	sessions, err := control.Sessions("")
	if err != nil {
		return nil, err
	}
	if c.Server != "" {
		for _, s := range sessions {
			if s.URL == strings.TrimSuffix(c.Server, "/") {
				return control.NewClient(s), nil
			}
		}
		return nil, fmt.Errorf("no server of this user has its control address at %s", c.Server)
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	s, err := control.Choose(sessions, cwd)
	if err != nil {
		return nil, err
	}
	return control.NewClient(s), nil
}

// with runs fn with a client; ^C ends it.
func (c *ctlCommand) with(fn func(ctx context.Context, client *control.Client) error) error {
	client, err := c.connect()
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = fn(ctx, client)
	var ce *control.CallError
	if errors.As(err, &ce) && ce.Code == "refused" {
		return &exitError{exitRefused, errors.New("refused: " + ce.Message)}
	}
	return err
}

// get prints what a path answers: as JSON, or through show.
func (c *ctlCommand) get(path string, into any, show func(io.Writer)) error {
	return c.with(func(ctx context.Context, client *control.Client) error {
		if c.JSON {
			return client.Get(ctx, path, os.Stdout)
		}
		if err := client.Get(ctx, path, into); err != nil {
			return err
		}
		table(show)
		return nil
	})
}

func (c *ctlCommand) post(path string, body, into any, show func(io.Writer)) error {
	return c.with(func(ctx context.Context, client *control.Client) error {
		if c.JSON {
			return client.Post(ctx, path, body, os.Stdout)
		}
		if err := client.Post(ctx, path, body, into); err != nil {
			return err
		}
		table(show)
		return nil
	})
}

func table(show func(io.Writer)) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	show(w)
	w.Flush() // a closed terminal cannot be told
}

// objectArg is CLASS/NAME on the command line.
type objectArg string

func (a objectArg) split() (class, object string, err error) {
	if a == "" {
		return "", "", &exitError{exitUsage, errors.New("name the object: CLASS/NAME, for example Room/lobby")}
	}
	class, object, ok := strings.Cut(string(a), "/")
	if !ok || class == "" || object == "" {
		return "", "", &exitError{exitUsage, fmt.Errorf("%q: write the object as CLASS/NAME, for example Room/lobby", string(a))}
	}
	return class, object, nil
}

// act posts a verb for one object, or for an isolate.
func (c *ctlCommand) act(verb string, object objectArg, req control.ActRequest) error {
	if req.Scope != "isolate" {
		var err error
		if req.Class, req.Object, err = object.split(); err != nil {
			return err
		}
	} else if object != "" {
		return &exitError{exitUsage, errors.New("--scope isolate takes no object: everything in the isolate goes")}
	}
	what := string(object)
	if what == "" {
		what = "the isolate"
	}
	return c.post("/v1/"+verb, req, nil, func(w io.Writer) {
		if req.At != "" {
			fmt.Fprintf(w, "%s: will crash at %s\n", what, req.At)
			return
		}
		fmt.Fprintf(w, "%s: %s\n", what, done[verb])
	})
}

var done = map[string]string{"evict": "evicted", "hibernate": "hibernates", "reset": "reset; fresh code answers", "abort": "aborted",
	"crash": "crashed", "alarm": "its alarm is due"}

type ctlList struct {
	Class string `arg:"" optional:"" help:"Only objects of this class."`
}

// Run implements kong's command interface.
func (l *ctlList) Run(c *ctlCommand) error {
	var out struct{ Objects []control.Object }
	return c.get("/v1/objects", &out, func(w io.Writer) {
		listObjects(w, slices.DeleteFunc(out.Objects, func(o control.Object) bool { return l.Class != "" && o.Class != l.Class }))
	})
}

// listObjects writes a table of objects.
func listObjects(w io.Writer, objects []control.Object) {
	fmt.Fprintln(w, "OBJECT\tSTATE\tSOCKETS\tALARM\tIDLE\tDATABASE\tKEPT AWAKE BY")
	for _, o := range objects {
		name, alarm, idle, size, awake := o.Name, "-", "-", "-", "-"
		if name == "" {
			name = o.ID
		}
		if o.AlarmMs != nil {
			alarm = time.UnixMilli(*o.AlarmMs).UTC().Format(time.RFC3339)
		}
		if o.Live != nil {
			idle = (time.Duration(o.Live.IdleMs) * time.Millisecond).Round(100 * time.Millisecond).String()
			size = fmt.Sprintf("%d KB", o.Live.DatabaseBytes/1024)
			if o.Live.Awake != "" {
				awake = o.Live.Awake
			}
		}
		fmt.Fprintf(w, "%s/%s\t%s\t%d\t%s\t%s\t%s\t%s\n", o.Class, name, o.State, o.Sockets, alarm, idle, size, awake)
	}
}

type ctlEvict struct {
	Object objectArg `arg:"" optional:"" help:"CLASS/NAME."`
	Scope  string    `enum:"object,isolate" default:"object" help:"object: module variables stay. isolate: the worker's whole isolate is discarded."`
	Worker string    `placeholder:"NAME" help:"With --scope isolate: the worker of the session."`
	Force  bool      `help:"Evict even a busy object: work in flight is dropped."`
}

// Run implements kong's command interface.
func (a *ctlEvict) Run(c *ctlCommand) error {
	return c.act("evict", a.Object, control.ActRequest{Scope: a.Scope, Worker: a.Worker, Force: a.Force})
}

type ctlHibernate struct {
	Object objectArg `arg:"" help:"CLASS/NAME."`
}

// Run implements kong's command interface.
func (a *ctlHibernate) Run(c *ctlCommand) error {
	return c.act("hibernate", a.Object, control.ActRequest{})
}

type ctlReset struct {
	Object objectArg `arg:"" optional:"" help:"CLASS/NAME."`
	Scope  string    `enum:"object,isolate" default:"object" help:"isolate: all objects of the worker, and its module variables."`
	Worker string    `placeholder:"NAME" help:"With --scope isolate: the worker of the session."`
}

// Run implements kong's command interface.
func (a *ctlReset) Run(c *ctlCommand) error {
	return c.act("reset", a.Object, control.ActRequest{Scope: a.Scope, Worker: a.Worker})
}

type ctlAbort struct {
	Object objectArg `arg:"" help:"CLASS/NAME."`
	Reason string    `arg:"" optional:"" help:"The message that callers get."`
}

// Run implements kong's command interface.
func (a *ctlAbort) Run(c *ctlCommand) error {
	return c.act("abort", a.Object, control.ActRequest{Reason: a.Reason})
}

type ctlCrash struct {
	Object objectArg `arg:"" optional:"" help:"CLASS/NAME."`
	At     string    `placeholder:"POINT" help:"Crash at a later effect point of the object, such as commit:before#2: kind:side/cause#occurrence, counted from now."`
	Scope  string    `enum:"object,isolate" default:"object" help:"isolate: everything in the worker's isolate dies."`
	Worker string    `placeholder:"NAME" help:"With --scope isolate: the worker of the session."`
}

// Run implements kong's command interface.
func (a *ctlCrash) Run(c *ctlCommand) error {
	return c.act("crash", a.Object, control.ActRequest{Scope: a.Scope, Worker: a.Worker, At: a.At})
}

type ctlAlarm struct {
	Object objectArg `arg:"" help:"CLASS/NAME."`
}

// Run implements kong's command interface.
func (a *ctlAlarm) Run(c *ctlCommand) error { return c.act("alarm", a.Object, control.ActRequest{}) }

type ctlSQL struct {
	Object objectArg `arg:"" help:"CLASS/NAME."`
	Query  string    `arg:"" help:"One read-only statement."`
	Params []string  `arg:"" optional:"" help:"Values of its ?, as JSON (1, \"text\", null); anything that is not JSON is text."`
	Limit  int       `default:"100" help:"Rows to show, at most 10000."`
	At     moment    `default:"0" placeholder:"MOMENT" help:"Read a past state: a bookmark, or how many moments back (minido ctl moments)."`
}

// Run implements kong's command interface.
func (a *ctlSQL) Run(c *ctlCommand) error {
	class, object, err := a.Object.split()
	if err != nil {
		return err
	}
	req := control.QueryRequest{Class: class, Object: object, SQL: a.Query, Limit: a.Limit}
	for _, p := range a.Params {
		var v any
		if json.Unmarshal([]byte(p), &v) != nil {
			v = p
		}
		req.Params = append(req.Params, v)
	}
	if a.At != "0" {
		at, err := c.bookmarks(class, object, a.At)
		if err != nil {
			return err
		}
		req.Bookmark = at[0]
	}
	var res control.QueryResult
	return c.post("/v1/sql", req, &res, func(w io.Writer) {
		fmt.Fprintln(w, strings.Join(res.Columns, "\t"))
		for _, row := range res.Rows {
			fmt.Fprintln(w, cells(row))
		}
		if res.Truncated {
			fmt.Fprintln(w, "... there are more rows: see --limit")
		}
	})
}

// cell shows a value on one line.
func cell(v any) string {
	switch x := v.(type) {
	case nil:
		return "NULL"
	case string:
		return strings.NewReplacer("\n", `\n`, "\t", `\t`, "\r", `\r`, "\x1b", `\e`).Replace(x)
	case json.Number:
		return x.String()
	case map[string]any:
		if b, ok := x["base64"].(string); ok {
			return fmt.Sprintf("<%d bytes>", len(b)*3/4)
		}
		return fmt.Sprint(x["int64"])
	}
	return fmt.Sprint(v)
}

type ctlExport struct {
	Object objectArg `arg:"" help:"CLASS/NAME."`
	File   string    `arg:"" help:"The file to write; it must not exist."`
}

// Run implements kong's command interface.
func (a *ctlExport) Run(c *ctlCommand) error {
	class, object, err := a.Object.split()
	if err != nil {
		return err
	}
	return c.with(func(ctx context.Context, client *control.Client) error {
		f, err := os.OpenFile(a.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		err = client.Post(ctx, "/v1/export", control.ExportRequest{Class: class, Object: object}, io.Writer(f))
		if err = errors.Join(err, f.Close()); err != nil {
			return errors.Join(err, os.Remove(a.File))
		}
		return nil
	})
}

type ctlClock struct {
	Do  string        `arg:"" optional:"" enum:"show,advance,virtual,auto,real" default:"show" help:"show (default); advance TIME; or the mode: virtual, auto, real."`
	For time.Duration `arg:"" optional:"" name:"time" help:"How far to advance, for example 90s or 30m."`
}

// Help implements kong's HelpProvider.
func (ctlClock) Help() string {
	return `virtual: time stands still until it is advanced. advance moves it from timer to timer, and completes the work that each
starts before it continues. auto: time jumps to the next timer whenever nothing is left to do. real: machine time.`
}

// Run implements kong's command interface.
func (a *ctlClock) Run(c *ctlCommand) error {
	var clock control.Clock
	show := func(w io.Writer) {
		fmt.Fprintf(w, "%s (%s)\n", time.UnixMilli(clock.NowMs).UTC().Format(time.RFC3339Nano), clock.Mode)
		if clock.NextMs != nil {
			fmt.Fprintf(w, "the next timer is due in %v\n", time.Duration(*clock.NextMs-clock.NowMs)*time.Millisecond)
		}
	}
	if (a.Do == "advance") != (a.For > 0) {
		return &exitError{exitUsage, errors.New("write how far: minido ctl clock advance 30m")}
	}
	switch a.Do {
	case "show":
		return c.get("/v1/clock", &clock, show)
	case "advance":
		return c.post("/v1/clock/advance", control.AdvanceRequest{Ms: a.For.Milliseconds()}, &clock, show)
	}
	return c.post("/v1/clock", control.ModeRequest{Mode: a.Do}, &clock, show)
}

type ctlStatus struct{}

// Run implements kong's command interface.
func (ctlStatus) Run(c *ctlCommand) error {
	var s control.Status
	return c.get("/v1/status", &s, func(w io.Writer) {
		fmt.Fprintf(w, "worker\t%s\t%s\n", s.Worker, s.WorkerURL)
		for _, o := range s.Others {
			fmt.Fprintf(w, "worker\t%s\n", o)
		}
		fmt.Fprintf(w, "process\t%d (minido %s)\nheap\t%d MB\nobjects in memory\t%d\nstate\t%s\n", s.PID, s.Version, s.HeapBytes>>20, s.Objects, s.Persist)
	})
}
