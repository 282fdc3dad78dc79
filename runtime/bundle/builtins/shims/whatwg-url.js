const absent = (name) => () => { throw new Error(`whatwg-url.${name} is not available in a worker; use URL`); };
const names = ["parseURL", "basicURLParse", "serializeURL", "serializeHost", "serializeInteger", "serializeURLOrigin", "setTheUsername", "setThePassword", "cannotHaveAUsernamePasswordPort", "percentDecodeBytes", "percentDecodeString"];
module.exports = { URL, URLSearchParams, ...Object.fromEntries(names.map((name) => [name, absent(name)])) };
