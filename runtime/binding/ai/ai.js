// env.AI: run() as a request to a provider on this machine. Its answers are
// JSON, or the bytes of a stream of server-sent events.
function (native, p) {
  "use strict";
  const { JSONStringify, ObjectDefineProperty } = p;
  const absent = (name) => new p.Error("env.AI." + name + "() is not available in minido; env.AI.run() is.");

  class InferenceUpstreamError extends Error {
    constructor(message, status) {
      super(message);
      this.name = "InferenceUpstreamError";
      this.status = status;
    }
  }

  return (fetch, base) => {
    class Ai {
      aiGatewayLogId = null;
      async run(model, inputs, options) {
        const response = await fetch(base + "/ai/run/" + model, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSONStringify(inputs ?? {}),
          signal: options?.signal,
        });
        if (options?.returnRawResponse) return response;
        if (!response.ok) throw new InferenceUpstreamError(await response.text(), response.status);
        return inputs?.stream ? response.body : await response.json();
      }
      async models() { throw absent("models"); }
      async toMarkdown() { throw absent("toMarkdown"); }
      gateway() { throw absent("gateway"); }
      autorag() { throw absent("autorag"); }
      aiSearch() { throw absent("aiSearch"); }
    }
    for (const name of ["run", "models", "toMarkdown", "gateway", "autorag", "aiSearch"]) {
      ObjectDefineProperty(Ai.prototype, name, { enumerable: false });
    }
    return new Ai();
  };
}
