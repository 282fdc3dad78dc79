// The send_email binding (miniflare: workers/email/send_email.worker.ts). Messages
// are checked and written to files; nothing leaves the machine.
function (native, p) {
  "use strict";
  const { ArrayIsArray, ArrayPrototypeIncludes, ArrayPrototypePush, ArrayPrototypeJoin, ArrayPrototypeMap, JSONStringify, RegExpPrototypeExec, StringPrototypeTrim } = p;

  return (Response, config) => {
    const arrayBufferOf = p.uncurryThis(Response.prototype.arrayBuffer);
    const { destination, destinations, senders } = config;
    const allowedSender = (from) => {
      if (senders && !ArrayPrototypeIncludes(senders, from)) throw new p.Error(`email from ${from} not allowed`);
    };
    const allowedRecipient = (to) => {
      if ((destination && to !== destination) || (destinations && !ArrayPrototypeIncludes(destinations, to))) throw new p.Error(`email to ${to} not allowed`);
    };
    const list = (v) => (ArrayIsArray(v) ? v : [v]);
    // An address is a text, or has a name and an email.
    const bare = (a) => {
      if (typeof a !== "string") return a.email;
      const m = RegExpPrototypeExec(/<([^>]+)>\s*$/u, a);
      return StringPrototypeTrim(m === null ? a : m[1]);
    };
    const shown = (a) => (typeof a === "string" ? a : `"${a.name.replace(/["\\]/gu, (c) => `\\${c}`)}" <${a.email}>`);
    const joined = (v) => ArrayPrototypeJoin(ArrayPrototypeMap(list(v), shown), ", ");

    // extension is that of an attachment's file.
    const extension = (filename) => {
      const found = RegExpPrototypeExec(/\.([^.]+)$/u, `${filename}`)?.[1];
      return found !== undefined && found.length <= 32 && RegExpPrototypeExec(/^[A-Za-z0-9][A-Za-z0-9._-]*$/u, found) !== null ? found : "bin";
    };
    // store has Go check and write a message: parts are [suffix, what a body can be].
    const store = async (from, built, parts) => {
      const files = [], bytes = [];
      let total = 0;
      for (let i = 0; i < parts.length; i++) {
        const one = await arrayBufferOf(new Response(parts[i][1]));
        ArrayPrototypePush(bytes, one);
        ArrayPrototypePush(files, { suffix: parts[i][0], size: one.byteLength });
        total += one.byteLength;
      }
      const body = new p.Uint8Array(total);
      for (let i = 0, at = 0; i < bytes.length; i++) {
        body.set(new p.Uint8Array(bytes[i]), at);
        at += bytes[i].byteLength;
      }
      const [reply] = await native.call("send", JSONStringify({ from, built, files }), body.buffer);
      if (reply.refused !== undefined) throw new p.Error(reply.refused);
      return reply;
    };

    class SendEmailBinding {
      async send(message) { return send(message); }
    }
    const send = async (message) => {
      if (typeof message !== "object" || message === null) throw new p.TypeError(`Cannot use 'in' operator to search for 'EmailMessage::raw' in ${typeof message === "symbol" ? "Symbol" : message}`);
      if ("EmailMessage::raw" in message) {
        const raw = message["EmailMessage::raw"];
        allowedSender(message.from);
        allowedRecipient(message.to);
        const reply = await store(message.from, false, [[".eml", raw]]);
        native.log(`send_email binding called with the following message:\nEmail: ${reply.paths[0]}`);
        return { messageId: reply.messageId };
      }
      const from = bare(message.from);
      allowedSender(from);
      const to = list(message.to);
      for (let i = 0; i < to.length; i++) allowedRecipient(bare(to[i]));
      const head = [`From: ${shown(message.from)}`, `To: ${joined(message.to)}`];
      if (message.cc) ArrayPrototypePush(head, `Cc: ${joined(message.cc)}`);
      if (message.bcc) ArrayPrototypePush(head, `Bcc: ${joined(message.bcc)}`);
      ArrayPrototypePush(head, `Subject: ${message.subject}`);
      const parts = [], names = [];
      const add = (name, suffix, content) => {
        ArrayPrototypePush(names, name);
        ArrayPrototypePush(parts, [suffix, content]);
      };
      if (message.text) add("Text: ", ".txt", message.text);
      if (message.html) add("HTML: ", ".html", message.html);
      const attachments = message.attachments ?? [];
      for (let i = 0; i < attachments.length; i++) {
        const { filename, disposition, content } = attachments[i];
        if (typeof content !== "string") content.byteLength; // what has none is refused in the engine's words
        add(`Attachment (${disposition ?? "attachment"}): ${filename} -> `, `-${i + 1}.${extension(filename)}`, content);
      }
      const reply = await store(from, true, parts);
      let text = `send_email binding called with MessageBuilder:\n${ArrayPrototypeJoin(head, "\n")}`;
      for (let i = 0; i < names.length; i++) text += `${i === 0 ? "\n\n" : "\n"}${names[i]}${reply.paths[i]}`;
      native.log(text);
      return { messageId: reply.messageId };
    };
    return new SendEmailBinding();
  };
}
