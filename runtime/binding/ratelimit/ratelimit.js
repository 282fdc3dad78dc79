// Rate limits (miniflare: workers/ratelimit/ratelimit.worker.ts). Counting is Go;
// this is the shape that workers see.
function (native, p) {
  "use strict";
  const { JSONStringify, ObjectKeys, ArrayPrototypeIncludes, ArrayPrototypeJoin, ArrayPrototypePush, NumberIsFinite, MathTrunc } = p;
  const members = ["key", "limit", "period", "delta"];
  const maxDelta = 0xffffffff;

  const require = (holds, message) => { if (!holds) throw new p.Error(message); };

  const weight = (delta) => {
    const n = +delta;
    if (!NumberIsFinite(n)) throw new p.TypeError("The value cannot be converted because it is not an integer.");
    if (n < 0) throw new p.TypeError("The value cannot be converted because it is negative and this API expects a positive number.");
    if (n > maxDelta) throw new p.TypeError(`Value out of range. Must be less than or equal to ${maxDelta}.`);
    const whole = MathTrunc(n);
    if (whole === 0) throw new p.RangeError("delta must be non-zero");
    return whole;
  };

  const count = async (text) => (await native.call("limit", text))[0];

  return {
    // counter is what the binding's fetcher reaches.
    counter: (Response) => {
      const textOf = p.uncurryThis(Response.prototype.text), json = Response.json;
      class RateLimiter {
        async fetch(request) { return json(await count(await textOf(new Response(request.body)))); }
      }
      return new RateLimiter();
    },
    binding: (fetcher, configured, configuredPeriod) => {
      class Ratelimit {
        fetcher = fetcher;
        limitVal = configured;
        period = configuredPeriod;
        async limit(options) {
          require(typeof options === "object" && options !== null, "invalid rate limit options");
          const unknown = [];
          for (const name of ObjectKeys(options)) if (!ArrayPrototypeIncludes(members, name)) ArrayPrototypePush(unknown, name);
          require(unknown.length === 0, `bad rate limit options: [${ArrayPrototypeJoin(unknown, ",")}]`);
          const { key = "", limit = configured, period = configuredPeriod, delta = 1 } = options;
          require(typeof key === "string", `invalid key: ${key}`);
          require(typeof limit === "number", `limit must be a number: ${limit}`);
          require(typeof period === "number", `period must be a number: ${period}`);
          require(period === 10 || period === 60, `unsupported period: ${period}`);
          return count(JSONStringify({ key, limit, period, delta: weight(delta) }));
        }
      }
      return new Ratelimit();
    },
  };
}
