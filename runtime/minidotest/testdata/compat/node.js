// What a worker with nodejs_compat can notice of compatibility flags: each line is a
// name, and what gives its answer.
import tls from "node:tls";
import net from "node:net";

const attempt = (fn) => { try { const s = fn(); s?.on?.("error", () => {}); s?.destroy?.(); return "made"; } catch (e) { return `${e.name} ${e.code} ${e.message}`; } };
const names = ["checkServerIdentity", "ALPNProtocols", "enableTrace", "pskCallback", "minDHSize", "isServer", "requestCert", "server", "requestOCSP", "SNICallback", "rejectUnauthorized", "secureContext", "lookup"];
const values = [() => {}, "x", null, false, 0, 1, undefined];

export default {
  fetch() {
    const lines = [];
    for (const name of names) for (const value of values) {
      const with_ = { [name]: value };
      lines.push(`tls ${name} ${JSON.stringify(value) ?? typeof value}: ${[
        attempt(() => tls.connect({ host: "127.0.0.1", port: 1, ...with_ })), attempt(() => new tls.TLSSocket(undefined, with_)), attempt(() => new tls.TLSSocket(new net.Socket(), with_)),
      ].join(" | ")}`);
    }
    return new Response(lines.join("\n"));
  },
};
