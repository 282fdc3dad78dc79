// node:punycode: RFC 3492, and names of hosts label by label.
function (native, p) {
  "use strict";
  const ucs2 = {
    decode: (s) => [...s].map((c) => c.codePointAt(0)),
    encode: (points) => p.String.fromCodePoint(...points),
  };
  const labels = (name, fn) => {
    const at = name.lastIndexOf("@");
    const head = at < 0 ? "" : name.slice(0, at + 1);
    return head + name.slice(at + 1).replace(/[\u3002\uff0e\uff61]/g, ".").split(".").map(fn).join(".");
  };
  return {
    version: "2.1.0",
    ucs2,
    encode: native.encode,
    decode: native.decode,
    toASCII: (name) => labels(name, (l) => (/[^\0-\x7f]/.test(l) ? `xn--${native.encode(l)}` : l)),
    toUnicode: (name) => labels(name, (l) => (l.startsWith("xn--") ? native.decode(l.slice(4).toLowerCase()) : l)),
  };
}
