// node:tty as wrangler bundles it before enable_nodejs_tty_module: streams that are no
// terminal. What is written is a line of the log.
function (native, p) {
  "use strict";
  const done = (callback) => { if (typeof callback === "function") callback(); return false; };
  class WriteStream {
    constructor(fd) { p.ObjectAssign(this, { fd, columns: 80, rows: 24, isTTY: false }); }
    clearLine(direction, callback) { return done(callback); }
    clearScreenDown(callback) { return done(callback); }
    cursorTo(x, y, callback) { return done(callback); }
    moveCursor(dx, dy, callback) { return done(callback); }
    getColorDepth(env) { return 1; }
    hasColors(count, env) { return false; }
    getWindowSize() { return [this.columns, this.rows]; }
    write(text, encoding, callback) {
      console.log(text instanceof Uint8Array ? new TextDecoder().decode(text) : text);
      return done(callback);
    }
  }
  class ReadStream {
    constructor(fd) { p.ObjectAssign(this, { fd, isRaw: false, isTTY: false }); }
    setRawMode(mode) { this.isRaw = mode; return this; }
  }
  return { ReadStream, WriteStream, isatty() { return false; } };
}
