// Package webapi is the web platform of an isolate: the WHATWG and W3C specifications
// that Workers implement, as globals of one engine.Engine.
//
// Each specification's part is a package of its own; this one puts them together.
// Globals are made at their first use (engine.Lazies.Global), so that a worker pays
// only for what it touches.
package webapi

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/ecma/buffers"
	"minido.dev/minido/runtime/ecma/intl"
	"minido.dev/minido/runtime/ecma/lang"
	"minido.dev/minido/runtime/ecma/regexp"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/blob"
	"minido.dev/minido/runtime/webapi/caches"
	"minido.dev/minido/runtime/webapi/crypto"
	"minido.dev/minido/runtime/webapi/encoding"
	"minido.dev/minido/runtime/webapi/events"
	"minido.dev/minido/runtime/webapi/eventsource"
	"minido.dev/minido/runtime/webapi/fetch"
	"minido.dev/minido/runtime/webapi/form"
	"minido.dev/minido/runtime/webapi/html"
	"minido.dev/minido/runtime/webapi/inspect"
	"minido.dev/minido/runtime/webapi/performance"
	"minido.dev/minido/runtime/webapi/scope"
	"minido.dev/minido/runtime/webapi/socket"
	"minido.dev/minido/runtime/webapi/streams"
	"minido.dev/minido/runtime/webapi/structured"
	"minido.dev/minido/runtime/webapi/url"
	"minido.dev/minido/runtime/webapi/websocket"
	"minido.dev/minido/runtime/webidl"
)

// Options are what the platform needs from outside. All functions are called
// on the loop.
type Options struct {
	// Fetch performs an outbound HTTP exchange on behalf of the current
	// context. done may be called from any goroutine, once. The returned
	// function cancels.
	Fetch func(req *event.Request, done func(*event.Response, error)) (cancel func(error))
	// Compat answers for a compatibility flag (its enable name).
	Compat func(flag compat.Flag) bool
	// Go runs fn off the loop, as sched.Scheduler.Go does. Nil: what would be
	// computed there is computed on the loop.
	Go func(name string, fn func())
	// Caches keeps what is put into caches; nil: every use of them throws.
	Caches *caches.Store
}

// Platform is the web platform of one isolate: the parts that other packages
// use. Loop-confined.
type Platform struct {
	*webidl.Realm
	Language   *lang.Language
	Events     *events.Events
	Streams    *streams.Streams
	Blobs      *blob.Blobs
	WebSockets *websocket.Sockets
	TCP        *socket.Sockets // connect() of cloudflare:sockets
	Fetch      *fetch.Fetch
	Crypto     *crypto.Crypto
	Console    *inspect.Console
}

// Install defines the platform's globals in an engine in which no user code
// has run yet.
func Install(e *engine.Engine, o Options) *Platform {
	r := webidl.New(e, webidl.Options{Compat: o.Compat, Go: o.Go})
	p := &Platform{Realm: r, Language: lang.New(r)}
	regexps, cloner := regexp.New(r), structured.New(r)
	memory := buffers.Runtime{Engine: e}
	r.Clone = clone.New(r.VM, clone.Config{Registry: r.Hosts, RegExpSource: regexps.Source, Resizable: memory, Shared: memory, NewRegExp: regexps.Remake, Room: e.Memory.Allows})
	r.InstallDOMException()
	// Every object with a Go value is a platform object unless its class says
	// otherwise, and so is what the stream classes make.
	r.Hosts.RefuseOthers(func(obj *goja.Object) bool {
		return e.Owner(obj) == engine.OwnerPlatform || p.Streams.Inherits(obj)
	})
	r.Hosts.RefuseLanguage(func(obj *goja.Object) bool {
		return e.Owner(obj) == engine.OwnerLanguage || obj == r.VM.GlobalObject()
	})

	p.Language.Install()
	p.Language.InstallDisposables()
	regexps.Install()
	intl.New(r).Install()

	urls := url.New(r)
	urls.Install()
	urls.InstallPattern(regexps.Ctor)
	encodings := encoding.New(r)
	encodings.Install()
	p.Console = inspect.New(r, regexps)
	p.Console.Install()
	p.Events = events.New(r, cloner)
	performance.New(r, cloner, p.Events)
	p.Streams = streams.New(r)
	p.Crypto = crypto.New(r, func() *goja.Object { return p.Streams.Class("WritableStream") })
	p.Crypto.Install()
	p.Blobs = blob.New(r, p.Streams)
	forms := form.New(r, p.Blobs)
	p.WebSockets = websocket.New(r, p.Events, p.Blobs, o.Fetch)
	p.TCP = socket.New(r, p.Streams, o.Fetch)
	p.Fetch = fetch.New(r, fetch.Parts{Events: p.Events, Streams: p.Streams, Blobs: p.Blobs, Forms: forms, Sockets: p.WebSockets}, o.Fetch)
	eventsource.Install(r, p.Events, p.Streams, p.Fetch)
	caches.New(r, p.Fetch, o.Caches)
	html.New(r, p.Fetch, p.Streams, encodings).Install()
	scope.Install(r, scope.Parts{Fetch: p.Fetch, Streams: p.Streams})
	return p
}
