// node:assert (nodejs.org/api/assert.html). In Workers the loose comparisons
// are strict as well (workerd: src/node/internal/internal_assert.ts).
function (native, p) {
  "use strict";
  const { errors } = native;
  const { ObjectIs, ObjectAssign, ObjectDefineProperty } = p;
  const deep = () => native.require("internal/comparisons");
  // show is a value in lines; an error is shown without its stack.
  const show = (v) => {
    if (v instanceof Error) {
      const bare = p.ObjectSetPrototypeOf(new Error(v.message), p.ObjectGetPrototypeOf(v));
      delete bare.stack;
      for (const key of p.ObjectKeys(v)) if (key !== "stack") bare[key] = v[key];
      v = bare;
    }
    return native.require("util").inspect(v, { depth: 1000, compact: false, customInspect: false, sorted: true, getters: true,
      maxArrayLength: Infinity, breakLength: Infinity });
  };
  const brief = (v) => native.require("util").inspect(v);

  const operators = {
    strictEqual: "Expected values to be strictly equal:",
    strictEqualObject: 'Expected "actual" to be reference-equal to "expected":',
    deepStrictEqual: "Expected values to be strictly deep-equal:",
    partialDeepStrictEqual: "Expected values to be partially and strictly deep-equal:",
    notStrictEqual: 'Expected "actual" to be strictly unequal to:',
    notStrictEqualObject: 'Expected "actual" not to be reference-equal to "expected":',
    notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
  };
  const mostLines = 50;
  const isReference = (v) => typeof v === "object" && v !== null || typeof v === "function";
  const isObject = (v) => typeof v === "object" && v !== null;

  const describe = (actual, expected, operator) => {
    if (operators[operator] === undefined) return `${brief(actual)} ${operator} ${brief(expected)}`;
    if (operator.startsWith("not")) return unequal(actual, operators[operator === "notStrictEqual" && isReference(actual) ? "notStrictEqualObject" : operator]);
    const a = show(actual), e = show(expected);
    const head = operators[operator === "strictEqual" && isReference(actual) && isReference(expected) ? "strictEqualObject" : operator];
    if (!a.includes("\n") && !e.includes("\n") && !(isObject(actual) && isObject(expected))) return oneLine(actual, expected, a, e, head);
    if (a === e) return `Values have same structure but are not reference-equal:\n\n${cut(a.split("\n"), mostLines)}\n`;
    return difference(deep().edits(a.split("\n"), e.split("\n"), true), head);
  };
  const cut = (lines, keep) => (lines.length > mostLines ? [...lines.slice(0, keep), "..."] : lines).join("\n");
  const unequal = (value, head) => {
    const lines = show(value).split("\n");
    if (lines.length > 1) return `${head}\n\n${cut(lines, mostLines - 4)}\n`;
    return `${head}${lines[0].length > 5 ? "\n\n" : " "}${lines[0]}`;
  };
  // oneLine compares what takes a line each, and points at where they part.
  const oneLine = (actual, expected, a, e, head) => {
    const length = a.length + e.length - (typeof actual === "string" ? 2 : 0) - (typeof expected === "string" ? 2 : 0);
    if (length <= 12 && (actual !== 0 || expected !== 0)) return `${head}\n\n${a} !== ${e}\n`;
    let at = 0;
    while (at < a.length && a[at] === e[at]) at++;
    const mark = at > 2 && at < a.length && length < 512 ? `${" ".repeat(at + 2)}^\n` : "";
    return `${head}\n+ actual - expected\n\n+ ${a}\n- ${e}\n${mark}`;
  };
  // difference shows what changed, and of longer stretches that did not the first lines.
  const difference = (edits, head) => {
    const most = 5, out = [];
    let same = 0, skipped = false;
    edits.forEach(([kind, line], i) => {
      if (kind === 0) {
        if (++same <= most) out.push(`  ${line}`);
        return;
      }
      if (same > most + 2) { out.push("...", `  ${edits[i - 1][1]}`); skipped = true; }
      else for (let j = i - (same > most ? same - most : 0); j < i; j++) out.push(`  ${edits[j][1]}`);
      same = 0;
      out.push(`${kind > 0 ? "+" : "-"} ${line}`);
    });
    return `${head}\n+ actual - expected${skipped ? "\n... Skipped lines" : ""}\n\n${out.join("\n")}\n`;
  };

  class AssertionError extends Error {
    constructor(options) {
      if (typeof options !== "object" || options === null) throw errors.argType("options", "of type object", options);
      const { message, actual, expected, operator } = options;
      super(message !== undefined ? String(message) : describe(actual, expected, operator));
      const named = (value) => ObjectDefineProperty(this, "name", { value, writable: true, configurable: true });
      named("AssertionError [ERR_ASSERTION]"); // its stack says so
      Error.captureStackTrace(this, AssertionError);
      named("AssertionError");
      ObjectAssign(this, { generatedMessage: message === undefined, code: "ERR_ASSERTION", actual, expected, operator });
    }
    toString() { return `${this.name} [${this.code}]: ${this.message}`; }
  }

  const fail_ = (message, actual, expected, operator, generated) => {
    if (message instanceof Error) throw message;
    const error = new AssertionError({ message, actual, expected, operator });
    if (generated !== undefined) error.generatedMessage = generated;
    throw error;
  };

  const ok = (args) => {
    const [value, message] = args;
    if (value) return;
    if (args.length === 0) fail_("No value argument passed to `assert.ok()`", value, true, "==", true);
    fail_(message ?? `${brief(value)} == true`, value, true, "==", message === undefined || message === null);
  };
  const assert = function ok_(...args) { ok(args); };
  ObjectDefineProperty(assert, "name", { value: "ok", configurable: true });

  const two = (name, test, operator = name) => function (actual, expected, message) {
    if (arguments.length < 2) throw errors.make("TypeError", "ERR_MISSING_ARGS", 'The "actual" and "expected" arguments must be specified');
    if (!test(actual, expected)) fail_(message, actual, expected, operator);
  };

  // matches checks a thrown error against what throws and rejects take.
  const matches = (actual, expected, message, operator) => {
    if (expected === undefined || expected === null) return;
    const wrong = (text) => {
      if (message instanceof Error) throw message;
      const error = new AssertionError({ message: message ?? text, actual, expected, operator });
      error.generatedMessage = message === undefined;
      throw error;
    };
    if (typeof expected === "function") {
      if (expected.prototype !== undefined && actual instanceof expected) return;
      if (p.ObjectPrototypeIsPrototypeOf(Error, expected)) {
        wrong(`The error is expected to be an instance of "${expected.name}". Received ${actual instanceof Error ? `"${actual.name}"\n\nError message:\n\n${actual.message}` : `"${brief(actual)}"`}`);
      }
      const result = p.ReflectApply(expected, {}, [actual]);
      if (result !== true) wrong(`The ${expected.name ? `"${expected.name}" ` : ""}validation function is expected to return "true". Received ${brief(result)}\n\nCaught error:\n\n${actual}`);
      return;
    }
    if (expected instanceof p.RegExp) {
      const text = String(actual);
      if (!expected.test(text)) wrong(`The input did not match the regular expression ${brief(expected)}. Input:\n\n${brief(text)}\n`);
      return;
    }
    if (typeof actual !== "object" || actual === null) wrong(`${brief(actual)} is not an object to compare with`);
    const keys = p.ObjectKeys(expected);
    if (expected instanceof Error) keys.push("name", "message");
    else if (keys.length === 0) throw errors.argValue("error", expected, "may not be an empty object");
    for (const key of keys) {
      if (typeof actual[key] === "string" && expected[key] instanceof p.RegExp && expected[key].test(actual[key])) continue;
      if (!(key in actual) || !deep().equal(actual[key], expected[key])) {
        const pick = (o) => p.ObjectAssign(new Comparison(), p.ObjectFromEntries(keys.filter((k) => k in o).map((k) => [k, o[k]])));
        wrong(describe(pick(actual), pick(expected), "deepStrictEqual"));
      }
    }
  };
  class Comparison {}
  const caught = (fn) => {
    errors.func(fn, "fn");
    try { fn(); } catch (error) { return { error }; }
    return undefined;
  };
  const settled = async (subject) => {
    let promise = subject;
    if (typeof subject === "function") {
      promise = subject();
      if (typeof promise?.then !== "function") {
        throw errors.make("TypeError", "ERR_INVALID_RETURN_VALUE", `Expected instance of Promise to be returned from the "promiseFn" function but got ${errors.received(promise)}.`);
      }
    } else if (typeof subject?.then !== "function") {
      throw errors.argType("promiseFn", "of type function or an instance of Promise", subject);
    }
    try { await promise; } catch (error) { return { error }; }
    return undefined;
  };
  const ambiguous = (text) => { throw errors.make("TypeError", "ERR_AMBIGUOUS_ARGUMENT", `The "error/message" argument is ambiguous. ${text} is identical to the message.`); };
  // expectError checks what throws and rejects take after the function: [error, message] or [message].
  const expectError = (operator, outcome, args) => {
    let [expected, message] = args;
    if (typeof expected === "string" && args.length < 2) {
      const error = outcome?.error;
      if (isObject(error) ? error.message === expected : error === expected) ambiguous(isObject(error) ? `The error message "${expected}"` : `The error "${expected}"`);
      message = expected;
      expected = undefined;
    } else if (expected !== undefined && !isReference(expected) && expected !== null) {
      throw errors.argType("error", "of type function or an instance of Error, RegExp, or Object", expected);
    }
    if (outcome === undefined) {
      const name = expected?.name ? ` (${expected.name})` : "";
      fail_(message instanceof Error ? message : `Missing expected ${operator === "rejects" ? "rejection" : "exception"}${name}${message ? `: ${message}` : "."}`, undefined, expected, operator, message === undefined);
    }
    matches(outcome.error, expected, message, operator);
  };
  const fits = (error, expected) => {
    if (expected instanceof p.RegExp) return expected.test(String(error));
    if (typeof expected !== "function") throw errors.argType("expected", "of type function or an instance of RegExp", expected);
    if (expected.prototype !== undefined && error instanceof expected) return true;
    return !p.ObjectPrototypeIsPrototypeOf(Error, expected) && p.ReflectApply(expected, {}, [error]) === true;
  };
  const expectNone = (operator, outcome, expected, message) => {
    if (outcome === undefined) return;
    if (typeof expected === "string") { message = expected; expected = undefined; }
    const { error } = outcome;
    if (!expected || fits(error, expected)) {
      fail_(`Got unwanted ${operator === "doesNotReject" ? "rejection" : "exception"}${message ? `: ${message}` : "."}\nActual message: "${error?.message}"`, error, expected, operator, message === undefined);
    }
    throw error;
  };

  const matching = (wanted, verb, operator) => (string, regexp, message) => {
    if (!(regexp instanceof p.RegExp)) throw errors.argType("regexp", "an instance of RegExp", regexp);
    if (typeof string === "string" && regexp.test(string) === wanted) return;
    fail_(message ?? (typeof string === "string"
      ? `The input ${verb} the regular expression ${brief(regexp)}. Input:\n\n${brief(string)}\n`
      : `The "string" argument must be of type string. Received ${errors.received(string)}`), string, regexp, operator, message === undefined);
  };

  const members = {
    ok: assert,
    fail(message) { fail_(message ?? "Failed", undefined, undefined, "fail", message === undefined); },
    equal: two("equal", ObjectIs, "strictEqual"),
    notEqual: two("notEqual", (a, b) => !ObjectIs(a, b), "notStrictEqual"),
    strictEqual: two("strictEqual", ObjectIs),
    notStrictEqual: two("notStrictEqual", (a, b) => !ObjectIs(a, b)),
    deepEqual: two("deepEqual", (a, b) => deep().equal(a, b), "deepStrictEqual"),
    notDeepEqual: two("notDeepEqual", (a, b) => !deep().equal(a, b), "notDeepStrictEqual"),
    deepStrictEqual: two("deepStrictEqual", (a, b) => deep().equal(a, b)),
    notDeepStrictEqual: two("notDeepStrictEqual", (a, b) => !deep().equal(a, b)),
    partialDeepStrictEqual: two("partialDeepStrictEqual", (a, b) => deep().partial(a, b)),
    throws(fn, ...args) { expectError("throws", caught(fn), args); },
    doesNotThrow(fn, expected, message) { expectNone("doesNotThrow", caught(fn), expected, message); },
    async rejects(subject, ...args) { expectError("rejects", await settled(subject), args); },
    async doesNotReject(subject, expected, message) { expectNone("doesNotReject", await settled(subject), expected, message); },
    ifError(value) {
      if (value === null || value === undefined) return;
      let text = brief(value);
      if (isObject(value) && typeof value.message === "string") text = value.message || (value.constructor ? value.constructor.name : "");
      fail_(`ifError got unwanted exception: ${text}`, value, null, "ifError", true);
    },
    match: matching(true, "did not match", "match"),
    doesNotMatch: matching(false, "was expected to not match", "doesNotMatch"),
    AssertionError,
  };
  // assert.Assert: the functions as methods; without strict, == compares primitives.
  members.Assert = function Assert(options) {
    if (new.target === undefined) throw errors.make("TypeError", "ERR_CONSTRUCT_CALL_REQUIRED", "Class constructor Assert cannot be invoked without `new`");
    const { diff = "simple", strict: isStrict = true } = options ?? {};
    if (diff !== "simple" && diff !== "full") throw errors.argValue("options.diff", diff, "must be one of: 'simple', 'full'");
    const { Assert, AssertionError: _, ...methods } = members;
    ObjectAssign(this, methods, { AssertionError });
    if (isStrict) return;
    this.equal = two("equal", (a, b) => a == b || a !== a && b !== b, "==");
    this.notEqual = two("notEqual", (a, b) => !(a == b || a !== a && b !== b), "!=");
  };
  const strict = function strict(...args) { ok(args); };
  ObjectAssign(assert, members);
  ObjectAssign(strict, members, { ok: strict, equal: members.strictEqual, notEqual: members.notStrictEqual, deepEqual: members.deepStrictEqual, notDeepEqual: members.notDeepStrictEqual });
  assert.strict = strict;
  strict.strict = strict;
  for (const name of p.ObjectKeys(members)) {
    if (members[name].name === "") ObjectDefineProperty(members[name], "name", { value: name, configurable: true });
  }
  return assert;
}
