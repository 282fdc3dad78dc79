// node:fs on the disk of fs.go. Every operation is a synchronous function;
// those with callbacks and promises are made from them.
function (native, p) {
  "use strict";
  const { errors } = native;
  const { Promise, ObjectDefineProperty, ArrayIsArray } = p;
  const { Buffer } = native.require("buffer");
  const constants = p.ObjectAssign({ __proto__: null }, native.require("internal/constants").fs);
  const pathModule = native.require("path").posix;

  // A path as it was given: what errors show. full makes it absolute.
  const toPath = (path, name = "path") => {
    if (typeof path === "object" && path !== null && typeof path.href === "string") path = native.require("url").fileURLToPath(path);
    const given = path;
    if (native.isView(path)) path = Buffer.from(path.buffer, path.byteOffset, path.byteLength).toString();
    if (typeof path !== "string") throw errors.argType(name, "of type string or an instance of Buffer or URL", path);
    if (path.includes("\0")) throw errors.argValue(name, given, "must be a string, Uint8Array, or URL without null bytes");
    return path;
  };
  const full = (path) => {
    if (path === "") throw p.ObjectAssign(errors.make("Error", "ENOENT", "ENOENT: no such file or directory"), { errno: -2 });
    return pathModule.resolve(native.require("process").cwd(), path);
  };
  // attempt gives failures of the natives, which have only a code, their
  // system call and paths (nodejs.org/api/errors.html#class-systemerror).
  const attempt = (syscall, path, dest, fn) => {
    try { return fn(); } catch (error) {
      if (typeof error?.errno !== "number" || error.syscall !== undefined) throw error;
      const shown = path === undefined ? "" : dest === undefined ? ` '${path}'` : ` '${path}' -> '${dest}'`;
      const described = p.ObjectAssign(errors.make("Error", "", `${error.message}, ${syscall}${shown}`), { errno: error.errno, code: error.code, syscall });
      if (path !== undefined) described.path = path;
      if (dest !== undefined) described.dest = dest;
      throw described;
    }
  };
  const onPath = (syscall, path, fn) => attempt(syscall, path, undefined, () => fn(full(path)));
  const onPaths = (syscall, from, to, fn) => attempt(syscall, from, to, () => fn(full(from), full(to)));
  const systemError = (code, text, errno, syscall, path) => {
    const error = p.ObjectAssign(errors.make("Error", code, text), { errno, syscall, path });
    ObjectDefineProperty(error, "name", { value: "SystemError", configurable: true });
    return error;
  };

  const isOctal = /^[0-7]+$/;
  const modeOf = (mode, name = "mode") => (mode === undefined || mode === null ? undefined : givenMode(mode, name));
  const givenMode = (mode, name = "mode") => {
    if (typeof mode === "string") {
      if (!isOctal.test(mode)) throw errors.argValue(name, mode, "must be a 32-bit unsigned integer or an octal string");
      mode = p.Number.parseInt(mode, 8);
    }
    errors.integer(mode, name, 0, 4294967295);
    return mode;
  };
  const optionsOf = (options) => {
    if (options === undefined || options === null || typeof options === "function") return {};
    if (typeof options === "string") options = { encoding: options };
    if (typeof options !== "object") throw errors.argType("options", "one of type string or object", options);
    const { encoding, signal } = options;
    if (encoding && encoding !== "buffer" && !Buffer.isEncoding(encoding)) throw errors.argValue("encoding", encoding, "is invalid encoding");
    if (signal !== undefined && (typeof signal !== "object" || signal === null || !("aborted" in signal))) throw errors.argType("options.signal", "an instance of AbortSignal", signal);
    return options;
  };
  const flagged = (options, ...names) => {
    for (const name of names) if (options[name] !== undefined) errors.bool(options[name], `options.${name}`);
  };
  const asked = (text, options) => (options.encoding === "buffer" ? Buffer.from(text) : options.encoding && options.encoding !== "utf8" ? Buffer.from(text).toString(options.encoding) : text);
  const bytes = (data, encoding, name = "data") => {
    if (typeof data === "string") return Buffer.from(data, encoding || "utf8");
    if (native.isView(data)) return data;
    throw errors.argType(name, "of type string or an instance of Buffer, TypedArray, or DataView", data);
  };
  const flagWords = { __proto__: null, r: 0, rs: 0, sr: 0, "r+": 2, "rs+": 2, "sr+": 2, w: 577, wx: 705, xw: 705, "w+": 578, "wx+": 706, "xw+": 706,
    a: 1089, ax: 1217, xa: 1217, as: 1089, sa: 1089, "a+": 1090, "ax+": 1218, "xa+": 1218, "as+": 1090, "sa+": 1090 };
  const flagsOf = (flags, fallback) => {
    if (flags === undefined || flags === null) return flagWords[fallback];
    if (typeof flags === "number") { errors.integer(flags, "flags", -2147483648, 2147483647); return flags; }
    if (typeof flags !== "string" || flagWords[flags] === undefined) throw errors.argValue("flags", flags);
    return flagWords[flags];
  };
  const milliseconds = (t) => {
    if (typeof t === "string" && +t == t) t = +t;
    if (typeof t === "number" && p.Number.isFinite(t)) return t < 0 ? p.DateNow() : t * 1000;
    if (native.require("util").types.isDate(t)) return t.getTime();
    throw errors.argType("time", "an instance of Date or an Time in seconds", t);
  };
  const owner = (uid, gid) => { errors.integer(uid, "uid", -1, 4294967295); errors.integer(gid, "gid", -1, 4294967295); };

  const kindBits = [0o100000, 0o040000, 0o120000, 0o020000];
  class Stats {
    constructor([kind, size, mode, ino, mtimeMs, atimeMs], big) {
      const n = big ? (v) => p.BigInt(v) : (v) => v;
      p.ObjectAssign(this, { dev: n(0), mode: n(kindBits[kind] | mode), nlink: n(1), uid: n(0), gid: n(0), rdev: n(0), blksize: n(4096), ino: n(ino), size: n(size),
        blocks: n(8 * p.MathCeil(size / 4096)), atimeMs: n(atimeMs), mtimeMs: n(mtimeMs), ctimeMs: n(mtimeMs), birthtimeMs: n(mtimeMs) });
      if (big) for (const t of ["atime", "mtime", "ctime", "birthtime"]) this[`${t}Ns`] = this[`${t}Ms`] * 1000000n;
      for (const t of ["atime", "mtime", "ctime", "birthtime"]) this[t] = new p.Date(p.Number(this[`${t}Ms`]));
    }
  }
  const kindOfEntry = p.Symbol("type");
  class Dirent {
    constructor(name, kind, parentPath) {
      this.name = name;
      this.parentPath = parentPath;
      this[kindOfEntry] = kind;
    }
  }
  ["isFile", "isDirectory", "isSymbolicLink", "isCharacterDevice", "isBlockDevice", "isFIFO", "isSocket"].forEach((name, kind) => {
    const define = (target, test) => ObjectDefineProperty(target, name, { value: ({ [name]() { return test(this); } })[name], writable: true, configurable: true });
    define(Stats.prototype, (stats) => kind < kindBits.length && (p.Number(stats.mode) & 0o170000) === kindBits[kind]);
    define(Dirent.prototype, (entry) => entry[kindOfEntry] === kind);
  });

  const handles = new p.Map();
  let nextFd = 3;
  const handle = (fd) => {
    errors.integer(fd, "fd", 0, 2147483647);
    const h = handles.get(fd);
    if (h === undefined) throw p.ObjectAssign(errors.make("Error", "EBADF", "EBADF: bad file descriptor"), { errno: -9 });
    return h;
  };
  const onFd = (syscall, fd, fn) => attempt(syscall, undefined, undefined, () => fn(handle(fd)));
  const openAt = (path, flags, mode) => onPath("open", path, (at) => native.open(at, flags, mode));
  const withFile = (target, syscall, flags, mode, fn) => {
    if (typeof target === "number") return onFd(syscall, target, fn);
    const h = openAt(toPath(target), flags, mode);
    try { return attempt(syscall, undefined, undefined, () => fn(h)); } finally { native.close(h); }
  };
  const view = (data, offset, length) => new Uint8Array(data.buffer, data.byteOffset + offset, length);
  const position = (value) => {
    if (value === undefined || value === null) return undefined;
    if (typeof value === "bigint") {
      if (value < -1n || value > 9223372036854775807n) throw errors.range("position", ">= -1 && <= 9223372036854775807", value);
      return p.Number(value);
    }
    if (typeof value !== "number") throw errors.argType("position", "of type bigint or integer", value);
    errors.integer(value, "position", -1);
    return value;
  };
  const views = (buffers) => {
    if (!ArrayIsArray(buffers) || !buffers.every((b) => native.isView(b))) throw errors.argType("buffers", "an ArrayBufferView[]", buffers);
  };

  const entries = (path, shown, recursive, prefix = "") => {
    const list = native.readdir(path), out = [];
    for (let i = 0; i < list.length; i += 2) {
      out.push([prefix + list[i], list[i], list[i + 1], shown]);
      if (recursive && list[i + 1] === 1) out.push(...entries(`${path}/${list[i]}`, pathModule.join(shown, list[i]), true, `${prefix}${list[i]}/`));
    }
    return out;
  };
  const statsOf = (syscall, path, options, follow) => {
    path = toPath(path);
    try { return new Stats(onPath(syscall, path, (at) => native.stat(at, follow)), options?.bigint); } catch (error) {
      if (options?.throwIfNoEntry === false && (error.code === "ENOENT" || error.code === "ENOTDIR")) return undefined;
      throw error;
    }
  };
  const realpath = (path) => {
    let done = "/";
    const left = full(path).split("/").filter((x) => x !== "" && x !== ".");
    for (let links = 0; left.length > 0;) {
      const part = left.shift();
      if (part === "..") { done = pathModule.dirname(done); continue; }
      const at = pathModule.join(done, part);
      const stat = onPath("lstat", at, () => native.stat(at, false));
      if (stat[0] !== 2) { done = at; continue; }
      if (++links > 40) onPath("stat", at, () => native.stat(at, true));
      const target = native.readlink(at);
      if (target.startsWith("/")) done = "/";
      left.unshift(...target.split("/").filter((x) => x !== "" && x !== "."));
    }
    return done;
  };
  const removal = (options) => {
    if (options === undefined) return {};
    errors.object(options, "options");
    flagged(options, "force", "recursive");
    if (options.retryDelay !== undefined) errors.integer(options.retryDelay, "options.retryDelay", 0, 2147483647);
    if (options.maxRetries !== undefined) errors.integer(options.maxRetries, "options.maxRetries", 0, 4294967295);
    return options;
  };
  const copying = (options) => {
    if (options === undefined) return {};
    errors.object(options, "options");
    flagged(options, "dereference", "errorOnExist", "force", "preserveTimestamps", "recursive", "verbatimSymlinks");
    if (options.mode !== undefined) errors.integer(options.mode, "mode", 0, 7);
    if (options.filter !== undefined) errors.func(options.filter, "options.filter");
    return options;
  };
  const cpFailure = (code, reason, text, errno, path) => systemError(`ERR_FS_${code}`, `${reason}: cp returned ${text} ${path}`, errno, "cp", path);
  const cpFile = (src, dest, destKind, options) => {
    if (destKind !== undefined && options.force === false) {
      if (options.errorOnExist) throw cpFailure("CP_EEXIST", "Target already exists", `EEXIST (${dest} already exists)`, 17, dest);
      return;
    }
    native.mkdir(full(pathModule.dirname(dest)), true);
    ops.copyFile(src, dest, options.mode);
    if (options.preserveTimestamps) { const s = native.stat(full(src), true); native.utimes(full(dest), s[5], s[4]); }
  };
  const cp = (src, dest, options) => {
    if (options.filter && !options.filter(src, dest)) return;
    const from = onPath("lstat", src, (at) => native.stat(at, !!options.dereference));
    let to;
    try { to = native.stat(full(dest), !!options.dereference); } catch (error) { if (error.code !== "ENOENT") throw error; }
    const inside = full(dest).startsWith(`${full(src)}/`);
    if (to?.[3] === from[3]) throw cpFailure("CP_EINVAL", "Invalid src or dest", "EINVAL (src and dest cannot be the same)", 22, dest);
    if (from[0] === 1 && to && to[0] !== 1) throw cpFailure("CP_DIR_TO_NON_DIR", "Cannot overwrite non-directory with directory", `EISDIR (cannot overwrite non-directory ${dest} with directory ${src})`, 21, dest);
    if (from[0] !== 1 && to?.[0] === 1) throw cpFailure("CP_NON_DIR_TO_DIR", "Cannot overwrite directory with non-directory", `ENOTDIR (cannot overwrite directory ${dest} with non-directory ${src})`, 20, dest);
    if (from[0] === 2) {
      if (to) { if (options.force === false) return; native.unlink(full(dest)); }
      const target = native.readlink(full(src));
      native.symlink(full(dest), options.verbatimSymlinks || pathModule.isAbsolute(target) ? target : pathModule.resolve(full(src), "..", target));
      return;
    }
    if (from[0] !== 1) { cpFile(src, dest, to?.[0], options); return; }
    if (!options.recursive) throw cpFailure("EISDIR", "Recursive option not enabled, cannot copy a directory", `EISDIR (${src} is a directory (not copied))`, 21, src);
    if (inside) throw cpFailure("CP_EINVAL", "Invalid src or dest", `EINVAL (cannot copy ${src} to a subdirectory of self ${dest})`, 22, dest);
    native.mkdir(full(dest), true);
    const list = native.readdir(full(src));
    for (let i = 0; i < list.length; i += 2) cp(pathModule.join(src, list[i]), pathModule.join(dest, list[i]), options);
  };

  // The operations. Each name stands for nameSync, name(callback) and the promise.
  const ops = {
    access(path, mode) {
      path = toPath(path);
      if (mode !== undefined && mode !== null) errors.integer(mode, "mode", 0, 7);
      onPath("access", path, (at) => {
        const s = native.stat(at, true);
        if (mode & 2 && /^\/(bundle|dev)?(\/|$)/.test(realpath(path)) && s[0] !== 3) throw p.ObjectAssign(errors.make("Error", "EPERM", "EPERM: operation not permitted"), { errno: -1 });
      });
    },
    readFile(path, options) {
      options = optionsOf(options);
      const data = withFile(path, "read", flagsOf(options.flag, "r"), undefined, (h) => native.readAt(h, undefined, typeof path === "number" ? null : 0));
      return options.encoding ? data.toString(options.encoding) : data;
    },
    writeFile(path, data, options) { writing(path, data, optionsOf(options), "w"); },
    appendFile(path, data, options) { writing(path, data, optionsOf(options), "a"); },
    stat: (path, options) => statsOf("stat", path, options, true),
    lstat: (path, options) => statsOf("lstat", path, options, false),
    fstat: (fd, options) => onFd("fstat", fd, (h) => new Stats(native.fstat(h), options?.bigint)),
    readdir(path, options) {
      options = optionsOf(options);
      path = toPath(path);
      if (options.recursive !== undefined && options.recursive !== null) errors.bool(options.recursive, "options.recursive");
      return onPath("scandir", path, (at) => entries(at, path, options.recursive))
        .map(([rel, name, kind, parent]) => (options.withFileTypes ? new Dirent(asked(name, options), kind, parent) : asked(rel, options)));
    },
    glob(pattern, options = {}) {
      const patterns = ArrayIsArray(pattern) ? pattern : [pattern];
      for (const one of patterns) errors.string(one, "patterns");
      errors.object(options, "options");
      const { cwd = ".", exclude, withFileTypes } = options;
      if (exclude !== undefined && typeof exclude !== "function" && !ArrayIsArray(exclude)) throw errors.argType("options.exclude", "of type function or string[]", exclude);
      const root = full(toPath(cwd, "options.cwd"));
      try { if (native.stat(root, true)[0] !== 1) return []; } catch { return []; }
      const all = entries(root, root, true), paths = all.map(([rel]) => rel);
      const found = native.globs(paths, patterns), without = ArrayIsArray(exclude) ? native.globs(paths, exclude) : [];
      const made = ([rel, name, kind, parent]) => (withFileTypes ? new Dirent(name, kind, parent) : rel);
      return all.filter((_, i) => found[i] && !without[i]).map(made).filter((item) => typeof exclude !== "function" || !exclude(item));
    },
    mkdir(path, options) {
      path = toPath(path);
      if (typeof options === "number" || typeof options === "string") options = { mode: modeOf(options) };
      options ??= {};
      flagged(options, "recursive");
      modeOf(options.mode, "options.mode");
      return onPath("mkdir", path, (at) => native.mkdir(at, options.recursive));
    },
    mkdtemp(prefix, options) {
      options = optionsOf(options);
      prefix = toPath(prefix, "prefix");
      const path = prefix + native.token();
      onPath("mkdtemp", prefix + "X".repeat(6), () => native.mkdir(full(path), false));
      return asked(path, options);
    },
    rm(path, options) {
      path = toPath(path);
      const { recursive, force } = removal(options);
      let s;
      try { s = onPath("lstat", path, (at) => native.stat(at, false)); } catch (error) { if (!force || error.code !== "ENOENT") throw error; return; }
      if (s[0] === 1 && !recursive) throw systemError("ERR_FS_EISDIR", `Path is a directory: rm returned EISDIR (is a directory) ${path}`, 21, "rm", path);
      onPath("rm", path, (at) => native.rm(at, true, false));
    },
    rmdir(path, options) {
      path = toPath(path);
      const { recursive } = removal(options);
      onPath("rmdir", path, (at) => (recursive ? native.rm(at, true, false) : native.rmdir(at)));
    },
    unlink(path) { path = toPath(path); onPath("unlink", path, (at) => native.unlink(at)); },
    rename: (from, to) => onPaths("rename", toPath(from, "oldPath"), toPath(to, "newPath"), native.rename),
    copyFile(from, to, mode) {
      from = toPath(from, "src");
      to = toPath(to, "dest");
      if (mode !== undefined && mode !== null) errors.integer(mode, "mode", 0, 7);
      onPaths("copyfile", from, to, (src, dest) => {
        const source = native.open(src, 0);
        const data = native.readAt(source, undefined, 0);
        native.writeAt(native.open(dest, flagWords[mode & 1 ? "wx" : "w"]), data);
      });
    },
    cp(from, to, options) {
      options = copying(options);
      const src = toPath(from, "src"), dest = toPath(to, "dest");
      attempt("cp", src, dest, () => cp(src, dest, options));
    },
    link: (from, to) => onPaths("link", toPath(from, "existingPath"), toPath(to, "newPath"), native.link),
    symlink(target, path, type) {
      if (type !== undefined && type !== null && type !== "dir" && type !== "file" && type !== "junction") throw errors.argValue("type", type, "must be one of: 'dir', 'file', 'junction', null, undefined");
      target = toPath(target, "target");
      path = toPath(path);
      attempt("symlink", target, path, () => native.symlink(full(path), target));
    },
    readlink(path, options) { options = optionsOf(options); path = toPath(path); return asked(onPath("readlink", path, native.readlink), options); },
    realpath(path, options) { options = optionsOf(options); return asked(realpath(toPath(path)), options); },
    truncate(path, length) {
      if (length !== undefined) errors.integer(length, "len");
      withFile(path, "ftruncate", 2, undefined, (h) => native.ftruncate(h, p.MathMax(0, length ?? 0)));
    },
    ftruncate(fd, length) {
      if (length !== undefined) errors.integer(length, "len");
      onFd("ftruncate", fd, (h) => native.ftruncate(h, p.MathMax(0, length ?? 0)));
    },
    utimes(path, atime, mtime) { path = toPath(path); const a = milliseconds(atime), m = milliseconds(mtime); onPath("utime", path, (at) => native.utimes(at, a, m, true)); },
    lutimes(path, atime, mtime) { path = toPath(path); const a = milliseconds(atime), m = milliseconds(mtime); onPath("lutime", path, (at) => native.utimes(at, a, m, false)); },
    futimes(fd, atime, mtime) { const a = milliseconds(atime), m = milliseconds(mtime); onFd("futime", fd, (h) => native.futimes(h, a, m)); },
    chmod(path, mode) { path = toPath(path); givenMode(mode); onPath("chmod", path, (at) => native.stat(at, true)); },
    lchmod(path, mode) { path = toPath(path); givenMode(mode); onPath("lchmod", path, (at) => native.stat(at, false)); },
    fchmod(fd, mode) { errors.integer(fd, "fd", 0, 2147483647); givenMode(mode); onFd("fchmod", fd, () => {}); },
    chown(path, uid, gid) { path = toPath(path); owner(uid, gid); onPath("chown", path, (at) => native.stat(at, true)); },
    lchown(path, uid, gid) { path = toPath(path); owner(uid, gid); onPath("lchown", path, (at) => native.stat(at, false)); },
    fchown(fd, uid, gid) { errors.integer(fd, "fd", 0, 2147483647); owner(uid, gid); onFd("fchown", fd, () => {}); },
    open(path, flags, mode) {
      path = toPath(path);
      handles.set(nextFd, openAt(path, flagsOf(flags, "r"), modeOf(mode)));
      return nextFd++;
    },
    close(fd) { onFd("close", fd, native.close); handles.delete(fd); },
    fsync: (fd) => { onFd("fsync", fd, () => {}); },
    fdatasync: (fd) => { onFd("fdatasync", fd, () => {}); },
    read(fd, buffer, offset, length, at) {
      errors.integer(fd, "fd", 0, 2147483647);
      if (!native.isView(buffer)) throw errors.argType("buffer", "an instance of Buffer, TypedArray, or DataView", buffer);
      if (arguments.length < 4 && offset !== undefined && offset !== null) {
        errors.object(offset, "options");
        ({ offset, length, position: at } = offset);
      }
      offset ??= 0;
      errors.integer(offset, "offset", 0);
      length = length === undefined ? buffer.byteLength - offset : length | 0;
      if (length === 0) return 0;
      if (buffer.byteLength === 0) throw errors.argValue("buffer", buffer, "is empty and cannot be written");
      if (length < 0) throw errors.range("length", ">= 0", length);
      if (offset + length > buffer.byteLength) throw errors.range("length", `<= ${buffer.byteLength - offset}`, length);
      at = position(at);
      const data = onFd("read", fd, (h) => native.readAt(h, length, at));
      view(buffer, offset, data.length).set(data);
      return data.length;
    },
    write(fd, data, offset, length, at) {
      errors.integer(fd, "fd", 0, 2147483647);
      if (typeof data === "string") {
        return onFd("write", fd, (h) => native.writeAt(h, Buffer.from(data, Buffer.isEncoding(length) ? length : "utf8"), offset));
      }
      bytes(data, "", "buffer");
      if (typeof offset === "object" && offset !== null) ({ offset, length, position: at } = offset);
      offset ??= 0;
      errors.integer(offset, "offset", 0);
      if (typeof length !== "number") length = data.byteLength - offset;
      if (offset > data.byteLength) throw errors.range("offset", `<= ${data.byteLength}`, offset);
      if (length > data.byteLength - offset) throw errors.range("length", `<= ${data.byteLength - offset}`, length);
      if (length < 0) throw errors.range("length", ">= 0", length);
      errors.integer(length, "length", 0);
      return onFd("write", fd, (h) => native.writeAt(h, view(data, offset, length), typeof at === "bigint" ? p.Number(at) : at));
    },
    readv(fd, buffers, at) {
      errors.integer(fd, "fd", 0, 2147483647);
      views(buffers);
      let total = 0;
      for (const b of buffers) {
        const n = b.byteLength === 0 ? 0 : ops.read(fd, b, 0, b.byteLength, typeof at === "number" ? at + total : undefined);
        total += n;
        if (n < b.byteLength) break;
      }
      return total;
    },
    writev(fd, buffers, at) {
      errors.integer(fd, "fd", 0, 2147483647);
      views(buffers);
      return onFd("write", fd, (h) => native.writeAt(h, Buffer.concat(buffers.map((b) => view(b, 0, b.byteLength))), typeof at === "number" ? at : undefined));
    },
    opendir(path, options) {
      options = optionsOf(options);
      path = toPath(path);
      if (options.bufferSize !== undefined) errors.integer(options.bufferSize, "options.bufferSize", 1, 4294967295);
      return makeDir(path, onPath("opendir", path, (at) => entries(at, path, options.recursive)).map(([, name, kind, parent]) => new Dirent(asked(name, options), kind, parent)));
    },
    statfs(path, options) {
      path = toPath(path);
      onPath("statfs", path, (at) => native.stat(at, true));
      const n = options?.bigint ? p.BigInt : p.Number;
      return { type: n(0), bsize: n(4096), blocks: n(0), bfree: n(0), bavail: n(0), files: n(0), ffree: n(0) };
    },
  };
  const writing = (path, data, options, flag) => {
    flagged(options, "flush");
    const content = bytes(data, options.encoding);
    withFile(path, "write", flagsOf(options.flag, flag), modeOf(options.mode), (h) => { native.writeAt(h, content); });
  };
  const exists = (path) => { try { native.stat(full(toPath(path)), true); return true; } catch { return false; } };

  let makeDir;

  const fs = {};
  const promises = {};
  const aborted = native.require("internal/abort_error");
  // An aborted signal ends an operation on a whole file even after it was done.
  const checkSignal = (args) => { for (const a of args) if (a?.signal?.aborted) throw aborted(a.signal.reason); };
  // What fs.read and its like take apart from the whole list of arguments.
  const spread = (buffer) => (native.isView(buffer) ? [buffer] : typeof buffer === "object" && buffer !== null ? [buffer.buffer ?? Buffer.alloc(16384), buffer.offset, buffer.length, buffer.position] : [buffer === undefined ? Buffer.alloc(16384) : buffer]);
  const named = (target, name, fn, length) => {
    target[name] = fn;
    ObjectDefineProperty(fn, "name", { value: name, configurable: true });
    ObjectDefineProperty(fn, "length", { value: length, configurable: true });
  };
  const handing = { read: true, write: true, readv: true, writev: true };
  const onFile = { readFile: true, writeFile: true, appendFile: true };
  const onlyFd = { glob: true, close: true, fchmod: true, fchown: true, fdatasync: true, fstat: true, fsync: true, ftruncate: true, futimes: true, read: true, readv: true, write: true, writev: true };
  for (const name of p.ObjectKeys(ops)) {
    const op = ops[name];
    named(fs, `${name}Sync`, (...args) => op(...args), op.length);
    named(fs, name, (...args) => {
      let callback = args.pop();
      if (name === "close" && args.length === 0) { args.push(callback); callback = (error) => { if (error) throw error; }; }
      errors.func(args.length < op.length && typeof callback !== "function" ? undefined : callback, "cb");
      if (name === "read" && args.length < 3) args = [args[0], ...spread(args[1]), ...args.slice(2)];
      let result, error = null;
      try { result = op(...args); } catch (e) {
        if (typeof e?.code === "string" && e.code.startsWith("ERR_") && e.name !== "SystemError") throw e;
        error = e;
      }
      native.nextTick(() => {
        if (onFile[name]) try { checkSignal(args); } catch (e) { error = e; }
        if (error) { if (handing[name]) callback(error, 0, args[1]); else callback(error); }
        else if (result === undefined) callback(null);
        else if (handing[name]) callback(null, result, args[1]);
        else callback(null, result);
      });
    }, op.length + 1);
    if (!onlyFd[name]) named(promises, name, async (...args) => op(...args), op.length);
  }
  const { FileHandle, ReadStream, WriteStream, Dir } = native.require("internal/fs_open")(ops, promises, toPath, optionsOf);
  makeDir = (path, list) => new Dir(path, list);
  for (const name of p.ObjectKeys(onFile)) {
    named(promises, name, async (file, ...args) => {
      checkSignal(args);
      if (name !== "readFile") args[0] = await whole(args[0], optionsOf(args[1]));
      const result = ops[name](file instanceof FileHandle ? file.fd : toPath(file), ...args);
      await undefined;
      checkSignal(args);
      return result;
    }, ops[name].length);
  }
  // What promises.writeFile takes beside bytes and strings: what yields them.
  const whole = async (data, options) => {
    const method = typeof data === "object" && data !== null && !native.isView(data) && (data[p.SymbolAsyncIterator] ?? data[p.SymbolIterator]);
    if (!method || ArrayIsArray(data)) return data;
    const chunks = [], iterator = p.ReflectApply(method, data, []);
    for (let step; !(step = await iterator.next()).done;) { checkSignal([options]); chunks.push(bytes(step.value, options.encoding)); }
    return Buffer.concat(chunks);
  };
  const promisified = Symbol.for("nodejs.util.promisify.custom");
  for (const [name, ...keys] of [["read", "bytesRead", "buffer"], ["write", "bytesWritten", "buffer"], ["readv", "bytesRead", "buffers"], ["writev", "bytesWritten", "buffers"]]) {
    ObjectDefineProperty(fs[name], promisified, { value: (...args) => new Promise((resolve, reject) => {
      fs[name](...args, (error, n, data) => (error ? reject(error) : resolve({ [keys[0]]: n, [keys[1]]: data })));
    }) });
  }
  promises.glob = function glob(pattern, options) {
    let found;
    const next = async () => {
      found ??= ops.glob(pattern, options).values();
      return found.next();
    };
    return p.ObjectSetPrototypeOf({ next, async return(value) { found = [].values(); return { value, done: true }; } }, p.AsyncIteratorPrototype);
  };
  fs.realpath.native = fs.realpath;
  fs.realpathSync.native = fs.realpathSync;
  fs.existsSync = function existsSync(path) { return exists(path); };
  fs.exists = function exists(path, callback) { errors.func(callback, "cb"); const found = fs.existsSync(path); native.nextTick(callback, found); };
  ObjectDefineProperty(fs.exists, promisified, { value: async (path) => exists(path) });
  promises.open = async function open(path, flags, mode) { return new FileHandle(ops.open(path, flags, mode)); };
  promises.constants = constants;
  promises.FileHandle = FileHandle;
  p.ObjectAssign(fs, { constants, promises, Stats, Dirent, Dir, ReadStream, WriteStream, FileReadStream: ReadStream, FileWriteStream: WriteStream,
    F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1,
    createReadStream(path, options) { return new ReadStream(path, options); },
    createWriteStream(path, options) { return new WriteStream(path, options); },
    async openAsBlob(path, options = {}) {
      errors.object(options, "options");
      if (options.type !== undefined) errors.string(options.type, "options.type");
      path = toPath(path);
      let data;
      try { data = ops.readFile(path); } catch { throw errors.make("TypeError", "ERR_INVALID_ARG_VALUE", "Unable to open file as blob"); }
      return new Blob([data], options);
    },
    unwatchFile() {},
  });
  return fs;
}
