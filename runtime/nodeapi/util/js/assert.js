// node:assert (nodejs.org/api/assert.html). In Workers the loose comparisons
// are strict as well (workerd: src/node/internal/internal_assert.ts).
function (native, p) {
  "use strict";
  const { errors } = native;
  const { ObjectIs, ObjectAssign, ObjectDefineProperty } = p;
  const deep = () => native.require("internal/comparisons");
  const brief = (v) => native.require("util").inspect(v);
  const isObject = (v) => typeof v === "object" && v !== null;
  const isReference = (v) => isObject(v) || typeof v === "function";
  const messages = () => native.require("internal/assert_message");

  class AssertionError extends Error {
    constructor(options) {
      if (typeof options !== "object" || options === null) throw errors.argType("options", "of type object", options);
      const { message, actual, expected, operator } = options;
      super(message !== undefined && message !== null ? String(message) : messages().generated(actual, expected, operator));
      const named = (value) => ObjectDefineProperty(this, "name", { value, writable: true, configurable: true });
      named("AssertionError [ERR_ASSERTION]"); // its stack says so
      Error.captureStackTrace(this, AssertionError);
      this.stack; // is made now
      delete this.name;
      this.generatedMessage = message === undefined || message === null;
      named("AssertionError");
      ObjectAssign(this, { code: "ERR_ASSERTION", actual, expected, operator });
    }
    toString() { return `${this.name} [${this.code}]: ${this.message}`; }
    [Symbol.for("nodejs.util.inspect.custom")](depth, options, inspect) { return inspect(this, { ...options, customInspect: false, depth: 0 }); }
  }

  const fail_ = (message, actual, expected, operator) => { throw new AssertionError({ message, actual, expected, operator }); };

  const ok = (args) => {
    const [value, message] = args;
    if (value) return;
    if (args.length === 0) fail_("No value argument passed to `assert.ok()`");
    fail_(message, value, true, "==");
  };
  const assert = function ok_(...args) { ok(args); };
  ObjectDefineProperty(assert, "name", { value: "ok", configurable: true });

  // two makes a comparison; without text, AssertionError words what is wrong. A loose one
  // compares what is missing, too.
  const two = (operator, test, text, loose = false) => function (actual, expected, message) {
    if (arguments.length < 2 && !loose) throw errors.make("TypeError", "ERR_MISSING_ARGS", 'The "actual" and "expected" arguments must be specified');
    if (!test(actual, expected)) fail_(message ? `${message}` : typeof text === "function" ? text(actual, expected) : text, actual, expected, operator);
  };

  // matches checks a thrown error against what throws and rejects take.
  const matches = (actual, expected, message, operator) => {
    if (expected === undefined) return;
    const wrong = (text) => {
      throw new AssertionError({ message: text, actual, expected, operator });
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
    if (expected === null) wrong("Invalid expectation: null");
    if (expected instanceof p.RegExp) {
      const text = String(actual);
      if (!expected.test(text)) wrong(`The input did not match the regular expression ${brief(expected)}. Input:\n\n${brief(text)}\n`);
      return;
    }
    if (typeof actual !== "object" || actual === null) wrong(`object is expected to thrown, but got ${typeof actual}: ${actual}`); // the reference's text
    const keys = p.ObjectKeys(expected);
    if (expected instanceof Error) keys.push("name", "message");
    else if (keys.length === 0) throw errors.argValue("error", expected, "may not be an empty object");
    for (const key of keys) {
      if (typeof actual[key] === "string" && expected[key] instanceof p.RegExp && expected[key].test(actual[key])) continue;
      if (!(key in actual) || !deep().equal(actual[key], expected[key])) throw new AssertionError({ actual: actual[key], expected: expected[key], operator: "deepStrictEqual" });
    }
  };
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
      const text = `Missing expected ${operator === "rejects" ? "rejection" : "exception"}${name}${message ? `: ${message}` : "."}`;
      throw p.ObjectAssign(new AssertionError({ message: text, actual: undefined, expected, operator }), { generatedMessage: operator === "rejects" && !message });
    }
    matches(outcome.error, expected, message, operator);
  };
  const expectNone = (operator, outcome, expected, message) => {
    if (outcome === undefined) return;
    const { error } = outcome;
    const unwanted = (text) => fail_(text, undefined, undefined, operator);
    const said = `Actual message: "${error ? error.message : String(error)}"`;
    if (typeof expected === "string") unwanted(`Got unwanted exception: ${expected}\n${said}`);
    if (typeof expected !== "function" || expected.prototype === undefined) unwanted(`Got unwanted exception${message ? `: ${message}` : "."}\n${said}`);
    if (error instanceof expected) unwanted(`Got unwanted exception: ${error.constructor?.name}${message ? ` ${message}` : ""}`);
    if (!(expected.prototype instanceof Error) && p.ReflectApply(expected, undefined, [error]) === true) {
      unwanted(`Got unwanted rejection.\n${said}${message ? ` ${message}` : ""}`);
    }
    throw error;
  };

  const matching = (wanted, operator) => function (string, regexp, message) {
    if (arguments.length < 2) throw errors.make("TypeError", "ERR_MISSING_ARGS", `The "${wanted ? "actual" : "string"}" and "regexp" arguments must be specified`);
    if (!(regexp instanceof p.RegExp)) throw errors.argType("regexp", "an instance of RegExp", regexp);
    if (!wanted && typeof string !== "string") {
      if (message instanceof Error) throw message;
      fail_(message || `The "string" argument must be of type string. Received type ${typeof string} (${brief(string)})`, string, regexp, operator);
    }
    if (regexp.test(string) === wanted) return;
    fail_(message ? `${message}` : `actual: "${string}" expected to ${wanted ? "" : "not "}match: "${regexp}"`, string, regexp, operator);
  };

  const notEqual = (actual, expected) => messages().notEqual(actual, expected);
  const UNEQUAL = "Expected actual to be strictly unequal to expected";
  const NOT_DEEPLY = "Expected actual to not be deeply strictly equal to expected";
  const members = {
    ok: assert,
    fail(message) {
      if (message !== undefined && message !== null && typeof message !== "string") throw message;
      const error = new AssertionError({ message: message ?? "Failed", operator: "fail" });
      error.generatedMessage = message === undefined || message === null;
      throw error;
    },
    equal: two("strictEqual", ObjectIs, notEqual, true),
    notEqual: two("notStrictEqual", (a, b) => !ObjectIs(a, b), UNEQUAL, true),
    strictEqual: two("strictEqual", ObjectIs, notEqual),
    notStrictEqual: two("notStrictEqual", (a, b) => !ObjectIs(a, b), UNEQUAL),
    deepEqual: two("deepStrictEqual", (a, b) => deep().equal(a, b), undefined, true),
    notDeepEqual: two("notDeepStrictEqual", (a, b) => !deep().equal(a, b), NOT_DEEPLY, true),
    deepStrictEqual: two("deepStrictEqual", (a, b) => deep().equal(a, b)),
    notDeepStrictEqual: two("notDeepStrictEqual", (a, b) => !deep().equal(a, b), NOT_DEEPLY),
    partialDeepStrictEqual: two("partialDeepStrictEqual", (a, b) => deep().partial(a, b), "Expected actual to be partially deeply strictly equal to expected"),
    throws(fn, ...args) { expectError("throws", caught(fn), args); },
    doesNotThrow(fn, expected, message) {
      errors.func(fn, "fn");
      if (expected !== undefined && typeof expected !== "function" && typeof expected !== "string" && !(expected instanceof p.RegExp)) {
        throw errors.argType("expected", "of type function or an instance of RegExp", fn); // the reference shows fn
      }
      expectNone("doesNotThrow", caught(fn), expected, message);
    },
    async rejects(subject, ...args) { expectError("rejects", await settled(subject), args); },
    async doesNotReject(subject, expected, message) { expectNone("doesNotReject", await settled(subject), expected, message); },
    ifError(value) {
      if (value === null || value === undefined) return;
      let text = brief(value);
      if (isObject(value) && typeof value.message === "string") text = value.message || (value.constructor ? value.constructor.name : "");
      fail_(`ifError got unwanted exception: ${text}`, value, null, "ifError");
    },
    match: matching(true, "match"),
    doesNotMatch: matching(false, "doesNotMatch"),
    AssertionError,
  };
  // assert.Assert: the functions as methods, where == compares primitives; strict, an
  // instance has others in place of those that are loose.
  members.Assert = function Assert(options) {
    if (new.target === undefined) throw errors.make("TypeError", "ERR_CONSTRUCT_CALL_REQUIRED", "Class constructor Assert cannot be invoked without `new`");
    const { diff = "simple", strict: isStrict = true } = options ?? {};
    if (diff !== "simple" && diff !== "full") throw errors.argValue("options.diff", diff, "must be one of: 'simple', 'full'");
    this.AssertionError = AssertionError;
    if (isStrict) {
      ObjectAssign(this, { equal: members.strictEqual, deepEqual: members.deepStrictEqual, notEqual: members.notStrictEqual, notDeepEqual: members.notDeepStrictEqual });
    }
  };
  const { Assert, AssertionError: _, ...methods } = members;
  ObjectAssign(Assert.prototype, methods, {
    equal: two("==", (a, b) => a == b || a !== a && b !== b), notEqual: two("!=", (a, b) => !(a == b || a !== a && b !== b)),
  });
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
