// import gets the bare function, require() one with the classes on it.
const fetch = (...args) => globalThis.fetch(...args);
const required = (...args) => globalThis.fetch(...args);
module.exports = Object.assign(required, { __esModule: true, default: fetch, fetch, Headers, Request, Response });
