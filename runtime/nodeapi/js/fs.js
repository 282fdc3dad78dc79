// node:fs on the disk of fs.go. Every operation is a synchronous function;
// those with callbacks and promises are made from them.
function (native, p) {
  "use strict";
  const { errors } = native;
  const { Promise, ObjectDefineProperty, ArrayIsArray } = p;
  const { Buffer } = native.require("buffer");
  const constants = p.ObjectFreeze(native.require("internal/constants").fs);
  const pathModule = native.require("path").posix;

  const toPath = (path, name = "path") => {
    if (typeof path === "object" && path !== null && typeof path.href === "string") path = native.require("url").fileURLToPath(path);
    else if (native.isView(path)) path = Buffer.from(path.buffer, path.byteOffset, path.byteLength).toString();
    if (typeof path !== "string") throw errors.argType(name, "of type string or an instance of Buffer or URL", path);
    if (path.includes("\0")) throw errors.argValue(name, path, "must be a string, Uint8Array, or URL without null bytes");
    return pathModule.resolve(native.require("process").cwd(), path);
  };
  const encodingOf = (options) => {
    const encoding = typeof options === "string" ? options : options?.encoding;
    if (encoding !== undefined && encoding !== null && encoding !== "buffer" && !Buffer.isEncoding(encoding)) {
      throw errors.argValue("encoding", encoding, "is invalid encoding");
    }
    return encoding === "buffer" ? undefined : encoding ?? undefined;
  };
  const bytes = (data, encoding) => {
    if (typeof data === "string") return Buffer.from(data, encoding ?? "utf8");
    if (native.isView(data)) return data;
    throw errors.argType("data", "of type string or an instance of Buffer, TypedArray, or DataView", data);
  };
  const flagWords = { __proto__: null, r: 0, rs: 0, "r+": 2, "rs+": 2, w: 577, wx: 705, "w+": 578, "wx+": 706, a: 1089, ax: 1217, as: 1089, "a+": 1090, "ax+": 1218, "as+": 1090 };
  const flagsOf = (flags, fallback) => {
    if (flags === undefined || flags === null) return flagWords[fallback];
    if (typeof flags === "number") return flags;
    if (flagWords[flags] === undefined) throw errors.argValue("flags", flags);
    return flagWords[flags];
  };
  const milliseconds = (t) => (typeof t === "number" ? t * 1000 : typeof t === "string" ? Number(t) * 1000 : t.getTime());

  const kindBits = [0o100000, 0o040000, 0o120000, 0o020000];
  class Stats {
    constructor([kind, size, mode, ino, mtimeMs, atimeMs], big) {
      const n = big ? (v) => p.BigInt(v) : (v) => v;
      p.ObjectAssign(this, { dev: n(0), ino: n(ino), mode: n(kindBits[kind] | mode), nlink: n(1), uid: n(0), gid: n(0), rdev: n(0), size: n(size),
        blksize: n(4096), blocks: n(p.MathCeil(size / 512)), atimeMs: n(atimeMs), mtimeMs: n(mtimeMs), ctimeMs: n(mtimeMs), birthtimeMs: n(mtimeMs) });
      if (big) for (const t of ["atime", "mtime", "ctime", "birthtime"]) this[`${t}Ns`] = this[`${t}Ms`] * 1000000n;
      for (const t of ["atime", "mtime", "ctime", "birthtime"]) this[t] = new p.Date(p.Number(this[`${t}Ms`]));
      ObjectDefineProperty(this, "kind", { value: kind });
    }
    isFile() { return this.kind === 0; }
    isDirectory() { return this.kind === 1; }
    isSymbolicLink() { return this.kind === 2; }
    isCharacterDevice() { return this.kind === 3; }
    isBlockDevice() { return false; }
    isFIFO() { return false; }
    isSocket() { return false; }
  }
  class Dirent {
    constructor(name, kind, parentPath) {
      this.name = name;
      this.parentPath = this.path = parentPath;
      ObjectDefineProperty(this, "kind", { value: kind });
    }
  }
  for (const name of ["isFile", "isDirectory", "isSymbolicLink", "isCharacterDevice", "isBlockDevice", "isFIFO", "isSocket"]) Dirent.prototype[name] = Stats.prototype[name];

  const handles = new p.Map();
  let nextFd = 3;
  const handle = (fd) => {
    errors.integer(fd, "fd", 0, 2147483647);
    const h = handles.get(fd);
    if (h === undefined) throw p.ObjectAssign(errors.make("Error", "EBADF", "EBADF: bad file descriptor"), { errno: -9 });
    return h;
  };
  const withFile = (target, flags, mode, fn) => {
    if (typeof target === "number") return fn(handle(target));
    const h = native.open(toPath(target), flags, mode);
    try { return fn(h); } finally { native.close(h); }
  };

  const entries = (path, recursive, prefix = "") => {
    const list = native.readdir(path), out = [];
    for (let i = 0; i < list.length; i += 2) {
      out.push([prefix + list[i], list[i], list[i + 1], path]);
      if (recursive && list[i + 1] === 1) out.push(...entries(`${path}/${list[i]}`, true, `${prefix}${list[i]}/`));
    }
    return out;
  };
  const absentOk = (fn, options) => {
    try { return fn(); } catch (error) {
      if (options?.throwIfNoEntry === false && (error.code === "ENOENT" || error.code === "ENOTDIR")) return undefined;
      throw error;
    }
  };
  const realpath = (path) => {
    let done = "/";
    const left = toPath(path).split("/").filter((x) => x !== "" && x !== ".");
    for (let links = 0; left.length > 0;) {
      const part = left.shift();
      if (part === "..") { done = pathModule.dirname(done); continue; }
      const at = pathModule.join(done, part);
      if (native.stat(at, false)[0] !== 2) { done = at; continue; }
      if (++links > 40) native.stat(at, true);
      const target = native.readlink(at);
      if (target.startsWith("/")) done = "/";
      left.unshift(...target.split("/").filter((x) => x !== "" && x !== "."));
    }
    return done;
  };

  // The operations. Each name stands for nameSync, name(callback) and the promise.
  const ops = {
    access(path, mode = 0) {
      const s = native.stat(toPath(path), true);
      if (mode & 2 && /^\/(bundle|dev)?(\/|$)/.test(realpath(path)) && s[0] !== 3) {
        throw p.ObjectAssign(errors.make("Error", "EPERM", `EPERM: operation not permitted, access '${path}'`), { errno: -1, syscall: "access", path });
      }
    },
    readFile(path, options) {
      const encoding = encodingOf(options);
      const data = withFile(path, flagsOf(options?.flag, "r"), undefined, (h) => native.readAt(h, undefined, typeof path === "number" ? null : 0));
      return encoding ? data.toString(encoding) : data;
    },
    writeFile(path, data, options) {
      const content = bytes(data, encodingOf(options));
      withFile(path, flagsOf(options?.flag, "w"), options?.mode, (h) => { native.writeAt(h, content); });
    },
    appendFile(path, data, options) { ops.writeFile(path, data, { ...(typeof options === "string" ? { encoding: options } : options), flag: options?.flag ?? "a" }); },
    stat: (path, options) => absentOk(() => new Stats(native.stat(toPath(path), true), options?.bigint), options),
    lstat: (path, options) => absentOk(() => new Stats(native.stat(toPath(path), false), options?.bigint), options),
    fstat: (fd, options) => new Stats(native.fstat(handle(fd)), options?.bigint),
    readdir(path, options) {
      const full = toPath(path);
      const encoding = typeof options === "string" ? options : options?.encoding;
      return entries(full.length > 1 ? full.replace(/\/+$/, "") : full, options?.recursive).map(([rel, name, kind, parent]) => (options?.withFileTypes ? new Dirent(name, kind, parent) : encoding === "buffer" ? Buffer.from(rel) : rel));
    },
    mkdir: (path, options) => native.mkdir(toPath(path), typeof options === "object" && !!options?.recursive),
    mkdtemp(prefix, options) {
      const path = toPath(prefix, "prefix") + native.token();
      native.mkdir(path, false);
      return path;
    },
    rm: (path, options) => native.rm(toPath(path), !!options?.recursive, !!options?.force),
    rmdir: (path, options) => (options?.recursive ? native.rm(toPath(path), true, false) : native.rmdir(toPath(path))),
    unlink: (path) => native.unlink(toPath(path)),
    rename: (from, to) => native.rename(toPath(from, "oldPath"), toPath(to, "newPath")),
    copyFile(from, to, mode = 0) {
      const data = ops.readFile(toPath(from, "src"));
      ops.writeFile(toPath(to, "dest"), data, { flag: mode & 1 ? "wx" : "w" });
    },
    cp(from, to, options) {
      const src = toPath(from, "src"), dest = toPath(to, "dest");
      if (native.stat(src, true)[0] !== 1) {
        if (options?.errorOnExist && options.force === false && exists(dest)) throw errors.make("Error", "ERR_FS_CP_EEXIST", `cp returned EEXIST (${dest} already exists)`);
        if (options?.force === false && exists(dest)) return;
        native.mkdir(pathModule.dirname(dest), true);
        ops.copyFile(src, dest);
        return;
      }
      if (!options?.recursive) throw errors.make("Error", "ERR_FS_EISDIR", `Recursive option not enabled, cannot copy a directory: ${src}`);
      native.mkdir(dest, true);
      const list = native.readdir(src);
      for (let i = 0; i < list.length; i += 2) {
        const a = pathModule.join(src, list[i]), b = pathModule.join(dest, list[i]);
        if (options.filter === undefined || options.filter(a, b)) ops.cp(a, b, options);
      }
    },
    link: (from, to) => native.link(toPath(from, "existingPath"), toPath(to, "newPath")),
    symlink: (target, path) => native.symlink(toPath(path), `${target}`),
    readlink: (path) => native.readlink(toPath(path)),
    realpath,
    truncate: (path, size = 0) => withFile(path, 2, undefined, (h) => native.ftruncate(h, size)),
    ftruncate: (fd, size = 0) => native.ftruncate(handle(fd), size),
    utimes: (path, atime, mtime) => native.utimes(toPath(path), milliseconds(atime), milliseconds(mtime)),
    lutimes: (path, atime, mtime) => native.utimes(toPath(path), milliseconds(atime), milliseconds(mtime)),
    futimes: (fd) => { handle(fd); },
    chmod: (path) => { native.stat(toPath(path), true); },
    lchmod: (path) => { native.stat(toPath(path), false); },
    fchmod: (fd) => { handle(fd); },
    chown: (path) => { native.stat(toPath(path), true); },
    lchown: (path) => { native.stat(toPath(path), false); },
    fchown: (fd) => { handle(fd); },
    open(path, flags, mode) {
      const h = native.open(toPath(path), flagsOf(flags, "r"), mode);
      handles.set(nextFd, h);
      return nextFd++;
    },
    close(fd) { native.close(handle(fd)); handles.delete(fd); },
    fsync: (fd) => { handle(fd); },
    fdatasync: (fd) => { handle(fd); },
    read(fd, buffer, offset, length, position) {
      if (!native.isView(buffer)) { const o = buffer ?? {}; buffer = o.buffer ?? Buffer.alloc(16384); ({ offset, length, position } = o); }
      else if (typeof offset === "object" && offset !== null) ({ offset, length, position } = offset);
      offset ??= 0;
      length ??= buffer.byteLength - offset;
      errors.integer(offset, "offset", 0, buffer.byteLength);
      errors.integer(length, "length", 0, buffer.byteLength - offset);
      const data = native.readAt(handle(fd), length, typeof position === "bigint" ? p.Number(position) : position);
      new Uint8Array(buffer.buffer, buffer.byteOffset + offset, data.length).set(data);
      return data.length;
    },
    write(fd, data, offset, length, position) {
      if (typeof data === "string") return native.writeAt(handle(fd), Buffer.from(data, length), offset);
      if (!native.isView(data)) throw errors.argType("buffer", "of type string or an instance of Buffer, TypedArray, or DataView", data);
      if (typeof offset === "object" && offset !== null) ({ offset, length, position } = offset);
      offset ??= 0;
      length ??= data.byteLength - offset;
      return native.writeAt(handle(fd), new Uint8Array(data.buffer, data.byteOffset + offset, length), position);
    },
    readv(fd, buffers, position) {
      let total = 0;
      for (const b of buffers) {
        const n = ops.read(fd, b, 0, b.byteLength, typeof position === "number" ? position + total : position);
        total += n;
        if (n < b.byteLength) break;
      }
      return total;
    },
    writev: (fd, buffers, position) => native.writeAt(handle(fd), Buffer.concat(buffers.map((b) => Buffer.from(b.buffer, b.byteOffset, b.byteLength))), position),
    opendir: (path) => new Dir(toPath(path), ops.readdir(path, { withFileTypes: true })),
    statfs: () => ({ type: 0, bsize: 4096, blocks: 0, bfree: 0, bavail: 0, files: 0, ffree: 0 }),
  };
  const exists = (path) => { try { native.stat(toPath(path), true); return true; } catch { return false; } };

  class Dir {
    #list; #at = 0;
    constructor(path, list) { this.path = path; this.#list = list; }
    readSync() { return this.#list[this.#at++] ?? null; }
    async read(callback) { const e = this.readSync(); if (callback) callback(null, e); return e; }
    closeSync() { this.#at = this.#list.length; }
    async close(callback) { this.closeSync(); if (callback) callback(null); }
    entries() { return this[p.SymbolAsyncIterator](); }
    [p.SymbolAsyncIterator]() {
      return {
        next: async () => { const value = this.readSync(); return value === null ? { value: undefined, done: true } : { value, done: false }; },
        return: async () => { this.closeSync(); return { value: undefined, done: true }; },
        [p.SymbolAsyncIterator]() { return this; },
      };
    }
  }

  class FileHandle extends native.require("events") {
    constructor(fd) { super(); this.fd = fd; }
    async close() { if (this.fd >= 0) { ops.close(this.fd); this.fd = -1; this.emit("close"); } }
    async read(...args) {
      const buffer = native.isView(args[0]) ? args[0] : args[0]?.buffer ?? Buffer.alloc(16384);
      const bytesRead = native.isView(args[0]) ? ops.read(this.fd, ...args) : ops.read(this.fd, { ...args[0], buffer });
      return { bytesRead, buffer };
    }
    async write(data, ...args) { return { bytesWritten: ops.write(this.fd, data, ...args), buffer: data }; }
    async readv(buffers, position) { return { bytesRead: ops.readv(this.fd, buffers, position), buffers }; }
    async writev(buffers, position) { return { bytesWritten: ops.writev(this.fd, buffers, position), buffers }; }
    async readFile(options) { return ops.readFile(this.fd, options); }
    async writeFile(data, options) { return ops.writeFile(this.fd, data, options); }
    async appendFile(data, options) { return ops.writeFile(this.fd, data, options); }
    async stat(options) { return ops.fstat(this.fd, options); }
    async truncate(size) { return ops.ftruncate(this.fd, size); }
    async sync() { handle(this.fd); }
    async datasync() { handle(this.fd); }
    async chmod() { handle(this.fd); }
    async chown() { handle(this.fd); }
    async utimes() { handle(this.fd); }
    createReadStream(options) { return new ReadStream(undefined, { ...options, fd: this.fd, autoClose: false }); }
    createWriteStream(options) { return new WriteStream(undefined, { ...options, fd: this.fd, autoClose: false }); }
    [p.SymbolAsyncDispose]() { return this.close(); }
  }

  const { Readable, Writable } = native.require("stream");
  const { ReflectApply, ObjectSetPrototypeOf } = p;
  function ReadStream(path, options) {
    if (!(this instanceof ReadStream)) return new ReadStream(path, options);
    if (typeof options === "string") options = { encoding: options };
    ReflectApply(Readable, this, [{ highWaterMark: 65536, ...options }]);
    this.path = path;
    this.fd = typeof options?.fd === "object" ? options.fd.fd : options?.fd ?? null;
    this.start = options?.start;
    this.end = options?.end ?? Infinity;
    this.pos = options?.start;
    this.bytesRead = 0;
    this.flags = options?.flags ?? "r";
    this.autoClose = options?.autoClose !== false;
  }
  const opening = (stream, flags, mode, callback) => {
    if (stream.fd !== null) { callback(); return; }
    try { stream.fd = ops.open(stream.path, flags, mode); } catch (error) { callback(error); return; }
    callback();
    stream.emit("open", stream.fd);
    stream.emit("ready");
  };
  const closing = (stream, error, callback) => {
    try { if (stream.fd !== null && stream.autoClose) ops.close(stream.fd); } catch (e) { error ??= e; }
    stream.fd = null;
    callback(error);
  };
  ObjectSetPrototypeOf(ReadStream.prototype, Readable.prototype);
  ObjectSetPrototypeOf(ReadStream, Readable);
  p.ObjectAssign(ReadStream.prototype, {
    _construct(callback) { opening(this, this.flags, undefined, callback); },
    _read(n) {
      const left = this.pos === undefined ? this.end - this.bytesRead + 1 : this.end - this.pos + 1;
      n = p.MathMin(n, left);
      if (n <= 0) { this.push(null); return; }
      const data = native.readAt(handle(this.fd), n, this.pos ?? null);
      if (this.pos !== undefined) this.pos += data.length;
      this.bytesRead += data.length;
      this.push(data.length > 0 ? data : null);
    },
    _destroy(error, callback) { closing(this, error, callback); },
    close(callback) { if (callback) this.once("close", callback); this.destroy(); },
  });
  function WriteStream(path, options) {
    if (!(this instanceof WriteStream)) return new WriteStream(path, options);
    if (typeof options === "string") options = { encoding: options };
    ReflectApply(Writable, this, [{ ...options, decodeStrings: true, defaultEncoding: options?.encoding ?? "utf8" }]);
    this.path = path;
    this.fd = typeof options?.fd === "object" ? options.fd.fd : options?.fd ?? null;
    this.start = this.pos = options?.start;
    this.bytesWritten = 0;
    this.flags = options?.flags ?? "w";
    this.mode = options?.mode;
    this.autoClose = options?.autoClose !== false;
  }
  ObjectSetPrototypeOf(WriteStream.prototype, Writable.prototype);
  ObjectSetPrototypeOf(WriteStream, Writable);
  p.ObjectAssign(WriteStream.prototype, {
    _construct(callback) { opening(this, this.flags, this.mode, callback); },
    _write(chunk, encoding, callback) {
      try { native.writeAt(handle(this.fd), chunk, this.pos ?? null); } catch (error) { callback(error); return; }
      if (this.pos !== undefined) this.pos += chunk.length;
      this.bytesWritten += chunk.length;
      callback();
    },
    _destroy(error, callback) { closing(this, error, callback); },
    close(callback) { if (callback) { if (this.closed) native.nextTick(callback); else this.once("close", callback); } this.end(); },
    destroySoon() { this.end(); },
  });

  const fs = {};
  const promises = {};
  const both = { read: "bytesRead", write: "bytesWritten", readv: "bytesRead", writev: "bytesWritten" };
  for (const name of p.ObjectKeys(ops)) {
    const op = ops[name];
    fs[`${name}Sync`] = (...args) => op(...args);
    fs[name] = (...args) => {
      const callback = args.pop();
      errors.func(callback, "cb");
      let result, error = null;
      try { result = op(...args); } catch (e) {
        if (e.code?.startsWith("ERR_")) throw e;
        error = e;
      }
      native.nextTick(() => (error ? callback(error) : result === undefined ? callback(null) : callback(null, result, ...(both[name] ? [args[1]] : []))));
    };
    for (const key of [name, `${name}Sync`]) ObjectDefineProperty(fs[key], "name", { value: key, configurable: true });
    promises[name] = async (...args) => op(...args);
    ObjectDefineProperty(promises[name], "name", { value: name, configurable: true });
  }
  fs.realpath.native = fs.realpath;
  fs.realpathSync.native = fs.realpathSync;
  fs.existsSync = exists;
  fs.exists = (path, callback) => { errors.func(callback, "cb"); const found = exists(path); native.nextTick(callback, found); };
  ObjectDefineProperty(fs.exists, Symbol.for("nodejs.util.promisify.custom"), { value: async (path) => exists(path) });
  for (const name of ["close", "fchmod", "fchown", "fdatasync", "fstat", "fsync", "ftruncate", "futimes", "read", "readv", "write", "writev"]) delete promises[name];
  promises.open = async (path, flags, mode) => new FileHandle(ops.open(path, flags, mode));
  const onHandle = (name) => { const op = promises[name]; promises[name] = async (file, ...args) => op(file instanceof FileHandle ? file.fd : file, ...args); };
  for (const name of ["readFile", "writeFile", "appendFile"]) onHandle(name);
  promises.constants = constants;
  promises.FileHandle = FileHandle;
  p.ObjectAssign(fs, { constants, promises, Stats, Dirent, Dir, ReadStream, WriteStream, FileReadStream: ReadStream, FileWriteStream: WriteStream,
    F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1,
    createReadStream: (path, options) => new ReadStream(options?.fd === undefined ? toPath(path) : path, options),
    createWriteStream: (path, options) => new WriteStream(options?.fd === undefined ? toPath(path) : path, options),
    async openAsBlob(path, options) { return new Blob([ops.readFile(path)], options); },
    unwatchFile() {},
  });
  return fs;
}
