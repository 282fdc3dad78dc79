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

	goModule("async_hooks", makeAsyncHooks)
	js("buffer", "buffer.js", bufferModule)
	js("crypto", "crypto.js", cryptoModule)
	js("diagnostics_channel", "diagnostics_channel.js", nil)
	js("events", "events.js", nil)
	js("os", "os.js", nil).flag = "enable_nodejs_os_module"
	goModule("path", makePath)
	property("path/posix", "path", "posix")
	property("path/win32", "path", "win32")
	js("stream", "stream.js", nil)
	js("stream/consumers", "stream_consumers.js", nil)
	property("stream/promises", "stream", "promises")
	js("string_decoder", "string_decoder.js", decoderModule)
}
