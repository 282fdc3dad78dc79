// What the images binding answers: sizes, types and colours of pictures, errors, and
// what is hosted. /look is what another runtime has left.
const join = (...parts) => {
  const all = parts.map((p) => (typeof p === "string" ? new TextEncoder().encode(p) : p instanceof Uint8Array ? p : new Uint8Array(p)));
  const out = new Uint8Array(all.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of all) { out.set(p, at); at += p.length; }
  return out;
};
const u32 = (n) => [n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255];
const crc = (bytes) => {
  let c = ~0;
  for (const b of bytes) { c ^= b; for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1; }
  return ~c >>> 0;
};
const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
const chunk = (name, body) => { const c = join(name, body); return join(u32(body.length), c, u32(crc(c))); };

// A PNG of four fields: red, green, blue, and white that alpha makes transparent.
const png = async (width, height, alpha = 255) => {
  const rows = [];
  for (let y = 0; y < height; y++) {
    const row = [0];
    for (let x = 0; x < width; x++) row.push(...[[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, alpha]][(y * 2 >= height ? 2 : 0) + (x * 2 >= width ? 1 : 0)]);
    rows.push(row);
  }
  const head = [...u32(width), ...u32(height), 8, 6, 0, 0, 0];
  return join([0x89], "PNG\r\n\x1a\n", chunk("IHDR", head), chunk("IDAT", await through(join(...rows), new CompressionStream("deflate"))), chunk("IEND", []));
};

// The colours at the middles of the fields of a PNG: each channel as 0, 1 or 2.
const colors = async (bytes) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const width = view.getUint32(16), height = view.getUint32(20), type = bytes[25], n = { 0: 1, 2: 3, 4: 2, 6: 4 }[type];
  const data = [];
  for (let at = 8; at < bytes.length; at += 12 + view.getUint32(at)) {
    if (new TextDecoder().decode(bytes.subarray(at + 4, at + 8)) === "IDAT") data.push(bytes.subarray(at + 8, at + 8 + view.getUint32(at)));
  }
  const raw = await through(join(...data), new DecompressionStream("deflate"));
  const rows = [];
  let before = new Uint8Array(width * n);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (width * n + 1)], row = raw.slice(y * (width * n + 1) + 1, (y + 1) * (width * n + 1));
    for (let i = 0; i < row.length; i++) {
      const a = i < n ? 0 : row[i - n], b = before[i], c = i < n ? 0 : before[i - n], p = a + b - c;
      const paeth = Math.abs(p - a) <= Math.abs(p - b) && Math.abs(p - a) <= Math.abs(p - c) ? a : Math.abs(p - b) <= Math.abs(p - c) ? b : c;
      row[i] += [0, a, b, (a + b) >> 1, paeth][filter];
    }
    rows.push(row);
    before = row;
  }
  const at = (x, y) => {
    let c = [...rows[Math.floor(y * height)].slice(Math.floor(x * width) * n, Math.floor(x * width) * n + n)];
    if (n < 3) c = [c[0], c[0], c[0], ...c.slice(1)];
    c = [...c, 255].slice(0, 4);
    if (c[3] === 0) c = [0, 0, 0, 0]; // what colour is transparent shows nowhere
    return c.map((v) => Math.round(v / 127.5)).join("");
  };
  return `${width}x${height} ${at(0.2, 0.2)} ${at(0.8, 0.2)} ${at(0.2, 0.8)} ${at(0.8, 0.8)}`;
};

const gif = join("GIF89a", [3, 0, 2, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255], [0x2c, 0, 0, 0, 0, 3, 0, 2, 0, 0, 2, 5, 4, 65, 16, 4, 81, 0], [0x3b]);
const tiff = join("II*\0", [8, 0, 0, 0], [9, 0],
  [[0, 1, 3, 1], [1, 1, 3, 1], [2, 1, 3, 8], [3, 1, 3, 1], [6, 1, 3, 1], [0x11, 1, 4, 122], [0x15, 1, 3, 1], [0x16, 1, 3, 1], [0x17, 1, 4, 1]]
    .flatMap(([a, b, type, v]) => [a, b, type, 0, 1, 0, 0, 0, v, 0, 0, 0]), [0, 0, 0, 0], [128, 0]);
