// What send_email bindings and the email handler answer.
import { EmailMessage } from "cloudflare:email";
const good = "From: Ann <ann@a.example>\r\nTo: bob@b.example\r\nMessage-ID: <1@a.example>\r\nSubject: hi\r\n\r\nHello\r\n";
const message = (text = good, from = "ann@a.example", to = "bob@b.example") => new EmailMessage(from, to, text);
const base = { from: { name: "Ann", email: "ann@a.example" }, to: ["bob@b.example"], subject: "s", text: "t" };
const bytes = new TextEncoder().encode("0123456789").buffer;
const attachment = { filename: "a.txt", type: "text/plain", content: "aGVsbG8=" };
const replies = {
  plain: { ...base, from: "bob@b.example", subject: "Re" },
  html: { from: { name: 'B "o" b', email: "bob@b.example" }, subject: "Re", html: "<b>h</b>", text: "t", replyTo: "Re <re@b.example>", headers: { "X-A": "1", "In-Reply-To": "<0@x>", Subject: "no" } },
  onlyHTML: { from: "Bob <bob@b.example>", subject: "Re", html: "<b>h</b>" },
  attached: { from: "bob@b.example", subject: "Re", text: "t", attachments: [attachment, { filename: 'b".bin', type: "image/png", content: bytes, disposition: "inline", contentId: "c1" }, { filename: "c", type: "x/y", content: new Uint8Array(bytes, 2, 3) }] },
  long: { from: "bob@b.example", subject: "Re", text: "t", attachments: [{ ...attachment, content: new Uint8Array(100).buffer }] },
  newline: { from: "bob@b.example", subject: "Re\nBcc: x", text: "t" },
  badHeader: { from: "bob@b.example", subject: "Re", text: "t", headers: { "X-A": "a\nb" } },
  badHeaderName: { from: "bob@b.example", subject: "Re", text: "t", headers: { "X A": "a" } },
  received: { from: "bob@b.example", subject: "Re", text: "t", headers: { Received: "x" } },
  badType: { from: "bob@b.example", subject: "Re", text: "t", attachments: [{ ...attachment, type: "text" }] },
  badDisposition: { from: "bob@b.example", subject: "Re", text: "t", attachments: [{ ...attachment, disposition: "x" }] },
  noContentId: { from: "bob@b.example", subject: "Re", text: "t", attachments: [{ ...attachment, disposition: "inline" }] },
  badBase64: { from: "bob@b.example", subject: "Re", text: "t", attachments: [{ ...attachment, content: "a*b" }] },
};
export default {
  async email(m) {
    const name = m.headers.get("subject");
    if (name === "reject") return m.setReject("no");
    if (name === "forward") return m.forward("carl@c.example", new Headers({ "X-Seen": "yes" }));
    if (name === "message") return m.reply(message(`From: bob@b.example\r\nTo: ann@a.example\r\nIn-Reply-To: ${m.headers.get("message-id")}\r\nMessage-ID: <2@b>\r\n\r\nThanks\r\n`, "bob@b.example", "ann@a.example"));
    await m.reply(replies[name]);
  },
  async fetch(req, env) {
    const out = [], { MAIL, ONLY, LIST, SENDERS } = env;
    const masked = (v) => JSON.stringify(v)?.replaceAll(/[A-Za-z0-9]{36}@/g, "ID@").replaceAll(/(Mixed|Part)_[0-9a-f-]+/g, "$1_ID").replaceAll(/\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT/g, "DATE");
    const t = async (name, fn) => {
      try { out.push(masked([name, (await fn()) ?? "nothing"])); } catch (e) { out.push(masked([name, "throws " + e.name + ": " + e.message])); }
    };
    const sends = {
      message: [MAIL, message()], stream: [MAIL, message(new Response(good).body)], noId: [MAIL, message("From: ann@a.example\r\n\r\nx")], otherFrom: [MAIL, message(good, "eve@e.example")],
      received: [MAIL, message("Received: x\r\n" + good)], only: [ONLY, message()], list: [LIST, message()], senders: [SENDERS, message()],
      built: [MAIL, base], html: [MAIL, { ...base, html: "<b>h</b>" }], text: [MAIL, { ...base, from: "Ann <ann@a.example>", to: "bob@b.example" }], upper: [MAIL, { ...base, from: "ann@A.Example" }],
      noDomain: [MAIL, { ...base, from: "ann" }], badDomain: [MAIL, { ...base, from: "ann@a_b" }], cc: [LIST, { ...base, cc: "eve@e.example", bcc: ["x@x.example"] }], to: [LIST, { ...base, to: ["bob@b.example", "eve@e.example"] }],
      builtOnly: [ONLY, base], builtSenders: [SENDERS, base], nothing: [MAIL, {}], noTo: [MAIL, { ...base, to: undefined }], noSubject: [MAIL, { ...base, subject: undefined }],
      attached: [MAIL, { ...base, attachments: [attachment, { filename: "b.tar.gz", type: "x/y", content: bytes, disposition: "inline", contentId: "c" }, { filename: "noextension", type: "x/y", content: new Uint8Array(bytes, 1, 2) }] }],
      noFilename: [MAIL, { ...base, attachments: [{ type: "x/y", content: "x" }] }], noContent: [MAIL, { ...base, attachments: [{ filename: "a", type: "x/y" }] }],
    };
    for (const [name, [binding, m]] of Object.entries(sends)) await t("send " + name, () => binding.send(m));
    for (const [name, ...args] of [["none"], ["null", null], ["number", 5], ["text", "x"], ["array", []], ["three", "a@a.example", "b@b.example", "raw"]]) {
      await t("send " + name, async () => { try { await MAIL.send(...args); } catch (e) { return [e.name, e.message, { ...e }]; } });
    }
    await t("binding", () => [MAIL.constructor.name, String(MAIL), Object.keys(MAIL)]);
    const incoming = (subject, more = "") => `From: ann@a.example\r\nTo: bob@b.example\r\nMessage-ID: <9@a.example>\r\nSubject: ${subject}\r\n${more}\r\nHello\r\n`;
    const handle = async (body) => {
      const r = await fetch(new URL(req.url).origin + "/cdn-cgi/handler/email?from=ann@a.example&to=bob@b.example&format=json", { method: "POST", body });
      const text = await r.text();
      let answer;
      try { answer = JSON.parse(text); } catch { return [r.status, text]; }
      const { outcome, forwards, replies, rejectReason } = answer;
      return [r.status, outcome, forwards, replies, rejectReason];
    };
    for (const name of ["reject", "forward", "message", ...Object.keys(replies)]) await t("handle " + name, () => handle(incoming(name)));
    await t("handle with references", () => handle(incoming("plain", "In-Reply-To: <8@a>\r\nReferences: <7@a> <8@a>\r\n")));
    await t("handle an automatic one", () => handle(incoming("plain", "Auto-Submitted: auto-replied\r\n")));
    return Response.json(out);
  },
};
