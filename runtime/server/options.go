// Package server wires and runs a worker project: configuration, bundle, isolate,
// Durable Objects, alarms, and the listener.
package server

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/disk"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/bundle"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/gateway"
	"minido.dev/minido/runtime/isolate"
	"minido.dev/minido/sqlstore"
)

// Options configure a Server. Immutable once given to Start.
type Options struct {
	Config config.Options
	// Others are further workers that run in the same session, reached by
	// service bindings and by durable_objects bindings with script_name. Their
	// state is in the same directory; requests from outside go to Config's worker.
	Others []config.Options
	// Address is where to listen; what it leaves open comes from the wrangler
	// file, then from wrangler's defaults.
	Address Address
	// HTTPS, if set, lets a project whose local_protocol is "https" be answered over
	// TLS; without it all listen for plain HTTP.
	HTTPS *HTTPS
	// AllowedHosts are further values of the Host header that are answered.
	AllowedHosts []string
	// PersistDir holds the state, in wrangler's layout; "" is .wrangler/state
	// beside the wrangler file.
	PersistDir string
	// CacheDir holds transformed modules between runs; "" is a directory below
	// PersistDir.
	CacheDir string

	// DevRegistry is the directory in which the dev sessions of this user find each
	// other (devregistry.DefaultDir); "" keeps this one alone.
	DevRegistry string

	// Hold, if set, is called once the worker is evaluated, before any state is
	// touched and before anybody listens, and returns the PersistDir. A standby
	// process waits in it. CacheDir is required then.
	Hold func(ctx context.Context) (persistDir string, err error)

	Scheduler sched.Scheduler // required
	// Drive, with a scheduler that runs on the caller's goroutine, steps it until
	// done reports true. Nil: loops run by themselves, and Start and Close block.
	Drive   func(done func() bool) error
	Entropy entropy.Source // required
	Points  *killpoint.Points
	Dialer  netx.Dialer // the way out; required

	// AI is the URL of a provider that answers for Workers AI bindings: run(model,
	// inputs) is POST AI/ai/run/model. "" is none, and a binding's use throws.
	AI string

	Sync   sqlite.Sync
	Limits sqlstore.LimitsProfile
	// Disk, if set, is asked before each write to an object's database and makes
	// it fail with its error: a full disk, a broken one (pool.Options.Disk).
	Disk func() error
	// Files, if set, is the disk that objects and alarms are on: one that records
	// what has been synced (pool.Options.Files).
	Files *disk.Disk
	// Eviction says when objects leave memory by themselves.
	Eviction pool.Policy
	// Skew is how far the clock of the machine that an object runs on, by its label
	// "Class/name", is ahead of the scheduler's, or with "" that of the stateless worker; nil:
	// all run on one machine. Alarms are delivered by the scheduler's. It is called on the
	// loop, when an object or a request begins, and must not block.
	Skew func(label string) time.Duration
	// Opened, if set, is called for each object that comes into memory. It must not
	// block.
	Opened func()
	// TurnLimit bounds the CPU time of a turn; 0 is that for limits.cpu_ms of the wrangler
	// file, or the engine's default.
	TurnLimit time.Duration
	// Machine is the time of what the machine does: the CPU time of turns, waiting
	// for a lock or a port, files that settle, the log of requests. Nil is the
	// scheduler's clock.
	Machine clock.Clock
	// Heap bounds the memory that workers fill; nil does not.
	Heap *engine.HeapWatch

	// TestScheduled answers /__scheduled by firing the scheduled handler.
	TestScheduled bool
	// Watch reloads the worker when its files change.
	Watch bool
	// Amend, if not nil, changes how the workers are bundled. It must be pure.
	Amend func(*bundle.Options)
	// RunsTests is isolate.Options.RunsTests.
	RunsTests bool
	// Patience is engine.Options.Patience.
	Patience *engine.Patience
	// Bundles, if not nil, bundles each project once for all servers that share
	// it. Not with Watch.
	Bundles *Bundles
	// NoDefer evaluates every module in import order.
	NoDefer bool

	// Ahead evaluates deferred modules once a worker is loaded, before they are used.
	// It changes when code runs, and takes time of the loop: simulations, and processes
	// whose recovery is measured, go without.
	Ahead bool
	// Remember writes to CacheDir which modules workers come to use, so that the next start
	// compiles them beside everything else. Not with Bundles.
	Remember bool

	// Console gets what the worker logs, Requests what the listener answers,
	// Events what happens to the server (reloads, errors); nil drops them.
	Console  engine.Logger
	Requests func(gateway.RequestLog)
	Events   func(Event)
	// Turns is told of the turns of all workers; nil: nobody.
	Turns engine.TurnObserver
	// Incoming, where not nil, is put around what answers the listener's requests.
	Incoming func(next netx.Handler) netx.Handler
	// Logs is told what workers log, before Console is; nil: nobody.
	Logs isolate.LogObserver
	// RecentLogs and Dashboard are for the page about an error; see gateway.Surroundings.
	RecentLogs func() []string
	Dashboard  func() string
	// BuildOutput gets the output of a custom build command.
	BuildOutput io.Writer
}

