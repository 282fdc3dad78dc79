// connect() of cloudflare:sockets: a TCP connection as two streams (workerd's
// api/sockets.c++).
function (native, p) {
  "use strict";
  const { TypeError, Error, PromisePrototypeThen: then, PromiseResolve: resolved, Promise, ObjectDefineProperty } = p;
  const KEY = {};
  const defer = () => { const d = {}; d.promise = new Promise((res, rej) => { d.res = res; d.rej = rej; }); return d; };
  const handled = (promise) => { then(promise, undefined, () => {}); };
  const CLOSED = "This socket has been closed.";
  const NOT_STARTTLS = "The `secureTransport` socket option must be set to 'starttls' for startTls to be used.";

  // stateOf a socket: its two streams, and how far each has come.
  let stateOf;

  const settle = (s, e) => {
    if (s.over) return;
    s.over = true;
    native.close(s.handle);
    if (e === undefined) s.closed.res(); else s.closed.rej(e);
  };
  // fail ends everything with an error: of the connection, or of one of its halves. As in
  // workerd closed is rejected only if the connection was never there.
  const fail = (s, e, opened = true) => {
    s.opened.rej(e);
    s.S.fail(e);
    s.W.fail(e);
    settle(s, opened ? undefined : e);
  };
  // refuse is for a connection that does not open: the reference closes its readable half.
  const refuse = (s, e) => {
    s.broken = new Error(`jsg.Error: ${e.message}`);
    s.opened.rej(e);
    if (s.pulled) s.S.fail(new Error("Stream was cancelled.")); else s.S.end();
    s.W.break(s.broken);
    settle(s, e);
  };
  // gone: the other end has closed both halves.
  const gone = (s) => {
    if (s.over) return;
    if (s.S.open()) s.S.end();
    s.W.end();
    settle(s);
  };
  const ended = (s) => { if (s.readEnded && s.writeEnded) settle(s); };

  const pull = (s) => { s.pulled = true; return then(s.opened.promise, () => {
    if (s.over || s.secured) return undefined;
    const d = defer();
    s.reading = true;
    native.read(s.handle, (kind, v) => {
      s.reading = false;
      d.res();
      if (s.over || s.secured) return;
      if (kind === 0) s.S.push(v);
      else if (kind === 1 && s.closing) s.S.fail(new TypeError(CLOSED)); // close() was first
      else if (kind === 1) {
        s.readEnded = true;
        s.S.end();
        if (s.halfOpen || s.writeEnded) ended(s); else s.W.end();
      } else fail(s, v);
    });
    return d.promise;
  }, () => {}); };
  // sending does one thing of the sending half, which has the connection to wait for.
  // The peer may never take it: cut ends the wait.
  const sending = (s, start) => {
    const d = defer();
    let cut = false;
    s.cut = (e) => { cut = true; d.rej(e); };
    then(then(s.opened.promise, () => cut ? undefined : start((e) => {
      if (e === undefined) { d.res(); return; }
      if (s.inner) { // the other end has gone: what it wrote before can still be read
        s.writeEnded = true;
        s.W.break(e);
        d.rej(e);
        ended(s);
        return;
      }
      d.rej(e);
      if (!s.over) fail(s, e);
    })), undefined, (e) => d.rej(s.broken ?? e));
    return d.promise;
  };

  const make = (secure, options, host, hint) => {
    const s = {
      secure, host, hint, halfOpen: options.allowHalfOpen, opened: defer(), closed: defer(), handle: undefined,
      readEnded: false, writeEnded: false, over: false, reading: false, pulled: false, closing: false, secured: false, upgraded: false, inner: options.inner, broken: undefined, cut: undefined, S: undefined, W: undefined,
    };
    handled(s.opened.promise);
    handled(s.closed.promise);
    s.S = native.source({ pull: () => pull(s), cancel() { s.readEnded = true; then(s.opened.promise, () => { native.endRead(s.handle); ended(s); }, () => {}); return resolved(); } });
    s.W = native.sink({
      highWaterMark: options.highWaterMark,
      write: (chunk) => sending(s, (done) => native.write(s.handle, chunk, done)),
      close: () => then(sending(s, (done) => native.closeWrite(s.handle, done)), () => {
        s.writeEnded = true;
        if (!s.halfOpen && s.readEnded) settle(s); else ended(s);
      }, (e) => { if (e !== s.broken) throw e; }),
      // workerd's streams reject what is queued as soon as they are aborted.
      interrupt: (e) => s.cut(e),
      abort: () => { s.writeEnded = true; then(s.opened.promise, () => settle(s), () => {}); return resolved(); },
    });
    return s;
  };

  class Socket {
    #s;
    static { stateOf = (o) => { if (typeof o !== "object" || o === null || !(#s in o)) throw new TypeError("Illegal invocation"); return o.#s; }; }
    constructor(key = undefined, s = undefined) {
      if (key !== KEY) throw new TypeError("Illegal constructor");
      this.#s = s;
    }
    get readable() { return stateOf(this).S.object; }
    get writable() { return stateOf(this).W.object; }
    get closed() { return stateOf(this).closed.promise; }
    get opened() { return stateOf(this).opened.promise; }
    get upgraded() { return stateOf(this).upgraded; }
    get secureTransport() { return stateOf(this).secure; }
    close() {
      const s = stateOf(this);
      const over = () => {
        if (s.over) return;
        if (s.reading) s.S.fail(new TypeError(CLOSED));
        else if (s.S.open()) s.S.end();
        settle(s);
      };
      return then(s.opened.promise, () => {
        if (s.over) return undefined;
        s.closing = true;
        s.W.end(); // what was written before leaves
        const ending = s.W.ending();
        return ending ? then(ending, over, over) : over();
      }, () => {});
    }
    startTls(options = undefined) {
      const s = stateOf(this);
      if (s.secure === "on") throw new TypeError("Cannot startTls on a TLS socket.");
      if (s.secure !== "starttls") throw new TypeError(NOT_STARTTLS);
      if (s.secured) throw new TypeError("startTls has already been called on this socket, or the socket was transferred over RPC.");
      const name = options?.expectedServerHostname, t = make("on", { allowHalfOpen: s.halfOpen, highWaterMark: 1, inner: s.inner }, s.host, s.hint);
      s.secured = true;
      const refuse = (e) => { fail(t, e, false); settle(s, e); };
      if (s.inner) {
        s.upgraded = true;
        fail(t, new Error("startTls() is not supported on this connection."), false);
        settle(s);
        return new Socket(KEY, t);
      }
      try {
        s.S.lock(); // neither half of this socket is of use any more
        const flush = s.W.lock();
        then(then(s.opened.promise, flush), () => native.secure(s.handle, name === undefined ? s.host : `${name}`, (e, remote) => {
          s.upgraded = true;
          if (e !== undefined) { refuse(failure(s.hint, e)); return; }
          t.handle = s.handle;
          s.over = true;
          s.closed.res();
          t.opened.res(info(remote));
        }), refuse);
      } catch (e) { refuse(e); }
      return new Socket(KEY, t);
    }
  }
  for (const name of ["readable", "writable", "closed", "opened", "upgraded", "secureTransport", "close", "startTls"]) {
    ObjectDefineProperty(Socket.prototype, name, { enumerable: true });
  }
  p.tag(Socket, "Socket");

  const info = (remoteAddress) => ({ remoteAddress, localAddress: undefined });
  const failure = (hint, cause) => new Error("proxy request failed, cannot connect to the specified address" +
    (hint ? ". It looks like you might be trying to connect to a HTTP-based service — consider using fetch instead" : ""), { cause });

  return (address, secure, allowHalfOpen, highWaterMark, host, hint, inner, accepted) => {
    const s = make(secure, { allowHalfOpen, highWaterMark, inner }, host, hint);
    if (accepted !== undefined) {
      s.handle = accepted;
      s.opened.res({ remoteAddress: undefined, localAddress: address });
      native.watch(s.handle, () => gone(s));
      return new Socket(KEY, s);
    }
    s.handle = native.open(address, secure === "on", (e, remote, refused) => {
      if (e === undefined) {
        s.opened.res(info(remote));
        native.watch(s.handle, () => gone(s));
        return;
      }
      refuse(s, refused ? e : failure(s.hint, e));
    });
    return new Socket(KEY, s);
  };
}
