// The argument of an email handler (workerd: ForwardableEmailMessage; miniflare:
// workers/core/entry.worker.ts).
function (native, p) {
  "use strict";
  const { ArrayPrototypePush, JSONStringify, RegExpPrototypeExec, StringPrototypeTrim } = p;
  // An address is a text, or has a name and an email.
  const bare = (a) => {
    if (typeof a !== "string") return a.email;
    const m = RegExpPrototypeExec(/<([^>]+)>\s*$/u, a);
    return StringPrototypeTrim(m === null ? a : m[1]);
  };
  const shown = (a) => (typeof a === "string" ? a : `"${`${a.name}`.replace(/["\\]/gu, (c) => `\\${c}`)}" <${a.email}>`);
  return (Response, Headers, from, to, bytes, fields) => {
    const arrayBufferOf = p.uncurryThis(Response.prototype.arrayBuffer);
    const headers = new Headers(fields);
    const pairsOf = (extra) => {
      const list = [];
      if (extra === undefined || extra === null) return list;
      let given;
      try { given = new Headers(extra); } catch { throw new p.Error("invalid headers set"); }
      for (const [name, value] of given) ArrayPrototypePush(list, [name, value]);
      return list;
    };
    // built is a message builder as mail.Builder reads it.
    const built = (m) => {
      const attachments = [];
      for (const a of m.attachments ?? []) {
        ArrayPrototypePush(attachments, { filename: a.filename, type: a.type, disposition: a.disposition, contentId: a.contentId, content: typeof a.content === "string" ? a.content : native.base64(a.content) });
      }
      return { sender: shown(m.from), address: bare(m.from), replyTo: m.replyTo === undefined ? undefined : shown(m.replyTo), subject: m.subject,
        headers: pairsOf(m.headers), text: m.text, html: m.html, attachments };
    };
    return (actions) => ({
      from, to, raw: new Response(bytes).body, rawSize: bytes.byteLength, headers, canBeForwarded: true,
      setReject(reason) { actions.reject(`${reason}`); },
      async forward(recipient, extra) {
        const list = [];
        if (extra !== undefined && extra !== null) for (const [name, value] of new Headers(extra)) ArrayPrototypePush(list, [name, value]);
        return { messageId: await actions.forward(`${recipient}`, list) };
      },
      async reply(message) {
        if (!("EmailMessage::raw" in message)) return { messageId: await actions.replyBuilt(JSONStringify(built(message))) };
        return { messageId: await actions.reply(message.from, await arrayBufferOf(new Response(message["EmailMessage::raw"]))) };
      },
    });
  };
}
