package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"minido.dev/minido/chaos/harness"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/crash"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/internal/version"
	"minido.dev/minido/runtime/binding"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/control"
	"minido.dev/minido/runtime/devregistry"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/feed"
	"minido.dev/minido/runtime/gateway"
	"minido.dev/minido/runtime/inspector"
	"minido.dev/minido/runtime/isolate"
	"minido.dev/minido/runtime/server"
	"minido.dev/minido/sqlstore"
)

type devCommand struct {
	Script string `arg:"" optional:"" help:"The worker's entry file. Default: \"main\" of the wrangler file."`

	Config    []string `short:"c" placeholder:"FILE" sep:"none" help:"The wrangler file (wrangler.jsonc, .json or .toml). Default: found in this directory or one above it. If given several times, the workers run together: the first listens on the port, the others are reached by service bindings and script_name."`
	Port      int      `placeholder:"N" default:"-1" help:"Port to listen on; 0 selects a free one. Default: dev.port of the wrangler file, or 8787."`
	IP        string   `name:"ip" placeholder:"ADDRESS" help:"Address to listen on. Default: dev.ip of the wrangler file, or 127.0.0.1."`
	PersistTo string   `placeholder:"DIR" help:"Directory of the state. Default: .wrangler/state beside the wrangler file."`
	Env       string   `short:"e" placeholder:"NAME" help:"Environment of the wrangler file (env.NAME)."`
	EnvFile   []string `placeholder:"FILE" help:"Read variables from this file instead of .dev.vars; may be repeated."`
	Var       []string `placeholder:"KEY:VALUE" help:"Set a variable; may be repeated." sep:"none"`
	LogLevel  string   `enum:"debug,info,log,warn,error,none" default:"log" help:"Minimum severity of printed messages: debug, log, info, warn, error or none; the order is wrangler's."`

	AllowedHosts []string `placeholder:"HOST" help:"Additional allowed values of the Host header; may be repeated."`
	Sync         string   `enum:"full,normal" default:"full" help:"full: a commit survives a power loss, as in workerd. normal: it survives the end of the process, and is faster."`
	Limits       string   `enum:"prod,local" default:"local" help:"Storage limits: prod are production's, local those of workerd on a developer's machine."`
	Eviction     string   `enum:"local,prod,off" default:"local" help:"When objects are evicted. local: 10 s after the last event, as in local tools, unless timers or connections keep them. prod: as local, and objects that are kept after 70 to 140 s. off: never."`
	Idle         float64  `placeholder:"SECONDS" default:"-1" help:"How long an object is idle before it hibernates, instead of 10 s; 0: never."`
	IdleMax      string   `placeholder:"MIN-MAX" help:"How many seconds an object that cannot hibernate is idle before it is evicted, instead of 70-140."`
	ControlPort  int      `placeholder:"N" default:"0" help:"Port of the control API, which always listens on loopback (see minido ctl); 0 selects a free one."`
	NoRecord     bool     `help:"Never record bodies, headers and frames for the dashboard and the inspector. By default they are recorded only while one of them is open."`
	NoControl    bool     `help:"Disable the control API."`
	Inspector    int      `name:"inspector-port" placeholder:"N" default:"-1" help:"Port of the inspector for DevTools and editors (console, objects, sources, expressions, CPU profiles, heap snapshots; no breakpoints), on loopback; 0 selects a free one. Default: no inspector."`
	CPUMs        int      `name:"cpu-ms" placeholder:"N" help:"CPU time limit of a turn, in milliseconds. Default: a hundred times limits.cpu_ms of the wrangler file, which is meant for V8, up to 30000; else 30000."`
	HeapMB       int      `name:"heap-mb" placeholder:"N" default:"1024" help:"Memory of the process at which the isolate that grew most is discarded; 0: no limit."`
	NoDefer      bool     `help:"Evaluate every module in import order, even those that declare no side effects."`
	NoWatch      bool     `help:"Do not reload when files change."`
	MockAI       bool     `name:"mock-ai" help:"Start a local scripted model for env.AI, OpenAI Responses and Anthropic Messages; sets OPENAI_BASE_URL, ANTHROPIC_BASE_URL and the keys."`
	AIURL        string   `name:"ai-url" placeholder:"URL" help:"Send the requests of env.AI.run() to this provider: POST URL/ai/run/MODEL."`
	Clock        string   `enum:"real,virtual,auto" default:"real" help:"The clock of workers. real: machine time. virtual: stands still until \"minido ctl clock advance 30m\". auto: jumps to the next timer or alarm whenever nothing is left to do. \"minido ctl clock MODE\" changes it later."`
	CacheDir     string   `placeholder:"DIR" help:"Directory for transformed modules. Default: in the state directory."`

	wranglerFlags

	TestScheduled bool `help:"Make /__scheduled run the scheduled handler, as /cdn-cgi/handler/scheduled always does."`
}

