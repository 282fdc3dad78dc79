// net.Socket: a Duplex over connect() of cloudflare:sockets
// (nodejs.org/api/net.html#class-netsocket; workerd's node/internal/internal_net).
function (native, p) {
  "use strict";
  const { errors } = native;
  const { Duplex } = native.require("stream");
  const { Buffer } = native.require("buffer");
  const net = () => native.require("net");
  const { ReflectApply, ObjectSetPrototypeOf, ObjectDefineProperty, ObjectAssign } = p;
  const tick = native.nextTick;

  // system makes the error of a system call, with Node's properties.
  const errnos = { ECONNREFUSED: -111, ECONNRESET: -104, ENOTFOUND: -3008, ETIMEDOUT: -110, EHOSTUNREACH: -113, ENETUNREACH: -101, EPIPE: -32 };
  const system = (code, syscall, rest, text = "") =>
    ObjectAssign(errors.make("Error", code, `${syscall} ${code}${text}`), { errno: errnos[code], syscall }, rest);
  // notConnected is why a connection was refused: the network's reason, if it has Node's form.
  const notConnected = (error, host, port) => {
    const [, syscall, code] = /^(connect|getaddrinfo) (E[A-Z]+)/.exec(error?.cause?.message) ?? [];
    if (syscall === "getaddrinfo") return system(code, syscall, { hostname: host }, ` ${host}`);
    if (syscall === "connect") return native.require("internal/errors").connect(code, errnos[code], host, port);
    return error;
  };
  const closed = () => errors.make("Error", "ERR_SOCKET_CLOSED", "Socket is closed");
  const later = (code) => errors.make("Error", "ERR_OPTION_NOT_IMPLEMENTED", `The options.${code} option is not implemented`); // the reference's text

  // A handle is an open connection, or one that is being opened: its streams.
  const handleOf = (socket) => ({ socket, reader: socket.readable.getReader(), writer: socket.writable.getWriter(), reading: false, remote: undefined, read: 0, written: 0 });

  function Socket(options) {
    if (!(this instanceof Socket)) return new Socket(options);
    if (options?.fd !== undefined) throw later("fd");
    for (const name of ["objectMode", "readableObjectMode", "writableObjectMode"]) {
      if (options?.[name]) throw errors.argValue(`options.${name}`, options[name], "is not supported");
    }
    ObjectAssign(this, { _handle: null, connecting: false, _hadError: false, _parent: null, _host: null, server: null, autoSelectFamilyAttemptedAddresses: undefined });
    const own = { ...options, allowHalfOpen: !!options?.allowHalfOpen, emitClose: false, autoDestroy: true, decodeStrings: true };
    ReflectApply(Duplex, this, [own]);
    this.timeout = undefined;
    ObjectDefineProperty(this, "_options", { value: own, enumerable: false });
    for (const name of ["_timer", "_last"]) ObjectDefineProperty(this, name, { value: null, writable: true, enumerable: false, configurable: true });
  }
  ObjectSetPrototypeOf(Socket.prototype, Duplex.prototype);
  ObjectSetPrototypeOf(Socket, Duplex);

  const portOf = (port) => {
    if (typeof port !== "number" && typeof port !== "string") throw errors.argType("options.port", "one of type number or string", port);
    if ((typeof port === "string" && port.trim() === "") || +port !== +port >>> 0 || port > 65535) {
      throw errors.make("Error", "ERR_SOCKET_BAD_PORT", `Port should be >= 0 and < 65536. Received ${typeof port}.`);
    }
    return +port;
  };

  const methods = {
    connect(...args) {
      const [options, callback] = net()._normalizeArgs(args);
      if (options.path !== undefined && options.path !== null) throw errors.argValue("path", options.path, "is not supported");
      if (options.port === undefined) throw errors.make("TypeError", "ERR_MISSING_ARGS", 'The "options" or "port" or "path" argument must be specified');
      const port = portOf(options.port), { host = "localhost", localAddress, localPort, lookup, family = 0 } = options;
      if (localAddress !== undefined && !net().isIP(localAddress)) throw errors.make("TypeError", "ERR_INVALID_IP_ADDRESS", `Invalid IP address: ${localAddress}`);
      if (localPort !== undefined && typeof localPort !== "number") throw errors.argType("options.localPort", "of type number", localPort);
      if (lookup !== undefined && lookup !== null) errors.func(lookup, "options.lookup");
      if (this.destroyed) {
        this._handle = null;
        Duplex._init(this, this._options); // it begins anew
        if (this.listenerCount("data") > 0) this.resume();
        this.timeout = undefined;
      }
      if (callback) this.once("connect", callback);
      this.connecting = true;
      this._host = `${host}`;
      this._touch();
      const addressType = net().isIP(this._host) || 0, begin = () => {
        if (!this.connecting) return; // it was destroyed meanwhile
        this.emit("connectionAttempt", host, port, addressType);
        this._open(native.connect({ hostname: addressType === 6 ? `[${this._host}]` : this._host, port }, { allowHalfOpen: true, secureTransport: this._transport }), port);
      };
      if (addressType) begin(); else tick(begin);
      return this;
    },
    // _open takes a connection over; its events come when it is open.
    _open(connection, port) {
      const h = this._handle = handleOf(connection), host = this._host;
      connection.opened.then((info) => {
        if (this._handle !== h) return;
        h.remote = info.remoteAddress;
        this.connecting = false;
        this._touch();
        this.emit("connect");
        this.emit("ready");
        this._opened();
        if (this._handle === h && !this.isPaused()) this.read(0);
      }, (error) => {
        if (this._handle !== h) return;
        const failure = notConnected(error, host, port);
        if (failure.syscall === "getaddrinfo") this.emit("lookup", failure, undefined, undefined, host);
        this.destroy(failure);
      });
    },
    _opened() {},
    _transport: "starttls",

    _read() {
      if (this.connecting) { this.once("connect", () => this._read()); return; }
      const h = this._handle;
      if (!h || h.reading) return;
      h.reading = true;
      h.reader.read().then(({ done, value }) => {
        if (this._handle !== h) return;
        h.reading = false;
        this._touch();
        if (done) { this.push(null); this.read(0); return; }
        h.read += value.byteLength;
        if (this.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength))) this._read();
      }, (error) => {
        if (this._handle === h) this.destroy(error?.message === "Network connection lost." ? system("ECONNRESET", "read") : error);
      });
    },
    _write(chunk, encoding, callback) {
      if (this.connecting) {
        const go = () => { this.off("close", stop); this._write(chunk, encoding, callback); };
        const stop = () => { this.off("connect", go); callback(errors.make("Error", "ERR_SOCKET_CLOSED_BEFORE_CONNECTION", "Socket closed before the connection was established")); };
        this.once("connect", go);
        this.once("close", stop);
        return;
      }
      const h = this._handle;
      if (!h) { callback(closed()); return; }
      this._touch();
      h.written += chunk.byteLength;
      h.writer.write(chunk).then(() => callback(), (error) => callback(error?.message === "Network connection lost." ? system("EPIPE", "write") : error));
    },
    _final(callback) {
      if (this.connecting) { this.once("connect", () => this._final(callback)); return; }
      const h = this._handle;
      if (!h) { callback(); return; }
      h.writer.close().then(() => callback(), () => callback()); // a peer that has gone needs no telling
    },
    _destroy(error, callback) {
      this.connecting = false;
      this._stopTimer();
      const h = this._handle;
      if (h) {
        this._handle = null;
        this._last = h;
        const ignore = () => {}; // nobody is left to tell
        h.reader.cancel().then(ignore, ignore);
        h.writer.abort().then(ignore, ignore);
      }
      this._hadError = !!error;
      callback(error);
      tick(() => { this.emit("close", !!error); });
    },
    end(chunk, encoding, callback) { ReflectApply(Duplex.prototype.end, this, [chunk, encoding, callback]); return this; },
    destroySoon() {
      if (this.writable) this.end();
      if (this.writableFinished) this.destroy(); else this.once("finish", this.destroy);
    },
    resetAndDestroy() {
      if (!this._handle) this.destroy(closed());
      else if (this.connecting) this.once("connect", () => this.destroy());
      else this.destroy();
      return this;
    },

    setTimeout(msecs, callback) {
      if (this.destroyed) return this;
      if (typeof msecs !== "number") throw errors.argType("msecs", "of type number", msecs);
      if (!(msecs >= 0 && msecs < Infinity)) throw errors.range("msecs", "a non-negative finite number", msecs);
      if (callback !== undefined) errors.func(callback, "callback");
      this.timeout = msecs = p.MathMin(msecs, 2147483647);
      this._stopTimer();
      if (msecs === 0) {
        if (callback) this.off("timeout", callback);
      } else {
        this._timer = setTimeout(() => this._onTimeout(), msecs);
        if (callback) this.once("timeout", callback);
      }
      return this;
    },
    _onTimeout() { this.emit("timeout"); },
    _stopTimer() { if (this._timer !== null) { clearTimeout(this._timer); this._timer = null; } },
    // _touch says that something has happened: the time without begins anew.
    _touch() {
      if (this._timer === null) return;
      clearTimeout(this._timer);
      this._timer = setTimeout(() => this._onTimeout(), this.timeout);
    },
    _unrefTimer() { this._touch(); },

    address() { return {}; }, // this side's is not known
    setNoDelay() { return this; },
    setKeepAlive() { return this; },
    ref() { return this; },
    unref() { return this; },
  };
  for (const name of p.ObjectKeys(methods)) {
    ObjectDefineProperty(Socket.prototype, name, { value: methods[name], writable: true, configurable: true, enumerable: typeof methods[name] === "function" });
  }

  const remote = (s) => {
    const [, v6, v4, port] = /^(?:\[(.*)\]|(.*)):(\d+)$/.exec(s._handle?.remote ?? "") ?? [];
    return { address: v6 ?? v4, port: port && p.Number(port), family: v6 ? "IPv6" : v4 && "IPv4" };
  };
  const getters = {
    _connecting: (s) => s.connecting,
    pending: (s) => !s._handle || s.connecting,
    readyState: (s) => s.connecting ? "opening" : s.readable ? (s.writable ? "open" : "readOnly") : s.writable ? "writeOnly" : "closed",
    bufferSize: (s) => s._handle ? s.writableLength : undefined,
    bytesRead: (s) => (s._handle ?? s._last)?.read ?? 0,
    _bytesDispatched: (s) => (s._handle ?? s._last)?.written ?? 0,
    bytesWritten: (s) => ((s._handle ?? s._last)?.written ?? 0) + (s.connecting ? s.writableLength : 0),
    remoteAddress: (s) => remote(s).address,
    remoteFamily: (s) => remote(s).family,
    remotePort: (s) => remote(s).port,
    localAddress: () => undefined,
    localPort: () => undefined,
    localFamily: () => undefined,
  };
  for (const name of p.ObjectKeys(getters)) {
    ObjectDefineProperty(Socket.prototype, name, { get() { return getters[name](this); }, configurable: true, enumerable: true });
  }

  const connect = (...args) => {
    const [options] = net()._normalizeArgs(args), socket = new Socket(options);
    if (options.timeout) socket.setTimeout(options.timeout);
    return socket.connect(...args);
  };
  return { Socket, connect, handleOf, later, notConnected };
}
