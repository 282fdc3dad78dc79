package nodeapi

import (
	"strings"

	"github.com/dop251/goja"
)

// Every module, with the flag that workerd's compatibility-date.capnp puts on
// those that came late.
func init() {
	internal("internal/missing", "missing.js", nil)
	internal("internal/abort_error", "abort_error.js", nil)
	internal("internal/constants", "constants.js", nil)
	internal("internal/async_hooks", "async_hooks.js", nil)
	internal("internal/stream_base", "stream_base.js", nil)
	internal("internal/stream_operators", "stream_operators.js", nil)
	internal("internal/stream_readable", "stream_readable.js", nil)
	internal("internal/stream_writable", "stream_writable.js", nil)
	internal("internal/stream_duplex", "stream_duplex.js", nil)
	internal("internal/stream_compose", "stream_compose.js", nil)
	internal("internal/stream_pipeline", "stream_pipeline.js", nil)
	internal("internal/stream_web", "stream_web.js", nil)

	internal("internal/comparisons", "comparisons.js", comparisonsModule)
	internal("internal/parse_args", "parse_args.js", nil)
	internal("internal/mime", "mime.js", nil)

	internal("internal/crypto_stream", "crypto_stream.js", nil)
	internal("internal/crypto_later", "crypto_later.js", nil)
	internal("internal/crypto_keys", "crypto_keys.js", keysModule)
	internal("internal/crypto_x509", "crypto_x509.js", x509Natives)
	internal("internal/http_outgoing", "http_outgoing.js", nil)
	internal("internal/http_incoming", "http_incoming.js", nil)
	internal("internal/http_agent", "http_agent.js", nil)
	internal("internal/http", "http.js", nil)
	internal("internal/http_server", "http_server.js", nil)
	internal("internal/misc", "misc.js", miscModule)
	internal("internal/fs_open", "fs_open.js", nil)
	internal("internal/net_socket", "net_socket.js", socketNatives)
	internal("internal/tls_socket", "tls_socket.js", nil)

	js("assert", "assert.js", nil)
	property("assert/strict", "assert", "strict")
	goModule("async_hooks", makeAsyncHooks)
	js("buffer", "buffer.js", bufferModule)
	js("constants", "constants_module.js", nil)
	js("console", "console.js", consoleModule).flag = "enable_nodejs_console_module"
	js("dns", "dns.js", addressNatives)
	js("net", "net.js", addressNatives)
	js("tls", "tls.js", nil)
	alias("_tls_common", "tls")
	alias("_tls_wrap", "tls")
	property("dns/promises", "dns", "promises")
	js("crypto", "crypto.js", cryptoModule)
	js("diagnostics_channel", "diagnostics_channel.js", nil)
	js("events", "events.js", eventsModule)
	js("module", "module.js", moduleModule)
	js("os", "os.js", nil).flag = "enable_nodejs_os_module"
	goModule("path", makePath)
	property("path/posix", "path", "posix")
	property("path/win32", "path", "win32")
	js("perf_hooks", "perf_hooks.js", nil).flag = "enable_nodejs_perf_hooks_module"
	js("process", "process.js", processModule)
	js("punycode", "punycode.js", punycodeModule).flag = "enable_nodejs_punycode_module"
	js("querystring", "querystring.js", querystringModule)
	js("stream", "stream.js", nil)
	js("stream/consumers", "stream_consumers.js", nil)
	property("stream/promises", "stream", "promises")
	js("stream/web", "stream_web_module.js", nil)
	js("readline", "readline.js", nil).flag = "enable_nodejs_readline_module"
	property("readline/promises", "readline", "promises").flag = "enable_nodejs_readline_module"
	js("string_decoder", "string_decoder.js", decoderModule)
	alias("sys", "util")
	goModule("timers", makeTimers)
	js("test", "test.js", nil)
	js("timers/promises", "timers_promises.js", timersPromisesModule)
	js("url", "url.js", urlModule)
	js("util", "util.js", utilModule)
	js("util/types", "util_types.js", typesModule)
	js("zlib", "zlib.js", zlibModule)
	js("fs", "fs.js", fsModule).flag = "enable_nodejs_fs_module"
	property("fs/promises", "fs", "promises").flag = "enable_nodejs_fs_module"
	property("http", "internal/http", "http").flag = "enable_nodejs_http_modules"
	property("https", "internal/http", "https").flag = "enable_nodejs_http_modules"

	for _, part := range []string{"Duplex", "PassThrough", "Readable", "Transform", "Writable"} {
		property("_stream_"+strings.ToLower(part), "stream", part)
	}
	goModule("_http_server", func(m *Modules) goja.Value {
		exports := m.vm.NewObject()
		for _, name := range []string{"STATUS_CODES", "Server", "ServerResponse"} {
			m.define(exports, name, m.load("http").(*goja.Object).Get(name))
		}
		return exports
	}).flag = "enable_nodejs_http_server_modules"
	property("_http_outgoing", "internal/http_outgoing", "exports").flag = "enable_nodejs_http_modules"
	for _, name := range []string{"_http_agent", "_http_client", "_http_incoming"} {
		alias(name, "http").flag = "enable_nodejs_http_modules"
	}
	mostlyMissing()
}

// mostlyMissing declares the modules that Workers have for programs which
// merely import them, and those whose work minido cannot do.
func mostlyMissing() {
	for _, x := range []struct{ name, flag string }{
		{"_http_common", "enable_nodejs_http_modules"}, {"cluster", "enable_nodejs_cluster_module"},
		{"dgram", "enable_nodejs_dgram_module"},
		{"domain", "enable_nodejs_domain_module"}, {"http2", "enable_nodejs_http2_module"}, {"inspector", "enable_nodejs_inspector_module"},
		{"repl", "enable_nodejs_repl_module"}, {"trace_events", "enable_nodejs_trace_events_module"},
		{"tty", "enable_nodejs_tty_module"}, {"v8", "enable_nodejs_v8_module"}, {"vm", "enable_nodejs_vm_module"},
		{"worker_threads", "enable_nodejs_worker_threads_module"},
	} {
		goModule(x.name, func(m *Modules) goja.Value {
			make := m.load("internal/misc").(*goja.Object).Get(x.name)
			return m.engine.Call(make, goja.Undefined())
		}).flag = x.flag
	}
	for _, x := range []struct{ name, flag string }{
		{"_stream_wrap", "enable_nodejs_stream_wrap_module"},
		{"child_process", "enable_nodejs_child_process_module"},
		{"sqlite", "enable_nodejs_sqlite_module"}, {"wasi", "enable_nodejs_wasi_module"},
	} {
		goModule(x.name, makeUnsupported).flag = x.flag
	}
	alias("inspector/promises", "inspector").flag = "enable_nodejs_inspector_module"
}
