// node:readline (nodejs.org/api/readline.html). Workers have no terminal: lines
// come from the stream that is given as input. Without one a question is answered
// with nothing, as in Workers.
function (native, p) {
  "use strict";
  const { errors } = native;
  const EventEmitter = native.require("events");
  const { StringDecoder } = native.require("string_decoder");

  class Interface extends EventEmitter {
    #prompt = "> "; #rest = ""; #decoder = new StringDecoder("utf8"); #asked = []; #output; #endsInCR = false;
    terminal = false;
    line = "";
    cursor = 0;
    constructor(input, output) {
      super();
      const options = typeof input?.on === "function" || input === undefined || input === null ? { input, output } : input;
      this.#output = options.output;
      if (options.prompt !== undefined) this.#prompt = `${options.prompt}`;
      this.input = options.input;
      this.closed = false;
      const { signal } = options;
      if (signal) {
        if (signal.aborted) native.nextTick(() => this.close());
        else signal.addEventListener("abort", () => this.close(), { once: true });
      }
      if (typeof this.input?.on !== "function") return;
      this.input.on("data", this.#read);
      this.input.on("end", this.#ended);
      this.input.on("error", this.#failed);
      this.input.resume?.();
    }
    #read = (chunk) => {
      let text = typeof chunk === "string" ? chunk : this.#decoder.write(chunk);
      if (this.#endsInCR && text[0] === "\n") text = text.slice(1);
      if (text !== "") this.#endsInCR = text.endsWith("\r");
      const lines = (this.#rest + text).split(/\r\n|[\n\r\u2028\u2029]/);
      this.#rest = lines.pop();
      for (const line of lines) this.#line(line);
    };
    #ended = () => {
      const rest = this.#rest + this.#decoder.end();
      this.#rest = "";
      if (rest !== "") this.#line(rest);
      this.close();
    };
    #failed = (error) => { this.emit("error", error); };
    #line(line) {
      const answer = this.#asked.shift();
      if (answer) answer(line);
      else this.emit("line", line);
    }
    #open() {
      if (this.closed) throw errors.make("Error", "ERR_USE_AFTER_CLOSE", "readline was closed");
      return this;
    }
    #say(text) { if (typeof this.#output?.write === "function") this.#output.write(text); }
    getPrompt() { return this.#prompt; }
    setPrompt(prompt) { this.#prompt = `${prompt}`; }
    prompt() { this.#open().resume(); this.#say(this.#prompt); }
    question(query, options, callback = options) {
      this.#open();
      if (typeof callback !== "function") return;
      const { signal } = options === callback ? {} : options ?? {};
      if (signal?.aborted) return;
      this.#say(`${query}`);
      if (typeof this.input?.on !== "function") { callback(""); return; }
      this.#asked.push(callback);
      signal?.addEventListener("abort", () => { this.#asked = this.#asked.filter((asked) => asked !== callback); }, { once: true });
    }
    pause() { this.input?.pause?.(); this.emit("pause"); return this; }
    resume() { this.input?.resume?.(); this.emit("resume"); return this; }
    write(data) { this.#open(); if (data !== undefined && data !== null) this.#read(data); }
    close() {
      if (this.closed) return;
      this.closed = true;
      this.input?.removeListener?.("data", this.#read);
      this.input?.removeListener?.("end", this.#ended);
      this.input?.removeListener?.("error", this.#failed);
      this.input?.pause?.();
      this.emit("close");
    }
    getCursorPos() { return { rows: 0, cols: 0 }; }
    [Symbol.dispose]() { this.close(); }
    [p.SymbolAsyncIterator]() {
      const lines = [], waiting = [];
      const done = { value: undefined, done: true };
      const give = (value) => { if (waiting.length > 0) waiting.shift()[0]({ value, done: false }); else lines.push(value); };
      let failure;
      if (typeof this.input?.on !== "function") {
        lines.push("");
        this.close();
      }
      this.on("line", give);
      this.once("close", () => { for (const [resolve] of waiting.splice(0)) resolve(done); });
      this.once("error", (error) => {
        failure = { error };
        for (const [, reject] of waiting.splice(0)) reject(error);
      });
      return p.ObjectSetPrototypeOf({
        next: () => new p.Promise((resolve, reject) => {
          if (lines.length > 0) resolve({ value: lines.shift(), done: false });
          else if (failure) reject(failure.error);
          else if (this.closed) resolve(done);
          else waiting.push([resolve, reject]);
        }),
        return: async () => { this.close(); return { value: undefined, done: true }; },
      }, p.AsyncIteratorPrototype);
    }
  }
  p.ObjectDefineProperty(Interface.prototype.question, p.Symbol.for("nodejs.util.promisify.custom"), { value: function (query, options) { return ask(this, query, options); } });

  const ask = (on, query, options) => new p.Promise((resolve, reject) => {
    const { signal } = options ?? {};
    const aborted = () => reject(native.require("internal/abort_error")(signal.reason));
    if (signal?.aborted) { aborted(); return; }
    signal?.addEventListener("abort", aborted, { once: true });
    Interface.prototype.question.call(on, query, { signal }, resolve);
  });
  class PromisesInterface extends Interface { question(query, options) { return ask(this, query, options); } }
  p.ObjectDefineProperty(PromisesInterface, "name", { value: "Interface", configurable: true });

  // What moves a terminal's cursor: the control sequences of ECMA-48.
  const sequences = {
    clearLine: (direction) => (direction < 0 ? "\x1b[1K" : direction > 0 ? "\x1b[0K" : "\x1b[2K"),
    clearScreenDown: () => "\x1b[0J",
    cursorTo: (x, y) => (typeof y === "number" ? `\x1b[${y + 1};${x + 1}H` : `\x1b[${x + 1}G`),
    moveCursor: (x, y) => (x < 0 ? `\x1b[${-x}D` : x > 0 ? `\x1b[${x}C` : "") + (y < 0 ? `\x1b[${-y}A` : y > 0 ? `\x1b[${y}B` : ""),
  };
  const write = (name, stream, args) => {
    const callback = args.find((a) => typeof a === "function");
    if (typeof stream?.write !== "function") {
      if (callback) native.nextTick(callback, null);
      return false;
    }
    return stream.write(sequences[name](...args), callback);
  };
  class Readline {
    #stream; #pending = []; #commits;
    constructor(stream, { autoCommit = false } = {}) { this.#stream = stream; this.#commits = autoCommit; }
    #add(name, args) {
      if (this.#commits) native.nextTick(() => write(name, this.#stream, args));
      else this.#pending.push([name, args]);
      return this;
    }
    clearLine(direction) { return this.#add("clearLine", [direction]); }
    clearScreenDown() { return this.#add("clearScreenDown", []); }
    cursorTo(x, y) { return this.#add("cursorTo", [x, y]); }
    moveCursor(x, y) { return this.#add("moveCursor", [x, y]); }
    async commit() { for (const [name, args] of this.#pending.splice(0)) write(name, this.#stream, args); }
    rollback() { this.#pending = []; return this; }
  }

  return {
    Interface,
    clearLine(stream, dir, callback) { return write("clearLine", stream, [dir, callback]); },
    clearScreenDown(stream, callback) { return write("clearScreenDown", stream, [callback]); },
    createInterface(input, output) { return new Interface(input, output); },
    cursorTo(stream, x, y, callback) { return write("cursorTo", stream, [x, y, callback]); },
    emitKeypressEvents() {}, // nothing here has keys
    moveCursor(stream, dx, dy, callback) { return write("moveCursor", stream, [dx, dy, callback]); },
    promises: { Interface: PromisesInterface, Readline, createInterface(input, output) { return new PromisesInterface(input, output); } },
  };
}
