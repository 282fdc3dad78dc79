// node:os as wrangler bundles it before enable_nodejs_os_module.
function (native, p) {
  "use strict";
  const local = (address, netmask, family, prefix, more) => ({ address, netmask, family, mac: "00:00:00:00:00:00", internal: true, cidr: `${address}/${prefix}`, ...more });
  const cpu = { model: "", speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } };
  return p.ObjectAssign({}, native.require("os"), {
    availableParallelism: () => 8,
    arch: () => "",
    machine: () => "",
    cpus: () => p.ArrayFrom({ length: 8 }, () => cpu),
    getPriority: () => 0,
    homedir: () => "/",
    hostname: () => "",
    tmpdir: () => "/tmp",
    networkInterfaces: () => ({ lo0: [
      local("127.0.0.1", "255.0.0.0", "IPv4", 8),
      local("::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "IPv6", 128, { scopeid: 0 }),
      local("fe80::1", "ffff:ffff:ffff:ffff::", "IPv6", 64, { scopeid: 1 }),
    ] }),
    userInfo: (options) => {
      const text = (s) => (options?.encoding ? Buffer.from(s) : s);
      return { gid: 1000, uid: 1000, homedir: text("/"), shell: text("/bin/sh"), username: text("root") };
    },
  });
}
