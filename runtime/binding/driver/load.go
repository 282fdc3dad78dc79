package driver

import (
	"time"

	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// Code is a worker that is loaded while another one runs (workerd:
// api/worker-loader.h, WorkerCode).
type Code struct {
	// Name is the worker's in messages; "" is "dynamic".
	Name  string
	Date  string // compatibility date
	Flags []string
	Main  string // the name of the main module
	// Modules are all that it can import, besides what the platform has.
	Modules []Module
	// Env is an object whose properties are EnvNames; nil is none.
	Env      *event.Payload
	EnvNames []string
	// Outbound answers its fetches; nil is the session's way out.
	Outbound cfapi.Target
	// Tails are told of its events; each is an entrypoint with a tail handler.
	Tails []cfapi.Target
	// StreamingTails follow its events: entrypoints with a tailStream handler.
	StreamingTails []cfapi.Target
	// CPU bounds the CPU time of a turn, Subrequests the requests that an event makes;
	// 0 is the session's own limit.
	CPU         time.Duration
	Subrequests int
	// Beside is the engine on whose loop the worker runs: its classes are for objects of
	// that engine's isolate. nil: it has a loop of its own.
	Beside *engine.Engine
}

// Module is a module of such a worker.
type Module struct {
	Name string
	// Kind is "js", "cjs", "text", "data", "json" or "wasm".
	Kind    string
	Content []byte
}

// Loaded is a worker that was loaded. Safe for concurrent use.
type Loaded interface {
	Entrypoint(name string, props *event.Payload) cfapi.Target
	// Exports reports whether the main module has an export of that name.
	Exports(name string) bool
	// Home is what runs objects of its classes: cfapi.ObjectClass.Home.
	Home() any
	// Alive is false once its isolate has been condemned.
	Alive() bool
	// Close ends it, and what it does.
	Close()
}
