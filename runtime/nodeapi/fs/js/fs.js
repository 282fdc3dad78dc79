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
  const toPath = (path) => {
    if (typeof path === "object" && path !== null && typeof path.href === "string") {
      if (path.protocol !== "file:") throw new p.TypeError("File path must be a file: URL");
      path = native.require("url").fileURLToPath(path);
    }
    if (native.isView(path)) path = Buffer.from(path.buffer, path.byteOffset, path.byteLength).toString();
    if (typeof path !== "string") throw errors.argType("path", "of type string or an instance of Buffer or URL", path);
    if (path.includes("\0")) throw errors.argValue("path", path, "must not contain null bytes");
    return path;
  };
  const full = (path) => pathModule.resolve(native.require("process").cwd(), path);
  // An error shows a path as that of a URL, as which the reference takes it.
  const shownPath = (path) => new (native.require("url").URL)(full(path).replace(/[#?]/g, (c) => (c === "#" ? "%23" : "%3F")), "file:///").pathname;
  const lastPart = (path) => pathModule.basename(shownPath(path));
  // sealed tells whether nothing can be made or removed in a folder.
  const sealed = (folder) => folder === "/" || /^\/(bundle|dev)(\/|$)/.test(folder);

  // failed is the error of an operation. Those that the reference's JavaScript words have
  // an errno; those of its file system (src/workerd/api/filesystem.c++) have none, and
  // name the path only where it is missing, or where shown says so.
  const worded = { __proto__: null, stat: true, lstat: true, chmod: true, lchmod: true, chown: true, lchown: true, access: true, copyFile: true };
  const shown = { __proto__: null, readdir: ["ENOTDIR"], open: ["EEXIST", "EISDIR", "ENOTDIR", "EPERM"], rm: ["ENOTEMPTY"] };
  const byName = { __proto__: null, rm: true, mkdir: true, unlink: true }; // the last part of the path
  const others = { __proto__: null,
    "unlink ENOENT": "File not found", "unlink EISDIR": "Cannot unlink a directory",
    "link ENOENT": "File not found", "link EEXIST": "File already exists", "link EPERM": "Cannot hardlink to a directory" };
  const failed = (syscall, { code, errno, message: reason }, path, last = byName[syscall]) => {
    if (path !== undefined) path = last ? lastPart(path) : shownPath(path);
    if (worded[syscall]) return native.require("internal/errors").system(code, `${reason}, ${syscall} '${path}'`, syscall, errno, { path });
    const text = others[`${syscall} ${code}`];
    const named = path !== undefined && (code === "ENOENT" || shown[syscall]?.includes(code));
    const error = errors.make("Error", "", text ?? (named ? `${reason}, ${syscall} '${path}'` : reason));
    return p.ObjectAssign(error, { syscall, code }, named ? { path } : undefined);
  };
  // attempt gives failures of the natives, which have a code alone, their form.
  // While arguments alone are checked, it ends an operation before that does anything.
  let checking = false;
  const checked = {};
  const attempt = (syscall, path, fn) => {
    if (checking) throw checked;
    try { return fn(); } catch (error) {
      if (typeof error?.errno !== "number" || error.syscall !== undefined) throw error;
      throw failed(syscall, error, path);
    }
  };
  const onPath = (syscall, path, fn) => attempt(syscall, path, () => fn(full(path)));
  // onPaths tells what a destination lacks by its last part.
  const onPaths = (syscall, from, to, fn) => attempt(syscall, from, () => {
    try { return fn(full(from), full(to)); } catch (error) {
      if (error?.code !== "ENOENT") throw error;
      const folder = pathModule.dirname(full(from));
      if (syscall === "rename" && !found(folder)) throw failed(syscall, error, from, true);
      if (syscall === "rename" && sealed(folder)) throw failed(syscall, notPermitted);
      if (!found(from)) throw error;
      throw failed(syscall, error, to, true);
    }
  });
  const notPermitted = { code: "EPERM", errno: -1, message: "operation not permitted" };
  // onRemoved is onPath for what is removed: from a folder that stays as it is, nothing.
  const onRemoved = (syscall, path, fn) => attempt(syscall, path, () => {
    try { return fn(full(path)); } catch (error) {
      const folder = pathModule.dirname(full(path));
      if (error?.code === "ENOENT" && sealed(folder) && found(folder)) throw failed(syscall, notPermitted);
      throw error;
    }
  });
  const found = (path) => { try { native.stat(full(path), false); return true; } catch { return false; } };
  const refusal = (code, text) => errors.make("Error", code, text);

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
    if (typeof options !== "object") throw errors.argType("options", "of type object", options);
    const { encoding, signal } = options;
    if (encoding && encoding !== "buffer" && !Buffer.isEncoding(encoding)) throw errors.argValue("options.encoding", encoding, "is invalid");
    if (signal !== undefined && (typeof signal !== "object" || signal === null || !("aborted" in signal))) throw errors.argType("options.signal", "an instance of AbortSignal", signal);
    return options;
  };
  const textOptions = (options) => {
    options = optionsOf(options);
    if (options.encoding === "buffer") throw errors.make("TypeError", "ERR_UNKNOWN_ENCODING", "Unknown encoding: buffer");
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
  // milliseconds is a time; as in the reference a number is no number of seconds.
  const milliseconds = (t) => {
    if (native.require("util").types.isDate(t)) return t.getTime();
    if (typeof t !== "string" && typeof t !== "number" && typeof t !== "bigint") throw errors.argType("time", "one of type string, number, or bigint or an instance of Date", t);
    const n = p.Number(t);
    return n === n ? n : 0;
  };
  const owner = (uid, gid) => { errors.integer(uid, "uid", -1, 4294967295); errors.integer(gid, "gid", -1, 4294967295); };

  const kindBits = [0o100000, 0o040000, 0o120000, 0o020000];
  class Stats {
    constructor([kind, size, mode, , mtimeMs], big) {
      const n = big ? (v) => p.BigInt(v) : (v) => v;
      const times = ["atime", "mtime", "ctime", "birthtime"];
      p.ObjectAssign(this, { dev: n(0), ino: n(0), mode: n(kindBits[kind] | mode), nlink: n(1), uid: n(0), gid: n(0), rdev: n(0), size: n(kind === 0 ? size : 0), blksize: n(0), blocks: n(0),
        atimeMs: n(0), mtimeMs: n(mtimeMs), ctimeMs: n(mtimeMs), birthtimeMs: n(0) });
      for (const t of times) this[`${t}Ns`] = big ? this[`${t}Ms`] * 1000000n : undefined;
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
    let h = handles.get(fd);
    if (h === undefined && fd < 3) handles.set(fd, h = native.standard(fd));
    if (h === undefined) throw p.ObjectAssign(errors.make("Error", "EBADF", "bad file descriptor"), { errno: -9 });
    return h;
  };
  const onFd = (syscall, fd, fn) => attempt(syscall, undefined, () => fn(handle(fd)));
  const openAt = (path, flags, mode, syscall = "open") => onPath(syscall, path, (at) => native.open(at, flags, mode));
  const withFile = (target, syscall, fdSyscall, flags, mode, fn) => {
    if (typeof target === "number") return onFd(fdSyscall, target, fn);
    const h = openAt(toPath(target), flags, mode, syscall);
    try { return attempt(syscall, undefined, () => fn(h)); } finally { native.close(h); }
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
    if (!ArrayIsArray(buffers) || !buffers.every((b) => native.isView(b))) throw errors.argType("buffer", "an ArrayBufferView[]", buffers);
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
    if (options !== undefined) {
      errors.object(options, "options");
      flagged(options, "bigint", "throwIfNoEntry");
    }
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
      const stat = attempt("readlink", path, () => native.stat(at, false));
      if (stat[0] !== 2) { done = at; continue; }
      if (++links > 40) attempt("readlink", path, () => native.stat(at, true));
      const target = native.readlink(at);
      if (target.startsWith("/")) done = "/";
      left.unshift(...target.split("/").filter((x) => x !== "" && x !== "."));
    }
    return done;
  };
  const removal = (options, force) => {
    if (options === undefined) return {};
    errors.object(options, "options");
    if (force) flagged(options, "force");
    if (options.maxRetries !== undefined) errors.uint32(options.maxRetries, "options.maxRetries");
    flagged(options, "recursive");
    if (options.retryDelay !== undefined) errors.uint32(options.retryDelay, "options.retryDelay");
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
  const cpFile = (src, dest, destKind, options) => {
    if (destKind !== undefined && options.force === false) {
      if (options.errorOnExist) throw refusal("ERR_FS_CP_EEXIST", "File already exists");
      return;
    }
    native.mkdir(full(pathModule.dirname(dest)), true);
    ops.copyFile(src, dest, options.mode);
    if (options.preserveTimestamps) { const s = native.stat(full(src), true); native.utimes(full(dest), s[5], s[4]); }
  };
  const cp = (src, dest, options) => {
    if (options.filter && !options.filter(src, dest)) return;
    const from = onPath("cp", src, (at) => native.stat(at, !!options.dereference));
    let to;
    try { to = native.stat(full(dest), !!options.dereference); } catch (error) { if (error.code !== "ENOENT") throw error; }
    const inside = full(dest).startsWith(`${full(src)}/`);
    if (to?.[3] === from[3]) throw refusal("ERR_FS_CP_EINVAL", "Source and destination must not be the same");
    if (from[0] === 1 && to && to[0] !== 1) throw refusal("ERR_FS_CP_DIR_TO_NON_DIR", "Cannot copy directory to non-directory");
    if (from[0] !== 1 && to?.[0] === 1) throw refusal("ERR_FS_CP_NON_DIR_TO_DIR", "Cannot copy non-directory to directory");
    if (from[0] === 2) {
      if (to) { if (options.force === false) return; native.unlink(full(dest)); }
      const target = native.readlink(full(src));
      native.symlink(full(dest), options.verbatimSymlinks || pathModule.isAbsolute(target) ? target : pathModule.resolve(full(src), "..", target));
      return;
    }
    if (from[0] !== 1) { cpFile(src, dest, to?.[0], options); return; }
    if (!options.recursive) throw refusal("ERR_FS_EISDIR", "Expected a file but found a directory");
    if (inside) throw refusal("ERR_FS_CP_EINVAL", `Cannot copy '${src}' to a subdirectory of itself, '${dest}'`);
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
        const closed = mode & 1 || mode & 2 && /^\/(bundle|dev)?(\/|$)/.test(realpath(path)) && s[0] !== 3;
        if (closed) throw p.ObjectAssign(errors.make("Error", "ENOENT", "no such file or directory"), { errno: -2 }); // told as missing, in the reference
      });
    },
    readFile(path, options) {
      options = optionsOf(options);
      const data = withFile(path, "readAll", "fread", flagsOf(options.flag, "r"), undefined, (h) => native.readAt(h, undefined, 0));
      return options.encoding ? data.toString(options.encoding) : data;
    },
    writeFile(path, data, options) { return writing(path, data, optionsOf(options), "w"); },
    appendFile(path, data, options) { return writing(path, data, optionsOf(options), "a"); },
    stat: (path, options) => statsOf("stat", path, options, true),
    lstat: (path, options) => statsOf("lstat", path, options, false),
    fstat: (fd, options) => onFd("fstat", fd, (h) => new Stats(native.fstat(h), options?.bigint)),
    readdir(path, options) {
      options = optionsOf(options);
      path = toPath(path);
      if (options.recursive !== undefined && options.recursive !== null) errors.bool(options.recursive, "options.recursive");
      return onPath("readdir", path, (at) => entries(at, path, options.recursive, options.recursive ? `${at.slice(1)}/` : "")) // from the root, as in the reference
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
      if (options === undefined) options = {};
      if (typeof options === "number") options = { mode: options };
      errors.object(options, "options");
      flagged(options, "recursive");
      if (options.mode !== undefined) givenMode(options.mode);
      path = toPath(path);
      return onPath("mkdir", path, (at) => {
        try {
          const made = native.mkdir(at, options.recursive);
          return made === at ? undefined : made; // as in the reference: a folder above it
        } catch (error) {
          if (error.code !== "EEXIST" || native.stat(at, true)[0] !== 1) throw error;
          return undefined; // as in the reference: the folder is there
        }
      });
    },
    mkdtemp(prefix, options) {
      optionsOf(options);
      prefix = toPath(prefix);
      for (let n = 0; ; n++) {
        if (found(`${prefix}${n}`)) continue;
        onPath("mkdir", prefix, () => native.mkdir(full(`${prefix}${n}`), false));
        return `${prefix}${n}`;
      }
    },
    rm(path, options) {
      const { recursive } = removal(options, true);
      path = toPath(path);
      onRemoved("rm", path, (at) => native.rm(at, !!recursive, true)); // what is missing is no error, forced or not
    },
    rmdir(path, options) {
      const { recursive } = removal(options, false);
      path = toPath(path);
      onRemoved("rm", path, (at) => (recursive ? native.rm(at, true, false) : native.rmdir(at)));
    },
    unlink(path) { path = toPath(path); onPath("unlink", path, (at) => native.unlink(at)); },
    rename: (from, to) => onPaths("rename", toPath(from), toPath(to), native.rename),
    copyFile(from, to, mode) {
      from = toPath(from);
      to = toPath(to);
      mode ??= 0;
      if (![0, 1, 4, 2].includes(mode)) throw errors.argValue("mode", mode, "must be one of: 0, 1, 4, 2");
      if (mode === 4) throw refusal("ERR_UNSUPPORTED_OPERATION", "The requested operation is unsupported");
      if (mode === 1 && found(to)) throw failed("copyFile", { code: "EEXIST", errno: -17, message: "file already exists" }, to);
      onPaths("copy", from, to, (src, dest) => {
        const source = native.open(src, 0);
        const data = native.readAt(source, undefined, 0);
        native.writeAt(native.open(dest, flagWords.w), data);
      });
    },
    cp(from, to, options) {
      options = copying(options);
      const src = toPath(from), dest = toPath(to);
      attempt("cp", src, () => cp(src, dest, options));
    },
    link(from, to) {
      from = toPath(from);
      to = toPath(to);
      attempt("link", from, () => {
        try { native.link(full(from), full(to)); } catch (error) {
          if (error.code !== "ENOENT" || !found(from)) throw error;
          throw p.ObjectAssign(errors.make("Error", "", "Directory does not exist"), { syscall: "link", code: "ENOENT", path: shownPath(from) });
        }
      });
    },
    symlink(target, path, type) {
      target = toPath(target);
      path = toPath(path);
      if (type !== undefined && type !== null && type !== "dir" && type !== "file" && type !== "junction") throw errors.argValue("type", type, "must be one of: 'dir', 'file', 'junction', null");
      attempt("link", path, () => {
        try { native.symlink(full(path), full(target)); } catch (error) {
          if (error?.code === "EPERM") throw p.ObjectAssign(errors.make("Error", "", notPermitted.message), { syscall: "link", code: "EPERM" });
          if (error?.code !== "ENOENT") throw error;
          throw p.ObjectAssign(errors.make("Error", "", "Directory does not exist"), { syscall: "link", code: "ENOENT", path: shownPath(target) });
        }
      });
    },
    readlink(path, options) { options = textOptions(options); path = toPath(path); return asked(onPath("readlink", path, native.readlink), options); },
    realpath(path, options) { options = textOptions(options); return asked(realpath(toPath(path)), options); },
    truncate(path, length) {
      if (typeof path !== "number") path = toPath(path);
      if (length !== undefined) errors.uint32(length, "len");
      withFile(path, "ftruncate", "ftruncate", 2, undefined, (h) => native.ftruncate(h, length ?? 0));
    },
    ftruncate(fd, length) {
      errors.integer(fd, "fd", 0, 2147483647);
      if (length !== undefined) errors.uint32(length, "len");
      onFd("ftruncate", fd, (h) => native.ftruncate(h, length ?? 0));
    },
    utimes(path, atime, mtime) { const a = milliseconds(atime), m = milliseconds(mtime); path = toPath(path); onPath("utimes", path, (at) => native.utimes(at, a, m, true)); },
    lutimes(path, atime, mtime) { const a = milliseconds(atime), m = milliseconds(mtime); path = toPath(path); onPath("utimes", path, (at) => native.utimes(at, a, m, false)); },
    futimes(fd, atime, mtime) { errors.integer(fd, "fd", 0, 2147483647); const a = milliseconds(atime), m = milliseconds(mtime); onFd("futimes", fd, (h) => native.futimes(h, a, m)); },
    chmod(path, mode) { givenMode(mode); path = toPath(path); onPath("chmod", path, (at) => native.stat(at, true)); },
    lchmod(path, mode) { givenMode(mode); path = toPath(path); onPath("lchmod", path, (at) => native.stat(at, false)); },
    fchmod(fd, mode) { errors.integer(fd, "fd", 0, 2147483647); givenMode(mode); onFd("fstat", fd, () => {}); },
    chown(path, uid, gid) { owner(uid, gid); path = toPath(path); onPath("chown", path, (at) => native.stat(at, true)); },
    lchown(path, uid, gid) { owner(uid, gid); path = toPath(path); onPath("lchown", path, (at) => native.stat(at, false)); },
    fchown(fd, uid, gid) { owner(uid, gid); errors.integer(fd, "fd", 0, 2147483647); onFd("fstat", fd, () => {}); },
    open(path, flags, mode) {
      path = toPath(path);
      const bits = modeOf(mode);
      handles.set(nextFd, openAt(path, flagsOf(flags, "r"), bits));
      return nextFd++;
    },
    close(fd) {
      errors.integer(fd, "fd", 0, 2147483647);
      if (checking) throw checked;
      const h = handles.get(fd);
      if (h === undefined) return; // as in the reference
      native.close(h);
      handles.delete(fd);
    },
    fsync: (fd) => { errors.integer(fd, "fd", 0, 2147483647); onFd("fstat", fd, () => {}); },
    fdatasync: (fd) => { errors.integer(fd, "fd", 0, 2147483647); onFd("fstat", fd, () => {}); },
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
      if (buffers.length === 0) return 0;
      return onFd("write", fd, (h) => native.writeAt(h, Buffer.concat(buffers.map((b) => view(b, 0, b.byteLength))), typeof at === "number" ? at : undefined));
    },
    opendir(path, options) {
      if (options !== undefined) errors.object(options, "options");
      options = optionsOf(options);
      path = toPath(path);
      if (options.bufferSize !== undefined) errors.integer(options.bufferSize, "options.bufferSize", 1, 4294967295);
      return makeDir(path, onPath("readdir", path, (at) => entries(at, path, options.recursive)).map(([, name, kind, parent]) => new Dirent(asked(name, options), kind, parent)));
    },
    statfs(path, options) {
      toPath(path);
      if (options !== undefined) {
        errors.object(options, "options");
        flagged(options, "bigint");
      }
      const n = options?.bigint ? p.BigInt : p.Number;
      return { type: n(0), bsize: n(0), blocks: n(0), bfree: n(0), bavail: n(0), files: n(0), ffree: n(0) };
    },
  };
  const writing = (path, data, options, flag) => {
    flagged(options, "flush");
    const content = bytes(data, options.encoding);
    return withFile(path, "writeAll", "fwrite", flagsOf(options.flag, flag), modeOf(options.mode), (h) => {
      if (typeof path !== "number") return native.writeAt(h, content);
      if (flag === "a") return native.writeAt(h, content, native.fstat(h)[1]);
      if (path > 2) native.ftruncate(h, 0); // a descriptor's file is replaced as well
      return native.writeAt(h, content, 0);
    });
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
  // Where the callback of an operation may stand: after all arguments, or in place of one
  // from that of optional on, when those that follow are left out.
  const optional = { access: 1, appendFile: 2, copyFile: 2, cp: 2, fstat: 1, ftruncate: 1, lstat: 1, mkdir: 1, mkdtemp: 1, open: 1, opendir: 1, read: 1, readdir: 1, readFile: 1,
    readlink: 1, readv: 2, realpath: 1, rmdir: 1, rm: 1, stat: 1, statfs: 1, symlink: 2, truncate: 1, write: 2, writeFile: 2, writev: 2, glob: 1 };
  const counts = { glob: 2 };
  const forgotten = { close: true, fsync: true }; // those that need none
  const needing = { cp: true, mkdir: true, rm: true, rmdir: true, opendir: true }; // options, where the callback is not in their place
  const first = { write: true, readv: true, writev: true, glob: true }; // the callback is checked before other arguments
  const late = { readFile: true, mkdtemp: true, glob: true, readv: true }; // the callback is told of bad arguments
  const check = (op, args) => {
    checking = true;
    try { op(...args); } catch (e) { if (e !== checked) throw e; } finally { checking = false; }
  };
  for (const name of p.ObjectKeys(ops)) {
    const op = ops[name];
    named(fs, `${name}Sync`, (...args) => op(...args), op.length);
    const count = counts[name] ?? op.length;
    named(fs, name, (...given) => {
      let at = optional[name] ?? count;
      while (at < count && typeof given[at] !== "function") at++;
      let args = given.slice(0, at);
      const callback = given[at] === undefined && forgotten[name] ? () => {} : given[at];
      if (at === count && needing[name] && !(name === "mkdir" && typeof given[1] === "number")) errors.object(given[optional[name]], "options");
      if (first[name]) errors.func(callback, "callback");
      if (name === "read" && args.length < 3) args = [args[0], ...spread(args[1]), ...args.slice(2)];
      if (!late[name]) check(op, args);
      else if (name !== "glob" && name !== "readv") optionsOf(args[1]);
      errors.func(callback, "callback");
      let result, error = null;
      try { result = op(...args); } catch (e) { error = e; }
      native.nextTick(() => {
        if (onFile[name]) try { checkSignal(args); } catch (e) { error = e; }
        if (error) { if (handing[name]) callback(error, 0, args[1]); else callback(error); }
        else if (result === undefined && name !== "mkdir") callback(null);
        else if (handing[name]) callback(null, result, args[1]);
        else callback(null, result);
      });
    }, op.length + 1);
    if (!onlyFd[name]) named(promises, name, async (...args) => op(...args), op.length);
  }
  const { FileHandle, ReadStream, WriteStream, Dir } = native.require("internal/fs_open")(ops, promises, toPath, optionsOf, full);
  makeDir = (path, list) => new Dir(path, list);
  for (const name of p.ObjectKeys(onFile)) {
    named(promises, name, async (file, ...args) => {
      checkSignal(args);
      if (name !== "readFile") args[0] = await whole(args[0], optionsOf(args[1]));
      const result = ops[name](file instanceof FileHandle ? file.fd : toPath(file), ...args);
      await undefined;
      checkSignal(args);
      return name === "readFile" ? result : undefined;
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
  fs.exists = function exists(path, callback) { native.nextTick(() => callback(fs.existsSync(path))); };
  ObjectDefineProperty(fs.exists, promisified, { value: async (path) => exists(path) });
  promises.open = async function open(path, flags, mode) { return new FileHandle(ops.open(path, flags, mode)); };
  promises.constants = constants;
  promises.FileHandle = FileHandle;
  p.ObjectAssign(fs, { constants, promises, Stats, Dirent, Dir, ReadStream, WriteStream, FileReadStream: ReadStream, FileWriteStream: WriteStream,
    F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1,
    createReadStream(path, options) { return new ReadStream(path, options); },
    createWriteStream(path, options) { return new WriteStream(path, options); },
    openAsBlob(path, options = {}) {
      errors.object(options, "options");
      if (options.type !== undefined) errors.string(options.type, "options.type");
      path = toPath(path);
      if (!found(path)) throw failed("open", { code: "ENOENT", message: "no such file or directory" }, path);
      const data = ops.readFile(path);
      return new Blob([data], options);
    },
    unwatchFile() { throw errors.refused("fs.unwatchFile"); },
  });
  return fs;
}
