// Package builtins knows the modules that come with the host and not with a project: which
// specifiers mean a module of Node.js or of the platform, and what replaces npm packages.
package builtins

import "strings"

// nodeBuiltins are the bare names that mean a module of Node.js. Those that
// the host provides become `node:` specifiers before packages are looked up,
// as wrangler's nodejs_compat does.
var nodeBuiltins = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`_http_agent _http_client _http_common _http_incoming
		_http_outgoing _http_server _stream_duplex _stream_passthrough _stream_readable
		_stream_transform _stream_wrap _stream_writable _tls_common _tls_wrap assert assert/strict
		async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel
		dns dns/promises domain events fs fs/promises http http2 https inspector inspector/promises
		module net os path path/posix path/win32 perf_hooks process punycode querystring readline
		readline/promises repl stream stream/consumers stream/promises stream/web string_decoder sys
		timers timers/promises tls trace_events tty url util util/types v8 vm wasi worker_threads zlib`) {
		m[n] = true
	}
	return m
}()

// builtinPrefixes name modules that are never files.
var builtinPrefixes = []string{"node:", "cloudflare:", "minido:", "workerd:"}

// Spec is the host's name for a specifier: `fs` and `node:fs` are both
// node:fs. ok is false for a specifier that can only be a file or a package.
// certain is false for a bare name, which may also be a package.
func Spec(spec string) (name string, certain, ok bool) {
	for _, p := range builtinPrefixes {
		if strings.HasPrefix(spec, p) {
			return spec, true, true
		}
	}
	if nodeBuiltins[spec] {
		return "node:" + spec, false, true
	}
	return "", false, false
}
