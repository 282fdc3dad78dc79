// Package webapi is the web platform of an isolate: what the WHATWG and W3C
// specifications define and Workers offer, as globals of one engine.Engine.
//
// A file holds one specification's part. Globals are made at their first use
// (engine.LazyGlobal), so that a worker pays only for what it touches. State
// machines over JavaScript values are preludes (js/*.js); bytes, codecs,
// parsing and hashing are Go.
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
	"minido.dev/minido/runtime/webapi/socket"
	"minido.dev/minido/runtime/webapi/streams"
	"minido.dev/minido/runtime/webapi/structured"
	"minido.dev/minido/runtime/webapi/url"
	"minido.dev/minido/runtime/webapi/websocket"
	"minido.dev/minido/runtime/webcrypto"
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
	// UserAgent is navigator.userAgent, "Cloudflare-Workers" if empty.
	UserAgent string
}

// Platform is the web platform of one isolate. Loop-confined.
type Platform struct {
	*webidl.Realm
	regexps   *regexp.Class
	intls     *intl.Intl
	lang      *lang.Language
	console   *inspect.Console
	urls      *url.Classes
	encodings *encoding.Classes
	crypto    *crypto.Crypto
	html      *html.Rewriters
	opts      Options

	Events     *events.Events
	Streams    *streams.Streams
	Blobs      *blob.Blobs
	WebSockets *websocket.Sockets
	Fetch      *fetch.Fetch
	TCP        *socket.Sockets // connect() of cloudflare:sockets

	cloner *structured.Cloner
	forms  *form.Forms
}

// Install defines the platform's globals in an engine in which no user code
// has run yet.
func Install(e *engine.Engine, o Options) *Platform {
	p := &Platform{Realm: webidl.New(e, webidl.Options{Compat: o.Compat, Go: o.Go}), opts: o}
	p.cloner = structured.New(p.Realm)
	p.lang = lang.New(p.Realm)
	p.regexps = regexp.New(p.Realm)
	p.urls = url.New(p.Realm)
	p.console = inspect.New(p.Realm, p.regexps)
	p.encodings = encoding.New(p.Realm)
	p.crypto = crypto.New(p.Realm, p.cloner, func() *goja.Object { return p.Streams.Class("WritableStream") })
	p.intls = intl.New(p.Realm)
	p.Clone = clone.New(p.VM, clone.Config{Registry: p.Hosts, RegExpSource: p.regexps.Source, Resizable: buffers.Runtime{Engine: e}, Shared: buffers.Runtime{Engine: e}, NewRegExp: p.regexps.Remake})
	p.installCore()
	p.WebSockets = websocket.New(p.Realm, p.Events, p.Blobs, p.opts.Fetch)
	p.TCP = socket.New(p.Realm, p.Streams, p.opts.Fetch)
	p.Fetch = fetch.New(p.Realm, fetch.Parts{Events: p.Events, Streams: p.Streams, Blobs: p.Blobs, Forms: p.forms, Sockets: p.WebSockets}, p.opts.Fetch)
	eventsource.Install(p.Realm, p.Events, p.Streams, p.Fetch)
	caches.New(p.Realm, p.Fetch, p.opts.Caches)
	p.html = html.New(p.Realm, p.Fetch, p.Streams, p.encodings)
	p.html.Install()
	return p
}

// SettleStack is called before code reads v.stack (lang.Language.SettleStack).
func (p *Platform) SettleStack(v goja.Value) { p.lang.SettleStack(v) }

// CryptoKeyOf is the key of a CryptoKey. Loop-confined.
func (p *Platform) CryptoKeyOf(v goja.Value) (*webcrypto.Key, bool) { return p.crypto.KeyOf(v) }

// NewCryptoKey is a CryptoKey of a key (W3C Web Cryptography, section 13).
// Loop-confined.
func (p *Platform) NewCryptoKey(k *webcrypto.Key) *goja.Object { return p.crypto.NewKey(k) }

// InspectWith is util.inspect(v, options); inspect is what custom methods get.
func (p *Platform) InspectWith(v, options, inspect goja.Value) string {
	return p.console.InspectWith(v, options, inspect)
}

// FormatWith is util.formatWithOptions.
func (p *Platform) FormatWith(options, inspect goja.Value, args []goja.Value) string {
	return p.console.FormatWith(options, inspect, args)
}

// ConsoleTable is the text of console.table.
func (p *Platform) ConsoleTable(data, columns goja.Value) string {
	return p.console.Table(data, columns)
}
