// What node:fs opens: folders, file handles and streams, made from the
// operations of fs.js by (ops, promises, toPath, optionsOf, full).
function (native, p) {
  "use strict";
  const { errors } = native;
  const { ReflectApply, ObjectDefineProperty, ObjectSetPrototypeOf } = p;
  const { Buffer } = native.require("buffer");
  const { Readable, Writable } = native.require("stream");

  class Dir {
    #path; #list; #at = 0; #closed = false;
    constructor(path, list) { this.#path = path; this.#list = list; }
    get path() { return this.#path; }
    #open() { if (this.#closed) throw errors.make("Error", "ERR_DIR_CLOSED", "Directory is closed"); }
    readSync() { this.#open(); return this.#list[this.#at++] ?? null; }
    read(callback) { return this.#later(callback, () => this.readSync()); }
    closeSync() { this.#open(); this.#closed = true; }
    close(callback) { return this.#later(callback, () => this.closeSync()); }
    #later(callback, fn) {
      if (callback === undefined) return (async () => fn())();
      errors.func(callback, "callback");
      let result, error = null;
      try { result = fn(); } catch (e) { error = e; }
      native.nextTick(() => callback(error, result));
    }
    entries() {
      const end = async () => { if (!this.#closed) this.closeSync(); return { value: undefined, done: true }; };
      return {
        next: async () => { const value = this.#closed ? null : this.readSync(); return value === null ? end() : { value, done: false }; },
        return: end,
        [p.SymbolAsyncIterator]() { return this; },
      };
    }
    [p.SymbolAsyncIterator]() { return this.entries(); }
    [p.SymbolDispose]() { if (!this.#closed) this.closeSync(); }
    async [p.SymbolAsyncDispose]() { if (!this.#closed) this.closeSync(); }
  }

  return (ops, promises, toPath, optionsOf, full) => {
    class FileHandle extends native.require("events") {
      #fd;
      constructor(fd) { super(); this.#fd = fd; }
      get fd() { return this.#fd; }
      #open(syscall) { if (this.#fd < 0) throw native.require("internal/errors").system("EBADF", "Bad file descriptor", syscall.replace(/^f(?=stat)/, ""), -9); }
      async close() { if (this.#fd >= 0) { const fd = this.#fd; this.#fd = -1; ops.close(fd); this.emit("close"); } }
      async read(buffer, offset, length, at) {
        this.#open("read");
        if (!native.isView(buffer)) {
          if (buffer !== undefined && buffer !== null) errors.object(buffer, "options");
          ({ buffer = Buffer.alloc(16384), offset, length, position: at } = buffer ?? {});
        }
        return { bytesRead: ops.read(this.#fd, buffer, offset, length, at), buffer };
      }
      async write(data, ...args) { this.#open("write"); return { bytesWritten: data?.byteLength === 0 ? 0 : ops.write(this.#fd, data, ...args), buffer: data }; }
      async readv(buffers, at) { this.#open("readv"); return { bytesRead: ops.readv(this.#fd, buffers, at), buffers }; }
      async writev(buffers, at) { this.#open("writev"); return { bytesWritten: ops.writev(this.#fd, buffers, at), buffers }; }
      async readFile(options) { this.#open("readFile"); return promises.readFile(this, options); }
      async writeFile(data, options) { this.#open("write"); return promises.writeFile(this, data, options); }
      async appendFile(data, options) { this.#open("write"); return promises.appendFile(this, data, options); }
      async stat(options) { this.#open("fstat"); return ops.fstat(this.#fd, options); }
      async truncate(size) { this.#open("ftruncate"); return ops.ftruncate(this.#fd, size); }
      async sync() { this.#open("fsync"); }
      async datasync() { this.#open("fdatasync"); }
      async chmod(mode) { this.#open("fchmod"); ops.fchmod(this.#fd, mode); }
      async chown(uid, gid) { this.#open("fchown"); ops.fchown(this.#fd, uid, gid); }
      async utimes(atime, mtime) { this.#open("futimes"); ops.futimes(this.#fd, atime, mtime); }
      createReadStream(options) { return new ReadStream(undefined, { ...options, fd: this }); }
      createWriteStream(options) { return new WriteStream(undefined, { ...options, fd: this }); }
      readableWebStream() { return Readable.toWeb(new ReadStream(undefined, { fd: this, autoClose: false }), { type: "bytes" }); }
      readLines() { throw errors.refused("fs.FileHandle.readLines"); }
      [p.SymbolAsyncDispose]() { return this.close(); }
    }

    // What both streams are told: the file, by path or by descriptor, and where.
    const setUp = (stream, path, options, flags) => {
      const { fd, start } = options;
      if (fd === undefined || fd === null) stream.fd = null;
      else if (typeof fd === "number") { errors.integer(fd, "fd", 0, 2147483647); stream.fd = fd; }
      else if (fd instanceof FileHandle) { stream.fd = fd.fd; ObjectDefineProperty(stream, "_handle", { value: fd, configurable: true }); }
      else throw errors.argType("options.fd", "of type number or an instance of FileHandle", fd);
      stream.path = stream.fd === null ? full(toPath(path)) : path;
      if (start !== undefined) errors.integer(start, "start", 0);
      stream.flags = options.flags ?? flags;
      stream.mode = options.mode ?? 0o666;
      stream.start = stream.pos = start;
      if (options.autoClose === false) ObjectDefineProperty(stream, "_keepsOpen", { value: true, writable: true });
    };
    const settings = (options) => ({ highWaterMark: 65536, ...optionsOf(options) });
    const shared = {
      _construct(callback) {
        if (this.fd !== null) { callback(); return; }
        try { this.fd = ops.open(this.path, this.flags, this.mode); } catch (error) { callback(error); return; }
        callback();
        this.emit("open", this.fd);
        this.emit("ready");
      },
      _destroy(error, callback) {
        const fd = this.fd, fileHandle = this._handle;
        this.fd = null;
        if (fd === null || this._keepsOpen) { callback(error); return; }
        if (fileHandle) { fileHandle.close().then(() => callback(error), callback); return; }
        try { ops.close(fd); } catch (e) { error ??= e; }
        callback(error);
      },
    };
    const inherit = (Stream, Base, methods) => {
      ObjectSetPrototypeOf(Stream.prototype, Base.prototype);
      ObjectSetPrototypeOf(Stream, Base);
      for (const name of p.ObjectKeys(methods)) ObjectDefineProperty(Stream.prototype, name, { value: methods[name], writable: true, configurable: true, enumerable: true });
      ObjectDefineProperty(Stream.prototype, "pending", { get() { return this.fd === null; }, configurable: true });
      ObjectDefineProperty(Stream.prototype, "autoClose", { get() { return !this._keepsOpen; }, set(v) { ObjectDefineProperty(this, "_keepsOpen", { value: !v, configurable: true, writable: true }); }, configurable: true });
    };

    function ReadStream(path, options) {
      if (!(this instanceof ReadStream)) return new ReadStream(path, options);
      options = settings(options);
      setUp(this, path, options, "r");
      this.end = options.end ?? Infinity;
      this.bytesRead = 0;
      if (this.end !== Infinity) errors.integer(this.end, "end", 0);
      if (this.start > this.end) throw errors.range("start", `<= "end" (here: ${this.end})`, this.start);
      ReflectApply(Readable, this, [options]);
    }
    inherit(ReadStream, Readable, {
      ...shared,
      _read(n) {
        n = p.MathMin(n, this.end - (this.pos ?? this.bytesRead) + 1);
        if (n <= 0) { this.push(null); return; }
        const data = Buffer.alloc(n);
        let read;
        try { read = ops.read(this.fd, data, 0, n, this.pos); } catch (error) { this.destroy(error); return; }
        if (this.pos !== undefined) this.pos += read;
        this.bytesRead += read;
        this.push(read > 0 ? data.subarray(0, read) : null);
      },
      close(callback) { if (callback) { if (this.closed) native.nextTick(callback); else this.once("close", callback); } this.destroy(); },
    });

    function WriteStream(path, options) {
      if (!(this instanceof WriteStream)) return new WriteStream(path, options);
      options = settings(options);
      setUp(this, path, options, "w");
      this.bytesWritten = 0;
      this.flush = options.flush ?? false;
      errors.bool(this.flush, "options.flush");
      ReflectApply(Writable, this, [{ ...options, decodeStrings: true, defaultEncoding: options.encoding ?? "utf8" }]);
    }
    inherit(WriteStream, Writable, {
      ...shared,
      _write(chunk, encoding, callback) {
        try { ops.write(this.fd, chunk, 0, chunk.length, this.pos); } catch (error) { callback(error); return; }
        if (this.pos !== undefined) this.pos += chunk.length;
        this.bytesWritten += chunk.length;
        callback();
      },
      close(callback) {
        if (callback) { if (this.closed) { native.nextTick(callback); return; } this.once("close", callback); }
        if (this._keepsOpen) this.once("finish", () => this.destroy());
        this.end();
      },
      destroySoon() { this.end(); },
    });
    return { FileHandle, ReadStream, WriteStream, Dir };
  };
}
