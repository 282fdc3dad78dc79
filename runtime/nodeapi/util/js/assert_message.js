// What node:assert says of values that are not as they should be. The layout is
// that of Workers, which is older than Node's (workerd: src/node/internal/
// internal_assertionerror.ts and internal_diffs.ts).
function (native, p) {
  "use strict";
  const inspect = (v, options) => native.require("util").inspect(v, options);
  const isObject = (v) => typeof v === "object" && v !== null;
  const PRINTED = 50; // lines of a comparison, and of a value that is shown whole

  // withoutStack is an error whose stack is no part of what is compared.
  const withoutStack = (v) => {
    if (!(v instanceof Error)) return v;
    const bare = p.ObjectCreate(p.ObjectGetPrototypeOf(v));
    for (const key of p.ObjectKeys(v)) p.ObjectDefineProperty(bare, key, p.ObjectGetOwnPropertyDescriptor(v, key));
    p.ObjectDefineProperty(bare, "message", { value: v.message });
    return bare;
  };
  const show = (v) => inspect(v, { compact: true, customInspect: false, depth: 1000, maxArrayLength: Infinity, sorted: true, getters: true }).split("\n");

  const heads = {
    deepStrictEqual: "Expected values to be strictly deep-equal:",
    notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
    strictEqual: "Expected values to be strictly equal:",
    notStrictEqual: 'Expected "actual" to be strictly unequal to:',
  };
  const references = {
    strictEqual: 'Expected "actual" to be reference-equal to "expected":',
    notStrictEqual: 'Expected "actual" not to be reference-equal to "expected":',
  };
  const isReference = (v) => isObject(v) || typeof v === "function";
  const cut = (lines) => (lines.length > PRINTED ? [...lines.slice(0, 46), "..."] : lines).join("\n");

  // pointer compares values of one line each: the whole message if they are short, or
  // the line that points at where they part, or nothing.
  const pointer = (a, b, actual, expected, head) => {
    const length = a.length + b.length;
    if (length <= 12) {
      if (isObject(actual) || isObject(expected) || actual === 0 && expected === 0) return {};
      return { message: `${head}\n\n${a} !== ${b}\n` };
    }
    let at = 0;
    while (length < 80 && a[at] === b[at]) at++;
    return { mark: at > 2 && head !== references.strictEqual ? `\n  ${" ".repeat(at)}^` : "" };
  };

  // compared lays two values out line by line. Lines at the same place that differ are
  // shown both, expected ones after a run of actual ones; of equal lines those next to
  // a difference.
  const compared = (actual, expected, operator) => {
    if (actual instanceof Error && expected instanceof Error) [actual, expected] = [withoutStack(actual), withoutStack(expected)];
    const bothReferences = isObject(actual) && isObject(expected) || typeof actual === "function" && typeof expected === "function";
    const head = operator === "strictEqual" && bothReferences ? references.strictEqual : heads[operator];
    const a = show(actual), b = show(expected);
    let mark = "";
    if (a.length === 1 && b.length === 1 && a[0] !== b[0]) {
      const found = pointer(a[0], b[0], actual, expected, head);
      if (found.message !== undefined) return found.message;
      mark = found.mark ?? "";
    }
    // The common end: its last three lines, and the first if there are more.
    let same = 0;
    while (same < a.length && same < b.length && a[a.length - 1 - same] === b[b.length - 1 - same]) same++;
    const all = a.length;
    if (same === a.length && same === b.length) return `Values have same structure but are not reference-equal:\n\n${cut(a)}\n`;
    const tail = [];
    if (same > 3) tail.push(`  ${a[all - same]}`);
    if (same >= 5) tail.push("...");
    for (let i = all - p.MathMin(same, 3); i < all; i++) tail.push(`  ${a[i]}`);
    let skipped = same >= 5;
    a.length -= same;
    b.length -= same;

    const out = [], most = p.MathMax(a.length, b.length);
    let later = [], equal = 0, printed = 0;
    // before shows the end of the equal lines that a difference follows.
    const before = (lines, i) => {
      if (equal > 5) { out.push("..."); skipped = true; }
      for (let back = equal === 5 ? 3 : p.MathMin(equal - 2, 2); back > 0; back--) { out.push(`  ${lines[i - back]}`); printed++; }
      equal = 0;
    };
    const longer = a.length < most ? b : a;
    for (let i = 0; i < most; i++) {
      if (i >= p.MathMin(a.length, b.length)) {
        before(longer, i);
        (longer === a ? out : later).push(`${longer === a ? "+" : "-"} ${longer[i]}`);
        printed++;
      } else {
        const line = a[i] !== b[i] && `${a[i]},` === b[i] ? b[i] : a[i]; // a comma at the end is no difference
        if (line === b[i] || line === `${b[i]},`) {
          out.push(...later);
          later = [];
          if (++equal <= 2) { out.push(`  ${line}`); printed++; }
        } else {
          before(a, i);
          out.push(`+ ${line}`);
          later.push(`- ${b[i]}`);
          printed += 2;
        }
      }
      if (printed > PRINTED && i < most - 2) return [`${head}\n+ actual - expected ... Lines skipped\n`, ...out, "...", ...later, "..."].join("\n");
    }
    return [`${head}\n+ actual - expected${skipped ? " ... Lines skipped" : ""}\n`, ...out, ...later, ...tail].join("\n") + mark;
  };

  // generated is the message of an AssertionError that was given none.
  const generated = (actual, expected, operator) => {
    if (operator === "deepStrictEqual" || operator === "strictEqual") return compared(actual, expected, operator);
    if (operator === "notDeepStrictEqual" || operator === "notStrictEqual") {
      const head = operator === "notStrictEqual" && isReference(actual) ? references.notStrictEqual : heads[operator];
      const lines = show(actual);
      return lines.length > 1 ? `${head}\n\n${cut(lines)}\n` : `${head}${lines[0].length > 5 ? "\n\n" : " "}${lines[0]}`;
    }
    const short = (v) => { const text = show(v).join("\n"); return text.length > 512 ? `${text.slice(0, 509)}...` : text; };
    return `${short(actual)} ${operator} ${short(expected)}`;
  };

  // notEqual is what strictEqual says: values as they are inspected, or texts by line.
  const escapes = { "\b": "\\b", "\f": "\\f", "\t": "\\t", "\v": "\\v" };
  const notEqual = (actual, expected) => {
    const texts = typeof actual === "string" && typeof expected === "string";
    const a = inspect(actual), b = inspect(expected);
    if (a === b) return `Values have the same structure but are not reference-equal:\n\n${a.split("\n").map((line) => `    ${line}`).join("\n")}\n`;
    // A line break of a text is shown, and breaks the line as well.
    const lines = (v) => v.replace(/[\b\f\t\v]/g, (c) => escapes[c]).replace(/\r\n|\r|\n/g, (c) => `${c.replace("\r", "\\r").replace("\n", "\\n")}\n`).split("\n");
    const edits = texts ? native.require("internal/comparisons").edits(lines(actual), lines(expected)) : native.require("internal/comparisons").edits(a.split("\n"), b.split("\n"));
    const signs = { "-1": "+  ", 0: "   ", 1: "-  " };
    const body = edits.map(([kind, line]) => `${signs[kind]} ${line}`);
    return ["Values are not strictly equal:", "", "", "[Diff] Actual / Expected", "", "", body.join("\n"), ...(texts ? ["", ""] : [""])].join("\n");
  };
  return { generated, notEqual };
}
