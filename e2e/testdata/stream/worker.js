// What the Stream binding answers; /look is what another runtime has left.
const body = (text) => new Blob([text]).stream();
export default { async fetch(req, env) {
  const { STREAM } = env, out = [], names = new Map();
  const masked = (v) => JSON.stringify(v)?.replaceAll(/https?:\/\/(127\.0\.0\.1|localhost):\d+/g, "ORIGIN").replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, (id) => { if (!names.has(id)) names.set(id, "ID" + names.size); return names.get(id); });
  const t = async (name, fn) => {
    try { out.push(masked([name, (await fn()) ?? "nothing"])); } catch (e) { out.push(masked([name, "throws " + e.name + ": " + e.message, { ...e }])); }
  };
  const url = new URL(req.url);
  if (url.pathname === "/video.mp4") return new Response("a video over HTTP");
  if (url.pathname === "/look") {
    await t("videos", () => STREAM.videos.list());
    for (const v of await STREAM.videos.list()) {
      await t("captions", () => STREAM.video(v.id).captions.list());
      await t("downloads", () => STREAM.video(v.id).downloads.get());
      await t("watch", async () => (await fetch(v.preview)).text());
    }
    await t("watermarks", () => STREAM.watermarks.list());
    return Response.json(out);
  }
  const wait = () => new Promise((r) => setTimeout(r, 5));
  await t("shape", () => [STREAM.constructor.name, String(STREAM), Object.keys(STREAM), typeof STREAM.upload]);
  await t("none", () => STREAM.videos.list());
  const first = await STREAM.upload(body("first video"), { creator: "me", meta: { a: 1 }, allowedOrigins: ["a.example"], requireSignedURLs: true, scheduledDeletion: "2030-01-01T00:00:00Z", thumbnailTimestampPct: 0.5 });
  await t("upload", () => first);
  await wait();
  const second = await STREAM.upload(body("second"));
  await t("upload plainly", () => second);
  await wait();
  await t("upload from a url", async () => { const v = await STREAM.upload(url.origin + "/video.mp4", { meta: { from: "url" } }); const { id, size, status } = v; await STREAM.video(id).delete(); return [size, status]; });
  await t("upload from a bad url", () => STREAM.upload(url.origin + "/__cf_local/stream/none/watch"));
  await t("direct upload", () => STREAM.createDirectUpload({ maxDurationSeconds: 10 }));
  await t("details", () => STREAM.video(first.id).details());
  await t("details of none", () => STREAM.video("none").details());
  await t("update", () => STREAM.video(first.id).update({ creator: "you", meta: { b: 2 }, requireSignedURLs: false, maxDurationSeconds: 7, scheduledDeletion: null }));
  await t("update little", () => STREAM.video(first.id).update({ creator: undefined }));
  await t("update none", () => STREAM.video("none").update({}));
  for (const params of [undefined, {}, { limit: 1 }, { before: first.created }, { after: second.created }, { after: second.created, afterComp: "gt" }, { before: second.created, beforeComp: "lte", limit: 1 }, { before: first.created, beforeComp: "xx" }, { after: first.created, before: second.created }]) {
    await t("list " + JSON.stringify(params), async () => (await STREAM.videos.list(params)).map((v) => v.id));
  }
  await t("watch", async () => { const r = await fetch(first.preview); return [r.status, r.headers.get("content-type"), r.headers.get("content-length"), await r.text()]; });
  await t("watch none", async () => { const r = await fetch(first.preview.replace(first.id, "none")); return [r.status, await r.text()]; });
  await t("watch otherwise", async () => { const r = await fetch(first.preview.replace("/watch", "/look")); return [r.status, await r.text()]; });
  await t("token", async () => { const { exp, ...rest } = JSON.parse(atob(await STREAM.video(first.id).generateToken())); return [rest, Math.round((exp - Date.now() / 1000) / 60)]; });
  await t("token of none", () => STREAM.video("none").generateToken());
  const { captions, downloads } = STREAM.video(first.id);
  await t("caption", () => captions.upload("de", body("WEBVTT")));
  await t("caption generated", () => captions.generate("fr"));
  await t("caption again", () => captions.generate("de"));
  await t("caption of a strange language", () => captions.upload("xq", body("WEBVTT")));
  await t("captions", () => captions.list());
  await t("captions of one", () => captions.list("fr"));
  await t("captions of another", () => captions.list("es"));
  await t("caption delete", () => captions.delete("fr"));
  await t("caption delete again", () => captions.delete("fr"));
  await t("caption of none", () => STREAM.video("none").captions.generate("de"));
  await t("captions of none", () => STREAM.video("none").captions.list());
  await t("downloads", () => downloads.get());
  await t("download", () => downloads.generate());
  await t("download audio", () => downloads.generate("audio"));
  await t("downloads now", () => downloads.get());
  await t("download delete", () => downloads.delete("audio"));
  await t("download delete again", () => downloads.delete("audio"));
  await t("download of none", () => STREAM.video("none").downloads.generate());
  const { watermarks } = STREAM;
  await t("watermark", () => watermarks.generate(body("png"), { name: "w", opacity: 0.5, padding: 0.1, scale: 0.2, position: "center" }));
  await wait();
  await t("watermark plainly", async () => { const w = await watermarks.generate(body("plain"), {}); await t("watermark get", () => watermarks.get(w.id)); await watermarks.delete(w.id); return w; });
  await t("watermark from a url", async () => { const w = await watermarks.generate(url.origin + "/video.mp4", {}); await watermarks.delete(w.id); return [w.size, w.downloadedFrom]; });
  await t("watermark from a bad url", () => watermarks.generate(url.origin + "/__cf_local/stream/none/watch", {}));
  for (const params of [{ opacity: 2 }, { padding: -1 }, { scale: 1.5 }]) await t("watermark " + JSON.stringify(params), () => watermarks.generate(body("x"), params));
  await t("watermark get none", () => watermarks.get("none"));
  await t("watermark delete none", () => watermarks.delete("none"));
  await t("watermarks", () => watermarks.list());
  await t("delete", () => STREAM.video(second.id).delete());
  await t("delete again", () => STREAM.video(second.id).delete());
  return Response.json(out);
} };
