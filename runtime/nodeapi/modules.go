package nodeapi

// Every module, with the flag that workerd's compatibility-date.capnp puts on
// those that came late.
func init() {
	internal("internal/missing", "missing.js", nil)
	internal("internal/constants", "constants.js", nil)
	internal("internal/async_hooks", "async_hooks.js", nil)

	goModule("async_hooks", makeAsyncHooks)
	js("buffer", "buffer.js", bufferModule)
	js("diagnostics_channel", "diagnostics_channel.js", nil)
	js("events", "events.js", nil)
	js("os", "os.js", nil).flag = "enable_nodejs_os_module"
	goModule("path", makePath)
	property("path/posix", "path", "posix")
	property("path/win32", "path", "win32")
}
