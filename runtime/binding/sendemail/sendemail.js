// The send_email binding (miniflare: workers/email/send_email.worker.ts). Messages
// are checked and written to files; nothing leaves the machine.
function (native, p) {
  "use strict";
  const { ArrayIsArray, ArrayPrototypeIncludes, ArrayPrototypePush, ArrayPrototypeJoin, JSONStringify, RegExpPrototypeExec, ObjectKeys } = p;

  return (Response, config) => {
    const arrayBufferOf = p.uncurryThis(Response.prototype.arrayBuffer);
    const { destination, destinations, senders } = config;
    const allowed = (from, to) => {
      if (senders && !ArrayPrototypeIncludes(senders, from)) throw new p.Error(`email from ${from} not allowed`);
      for (let i = 0; i < to.length; i++) {
        if ((destination && to[i] !== destination) || (destinations && !ArrayPrototypeIncludes(destinations, to[i]))) throw new p.Error(`email to ${to[i]} not allowed`);
      }
    };
    const addressOf = (v) => {
      if (v !== null && typeof v === "object") return `${v.email}`;
      const m = RegExpPrototypeExec(/<([^<>]+)>\s*$/, `${v}`);
      return m === null ? `${v}` : m[1];
    };
    const shown = (v) => (v !== null && typeof v === "object" ? (v.name ? `"${v.name}" <${v.email}>` : `${v.email}`) : `${v}`);
    const list = (v) => (v === undefined || v === null ? [] : ArrayIsArray(v) ? v : [v]);
    const joined = (v) => {
      const out = [];
      for (let i = 0; i < v.length; i++) ArrayPrototypePush(out, shown(v[i]));
      return ArrayPrototypeJoin(out, ", ");
    };
    const header = (name, value) => {
      if (RegExpPrototypeExec(/[\r\n]/, `${value}`) !== null) throw new p.Error("invalid headers set");
      return `${name}: ${value}\r\n`;
    };
    const compose = (m) => {
      if (list(m.attachments).length > 0) throw new p.Error("send_email: attachments of a message builder are not available in minido; build the message and send an EmailMessage.");
      let head = header("From", shown(m.from)) + header("To", joined(list(m.to)));
      if (list(m.cc).length > 0) head += header("Cc", joined(list(m.cc)));
      if (m.replyTo !== undefined) head += header("Reply-To", shown(m.replyTo));
      head += header("Subject", m.subject);
      const names = ObjectKeys(m.headers ?? {});
      for (let i = 0; i < names.length; i++) head += header(names[i], m.headers[names[i]]);
      const part = (type, text) => `Content-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n${text}\r\n`;
      head += "MIME-Version: 1.0\r\n";
      if (m.html === undefined || m.text === undefined) return head + (m.html === undefined ? part("text/plain", m.text ?? "") : part("text/html", m.html));
      const boundary = native.boundary();
      return `${head}Content-Type: multipart/alternative; boundary="${boundary}"\r\n\r\n--${boundary}\r\n${part("text/plain", m.text)}--${boundary}\r\n${part("text/html", m.html)}--${boundary}--\r\n`;
    };
    class SendEmail {
      async send(message) {
        const raw = native.raw(message);
        const built = raw === undefined;
        const from = built ? addressOf(message.from) : message.from;
        const to = [];
        if (built) for (const group of [list(message.to), list(message.cc), list(message.bcc)]) for (let i = 0; i < group.length; i++) ArrayPrototypePush(to, addressOf(group[i]));
        else ArrayPrototypePush(to, message.to);
        allowed(from, to);
        const body = await arrayBufferOf(new Response(built ? compose(message) : raw));
        const [reply] = await native.call("send", JSONStringify({ from, to, built }), body);
        if (reply.refused !== undefined) throw new p.Error(reply.refused);
        native.log(`send_email binding called with the following message:\nEmail: ${reply.path}`);
        return { messageId: reply.messageId };
      }
    }
    return new SendEmail();
  };
}
