// Package child is the server as the chaos harness runs it: a process that evaluates
// the project's bundle ahead of time, waits for the harness to name the state to
// serve, dies at the armed point, and reports when nothing is left to do. Orders come
// on standard input and replies go to standard output, as lines of JSON (package
// process); the worker's console goes to standard error. The end of standard input
// means that the harness is gone, and ends the process.
package child

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"minido.dev/minido/chaos/fibers"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/crash"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/hugepages"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/server"
	"minido.dev/minido/sqlstore"
)

// Options configure a child. Config and CacheDir are required.
type Options struct {
	Config   string // the wrangler file
	Name     string // takes the place of the worker's name in it, unless it is ""
	Env      string
	Vars     []string // KEY:VALUE
	CacheDir string   // of transformed modules, shared by all children
	// Frozen is the directory of a campaign's frozen bundles, "" for none: the first
	// child that comes to rest puts its own there, and those after it begin with that.
	Frozen string
	// Idle evicts objects that may hibernate after so long without events.
	Idle time.Duration
	// AI is the URL of the provider that answers for Workers AI bindings, "" for none.
	AI string

	In       io.Reader
	Out, Err io.Writer
}

// stopLimit is how long stopping waits for what is still running.
const stopLimit = 5 * time.Second

// memoryLimit is when a child begins to collect garbage, in bytes: it lives for
// seconds, and most need less.
const memoryLimit = 200 << 20

// Run is the whole life of a child that ends in good order. Its error was told
// to the harness already.
func Run(o Options) error {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(memoryLimit)
	hugepages.Prepare(heapAhead)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	machine := &clock.Shifted{Clock: clock.Real{}}
	sch := crash.NewThreads(machine)
	c := &child{options: o, clock: machine, began: clock.Real{}.Now(), scheduler: sch, points: killpoint.New(killpoint.Options{Explains: true}),
		orders: make(chan process.Order), gone: cancel, serving: make(chan struct{})}
	if o.Frozen != "" {
		c.bundles = &server.Bundles{Dir: o.Frozen}
	}
	sch.Go("orders", c.read)
	err := c.run(ctx)
	if err != nil {
		c.fail(err)
	}
	closing, done := context.WithCancel(context.Background())
	defer done()
	defer clock.Real{}.AfterFunc(stopLimit, done).Stop()
	if c.server != nil {
		err = errors.Join(err, c.server.Close(closing))
	}
	return err // the scheduler's reader waits for the harness, which need not come
}

// heapAhead is how much of the heap lies in large pages, in bytes: about what a child
// needs for a bundle with its packages. It touches most of its heap once and is killed,
// so half of what it costs the kernel would be making and taking down small pages.
const heapAhead = 96 << 20

type child struct {
	options   Options
	began     time.Time
	scheduler *sched.Threads
	clock     *clock.Shifted // what the worker lives by
	points    *killpoint.Points
	orders    chan process.Order
	gone      func() // the harness is

	server  *server.Server                           // set once, by run
	bundles *server.Bundles                          // nil without Options.Frozen
	serving chan struct{}                            // closed when server is set
	acting  atomic.Int32                             // acts that have begun and are not noted
	skews   atomic.Pointer[map[string]time.Duration] // of the order

	mu sync.Mutex // one line at a time
}

// read takes orders until standard input ends.
func (c *child) read() {
	defer close(c.orders)
	in := bufio.NewScanner(c.options.In)
	for in.Scan() {
		var o process.Order
		if err := json.Unmarshal(in.Bytes(), &o); err != nil {
			c.fail(fmt.Errorf("child: an order that is none: %w", err))
			break
		}
		c.orders <- o
	}
	c.gone()
}

func (c *child) say(r process.Reply) {
	line, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("child: a reply did not marshal: %v", err))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.options.Out.Write(append(line, '\n')); err != nil {
		c.gone()
	}
}

func (c *child) fail(err error) {
	text, ofProject := server.Explain(err, false)
	c.say(process.Reply{Say: process.SayFailed, Text: text, Usage: ofProject})
}

func (c *child) ms() float64 {
	return float64(clock.Real{}.Now().Sub(c.began).Microseconds()) / 1000
}

