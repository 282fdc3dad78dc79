// The methods of RegExp.prototype (ECMA-262, section 22.2.6) step by step, for
// receivers whose steps can be observed: objects that are no regular expressions,
// and those that code has given methods of its own.
function (native, primordials) {
  "use strict";
  const { apply, construct } = Reflect;
  const { trunc, min, max } = Math, { MAX_SAFE_INTEGER } = Number, { is } = Object;
  const { StringPrototypeSlice: slice, StringPrototypeCharCodeAt: unitAt, StringPrototypeIncludes: includes, ArrayPrototypePush: push } = primordials;
  const TypeErrorOf = TypeError, RegExpOf = RegExp, { species } = Symbol;
  const isObject = (v) => (typeof v === "object" && v !== null) || typeof v === "function";
  const checked = (v, name) => {
    if (!isObject(v)) throw new TypeErrorOf(`Method RegExp.prototype.${name} called on incompatible receiver ${native.show(v)}`);
    return v;
  };
  const integer = (v) => {
    const n = trunc(+v);
    return n !== n ? 0 : n + 0;
  };
  const lengthOf = (v) => max(min(integer(v), MAX_SAFE_INTEGER), 0);
  const exec = (rx, text) => { // 22.2.7.1
    const method = rx.exec;
    if (typeof method !== "function") return native.exec(rx, text);
    const result = apply(method, rx, [text]);
    if (result !== null && !isObject(result)) throw new TypeErrorOf(`${native.show(result)} is not an object or null`);
    return result;
  };
  const next = (text, at, unicode) => { // 22.2.7.3
    if (!unicode || at + 1 >= text.length) return at + 1;
    const a = unitAt(text, at), b = unitAt(text, at + 1);
    return (a & 0xFC00) === 0xD800 && (b & 0xFC00) === 0xDC00 ? at + 2 : at + 1;
  };
  const isFull = (flags) => includes(flags, "u") || includes(flags, "v");
  const digit = (text, at) => {
    const c = at < text.length ? unitAt(text, at) - 48 : -1;
    return c >= 0 && c <= 9 ? c : -1;
  };
  // substitution is GetSubstitution (22.1.3.19.1).
  const substitution = (matched, text, position, captures, named, template) => {
    let out = "", at = 0;
    for (;;) {
      let dollar = at;
      while (dollar < template.length && template[dollar] !== "$") dollar++;
      out += slice(template, at, dollar);
      if (dollar >= template.length) return out;
      const kind = template[dollar + 1];
      at = dollar + 2;
      if (kind === "$") out += "$";
      else if (kind === "&") out += matched;
      else if (kind === "`") out += slice(text, 0, position);
      else if (kind === "'") out += slice(text, min(position + matched.length, text.length));
      else if (kind === "<" && named !== undefined) {
        let end = at;
        while (end < template.length && template[end] !== ">") end++;
        if (end >= template.length) {
          out += "$<";
          continue;
        }
        const capture = named[slice(template, at, end)];
        if (capture !== undefined) out += `${capture}`;
        at = end + 1;
      } else {
        const one = digit(template, dollar + 1), two = one >= 0 ? digit(template, dollar + 2) : -1;
        let n = one;
        if (two >= 0 && one * 10 + two >= 1 && one * 10 + two <= captures.length) {
          n = one * 10 + two;
          at++;
        }
        if (n >= 1 && n <= captures.length) {
          const capture = captures[n - 1];
          if (capture !== undefined) out += capture;
        } else {
          out += "$";
          at = dollar + 1;
        }
      }
    }
  };
  return {
    match(string) {
      const rx = checked(this, "@@match"), text = `${string}`, flags = `${rx.flags}`;
      if (!includes(flags, "g")) return exec(rx, text);
      const full = isFull(flags), found = [];
      rx.lastIndex = 0;
      for (;;) {
        const result = exec(rx, text);
        if (result === null) return found.length === 0 ? null : found;
        const matched = `${result[0]}`;
        push(found, matched);
        if (matched === "") rx.lastIndex = next(text, lengthOf(rx.lastIndex), full);
      }
    },
    replace(string, replacement) {
      const rx = checked(this, "@@replace"), text = `${string}`, functional = typeof replacement === "function";
      if (!functional) replacement = `${replacement}`;
      const flags = `${rx.flags}`, global = includes(flags, "g"), full = isFull(flags), results = [];
      if (global) rx.lastIndex = 0;
      for (;;) {
        const result = exec(rx, text);
        if (result === null) break;
        push(results, result);
        if (!global) break;
        if (`${result[0]}` === "") rx.lastIndex = next(text, lengthOf(rx.lastIndex), full);
      }
      let out = "", at = 0;
      for (let i = 0; i < results.length; i++) {
        const result = results[i], count = max(lengthOf(result.length) - 1, 0);
        const matched = `${result[0]}`, position = max(min(integer(result.index), text.length), 0), captures = [];
        for (let n = 1; n <= count; n++) {
          const capture = result[n];
          push(captures, capture === undefined ? undefined : `${capture}`);
        }
        let named = result.groups, put;
        if (functional) {
          const args = [matched];
          for (let n = 0; n < count; n++) push(args, captures[n]);
          push(args, position);
          push(args, text);
          if (named !== undefined) push(args, named);
          put = `${apply(replacement, undefined, args)}`;
        } else {
          if (named !== undefined) {
            if (named === null) throw new TypeErrorOf("Cannot convert undefined or null to object");
            named = Object(named);
          }
          put = substitution(matched, text, position, captures, named, replacement);
        }
        if (position >= at) {
          out += slice(text, at, position) + put;
          at = position + matched.length;
        }
      }
      return at >= text.length ? out : out + slice(text, at);
    },
    search(string) {
      const rx = checked(this, "@@search"), text = `${string}`, before = rx.lastIndex;
      if (!is(before, 0)) rx.lastIndex = 0;
      const result = exec(rx, text), now = rx.lastIndex;
      if (!is(now, before)) rx.lastIndex = before;
      return result === null ? -1 : result.index;
    },
    split(string, limit) {
      const rx = checked(this, "@@split"), text = `${string}`;
      let C = rx.constructor; // 7.3.22
      if (C !== undefined) {
        if (!isObject(C)) throw new TypeErrorOf("The .constructor property is not an object");
        C = C[species];
      }
      if (C === undefined || C === null) C = RegExpOf;
      const flags = `${rx.flags}`, full = isFull(flags);
      const splitter = construct(C, [rx, includes(flags, "y") ? flags : flags + "y"]);
      const parts = [], most = limit === undefined ? 4294967295 : limit >>> 0;
      if (most === 0) return parts;
      if (text === "") {
        if (exec(splitter, text) === null) push(parts, text);
        return parts;
      }
      let from = 0, at = 0;
      while (at < text.length) {
        splitter.lastIndex = at;
        const result = exec(splitter, text);
        const end = result === null ? from : min(lengthOf(splitter.lastIndex), text.length);
        if (result === null || end === from) {
          at = next(text, at, full);
          continue;
        }
        push(parts, slice(text, from, at));
        if (parts.length === most) return parts;
        from = end;
        const count = max(lengthOf(result.length) - 1, 0);
        for (let i = 1; i <= count; i++) {
          push(parts, result[i]);
          if (parts.length === most) return parts;
        }
        at = from;
      }
      push(parts, slice(text, from));
      return parts;
    },
  };
}