// Run implements kong's command interface.
func (c *devCommand) Run() error {
	began := clock.Real{}.Now()
	if err := c.wranglerFlags.apply(); err != nil {
		return &exitError{exitUsage, err}
	}
	term := newTerminal(levels[c.LogLevel])
	points, err := process.PointsFromEnvironment()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()

	steered := clock.NewSteered(clock.Real{}, clock.Mode(c.Clock))
	sch, machine := crash.NewThreads(steered), crash.NewThreads(clock.Real{})
	if err := profiler(machine); err != nil {
		return err
	}
	memory := newMemory(clock.Real{}, uint64(max(c.HeapMB, 0))<<20)
	defer memory.stop()
	stopMock, err := c.mockAI(machine) // its pauses are no work of the server's
	if err != nil {
		return err
	}
	happened := feed.New(clock.Real{}, points)
	opts := c.options(term, happened)
	var recorder *feed.Recorder
	if !c.NoRecord {
		recorder = feed.NewRecorder(clock.Real{}, happened)
		opts.Incoming = recorder.Incoming
	}
	if opts.Config.Add, err = c.inFile(); err != nil {
		return &exitError{exitUsage, err}
	}
	opts.Config.AddFrom = "the command line"
	opts.AI = strings.TrimRight(c.AIURL, "/")
	if opts.Eviction, err = c.eviction(); err != nil {
		return &exitError{exitUsage, err}
	}
	if opts.DevRegistry, err = devregistry.DefaultDir(); err != nil {
		term.event(server.Event{Kind: server.EventWarning, Text: "other dev sessions are not found: " + err.Error()})
	}
	opts.Opened = memory.opened
	opts.RecentLogs = func() []string { return happened.LastLogs(shownLogs) }
	var dashboard atomic.Value // its address, once it is there
	opts.Dashboard = func() string { text, _ := dashboard.Load().(string); return text }
	opts.Scheduler, opts.Machine, opts.Entropy, opts.Points = sch, clock.Real{}, entropy.System{}, points
	opts.Dialer = netx.NewReal(netx.RealOptions{Scheduler: sch, Entropy: entropy.System{}, Points: points})
	if recorder != nil {
		opts.Dialer = recorder.Dialer(opts.Dialer)
	}
	s, err := server.Start(ctx, opts)
	if err != nil {
		if ctx.Err() != nil {
			return &exitError{code: 130}
		}
		return &exitError{exitUsage, errors.New(term.explain(err))}
	}
	memory.started(s)
	pacer := sched.NewPacer(sch, steered, clock.Real{})
	machine.Go("pace", func() { pacer.Auto(ctx) })
	// Who waits for "Ready" finds the control API.
	api, stopControl := c.control(term, s, sch, machine, pacer, happened, recorder)
	stopInspector := c.inspector(term, s, machine, happened, recorder)
	if api != nil {
		dashboard.Store(api.DashboardPage())
	}
	term.started(s, clock.Real{}.Now().Sub(began))
	released := c.listen(ctx, stop, term, s, api, machine)

	<-ctx.Done()
	stop()
	released()
	term.line("Stopping...")
	closing, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer clock.Real{}.AfterFunc(stopLimit, cancel).Stop()
	err = errors.Join(stopInspector(closing), stopControl(closing), s.Close(closing), stopMock(), sch.Close(closing), machine.Close(closing))
	if err != nil {
		return fmt.Errorf("stopping: %w", err)
	}
	return nil
}

// shownLogs is how many lines the page about an error shows.
const shownLogs = 20

// heap is the memory limit. The collector works towards it before it is hit.
func (c *devCommand) heap() *engine.HeapWatch {
	if c.HeapMB <= 0 {
		return nil
	}
	limit := uint64(c.HeapMB) << 20
	debug.SetMemoryLimit(int64(limit + limit/8))
	return engine.NewHeapWatch(limit)
}

