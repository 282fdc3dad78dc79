// node:os as Workers answer it: a machine that says nothing about itself
// (workerd: src/node/internal/internal_os.ts).
function (native, p) {
  "use strict";
  const { errors } = native;
  const os = {
    EOL: "\n",
    devNull: "/dev/null",
    availableParallelism: () => 1,
    arch: () => "x64",
    cpus: () => [],
    endianness: () => "LE",
    freemem: () => 0,
    getPriority(pid = 0) { if (typeof pid !== "number") throw errors.argType("pid", "of type number", pid); return 0; },
    setPriority(pid) { if (typeof pid !== "number") throw errors.argType("pid", "of type number", pid); },
    homedir: () => "/tmp/",
    hostname: () => "localhost",
    loadavg: () => [0, 0, 0],
    machine: () => "x86_64",
    networkInterfaces: () => ({}),
    platform: () => "linux",
    release: () => "",
    tmpdir: () => "/tmp/",
    totalmem: () => 0,
    type: () => "Linux",
    uptime: () => 0,
    userInfo: () => ({}),
    version: () => "",
  };
  for (const name of ["arch", "availableParallelism", "endianness", "freemem", "homedir", "hostname", "machine",
    "platform", "release", "tmpdir", "totalmem", "type", "uptime", "version"]) {
    const fn = os[name];
    p.ObjectDefineProperty(fn, Symbol.toPrimitive, { value: () => fn(), configurable: true });
  }
  native.lazy(os, "constants", () => p.ObjectAssign({ __proto__: null }, native.require("internal/constants").os));
  return os;
}
