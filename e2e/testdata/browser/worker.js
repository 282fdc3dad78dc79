// Drives a browser over both protocols of the binding, as puppeteer and playwright do.
const B = "https://fake.host/v1/";
const dial = async (env, path) => {
  const response = await env.BROWSER.fetch(B + path, { headers: { Upgrade: "websocket" } });
  response.webSocket.binaryType = "arraybuffer";
  response.webSocket.accept();
  return response.webSocket;
};
const caller = (ws, encode, decode) => {
  let last = 0;
  const waiting = new Map();
  ws.addEventListener("message", (m) => {
    const answer = JSON.parse(decode(m.data));
    waiting.get(answer.id)?.(answer);
  });
  return (method, params = {}, sessionId) => new Promise((resolve) => {
    waiting.set(++last, (answer) => resolve(answer.result ?? answer.error));
    ws.send(encode(JSON.stringify({ id: last, method, params, sessionId })));
  });
};
const frame = (text) => {
  const bytes = new TextEncoder().encode(text), data = new Uint8Array(bytes.length + 4);
  new DataView(data.buffer).setUint32(0, bytes.length, true);
  data.set(bytes, 4);
  return data;
};
const title = async (call) => {
  const { targetId } = await call("Target.createTarget", { url: "data:text/html,<title>of a page</title>" });
  const { sessionId } = await call("Target.attachToTarget", { targetId, flatten: true });
  for (;;) {
    const { result } = await call("Runtime.evaluate", { expression: "document.title && document.title + (6 * 7)" }, sessionId);
    if (result.value) return result.value;
  }
};
export default { async fetch(request, env) {
  const out = [String(env.BROWSER), env.BROWSER.constructor.name];
  const { sessionId } = await (await env.BROWSER.fetch(B + "acquire")).json();
  const old = await dial(env, "connectDevtools?browser_session=" + sessionId);
  out.push(await title(caller(old, frame, (data) => new TextDecoder().decode(data.slice(4)))));
  old.close();
  const raw = await dial(env, "devtools/browser/" + sessionId);
  out.push(await title(caller(raw, (x) => x, (x) => x)));
  const { sessions } = await (await env.BROWSER.fetch(B + "sessions")).json();
  out.push(sessions.length, sessions[0].sessionId === sessionId);
  raw.close();
  out.push((await (await env.BROWSER.fetch(B + "devtools/browser/" + sessionId + "/json/version")).json())["Protocol-Version"]);
  out.push(await (await env.BROWSER.fetch(B + "devtools/browser/" + sessionId, { method: "DELETE" })).json());
  out.push((await (await env.BROWSER.fetch(B + "sessions")).json()).sessions.length, (await env.BROWSER.fetch(B + "connectDevtools")).status, (await env.BROWSER.fetch(B + "nothing")).status);
  return Response.json(out);
} };