// control starts the control API; without one api is nil, and the server goes on.
func (c *devCommand) control(term *terminal, s *server.Server, sch, machine sched.Scheduler, pacer *sched.Pacer, happened *feed.Feed, recorder *feed.Recorder) (api *control.Control, stop func(context.Context) error) {
	none := func(context.Context) error { return nil }
	if c.NoControl {
		return nil, none
	}
	campaigns := c.campaigns(s.Project(), machine)
	api, err := control.Start(control.Options{Server: s, Scheduler: sch, Pacer: pacer, Machine: clock.Real{}, Entropy: entropy.System{}, Port: c.ControlPort, Version: version.Current().Version,
		Feed: happened, Recorder: recorder, Harness: campaigns})
	if err != nil {
		term.event(server.Event{Kind: server.EventWarning, Text: "minido ctl will not find this server: " + err.Error()})
		return nil, none
	}
	return api, func(ctx context.Context) error { return errors.Join(campaigns.Close(ctx), api.Close(ctx)) }
}

// inspector starts the inspector, if a port was given; without one the server goes on.
func (c *devCommand) inspector(term *terminal, s *server.Server, sch sched.Scheduler, happened *feed.Feed, recorder *feed.Recorder) (stop func(context.Context) error) {
	none := func(context.Context) error { return nil }
	if c.Inspector < 0 {
		return none
	}
	x, err := inspector.Start(inspector.Options{Scheduler: sch, Machine: clock.Real{}, Entropy: entropy.System{}, Port: c.Inspector, Title: s.Project().Name, Version: version.Current().Version, Feed: happened, Recorder: recorder,
		Sources: func() map[string][]byte { return s.Sources().Files() }, Worker: func(fn func(*isolate.Isolate, error)) { server.Inspect(s, fn) }})
	if err != nil {
		term.event(server.Event{Kind: server.EventWarning, Text: "no inspector: " + err.Error()})
		return none
	}
	term.line("Inspector on %s (Chrome: chrome://inspect)", x.URL())
	return x.Close
}

// stopLimit is how long stopping waits for what is still running.
const stopLimit = 5 * time.Second

func (c *devCommand) options(term *terminal, happened *feed.Feed) server.Options {
	first := config.Options{CompatibilityDate: c.CompatibilityDate, CompatibilityFlags: c.CompatibilityFlags, Host: c.Host, UpstreamProtocol: c.UpstreamProtocol, LocalProtocol: c.LocalProtocol, Entry: c.Script, Env: c.Env, EnvFiles: c.EnvFile, Vars: c.Var, Environ: os.Environ()}
	var others []config.Options
	for i, path := range c.Config {
		if i == 0 {
			first.ConfigPath = path
			continue
		}
		other := first
		other.Entry, other.ConfigPath = "", path
		others = append(others, other)
	}
	if c.CPUMs > 0 {
		engine.BoundMatches(time.Duration(c.CPUMs) * time.Millisecond)
	}
	o := server.Options{
		Config: first, Others: others, HTTPS: &server.HTTPS{KeyPath: c.HTTPSKeyPath, CertPath: c.HTTPSCertPath},
		PersistDir: c.PersistTo, CacheDir: c.CacheDir, AllowedHosts: c.AllowedHosts,
		TurnLimit: time.Duration(c.CPUMs) * time.Millisecond, Heap: c.heap(),
		Watch: !c.NoWatch, NoDefer: c.NoDefer, Ahead: true, Remember: true, TestScheduled: c.TestScheduled,
		Console:     term.console,
		Logs:        happened,
		Requests:    func(r gateway.RequestLog) { happened.Request(r); term.request(r) },
		Events:      func(ev server.Event) { happened.Event(ev); term.event(ev) },
		Turns:       happened,
		BuildOutput: os.Stderr,
		Address:     c.address(),
	}
	if c.Sync == "normal" {
		o.Sync = sqlite.Normal
	} else {
		o.Sync = sqlite.Full
	}
	if c.Limits == "prod" {
		o.Limits = sqlstore.Prod
	} else {
		o.Limits = sqlstore.Local
	}
	return o
}

// eviction is the policy that the flags describe.
func (c *devCommand) eviction() (pool.Policy, error) {
	p, err := pool.ParsePolicy(c.Eviction)
	if err != nil {
		return p, err
	}
	if c.Idle >= 0 {
		p.Hibernate = time.Duration(c.Idle * float64(time.Second))
	}
	if c.IdleMax == "" {
		return p, nil
	}
	low, high, isRange := strings.Cut(c.IdleMax, "-")
	if !isRange {
		high = low
	}
	from, err1 := strconv.ParseFloat(low, 64)
	to, err2 := strconv.ParseFloat(high, 64)
	if err1 != nil || err2 != nil || from <= 0 || to < from {
		return p, fmt.Errorf("--idle-max %q: write two numbers of seconds, for example 70-140", c.IdleMax)
	}
	p.EvictMin, p.EvictMax = time.Duration(from*float64(time.Second)), time.Duration(to*float64(time.Second))
	return p, nil
}

