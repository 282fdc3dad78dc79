// What the bindings of other data answer.
export default { async fetch(req, env) {
  const out = [];
  const t = async (name, fn) => {
    try { out.push(JSON.stringify([name, (await fn()) ?? "nothing"])); } catch (e) { out.push(JSON.stringify([name, "throws " + e.name + ": " + e.message])); }
  };
  const { EVENTS, SECRET, PG } = env;
  await t("analytics", () => [EVENTS.constructor.name, String(EVENTS), Object.keys(EVENTS)]);
  await t("write", () => EVENTS.writeDataPoint({ blobs: ["a", null], doubles: [1, 2.5], indexes: ["i"] }));
  await t("write returns", () => String(EVENTS.writeDataPoint({ indexes: ["i"] })));
  await t("write nothing", () => EVENTS.writeDataPoint());
  await t("write empty", () => EVENTS.writeDataPoint({}));
  await t("write wrong", () => EVENTS.writeDataPoint({ blobs: 5, doubles: ["x"], indexes: ["a", "b"] }));
  await t("write null", () => EVENTS.writeDataPoint(null));
  await t("secret", () => [SECRET.constructor.name, typeof SECRET.get]);
  await t("secret get", () => SECRET.get());
  await t("hyperdrive", () => [PG.constructor.name, String(PG), Object.keys(PG).sort(), PG.database, PG.user, PG.password, typeof PG.connect, PG.port]);
  await t("hyperdrive ip", () => String(PG.ip).replaceAll(/[0-9]+/g, "N"));
  await t("hyperdrive host", () => PG.host.replaceAll(/[0-9a-f]{32}/g, "random"));
  await t("hyperdrive string", () => PG.connectionString.replaceAll(/[0-9a-f]{32}/g, "random"));
  await t("hyperdrive of MySQL", () => [env.MY.port, env.MY.user, env.MY.password, env.MY.database, env.MY.connectionString.replaceAll(/[0-9a-f]{32}/g, "random")]);
  await t("write big", () => EVENTS.writeDataPoint({ doubles: [5n] }));
  await t("write getter", () => EVENTS.writeDataPoint({ get blobs() { throw new Error("getter"); } }));
  await t("secret get shape", async () => { try { await SECRET.get("x", 1); } catch (e) { return [e.message, { ...e }]; } });
  return Response.json(out);
} };
