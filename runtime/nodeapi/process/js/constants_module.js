// node:constants: what node:os, node:fs and node:crypto publish, in one.
function (native, p) {
  "use strict";
  const { os, fs, crypto } = native.require("internal/constants");
  return {
    ...os.dlopen, ...os.errno, ...os.priority, ...os.signals, ...fs,
    SIGINFO: undefined, O_SYMLINK: undefined,
    ...crypto,
  };
}
