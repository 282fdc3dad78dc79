// tls.TLSSocket: a net.Socket whose connection is under TLS from the start, or goes
// on under it (nodejs.org/api/tls.html#class-tlstlssocket; workerd's
// node/internal/internal_tls_wrap). Certificates are checked against the system's.
function (native, p) {
  "use strict";
  const { errors } = native;
  const { Socket, handleOf, later } = native.require("internal/net_socket");
  const { Duplex } = native.require("stream");
  const net = () => native.require("net");
  const { ReflectApply, ObjectSetPrototypeOf, ObjectDefineProperty, ObjectAssign } = p;
  const tick = native.nextTick;

  function SecureContext(secureProtocol, secureOptions, minVersion, maxVersion) {
    if (!(this instanceof SecureContext)) return new SecureContext(secureProtocol, secureOptions, minVersion, maxVersion);
    this.context = undefined;
  }
  const createSecureContext = () => new SecureContext();

  const missing = (options, name) => { if (options[name] !== undefined) throw later(name); };
  const refused = (options, name) => { if (options[name]) throw later(name); };
  const verified = (options) => { if (options.rejectUnauthorized === false) throw later("rejectUnauthorized"); };
  // A certificate is not shown to JavaScript. workerd says so from
  // throw_on_not_implemented_tls_options on, and passed over it before.
  const identity = (options) => {
    if (options.checkServerIdentity === undefined) return;
    errors.func(options.checkServerIdentity, "options.checkServerIdentity");
    if (native.compat("throw_on_not_implemented_tls_options")) throw later("checkServerIdentity");
  };

  function TLSSocket(socket, options) {
    if (!(this instanceof TLSSocket)) return new TLSSocket(socket, options);
    const o = { ...options };
    for (const name of ["enableTrace", "isServer", "server", "requestCert"]) refused(o, name);
    verified(o);
    missing(o, "ALPNProtocols");
    missing(o, "SNICallback");
    refused(o, "requestOCSP");
    if (o.secureContext !== undefined && !(o.secureContext instanceof SecureContext)) {
      throw errors.make("TypeError", "ERR_TLS_INVALID_CONTEXT", "context must be a SecureContext");
    }
    missing(o, "pskCallback");
    identity(o);
    if (socket !== undefined && socket !== null && !(socket instanceof Duplex)) throw errors.argType("duplex", "an stream.Duplex", socket);
    if (socket && !(socket instanceof Socket)) {
      throw errors.make("Error", "ERR_OPTION_NOT_IMPLEMENTED", "TLS runs over a net.Socket alone: give tls.connect() one, or host and port");
    }
    ReflectApply(Socket, this, [{ ...o, allowHalfOpen: socket ? socket.allowHalfOpen : o.allowHalfOpen }]);
    ObjectAssign(this, { _tlsOptions: o, secureConnecting: true, servername: null, alpnProtocol: undefined, authorized: false, authorizationError: undefined, encrypted: true });
    if (socket) this._over(socket, o);
  }
  ObjectSetPrototypeOf(TLSSocket.prototype, Socket.prototype);
  ObjectSetPrototypeOf(TLSSocket, Socket);

  const absent = (name) => function () { throw new p.Error(`${name} is not implemented`); }; // the reference's text
  const methods = {
    _transport: "on",
    // _over begins TLS on the connection of a socket, once that is open.
    _over(socket, o) {
      this._parent = socket;
      this._host = socket._host;
      if (!socket._handle && !socket.connecting) return;
      this.connecting = true;
      const begin = () => {
        const h = socket._handle;
        if (!h || this.destroyed) return;
        socket._handle = null; // what comes now is this socket's
        socket._last = h;
        h.reader.releaseLock();
        h.writer.releaseLock();
        let secure;
        try { secure = h.socket.startTls({ expectedServerHostname: o.servername || o.host || socket._host }); } catch (e) { this.destroy(e); return; }
        this._open(secure);
      };
      if (socket.connecting) socket.once("connect", begin); else tick(begin);
      socket.once("error", (e) => this.destroy(e));
      this.once("close", () => socket.destroy());
    },
    _opened() {
      this.secureConnecting = false;
      this.authorized = true;
      this.alpnProtocol = false;
      this.servername = this._tlsOptions.servername || (net().isIP(this._host) ? false : this._host);
      this.emit("secure");
      this.emit("secureConnect");
    },
    disableRenegotiation() {},
    renegotiate(options, callback) {
      if (options === null || typeof options !== "object") throw errors.argType("options", "of type object", options);
      if (callback !== undefined) errors.func(callback, "callback");
      return false;
    },
    exportKeyingMaterial(length) {
      if (typeof length !== "number") throw errors.argType("length", "of type number", length);
      throw new p.Error("exportKeyingMaterial() is not available in minido: the keys of a session stay in the server's TLS.");
    },
    setMaxSendFragment(size) {
      if (typeof size !== "number") throw errors.argType("size", "of type number", size);
      return false;
    },
    setServername(name) { errors.string(name, "name"); this._tlsOptions.servername = name; },
    setSession() {},
    getPeerCertificate: absent("getPeerCertificate"),
  };
  for (const name of ["getCertificate", "getPeerX509Certificate", "getX509Certificate", "setKeyCert"]) methods[name] = absent(`TLSSocket.${name}`);
  for (const name of ["getCipher", "getSharedSigalgs", "getEphemeralKeyInfo", "getFinished", "getPeerFinished", "getProtocol", "getSession", "getTLSTicket", "isSessionReused", "enableTrace"]) {
    methods[name] = { [name]() { return null; } }[name];
  }
  for (const name of p.ObjectKeys(methods)) {
    ObjectDefineProperty(TLSSocket.prototype, name, { value: methods[name], writable: true, configurable: true, enumerable: typeof methods[name] === "function" });
  }

  const connect = (...args) => {
    let [options, callback] = net()._normalizeArgs(args);
    for (const extra of args.slice(1, 3)) if (extra !== null && typeof extra === "object") options = { ...options, ...extra };
    if (options.minDHSize !== undefined) errors.number(options.minDHSize, "options.minDHSize", 1);
    missing(options, "minDHSize");
    verified(options);
    missing(options, "pskCallback");
    identity(options);
    const { isServer, requestCert, server, requestOCSP, SNICallback, checkServerIdentity, ...rest } = options; // they are a server's, or checked
    if (rest.rejectUnauthorized !== undefined) rest.rejectUnauthorized = !!rest.rejectUnauthorized;
    if (options.path !== undefined && options.path !== null) throw errors.argValue("path", options.path, "is not supported");
    const socket = new TLSSocket(options.socket, rest);
    if (callback) socket.once("secureConnect", callback);
    if (options.timeout) socket.setTimeout(options.timeout);
    return options.socket ? socket : socket.connect(options);
  };
  return { TLSSocket, connect, SecureContext, createSecureContext };
}
