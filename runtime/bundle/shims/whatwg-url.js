const absent = (name) => () => { throw new Error(`[unenv] whatwg-url.${name} is not implemented yet!`); };
const names = ["parseURL", "basicURLParse", "serializeURL", "serializeHost", "serializeInteger", "serializeURLOrigin", "setTheUsername", "setThePassword", "cannotHaveAUsernamePasswordPort", "percentDecodeBytes", "percentDecodeString"];
module.exports = { URL, URLSearchParams, ...Object.fromEntries(names.map((name) => [name, absent(name)])) };
