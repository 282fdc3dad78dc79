// util.parseArgs (nodejs.org/api/util.html, "util.parseArgs([config])").
function (native, p) {
  "use strict";
  const { errors } = native;
  const { ObjectEntries, ObjectPrototypeHasOwnProperty: own, ArrayIsArray } = p;
  const wrong = (code, text) => errors.make("TypeError", code, text);
  const isObject = (v) => typeof v === "object" && v !== null && !ArrayIsArray(v);
  const check = (ok, name, must, value) => { if (!ok) throw errors.argType(name, must, value); };
  const flag = (value, name) => check(typeof value === "boolean", name, "of type boolean", value);

  const readOptions = (options) => {
    check(isObject(options), "options", "of type object", options);
    for (const [name, o] of ObjectEntries(options)) {
      const at = `options.${name}`;
      check(isObject(o), at, "of type object", o);
      check(o.type === "string" || o.type === "boolean", `${at}.type`, "('string|boolean')", o.type);
      if (own(o, "short")) {
        check(typeof o.short === "string", `${at}.short`, "of type string", o.short);
        if (o.short.length !== 1) throw errors.argValue(`${at}.short`, o.short, "must be a single character");
      }
      if (own(o, "multiple")) flag(o.multiple, `${at}.multiple`);
      if (o.default === undefined) continue;
      if (o.multiple) check(ArrayIsArray(o.default), `${at}.default`, "an instance of Array", o.default);
      const each = o.multiple ? o.default.map((v, i) => [v, `${at}.default[${i}]`]) : [[o.default, `${at}.default`]];
      for (const [v, where] of each) check(typeof v === o.type, where, `of type ${o.type}`, v);
    }
    return options;
  };

  // tokensOf splits the arguments into options, positionals and the terminator.
  const tokensOf = (args, options) => {
    const takesValue = (name) => own(options, name) && options[name].type === "string";
    const longOf = (short) => ObjectEntries(options).find(([, o]) => o.short === short)?.[0] ?? short;
    const tokens = [];
    const rest = args.map((text, index) => ({ text, index }));
    const option = (index, name, rawName, value, inlineValue) => tokens.push({ kind: "option", name, rawName, index, value, inlineValue });
    const withNext = (index, name, rawName) => {
      const next = takesValue(name) && rest.length > 0 && rest[0].index > index ? rest.shift().text : undefined;
      option(index, name, rawName, next, next === undefined ? undefined : false);
    };
    while (rest.length > 0) {
      const { text, index } = rest.shift();
      if (text === "--") {
        tokens.push({ kind: "option-terminator", index });
        for (const r of rest) tokens.push({ kind: "positional", index: r.index, value: r.text });
        break;
      }
      if (/^-[^-]/.test(text)) {
        const name = longOf(text[1]);
        if (text.length === 2) withNext(index, name, text);
        else if (takesValue(name)) option(index, name, text.slice(0, 2), text.slice(2), true);
        else rest.unshift({ text: text.slice(0, 2), index }, { text: `-${text.slice(2)}`, index });
        continue;
      }
      if (/^--./.test(text)) {
        const eq = text.indexOf("=", 3);
        if (eq < 0) withNext(index, text.slice(2), text);
        else option(index, text.slice(2, eq), text.slice(0, eq), text.slice(eq + 1), true);
        continue;
      }
      tokens.push({ kind: "positional", index, value: text });
    }
    return tokens;
  };

  const checkUsage = (token, config, name) => {
    const { options, allowPositionals, allowNegative } = config;
    if (!own(options, name)) {
      throw wrong("ERR_PARSE_ARGS_UNKNOWN_OPTION", `Unknown option '${token.rawName}'` + (allowPositionals
        ? `. To specify a positional argument starting with a '-', place it at the end of the command after '--', as in '-- ${p.JSONStringify(token.rawName)}` : ""));
    }
    const { type, short } = options[name];
    const shown = `${short ? `-${short}, ` : ""}--${name}`;
    const invalid = (text) => wrong("ERR_PARSE_ARGS_INVALID_OPTION_VALUE", text);
    if (type === "string" && typeof token.value !== "string") throw invalid(`Option '${shown} <value>' argument missing`);
    if (type === "boolean" && token.value !== undefined && !(allowNegative && typeof token.value === "boolean")) {
      throw invalid(`Option '${shown}' does not take an argument`);
    }
    if (token.inlineValue === false && token.value.length > 1 && token.value[0] === "-") {
      const example = token.rawName.startsWith("--") ? `'${token.rawName}=-XYZ'` : `'--${name}=-XYZ' or '${token.rawName}-XYZ'`;
      throw invalid(`Option '${token.rawName}' argument is ambiguous.\nDid you forget to specify the option argument for '${token.rawName}'?\n` +
        `To specify an option argument starting with a dash use ${example}.`);
    }
  };

  const store = (values, name, value, options) => {
    if (name === "__proto__") return;
    if (options[name]?.multiple) (values[name] ??= []).push(value);
    else values[name] = value;
  };

  return {
    parseArgs(config = { __proto__: null }) {
      check(typeof config === "object" && config !== null, "config", "of type object", config);
      const args = config.args ?? native.require("process").argv.slice(2);
      check(ArrayIsArray(args), "args", "an instance of Array", args);
      args.forEach((a, i) => check(typeof a === "string", `args[${i}]`, "of type string", a));
      const strict = config.strict ?? true, returnTokens = config.tokens ?? false, allowNegative = config.allowNegative ?? false;
      const allowPositionals = config.allowPositionals ?? !strict;
      flag(strict, "strict");
      flag(allowPositionals, "allowPositionals");
      flag(returnTokens, "tokens");
      flag(allowNegative, "allowNegative");
      const options = readOptions(config.options ?? { __proto__: null });
      const tokens = tokensOf(args, options);
      const values = { __proto__: null }, positionals = [];
      for (const token of tokens) {
        if (token.kind === "positional") {
          if (!allowPositionals) {
            throw wrong("ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL", `Unexpected argument '${token.value}'. This command does not take positional arguments`);
          }
          positionals.push(token.value);
        }
        if (token.kind !== "option") continue;
        let { name, value } = token;
        if (allowNegative && value === undefined && name.startsWith("no-") && !own(options, name)) {
          const positive = name.slice(3);
          if (!strict || options[positive]?.type === "boolean") { name = positive; value = false; }
        }
        if (strict) checkUsage({ ...token, value: value === false ? undefined : value }, { options, allowPositionals, allowNegative }, name);
        store(values, name, value ?? true, options);
      }
      for (const [name, o] of ObjectEntries(options)) if (o.default !== undefined && values[name] === undefined) values[name] = o.default;
      return returnTokens ? { values, positionals, tokens } : { values, positionals };
    },
  };
}
