// node:console: the global console, and the class Console, which writes to
// streams (nodejs.org/api/console.html).
function (native, p) {
  "use strict";
  const { errors } = native;
  const util = () => native.require("util");
  const written = (stream, name) => {
    if (typeof stream?.write !== "function") throw errors.make("TypeError", "ERR_CONSOLE_WRITABLE_STREAM", `Console expects a writable stream instance for ${name}`);
  };
  const isConsole = p.Symbol("console");

  // The methods of a Console whose lines go to write(stream, text).
  const methods = (out, err, o) => {
    let indent = "";
    const counts = new p.Map(), timers = new p.Map();
    const inspection = (stream) => ({ ...o.inspectOptions, colors: o.inspectOptions?.colors ?? (o.colorMode === true || o.colorMode === "auto" && !!stream.isTTY) });
    const line = (stream, text) => {
      if (indent) text = indent + text.replaceAll("\n", `\n${indent}`);
      if (!o.ignoreErrors) { stream.write(`${text}\n`); return; }
      const nothing = () => {};
      stream.once("error", nothing);
      try { stream.write(`${text}\n`, nothing); } catch { /* as asked by ignoreErrors */ } finally { stream.removeListener("error", nothing); }
    };
    const print = (stream, args) => line(stream, util().formatWithOptions(inspection(stream), ...args));
    const log = (...args) => print(out, args), error = (...args) => print(err, args);
    const elapsed = (label, method, rest) => {
      label = `${label}`;
      if (!timers.has(label)) return;
      const ms = performance.now() - timers.get(label);
      log(`${label}: ${ms >= 1000 ? `${(ms / 1000).toFixed(3)}s` : `${p.Number(ms.toFixed(3))}ms`}`, ...rest);
    };
    const group = (...args) => {
      if (args.length > 0) log(...args);
      indent += " ".repeat(o.groupIndentation);
    };
    return {
      log, error, warn: error, info: log, debug: log, dirxml: log, group, groupCollapsed: group,
      groupEnd() { indent = indent.slice(0, indent.length - o.groupIndentation); },
      dir(value, options) { line(out, util().inspect(value, { customInspect: false, ...inspection(out), ...options })); },
      assert(ok, ...args) {
        if (ok) return;
        if (typeof args[0] === "string") args[0] = `Assertion failed: ${args[0]}`; else args.unshift("Assertion failed");
        error(...args);
      },
      count(label = "default") {
        const n = (counts.get(`${label}`) ?? 0) + 1;
        counts.set(`${label}`, n);
        log(`${label}: ${n}`);
      },
      countReset(label = "default") { counts.delete(`${label}`); },
      time(label = "default") { if (!timers.has(`${label}`)) timers.set(`${label}`, performance.now()); },
      timeLog(label = "default", ...rest) { elapsed(label, "timeLog", rest); },
      timeEnd(label = "default") { elapsed(label, "timeEnd", []); timers.delete(`${label}`); },
      table(data, columns) {
        if (columns !== undefined && !p.ArrayIsArray(columns)) throw errors.argType("properties", "an instance of Array", columns);
        if (data === null || typeof data !== "object") log(data); else line(out, native.table(data, columns));
      },
      trace(...args) {
        const holder = { name: "Trace", message: args.length > 0 ? util().format(...args) : "" };
        Error.captureStackTrace(holder, this?.trace);
        error(`Trace${holder.message ? `: ${holder.message}` : ""}\n${holder.stack.split("\n").slice(1).join("\n")}`.trimEnd());
      },
      clear() {},
    };
  };

  function Console(stdout, stderr, ignoreErrors) {
    const o = stdout === null || stdout === undefined || typeof stdout.write === "function" ? { stdout, stderr, ignoreErrors } : { ...stdout };
    const { stdout: out, stderr: err = out, colorMode = "auto", groupIndentation = 2, inspectOptions } = o;
    written(out, "stdout");
    written(err, "stderr");
    if (!["auto", true, false].includes(colorMode)) throw errors.argValue("colorMode", colorMode, "must be one of: 'auto', true, false");
    errors.integer(groupIndentation, "groupIndentation", 0, 1000);
    if (inspectOptions !== undefined) {
      if (inspectOptions === null || typeof inspectOptions !== "object") throw errors.argType("options.inspectOptions", "of type object", inspectOptions);
      if (inspectOptions.colors !== undefined && o.colorMode !== undefined) {
        throw errors.make("Error", "ERR_INCOMPATIBLE_OPTION_PAIR", 'The options "options.inspectOptions.color" and "colorMode" are mutually exclusive.');
      }
    }
    const self = new.target ? this : p.ObjectCreate(Console.prototype);
    p.ObjectAssign(self, methods(out, err, { ignoreErrors: o.ignoreErrors !== false, colorMode, groupIndentation, inspectOptions }));
    p.ObjectDefineProperty(self, isConsole, { value: true });
    return self;
  }
  p.ObjectDefineProperty(Console, p.SymbolHasInstance, { value: (x) => x === globalThis.console || x?.[isConsole] === true });

  const console = globalThis.console;
  delete console.context; // V8's, which Node's refuses in workerd
  p.ObjectAssign(console, { Console });
  return console;
}