// address takes flags before the wrangler file before defaults.
func (c *devCommand) address() server.Address {
	return server.Address{IP: c.IP, Port: c.Port, PortSet: c.Port >= 0}
}

// terminal prints for a person: messages in whole lines, colours only where
// they are wanted. Safe for concurrent use.
type terminal struct {
	mu       sync.Mutex // one line at a time
	out, err io.Writer
	color    bool
	level    atomic.Int32 // an engine.Level: the least severe that is printed
}

func newTerminal(level engine.Level) *terminal {
	t := &terminal{out: os.Stdout, err: os.Stderr, color: useColor()}
	t.level.Store(int32(level))
	return t
}

func (t *terminal) least() engine.Level { return engine.Level(t.level.Load()) }

const levelNone = engine.Error + 1

var levels = map[string]engine.Level{"debug": engine.Debug, "info": engine.Info, "log": engine.Log, "warn": engine.Warn,
	"error": engine.Error, "none": levelNone}

// nextLevel prints less from now on, or everything again after nothing at all; it
// returns the level's name.
func (t *terminal) nextLevel() string {
	at := slices.Index(levelOrder, levelName(t.least()))
	next := levelOrder[(at+1)%len(levelOrder)]
	t.level.Store(int32(levels[next]))
	return next
}

var levelOrder = []string{"debug", "log", "info", "warn", "error", "none"}

func levelName(level engine.Level) string {
	for _, name := range levelOrder {
		if levels[name] == level {
			return name
		}
	}
	panic("minido: a level without a name")
}

// clear empties the screen and what can be scrolled back to.
func (t *terminal) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprint(t.out, "\x1b[H\x1b[2J\x1b[3J")
}

