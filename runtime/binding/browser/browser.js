// Browser Rendering (miniflare: workers/browser-rendering): the paths that
// @cloudflare/puppeteer and @cloudflare/playwright ask for. A connection belongs to
// the request that opened it; a browser stays until it is closed, or minido ends.
function (native, p) {
  "use strict";
  const { ArrayPrototypeIncludes, StringPrototypeSplit } = p;
  const quickActions = ["screenshot", "content", "pdf", "scrape", "links", "snapshot", "accessibilityTree", "json", "markdown"];
  return (fetch, Response, URL, WebSocketPair, TextEncoder, TextDecoder, crypto) => {
    const connections = { __proto__: null }; // by session: {id, startTime}
    const find = (id) => {
      const all = native.sessions();
      for (let i = 0; i < all.length; i++) if (all[i].sessionId === id) return all[i];
      return undefined;
    };
    const detail = (s) => ({
      sessionId: s.sessionId, startTime: s.startTime, connectionId: connections[s.sessionId]?.id, connectionStartTime: connections[s.sessionId]?.startTime,
    });
    const http = (s) => "http://" + new URL(s.endpoint).host;
    const dial = async (url) => {
      const response = await fetch(url.replace("ws://", "http://"), { headers: { Upgrade: "websocket" } });
      if (!response.webSocket) throw new p.Error(`The browser answered ${response.status} to a WebSocket`);
      response.webSocket.accept();
      return response.webSocket;
    };
    const close = (ws, e) => { try { e.code === 1005 || e.code === 1006 ? ws.close() : ws.close(e.code, e.reason); } catch { /* it is closed */ } };
    // join connects a client with the browser; up and down are what becomes of
    // messages on the way.
    const join = async (url, s, up, down) => {
      const browser = await dial(url);
      const [client, server] = p.ObjectValues(new WebSocketPair());
      server.binaryType = "arraybuffer";
      server.accept();
      const connection = { id: crypto.randomUUID(), startTime: p.DateNow() };
      connections[s.sessionId] = connection;
      const over = (other) => (e) => {
        if (connections[s.sessionId] === connection) delete connections[s.sessionId];
        close(other, e);
      };
      browser.addEventListener("message", (m) => server.send(down(m.data)));
      server.addEventListener("message", (m) => {
        const data = up(m.data);
        if (data !== undefined) browser.send(data);
      });
      browser.addEventListener("close", over(server));
      server.addEventListener("close", over(browser));
      return new Response(null, { status: 101, webSocket: client, headers: { "cf-browser-session-id": s.sessionId } });
    };
    const same = (data) => data;
    // The older protocol puts the length before each message.
    const framed = (text) => {
      const bytes = new TextEncoder().encode(text);
      const data = new p.Uint8Array(bytes.length + 4);
      new p.DataView(data.buffer).setUint32(0, bytes.length, true);
      data.set(bytes, 4);
      return data;
    };
    const unframed = (data) => data === "ping" ? undefined : new TextDecoder().decode(data.slice(4));

    const gone = (what, status) => Response.json({ error: what + " not found" }, { status });
    const json = async (s, path, method) => {
      const answer = await fetch(http(s) + path, { method });
      return new Response(await answer.text(), { status: answer.status, headers: { "Content-Type": "application/json" } });
    };
    const ofBrowser = async (request, url, id, rest) => {
      const s = find(id);
      if (request.method === "DELETE" && rest.length === 0) {
        await native.end(id);
        return Response.json({ status: "closed" });
      }
      if (s === undefined) return gone("Browser", 404);
      if (rest.length === 0) return join(s.endpoint, s, same, same);
      if (rest[0] === "page") return join(`ws://${new URL(s.endpoint).host}/devtools/page/${rest[1]}`, s, same, same);
      if (rest[0] !== "json") return new Response(null, { status: 404 });
      const what = rest[1] ?? "list";
      if (what === "new") return json(s, "/json/new?url=" + encodeURIComponent(url.searchParams.get("url") ?? ""), "PUT");
      return json(s, "/json/" + what + (rest[2] === undefined ? "" : "/" + rest[2]), "GET");
    };
    const route = async (request) => {
      const url = new URL(request.url);
      const [, v1, verb, what, id, ...rest] = StringPrototypeSplit(url.pathname, "/");
      if (v1 !== "v1") return new Response(null, { status: 404 });
      switch (verb) {
        case "acquire": return Response.json({ sessionId: (await native.launch()).sessionId });
        case "sessions": return Response.json({ sessions: native.sessions().map(detail) });
        case "limits": return Response.json({ maxConcurrentSessions: 6, allowedBrowserAcquisitions: 6, timeUntilNextAllowedBrowserAcquisition: 0 });
        case "history": return Response.json([]);
        case "connectDevtools": {
          const name = url.searchParams.get("browser_session");
          if (!name) return new Response("browser_session must be set", { status: 400 });
          const s = find(name);
          return s === undefined ? gone("Browser", 404) : join(s.endpoint, s, unframed, framed);
        }
        case "devtools":
          if (what === "session") {
            if (id === undefined) return Response.json(native.sessions().map(detail));
            const s = find(id);
            return s === undefined ? gone("Session", 404) : Response.json(detail(s));
          }
          if (what !== "browser") break;
          if (id !== undefined) return ofBrowser(request, url, id, rest);
          if (request.method === "POST") return Response.json({ sessionId: (await native.launch()).sessionId });
          const s = await native.launch();
          return join(s.endpoint, s, same, same);
      }
      return new Response(null, { status: 404 });
    };
    class BrowserRendering {
      async fetch(request) { return route(request); }
      async quickAction(action, options) {
        if (!ArrayPrototypeIncludes(quickActions, action)) throw new p.Error(`Invalid quick action: ${action}`);
        if (options === undefined || options === null) throw new p.TypeError(`Cannot read properties of ${options} (reading 'url')`);
        throw new p.Error(`quickAction("${action}") of Browser Rendering is not available in minido: use @cloudflare/puppeteer or @cloudflare/playwright.`);
      }
    }
    return new BrowserRendering();
  };
}
