// The module minido:test: faults and time for tests.
import { currentTest, host, running } from "minido:suite";

const id = (fn, stub) => {
  if (typeof stub?.id !== "object") throw new TypeError(`${fn}: expected the stub of a Durable Object`);
  return String(stub.id);
};

// Each of these resolves when it is done; an object that is not in memory is left alone.
export const crash = (stub) => host("act", { id: id("crash", stub), verb: "crash" });
export const evict = (stub) => host("act", { id: id("evict", stub), verb: "evict", sockets: "close" });
export const hibernate = (stub) => host("act", { id: id("hibernate", stub), verb: "evict", sockets: "hibernate" });
export const kill = () => host("act-all", { verb: "crash" });

export const killAt = (point) => host("kill-at", { point: String(point) });

export const clock = {
  advance: (duration) => host("advance", { duration: typeof duration === "number" ? duration + "ms" : String(duration) }),
};

export const effects = () => host("effects");

export const seed = () => host("seed");

export const chaos = {
  skip(reason) {
    if (typeof reason !== "string" || reason === "") throw new TypeError("chaos.skip: say why this test cannot stand faults");
    const test = currentTest();
    if (test?.type !== "test") throw new Error("chaos.skip is called inside a test");
    running.chaosSkips[test.id] = reason;
  },
};

export const powerLoss = () => { throw new Error("minido test does not offer powerLoss(): a suite runs inside the process that would lose power; use minido chaos --power"); };
