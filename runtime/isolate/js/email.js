// The argument of an email handler (workerd: ForwardableEmailMessage; miniflare:
// workers/core/entry.worker.ts).
function (native, p) {
  "use strict";
  const { ArrayPrototypePush } = p;
  return (Response, Headers, from, to, bytes, fields) => {
    const arrayBufferOf = p.uncurryThis(Response.prototype.arrayBuffer);
    const headers = new Headers(fields);
    return (actions) => ({
      from, to, raw: new Response(bytes).body, rawSize: bytes.byteLength, headers, canBeForwarded: true,
      setReject(reason) { actions.reject(`${reason}`); },
      async forward(recipient, extra) {
        const list = [];
        if (extra !== undefined && extra !== null) for (const [name, value] of new Headers(extra)) ArrayPrototypePush(list, [name, value]);
        return { messageId: await actions.forward(`${recipient}`, list) };
      },
      async reply(message) {
        const raw = native.raw(message);
        if (raw === undefined) throw new p.Error("email: reply() takes an EmailMessage in minido; message builders are not available there.");
        return { messageId: await actions.reply(message.from, await arrayBufferOf(new Response(raw))) };
      },
    });
  };
}
