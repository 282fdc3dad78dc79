// Package nodeapi holds the `node:` modules of Workers under the compatibility flag
// nodejs_compat, and the globals that come with it.
//
// A module is made at its first import and cached per runtime. Its value is
// the CommonJS exports object, without a property `default`: the interop of
// package bundle makes the default import and the namespace from it.
//
// Each family of modules has a package of its own below this one, which declares them
// in Define: to add a module, write its folder, and its line in families. Algorithms
// over JavaScript values are preludes (js/*.js); bytes, codecs, paths, hashing and
// compression are Go. What Workers export and minido lacks stands in every module as a
// function that throws and says what to use instead (node/surface.go), so that
// importing it never fails.
//
// Behaviour follows nodejs.org/api, and workerd (src/node, src/workerd/api/node)
// where the two differ.
package nodeapi

import (
	"sync"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/asynchooks"
	"minido.dev/minido/runtime/nodeapi/buffer"
	"minido.dev/minido/runtime/nodeapi/crypto"
	"minido.dev/minido/runtime/nodeapi/fs"
	"minido.dev/minido/runtime/nodeapi/misc"
	"minido.dev/minido/runtime/nodeapi/net"
	"minido.dev/minido/runtime/nodeapi/node"
	"minido.dev/minido/runtime/nodeapi/path"
	"minido.dev/minido/runtime/nodeapi/process"
	"minido.dev/minido/runtime/nodeapi/stream"
	"minido.dev/minido/runtime/nodeapi/timers"
	"minido.dev/minido/runtime/nodeapi/url"
	"minido.dev/minido/runtime/nodeapi/util"
	"minido.dev/minido/runtime/nodeapi/zlib"
	"minido.dev/minido/runtime/webapi"
)

// families are the packages of modules; those with globals define them in this order.
var families = []node.Family{
	process.Define,
	buffer.Define,
	defineGlobal,
	timers.Define,
	asynchooks.Define,
	crypto.Define,
	fs.Define,
	misc.Define,
	net.Define,
	path.Define,
	stream.Define,
	url.Define,
	util.Define,
	zlib.Define,
}

// registry is made when it is first asked: programs that run no worker do without.
var registry = sync.OnceValue(func() *node.Registry { return node.NewRegistry(families...) })

// defineGlobal is the global named global.
func defineGlobal(r *node.Registry) {
	r.Globals(func(m *node.Modules) { m.Define(m.VM.GlobalObject(), "global", m.VM.GlobalObject()) })
}

// Options are what the modules need from outside.
type Options = node.Options

// Modules are the node: modules of one isolate. Loop-confined.
type Modules struct{ *node.Modules }

// New prepares the modules of an engine in which no user code has run yet.
// Under nodejs_compat_v2 it defines the globals process, Buffer, global,
// setImmediate and clearImmediate, made at their first use. p may be nil in tests.
func New(e *engine.Engine, p *webapi.Platform, o Options) *Modules {
	return &Modules{node.New(registry(), e, p, o)}
}

// CloudflareNode is the exports object of cloudflare:node, which hands a
// Worker's requests to servers of node:http
// (developers.cloudflare.com/workers/runtime-apis/nodejs/http).
func (m *Modules) CloudflareNode() (exports goja.Value, err error) { return net.Cloudflare(m.Modules) }

// Has reports whether a specifier, with or without `node:`, is a module that
// some setting of the compatibility flags offers; see Offered. Pure.
func Has(spec string) bool { return registry().Has(spec) }

// Names are all modules, sorted, without `node:`.
func Names() []string { return registry().Names() }

// Offered is Has under a worker's compatibility flags. Pure.
func Offered(spec string, on func(flag compat.Flag) bool) bool {
	return registry().Offered(spec, on)
}
