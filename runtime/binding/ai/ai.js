// env.AI (workerd: src/cloudflare/internal/ai-api.ts, aig-api.ts, autorag-api.ts,
// to-markdown-api.ts). What needs the account goes to remote, which rejects; with a
// provider on this machine, run() asks that. Its answers are JSON, or bytes.
function (native, p) {
  "use strict";
  const { JSONStringify, JSONParse, ArrayIsArray, ArrayPrototypeMap, ArrayPrototypeJoin, ObjectDefineProperty, ObjectEntries, ObjectAssign, SymbolToStringTag } = p;

  class InferenceUpstreamError extends Error {
    constructor(message, name = "InferenceUpstreamError") {
      super(message);
      this.name = name;
    }
  }
  class AiInternalError extends Error {
    constructor(message) {
      super(message);
      this.name = "AiInternalError";
    }
  }
  class AutoRAGNameNotSetError extends Error {
    constructor(message) {
      super(message);
      this.name = "AutoRAGNameNotSetError";
    }
  }
  const origin = "https://workers-binding.ai";
  const json = { "content-type": "application/json" };

  return (remote, base, fetch, Headers, ReadableStream, FormData, URL) => {
    const isStream = (v) => v instanceof ReadableStream || v instanceof FormData;
    const streamed = (inputs) => {
      const keys = [];
      for (const [key, value] of ObjectEntries(inputs)) {
        if (isStream(value) || typeof value === "object" && value && "body" in value && isStream(value.body)) keys[keys.length] = key;
      }
      return keys;
    };

    class WrappedBinding {}
    ObjectDefineProperty(WrappedBinding.prototype, SymbolToStringTag, { value: "WrappedBinding", configurable: true });

    class Ai extends WrappedBinding {
      lastRequestId = null;
      aiGatewayLogId = null;
      lastRequestHttpStatusCode = null;
      lastRequestInternalStatusCode = null;

      async fetch(input, init) { return remote.fetch(input, init); }

      async #ask(model, inputs, options) {
        const { prefix, extraHeaders, sessionOptions, signal, ...sent } = options;
        const headers = ObjectAssign({}, sessionOptions?.extraHeaders, extraHeaders, json);
        if (!options.websocket) {
          const keys = streamed(inputs);
          if (keys.length > 1) throw new AiInternalError(`Multiple ReadableStreams are not supported. Found streams in keys: [${ArrayPrototypeJoin(keys, ", ")}]`);
          if (keys.length === 1) {
            if (sent.gateway?.id) throw new AiInternalError("AI Gateway does not support ReadableStreams yet.");
            const { body, contentType } = inputs[keys[0]];
            if (!contentType) throw new AiInternalError("Content-Type is required with ReadableStream inputs");
            headers["content-type"] = contentType;
            const init = { method: "POST", headers, body, signal };
            return base === undefined ? remote.fetch(`${origin}/run?version=3`, init) : fetch(base + "/ai/run/" + model, init);
          }
        }
        if (base === undefined) return remote.fetch(`${origin}/run?version=3`, { method: "POST", headers, body: JSONStringify({ inputs, options: sent }) });
        if (options.websocket) throw new AiInternalError("env.AI.run() with { websocket: true } is not available with --mock-ai or --ai-url.");
        return fetch(base + "/ai/run/" + model, { method: "POST", headers, body: JSONStringify(inputs), signal });
      }
      async run(model, inputs, options = {}) {
        this.lastRequestId = "";
        const response = await this.#ask(model, inputs, options);
        this.lastRequestId = response.headers.get("cf-ai-req-id");
        this.aiGatewayLogId = response.headers.get("cf-aig-log-id");
        this.lastRequestHttpStatusCode = response.status;
        if (options.returnRawResponse || options.websocket) return response;
        if (!response.ok || !response.body) throw await this._parseError(response);
        if (inputs.stream || response.headers.get("content-type")?.split(";")[0] !== "application/json") return response.body;
        return response.json();
      }
      getLogs() { return []; }
      async _parseError(response) {
        const text = await response.text();
        let said;
        try { said = JSONParse(text); } catch { return new InferenceUpstreamError(text); }
        if (said?.internalCode) {
          this.lastRequestInternalStatusCode = said.internalCode;
          return new InferenceUpstreamError(`${said.internalCode}: ${said.description}`, said.name);
        }
        const first = said?.errors?.[0];
        return new InferenceUpstreamError(first ? `${first.code}: ${first.message}` : text);
      }
      async models(params = {}) {
        const url = new URL(`${origin}/ai-api/models/search`);
        for (const [key, value] of ObjectEntries(params)) url.searchParams.set(key, value.toString());
        return remote.fetch(url);
      }
      toMarkdown(files, options) {
        const service = new ToMarkdownService();
        return arguments.length < 1 || !files ? service : service.transform(files, options);
      }
      gateway(id, options) { return options?.beta ? remote.gateway(id) : new AiGateway(id); }
      autorag(id) { return new AutoRAG(id); }
      aiSearch() { return remote.aiSearch(); }
      websearch(request, params) { return remote.websearch(request, params); }
    }

    class ToMarkdownService {
      async transform(files, options) {
        const sent = ArrayPrototypeMap(ArrayIsArray(files) ? files : [files], (file) => ({ name: file.name, mimeType: file.blob.type }));
        return remote.fetch(`${origin}/to-everything/markdown/transformer`, { method: "POST", headers: json, body: JSONStringify({ files: sent, options }) });
      }
      async supported() { return remote.fetch(`${origin}/to-everything/markdown/supported`); }
    }

    class AiGateway {
      #id;
      constructor(id) { this.#id = id; }
      async getUrl(provider) { return remote.fetch(`${origin}/ai-gateway/gateways/${this.#id}/url/${provider ?? "universal"}`); }
      async getLog(log) { return remote.fetch(`${origin}/ai-gateway/gateways/${this.#id}/logs/${log}`); }
      async patchLog(log, data) {
        return remote.fetch(`${origin}/ai-gateway/gateways/${this.#id}/logs/${log}`, { method: "PATCH", headers: json, body: JSONStringify(data) });
      }
      run(data, options) {
        const requests = ArrayIsArray(data) ? data : [data];
        for (let i = 0; i < requests.length; i++) ObjectEntries(requests[i].headers);
        const headers = new Headers(json);
        return remote.fetch(`${origin}/ai-gateway/universal/run/${this.#id}`, { method: "POST", headers, body: JSONStringify(requests), signal: options?.signal });
      }
    }

    class AutoRAG {
      #id;
      constructor(id) { this.#id = id || null; }
      async list() { return remote.fetch(`${origin}/autorag/rags`); }
      async #search(kind, params) {
        if (!this.#id) throw new AutoRAGNameNotSetError("AutoRAG name not defined");
        return remote.fetch(`${origin}/autorag/rags/${this.#id}/${kind}`, { method: "POST", headers: json, body: JSONStringify(params) });
      }
      async search(params) { return this.#search("search", params); }
      async aiSearch(params) { return this.#search("ai-search", params); }
    }
    return new Ai();
  };
}
