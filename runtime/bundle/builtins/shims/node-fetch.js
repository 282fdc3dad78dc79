const isRedirect = (status) => [301, 302, 303, 307, 308].includes(status);
const fetch = Object.assign((...args) => globalThis.fetch(...args), { Promise, isRedirect });
const required = (...args) => globalThis.fetch(...args);
module.exports = Object.assign(required, { __esModule: true, default: fetch, fetch, Headers, Request, Response, AbortController, FetchError: Error, AbortError: Error, isRedirect });
