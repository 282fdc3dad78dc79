// node:tls without its sockets, which are in tls_socket.js: who a certificate is
// for, and the form of ALPN
// (nodejs.org/api/tls.html).
function (native, p) {
  "use strict";
  const { errors } = native;
  const { Buffer } = native.require("buffer");
  const { isIP } = native.require("net");

  const parts = (host) => host.toLowerCase().split(".");
  const bare = (name) => (name.endsWith(".") ? name.slice(0, -1) : name);

  // matches compares a host name with a name of a certificate (RFC 6125, 6.4).
  const matches = (host, pattern, wildcards) => {
    const given = parts(bare(host)), want = parts(bare(pattern));
    if (given.length !== want.length || want.includes("") || /[^\u0021-\u007f]/.test(pattern)) return false;
    for (let i = given.length - 1; i > 0; i--) if (given[i] !== want[i]) return false;
    const pieces = want[0].split("*");
    if (pieces.length === 1 || want[0].includes("xn--")) return given[0] === want[0];
    if (!wildcards || pieces.length > 2 || want.length <= 2) return false;
    const [before, after] = pieces;
    return before.length + after.length <= given[0].length && given[0].startsWith(before) && given[0].endsWith(after);
  };

  // The names of subjectaltname; one in quotes is a JSON string.
  const altNames = (text) => {
    const names = [];
    for (const item of text.match(/[^,"]*("(?:[^"\\]|\\.)*"[^,"]*)*(?:, |$)/g)) {
      const name = item.replace(/, $/, "");
      if (name) names.push(name.replace(/"(?:[^"\\]|\\.)*"/g, (s) => p.JSONParse(s)));
    }
    return names;
  };

  const checkServerIdentity = (hostname, cert) => {
    const host = `${hostname}`, { subject, subjectaltname } = cert, dns = [], ips = [];
    for (const name of subjectaltname ? altNames(subjectaltname) : []) {
      if (name.startsWith("DNS:")) dns.push(name.slice(4));
      else if (name.startsWith("IP Address:")) ips.push(name.slice(11));
    }
    let reason;
    const full = bare(host) + ".";
    if (isIP(host)) {
      if (!ips.includes(host)) reason = `IP: ${host} is not in the cert's list: ${ips.join(", ")}`;
    } else if (dns.length > 0) {
      if (!dns.some((name) => matches(host, name, true))) reason = `Host: ${full} is not in the cert's altnames: ${subjectaltname}`;
    } else if (subject?.CN) {
      const names = [subject.CN].flat();
      if (!names.some((name) => matches(host, name, true))) reason = `Host: ${full} is not cert's CN: ${names}`;
    } else {
      reason = "Cert does not contain a DNS name";
    }
    if (reason === undefined) return undefined;
    return p.ObjectAssign(errors.make("Error", "ERR_TLS_CERT_ALTNAME_INVALID", reason), { reason, host: hostname, cert });
  };

  const convertALPNProtocols = (protocols, out) => {
    if (p.ArrayIsArray(protocols)) {
      out.ALPNProtocols = Buffer.concat(protocols.map((name, i) => {
        const bytes = Buffer.from(name);
        if (bytes.length > 255) {
          throw errors.make("RangeError", "ERR_OUT_OF_RANGE", `The byte length of the protocol at index ${i} exceeds the maximum length. It must be <= 255. Received ${bytes.length}`);
        }
        return Buffer.concat([Buffer.from([bytes.length]), bytes]);
      }));
    } else if (native.isView(protocols)) {
      out.ALPNProtocols = Buffer.from(new p.Uint8Array(protocols.buffer, protocols.byteOffset, protocols.byteLength));
    }
  };

  const tls = { CLIENT_RENEG_LIMIT: 3, CLIENT_RENEG_WINDOW: 600, DEFAULT_CIPHERS: "", DEFAULT_ECDH_CURVE: "auto", DEFAULT_MIN_VERSION: "TLSv1.2",
    DEFAULT_MAX_VERSION: "TLSv1.3", rootCertificates: [], getCiphers: () => [], checkServerIdentity, convertALPNProtocols };
  for (const name of ["TLSSocket", "connect", "SecureContext", "createSecureContext"]) native.lazy(tls, name, () => native.require("internal/tls_socket")[name]);
  return tls;
}