const svg = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><rect width="30" height="20" fill="red"/></svg>';
const stream = (bytes) => new Blob([bytes]).stream();
const bytesOf = async (result) => new Uint8Array(await new Response(result.image()).arrayBuffer());

export default { async fetch(req, env) {
  const { IMAGES } = env, { hosted } = IMAGES, out = [];
  const masked = (v) => JSON.stringify(v).replaceAll(/https?:\/\/[^/"]+/g, "ORIGIN").replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME").replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID").replaceAll(/sig=[0-9a-f]{64}/g, "sig=SIG").replaceAll(/exp=\d{10}/g, "exp=EXP");
  const t = async (name, fn) => {
    try { out.push(masked([name, (await fn()) ?? "nothing"])); } catch (e) { out.push(masked([name, "throws " + e.name + ": " + e.message.split("\n")[0], { ...e }])); }
  };
  if (new URL(req.url).pathname === "/look") {
    await t("list", () => hosted.list());
    await t("bytes", async () => colors(new Uint8Array(await new Response(await hosted.image("kept").bytes()).arrayBuffer())));
    return Response.json(out);
  }
  const picture = await png(40, 20), clear = await png(40, 20, 0);
  const as = async (format, bytes = picture) => bytesOf(await IMAGES.input(stream(bytes)).output({ format }));
  const jpeg = await as("image/jpeg"), webp = await as("image/webp"), avif = await as("image/avif");
  const turned = (n) => join(jpeg.subarray(0, 2), [0xff, 0xe1, 0, 34], "Exif\0\0", "MM\0*", u32(8), [0, 1], [1, 0x12, 0, 3, ...u32(1), 0, n, 0, 0], u32(0), jpeg.subarray(2));

  await t("shape", () => [IMAGES.constructor.name, String(IMAGES), Object.keys(IMAGES), Object.getOwnPropertyNames(Object.getPrototypeOf(IMAGES)).sort(), Object.getOwnPropertyNames(Object.getPrototypeOf(hosted)).sort()]);
  const { fileSize, ...rest } = await IMAGES.info(stream(picture));
  await t("info png", () => [rest, fileSize === picture.length]);
  for (const [name, bytes] of Object.entries({ jpeg, webp, avif, gif, clear })) await t("info " + name, async () => { const { fileSize, ...rest } = await IMAGES.info(stream(bytes)); return [rest, fileSize === bytes.length]; });
  await t("info turned", async () => { const { fileSize, ...rest } = await IMAGES.info(stream(turned(6))); return rest; });
  await t("info svg", () => IMAGES.info(stream(svg)));
  await t("info tiff", () => IMAGES.info(stream(tiff)));
  await t("info text", () => IMAGES.info(stream("this is no picture")));
  await t("info nothing", () => IMAGES.info(stream("")));
  await t("info base64", async () => { const { fileSize, ...rest } = await IMAGES.info(stream(btoa(String.fromCharCode(...picture))), { encoding: "base64" }); return [rest, fileSize === picture.length]; });
  await t("info buffer", async () => (await IMAGES.info(picture.buffer)).width);

  const made = (...transforms) => {
    let i = IMAGES.input(stream(picture));
    for (const one of transforms) i = i.transform(one);
    return i;
  };
  const seen = async (i) => { const r = await i.output({ format: "image/png" }); return [r.contentType(), await colors(await bytesOf(r))]; };
  const fits = [undefined, "scale-down", "contain", "cover", "crop", "pad", "squeeze", "nonsense"];
  for (const fit of fits) {
    for (const size of [{ width: 20 }, { height: 7 }, { width: 10, height: 10 }, { width: 100, height: 80 }, { width: 80 }, { width: 13, height: 100 }]) await t(`${fit} ${JSON.stringify(size)}`, () => seen(made({ fit, ...size })));
  }
  for (const gravity of ["left", "right", "top", "bottom", "center", "auto", { x: 0.1, y: 0.9 }]) {
    await t(`cover ${JSON.stringify(gravity)}`, () => seen(made({ fit: "cover", width: 10, height: 20, gravity })));
    await t(`cover wide ${JSON.stringify(gravity)}`, () => seen(made({ fit: "cover", width: 40, height: 8, gravity })));
    await t(`pad ${JSON.stringify(gravity)}`, () => seen(made({ fit: "pad", width: 60, height: 60, gravity })));
  }
  for (const background of ["#f00", "#0000ff80", "green", "rgb(0, 0, 255)", "rgba(255, 0, 0, 0)", "transparent", "nonsense"]) await t(`background ${background}`, () => seen(made({ fit: "pad", width: 40, height: 60, background })));
  for (const rotate of [0, 90, 180, 270, -90, 450]) await t(`rotate ${rotate}`, () => seen(made({ rotate })));
  for (const rotate of [45, 30, 200.5]) await t(`rotate ${rotate}`, async () => (await seen(made({ rotate })))[1].split(" ")[0]);
  await t("rotate, width", () => seen(made({ rotate: 90 }, { width: 10 })));
  await t("width, rotate", () => seen(made({ width: 10 }, { rotate: 90 })));
  await t("width and rotate", () => seen(made({ width: 10, rotate: 90 })));
  await t("width, width", () => seen(made({ width: 30 }, { width: 10 })));
  await t("narrow, wide", () => seen(made({ width: 10 }, { width: 30 })));
  await t("rotate, rotate", () => seen(made({ rotate: 90 }, { rotate: 180 })));
  await t("ignored", () => seen(made({ blur: 5, brightness: 2, trim: { left: 3 }, width: 20 })));
  for (const n of [1, 2, 3, 4, 5, 6, 7, 8]) {
    await t(`turned ${n}`, () => seen(IMAGES.input(stream(turned(n)))));
    await t(`turned ${n}, rotated`, () => seen(IMAGES.input(stream(turned(n))).transform({ rotate: 90, width: 10 })));
  }
  await t("clear", () => seen(IMAGES.input(stream(clear))));
  await t("clear as jpeg", async () => seen(IMAGES.input(stream(await as("image/jpeg", clear)))));
  for (const [name, bytes] of Object.entries({ jpeg, webp, avif })) await t("from " + name, () => seen(IMAGES.input(stream(bytes))));
  await t("from gif", async () => (await seen(IMAGES.input(stream(gif))))[1].split(" ")[0]);
  for (const format of ["image/jpeg", "image/png", "image/webp", "image/avif", "image/gif", "rgb", "rgba", "image/bmp", "", undefined]) {
    await t(`format ${format}`, async () => {
      const r = await made({ width: 20 }).output({ format });
      const bytes = await bytesOf(r);
      // Of a type that it does not know wrangler dev writes that of the input, as JPEG.
      return [r.contentType(), format?.includes("image/") && format !== "image/bmp" ? (await IMAGES.info(stream(bytes))).format : bytes.length > 0];
    });
  }
  await t("quality", async () => (await made({}).output({ format: "image/jpeg", quality: 10 })).contentType());
  await t("response", async () => { const r = (await made({ width: 20 }).output({ format: "image/png" })).response({ headers: { "x-a": "b" } }); return [r.status, [...r.headers], await colors(new Uint8Array(await r.arrayBuffer()))]; });
  await t("image as base64", async () => { const r = await made({ width: 20 }).output({ format: "image/png" }); return colors(Uint8Array.from(atob(await new Response(r.image({ encoding: "base64" })).text()), (c) => c.charCodeAt(0))); });
  await t("input as base64", () => seen(IMAGES.input(stream(btoa(String.fromCharCode(...picture))), { encoding: "base64" })));
  await t("twice", async () => { const i = made({ width: 20 }); await i.output({ format: "image/png" }); return i.output({ format: "image/png" }); });
  await t("drawn twice", () => { const i = made({}); made({}).draw(i); made({}).draw(i); });
  await t("drawn is larger", async () => (await seen(made({ width: 20 }).draw(stream(await png(50, 50)))))[1].split(" ")[0]);
  await t("text", () => IMAGES.text("hello", { font: {} }).output({ format: "image/png" }));
  for (const bad of [{ width: -1 }, { width: 1.5 }, { width: "10" }, { width: null }, { width: 0 }, { rotate: "x" }, { height: 1e9 }, { width: 200, height: 0 }]) await t(`bad ${JSON.stringify(bad)}`, () => seen(made(bad)));
  await t("no picture", () => IMAGES.input(stream("this is no picture")).output({ format: "image/png" }));
  await t("cut off", async () => { try { await IMAGES.input(stream(picture.subarray(0, 60))).output({ format: "image/png" }); } catch (e) { return e.code; } });
  await t("nothing", () => IMAGES.input(stream("")).output({ format: "image/png" }));
  await t("null", () => IMAGES.input(null).output({ format: "image/png" }));

  await t("upload", () => hosted.upload(stream(picture), { id: "kept", filename: "a.png", metadata: { a: { b: 5 }, c: "d" }, creator: "me" }));
  await t("upload buffer", async () => { const { id, ...rest } = await hosted.upload(picture.buffer); await hosted.image(id).delete(); return [id.length, rest]; });
  await t("upload base64", async () => { await hosted.upload(stream(btoa(String.fromCharCode(...picture))), { id: "b64", encoding: "base64", requireSignedURLs: true }); return colors(new Uint8Array(await new Response(await hosted.image("b64").bytes()).arrayBuffer())); });
  await t("details", () => hosted.image("kept").details());
  await t("details of none", () => hosted.image("none").details());
  await t("bytes of none", () => hosted.image("none").bytes());
  await t("update", () => hosted.image("b64").update({ creator: "you", metadata: { a: { b: 7 } } }));
  await t("update none", () => hosted.image("none").update({}));
  await t("delete none", () => hosted.image("none").delete());
  for (const variant of ["public", "", "a/b"]) await t(`signed ${variant}`, () => hosted.image("b64").signedUrl({ variant }));
  for (const expiresIn of [60, 0, 1.5]) await t(`signed for ${expiresIn}`, () => hosted.image("b64").signedUrl({ variant: "public", expiresIn }));
  for (const options of [undefined, { limit: 1 }, { limit: 1, sortOrder: "desc" }, { cursor: "kept" }, { creator: "me" }, { filter: { metadata: { "a.b": 5 } } }, { filter: { metadata: { "a.b": { gt: 5 } } } }, { filter: { metadata: { c: { in: ["d"] } } } }, { filter: { metadata: { c: { is: 1 } } } }]) {
    await t(`list ${JSON.stringify(options)}`, async () => { const l = await hosted.list(options); return [l.images.map((i) => i.id), l.cursor, l.listComplete]; });
  }
  for (const options of [{ expiresIn: 120 }, { id: crypto.randomUUID() }, { id: "x", requireSignedURLs: true }]) await t(`draft ${JSON.stringify(Object.keys(options))}`, () => hosted.createDirectUpload(options));
  const { uploadURL } = await hosted.createDirectUpload({ id: "draft", expiresIn: 600 });
  await t("draft", () => [uploadURL]);
  const deliver = async (url, init) => { const r = await fetch(url, init); const type = r.headers.get("content-type"); return [r.status, type, type === "image/png" ? await colors(new Uint8Array(await r.arrayBuffer())) : await r.text()]; };
  const origin = new URL(uploadURL).origin;
  await t("delivered", () => deliver(origin + "/__cf_local/imagedelivery/kept/public"));
  await t("delivered none", () => deliver(origin + "/__cf_local/imagedelivery/none/public"));
  await t("delivered nothing", () => deliver(origin + "/__cf_local/imagedelivery/"));
  await t("delivered unsigned", () => deliver(origin + "/__cf_local/imagedelivery/b64/public"));
  await t("delivered signed", async () => deliver(await hosted.image("b64").signedUrl({ variant: "public", expiresIn: 60 })));
  await t("delivered badly signed", async () => deliver(await hosted.image("b64").signedUrl({ variant: "public" }) + "0"));
  const form = new FormData();
  form.append("file", new File([picture], "mine.png"));
  await t("get upload", () => deliver(uploadURL));
  await t("empty upload", () => deliver(uploadURL, { method: "POST", body: new FormData() }));
  await t("uploaded", () => deliver(uploadURL, { method: "POST", body: form }));
  await t("uploaded again", () => deliver(uploadURL, { method: "POST", body: form }));
  await t("uploaded to none", () => deliver(origin + "/__cf_local/imageupload/none", { method: "POST", body: form }));
  await t("uploaded details", async () => Object.entries(await hosted.image("draft").details()).sort());
  await t("delete", () => hosted.image("draft").delete());
  return Response.json(out);
} };