// Address is where the server listens.
type Address struct {
	IP      string // "": dev.ip of the wrangler file, or 127.0.0.1
	Port    int    // 0 takes a free port
	PortSet bool   // false: dev.port of the wrangler file, or 8787
	None    bool   // listen on nothing: requests come through Server.Fetch
}

func (a Address) resolve(d config.Dev) string {
	ip, port := a.IP, a.Port
	if ip == "" {
		ip = d.IP
	}
	if ip == "" || ip == "localhost" {
		ip = "127.0.0.1"
	}
	if ip == "*" {
		ip = "0.0.0.0"
	}
	if !a.PortSet {
		if port = d.Port; !d.PortSet {
			port = DefaultPort
		}
	}
	return net.JoinHostPort(ip, strconv.Itoa(port))
}

// DefaultPort is wrangler's.
const DefaultPort = 8787

// EventKind says what an Event is about.
type EventKind int

// The kinds of events.
const (
	EventWarning     EventKind = iota // something is odd, and goes on
	EventNote                         // something is as it should be
	EventReloading                    // files changed
	EventReloaded                     // the new worker answers
	EventBuildFailed                  // the new worker cannot be built; the old one answers
	EventFailure                      // something failed where no caller waits
	EventRestarted                    // the isolate was condemned and replaced
)

// Event is something that happened to the server. Text is for people; Err, if
// set, is the error behind it, which may have more to show (*config.ConfigError,
// *bundle.BuildError).
type Event struct {
	Kind EventKind
	Text string
	Err  error
	// Worker is the worker concerned, "" for the primary one.
	Worker string
}

// turnLimit is the flag's, else that of the configuration (limits.cpu_ms).
func (o *Options) turnLimit(p *config.Project) time.Duration {
	if o.TurnLimit > 0 {
		return o.TurnLimit
	}
	return engine.TurnLimitFor(time.Duration(p.Limits.CPUMilliseconds) * time.Millisecond)
}

// subrequests is the limit of the configuration (limits.subrequests), else
// production's if its limits are in force; workerd has none.
func (o *Options) subrequests(p *config.Project) int {
	if n := p.Limits.Subrequests; n > 0 || o.Limits == sqlstore.Local {
		return n
	}
	return engine.DefaultSubrequests
}

// objectsDir is where the pool's namespaces are, "" while that is not known.
func (o *Options) objectsDir() string {
	if o.PersistDir == "" {
		return ""
	}
	return filepath.Join(o.PersistDir, "v3", "do")
}

// machine is the time of what the machine does.
func (o *Options) machine() clock.Clock {
	if o.Machine != nil {
		return o.Machine
	}
	return o.Scheduler.Clock()
}
