package nodeapi

// Every module, with the flag that workerd's compatibility-date.capnp puts on
// those that came late.
func init() {
	internal("internal/missing", "missing.js", nil)
	internal("internal/constants", "constants.js", nil)
	internal("internal/async_hooks", "async_hooks.js", nil)
	internal("internal/stream_base", "stream_base.js", nil)
	internal("internal/stream_readable", "stream_readable.js", nil)
	internal("internal/stream_writable", "stream_writable.js", nil)
	internal("internal/stream_duplex", "stream_duplex.js", nil)
	internal("internal/stream_pipeline", "stream_pipeline.js", nil)
	internal("internal/stream_web", "stream_web.js", nil)

	internal("internal/comparisons", "comparisons.js", comparisonsModule)
	internal("internal/mime", "mime.js", nil)

	js("assert", "assert.js", nil)
	property("assert/strict", "assert", "strict")
	goModule("async_hooks", makeAsyncHooks)
	js("buffer", "buffer.js", bufferModule)
	js("constants", "constants_module.js", nil)
	js("crypto", "crypto.js", cryptoModule)
	js("diagnostics_channel", "diagnostics_channel.js", nil)
	js("events", "events.js", nil)
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
	js("string_decoder", "string_decoder.js", decoderModule)
	alias("sys", "util")
	goModule("timers", makeTimers)
	js("timers/promises", "timers_promises.js", timersPromisesModule)
	js("url", "url.js", urlModule)
	js("util", "util.js", utilModule)
	js("util/types", "util_types.js", typesModule)
}