// useColor follows NO_COLOR, FORCE_COLOR and whether stdout is a terminal.
func useColor() bool {
	if os.Getenv("NO_COLOR") != "" {
		return false
	}
	if os.Getenv("FORCE_COLOR") != "" {
		return true
	}
	info, err := os.Stdout.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (t *terminal) paint(code, text string) string {
	if !t.color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (t *terminal) print(w io.Writer, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintln(w, text)
}

func (t *terminal) line(format string, args ...any) { t.print(t.out, fmt.Sprintf(format, args...)) }

// What errors and warnings begin with, as in wrangler (esbuild's formatMessages).
func (t *terminal) errorMark() string   { return t.paint("31", "✘ [ERROR]") + " " }
func (t *terminal) warningMark() string { return t.paint("33", "▲ [WARNING]") + " " }

// severity orders the levels as wrangler does (workers-utils/src/logger.ts): what
// console.debug says counts as info, and --log-level=info prints no console.log.
var severity = map[engine.Level]int{engine.Error: 0, engine.Warn: 1, engine.Info: 2, engine.Debug: 2, engine.Log: 3}

// shows reports whether a message of that level is printed.
func (t *terminal) shows(level engine.Level) bool {
	switch least := t.least(); least {
	case levelNone:
		return false
	case engine.Debug: // the option's, above all that there is
		return true
	default:
		return severity[level] <= severity[least]
	}
}

// console prints what the worker logs: errors and warnings on stderr.
func (t *terminal) console(level engine.Level, c *engine.Context, text string) {
	if !t.shows(level) {
		return
	}
	switch level {
	case engine.Error:
		t.print(t.err, t.errorMark()+text)
	case engine.Warn:
		t.print(t.err, t.warningMark()+text)
	default:
		t.print(t.out, text)
	}
}

func (t *terminal) request(r gateway.RequestLog) {
	if !t.shows(engine.Info) {
		return
	}
	status := strings.TrimSpace(strconv.Itoa(r.Status) + " " + r.Reason)
	t.line("[minido:info] %s %s %s (%s)", r.Method, r.Path, t.paint(statusColor(r.Status), status), round(r.Duration))
}

func statusColor(status int) string {
	switch {
	case status >= 500:
		return "31"
	case status >= 400:
		return "33"
	}
	return "32"
}

func round(d time.Duration) string {
	if d < 10*time.Millisecond {
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(time.Millisecond).String()
}

func (t *terminal) event(ev server.Event) {
	of := ""
	if ev.Worker != "" {
		of = "[" + ev.Worker + "] "
	}
	switch ev.Kind {
	case server.EventReloading:
		t.line("%s", t.paint("2", of+"Files changed, reloading..."))
	case server.EventReloaded:
		t.line("%s", t.paint("32", of+"Reloaded."))
	case server.EventBuildFailed:
		t.print(t.err, t.paint("31", of+"The change cannot be loaded; the earlier code goes on answering.\n")+t.explain(ev.Err))
	case server.EventNote:
		t.line("%s", of+ev.Text)
	case server.EventWarning:
		t.print(t.err, t.warningMark()+of+ev.Text)
	default:
		t.print(t.err, t.errorMark()+of+ev.Text)
	}
}

// explain renders an error of Start.
func (t *terminal) explain(err error) string {
	text, ofProject := server.Explain(err, t.color)
	if !ofProject || text == err.Error() { // it names no file of its own
		return "minido: " + text
	}
	return text
}

// started prints where the server answers and what env has.
func (t *terminal) started(s *server.Server, took time.Duration) {
	for _, d := range s.Warnings() {
		t.print(t.err, d.Render(t.color))
	}
	if bindings := s.Bindings(); len(bindings) > 0 {
		t.line("%s", t.bindings("this worker", bindings))
	}
	for _, other := range s.Others() {
		t.line("%s", t.bindings("the worker "+other.Project().Name, other.Bindings()))
	}
	for _, m := range append([]*server.Server{s}, s.Others()...) {
		for _, a := range server.Missing(m) {
			text := fmt.Sprintf("%s: a %s is %s; the worker runs without it (%s)", a.Section, a.Title, t.paint("33", a.Reason), a.Where)
			if a.Advice != "" {
				text += ". " + a.Advice
			}
			t.line("%s", text)
		}
	}
	if text := unheeded(s.Project()); text != "" {
		t.line("%s", t.paint("2", text))
	}
	// Scripts wait for the words and the URL: no colour comes between them.
	t.line("Ready on %s %s", s.URL(), t.paint("2", "("+took.Round(time.Millisecond).String()+")"))
}

// shownFlags bounds how many flags the line of unheeded names.
const shownFlags = 4

// unheeded says in one line in which compatibility flags workerd, at the project's
// date, differs from minido; "" if in none.
func unheeded(p *config.Project) string {
	_, flags := p.CompatSet().Unheeded()
	if len(flags) == 0 {
		return ""
	}
	var names []string
	for _, f := range flags[:min(len(flags), shownFlags)] {
		names = append(names, f.String())
	}
	more := ""
	if n := len(flags) - len(names); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("At the compatibility date %s workerd differs in %s%s (\"Compatibility flags\" in docs/compatibility.md)",
		p.CompatibilityDate, strings.Join(names, ", "), more)
}

func (t *terminal) bindings(of string, list []server.BindingState) string {
	if len(list) == 0 {
		return "No bindings of " + of + "."
	}
	width := [3]int{}
	for _, b := range list {
		width[0], width[1] = max(width[0], len("env."+b.Name)), max(width[1], len(b.Kind))
		width[2] = max(width[2], len(b.Detail))
	}
	var sb strings.Builder
	sb.WriteString("Bindings of " + of + ":\n")
	for _, b := range list {
		state := t.paint("32", "ready")
		if !b.Ready {
			state = t.paint("33", "not offered") + ": the first use throws (" + b.Where + ")"
			if b.Advice != binding.CommonAdvice && b.Advice != binding.RemoteAdvice {
				state += ". " + b.Advice
			}
		}
		fmt.Fprintf(&sb, "  %-*s  %-*s  %-*s  %s\n", width[0], "env."+b.Name, width[1], b.Kind, width[2], b.Detail, state)
	}
	return sb.String()
}

// campaigns is what runs campaigns on the project of this server.
func (c *devCommand) campaigns(p *config.Project, machine sched.Scheduler) *harness.Harness {
	o := harness.Options{Dir: p.Dir, Config: p.ConfigFile, Env: p.Environment, Vars: c.Var, Scheduler: machine}
	self, err := os.Executable()
	o.Command = []string{self}
	switch {
	case err != nil:
		o.Unavailable = "the path of this program, which would run the campaign, is not known: " + err.Error()
	case c.Script != "":
		o.Unavailable = "a campaign runs \"main\" of the wrangler file, and this server another file: start minido dev without one"
	case p.ConfigFile == "":
		o.Unavailable = "a campaign needs a project with a wrangler file; this server runs a single file"
	}
	return harness.New(o)
}