func (c *child) run(ctx context.Context) error {
	s, err := server.Start(ctx, c.serverOptions())
	if err != nil {
		if ctx.Err() != nil {
			return nil // the harness went away while this child waited
		}
		return err
	}
	c.server = s
	close(c.serving)
	c.say(process.Reply{Say: process.SayReady, URL: s.URL(), Ms: c.ms()})
	for o := range c.orders {
		switch o.Do {
		case process.DoPending:
			s.Pending(time.Duration(o.HorizonMs)*time.Millisecond, func(why string) {
				if why == "" && c.acting.Load() > 0 {
					why = "a fault has begun"
				}
				if why == "" && c.bundles != nil {
					if err := c.bundles.Keep(); err != nil {
						c.log(err.Error())
					}
				}
				c.say(process.Reply{Say: process.SayPending, Text: why})
			})
		case process.DoWake:
			server.Wake(s, func(failed []pool.Unborn, err error) {
				if err != nil {
					c.fail(err)
					return
				}
				r := process.Reply{Say: process.SayWoken}
				for _, f := range failed {
					r.Unborn = append(r.Unborn, f.String())
				}
				c.say(r)
			})
		case process.DoStop:
			return nil
		default:
			return fmt.Errorf("child: a serving child cannot do %q", o.Do)
		}
	}
	return nil
}

// log is for people; a harness that does not read it misses nothing.
func (c *child) log(text string) { _, _ = fmt.Fprintln(c.options.Err, text) }

func (c *child) serverOptions() server.Options {
	return server.Options{
		Config:  config.Options{ConfigPath: c.options.Config, Add: config.Named(c.options.Name), AddFrom: "the version before", Env: c.options.Env, Vars: c.options.Vars, Environ: os.Environ()},
		Address: server.Address{IP: "127.0.0.1", PortSet: true}, CacheDir: c.options.CacheDir, Bundles: c.bundles, Hold: c.hold, AI: c.options.AI,
		Scheduler: c.scheduler, Machine: clock.Real{}, Entropy: entropy.System{}, Points: c.points,
		Dialer: netx.NewReal(netx.RealOptions{Scheduler: c.scheduler, Entropy: entropy.System{}, Points: c.points}),
		Sync:   sqlite.Off, Limits: sqlstore.Local, Eviction: pool.Policy{Hibernate: c.options.Idle}, Skew: c.skew,
		Console:     func(_ engine.Level, _ *engine.Context, text string) { c.log(text) },
		Events:      func(e server.Event) { c.log("[minido] " + e.Text) },
		BuildOutput: c.options.Err,
	}
}

// hold waits for the order to serve.
func (c *child) hold(ctx context.Context) (string, error) {
	c.say(process.Reply{Say: process.SayPrepared, Ms: c.ms()})
	select {
	case o, ok := <-c.orders:
		if !ok {
			return "", errors.New("child: the harness is gone")
		}
		c.began = clock.Real{}.Now()
		switch o.Do {
		case process.DoServe:
			return o.Persist, c.arm(o)
		case process.DoStop:
			return "", errors.New("child: stopped before it served")
		}
		return "", fmt.Errorf("child: a waiting child cannot do %q", o.Do)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// atCheckpoint is the target of a kill at a fiber's checkpoint.
func atCheckpoint(o process.Order) (func(killpoint.Point) bool, error) {
	c, err := fibers.NewCheckpoints(o.Persist, o.Checkpoint)
	return func(p killpoint.Point) bool {
		hit, err := c.Hit(p)
		if err != nil {
			panic(fmt.Sprintf("child: %v", err)) // a kill that is missed for this would be a lie
		}
		return hit
	}, err
}

// skew is server.Options.Skew.
func (c *child) skew(label string) time.Duration {
	if skews := c.skews.Load(); skews != nil {
		return (*skews)[label]
	}
	return 0
}

// arm sets where to die and where to record.
func (c *child) arm(o process.Order) error {
	c.skews.Store(&o.Skews)
	var target func(killpoint.Point) bool
	var record func(killpoint.Point)
	var err error
	if o.Arm != "" {
		if target, err = killpoint.ParseTarget(o.Arm); err != nil {
			return fmt.Errorf("child: %w", err)
		}
	}
	if o.Checkpoint > 0 {
		if target, err = atCheckpoint(o); err != nil {
			return fmt.Errorf("child: %w", err)
		}
	}
	if o.Points != "" {
		if record, err = process.RecordPoints(o.Points); err != nil {
			return fmt.Errorf("child: %w", err)
		}
	}
	if len(o.Acts) > 0 {
		agenda, err := c.agenda(o)
		if err != nil {
			return err
		}
		c.points.Interfere(agenda.Interfere)
		note := record
		record = func(p killpoint.Point) {
			if note != nil {
				note(p)
			}
			agenda.Pass(p)
		}
	}
	c.clock.Jump(time.Duration(o.ClockMs) * time.Millisecond)
	c.points.Begin(record, target)
	return nil
}
