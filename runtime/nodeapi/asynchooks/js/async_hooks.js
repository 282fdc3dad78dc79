// node:async_hooks without the two classes that asynchooks.go adds. Hooks and
// ids exist and do nothing, as in Workers.
function (native, p) {
  "use strict";
  const { errors } = native;

  class AsyncHook {
    enable() { return this; }
    disable() { return this; }
  }

  const top = { __proto__: null };
  const providers = { __proto__: null };
  for (const name of ("NONE DIRHANDLE DNSCHANNEL FILEHANDLE FSREQCALLBACK FSREQPROMISE GETADDRINFOREQWRAP " +
    "HTTPINCOMINGMESSAGE HTTPCLIENTREQUEST MESSAGEPORT PIPEWRAP PROCESSWRAP PROMISE TCPSERVERWRAP TCPWRAP TTYWRAP " +
    "UDPWRAP WORKER WRITEWRAP ZLIB HASHREQUEST RANDOMBYTESREQUEST SCRYPTREQUEST TLSWRAP").split(" ")) providers[name] = 0;

  return {
    createHook(callbacks) {
      for (const name of ["init", "before", "after", "destroy", "promiseResolve"]) {
        if (callbacks[name] !== undefined) errors.func(callbacks[name], `hook.${name}`);
      }
      return new AsyncHook();
    },
    executionAsyncId: () => 0,
    triggerAsyncId: () => 0,
    executionAsyncResource: () => top,
    asyncWrapProviders: p.ObjectFreeze(providers),
  };
}
