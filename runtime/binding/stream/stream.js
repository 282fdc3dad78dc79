// The Stream binding (miniflare: workers/stream/binding.worker.ts). What is kept is Go;
// this is the shape that workers see.
function (native, p) {
  "use strict";
  const { JSONStringify, JSONParse, ArrayPrototypeMap, ObjectAssign } = p;

  return (RpcTarget, Response, fetch, DisplayNames, videoPath) => {
    const arrayBufferOf = p.uncurryThis(Response.prototype.arrayBuffer);
    const bytesOf = (body) => arrayBufferOf(new Response(body));
    // The name of a class that RPC does not know is a part of the message over there.
    const refuse = (name, text) => { throw ObjectAssign(new p.Error(text), { name }); };
    const ask = async (op, args, body) => {
      const [reply] = await native.call(op, JSONStringify(args), body);
      if (reply.refused !== undefined) refuse(reply.refused.Name, reply.refused.Text);
      return reply.result;
    };
    const download = async (url, what) => {
      const response = await fetch(url);
      if (!response.ok || response.body === null) refuse("InvalidURLError", `Failed to fetch ${what} from URL: ${response.status} ${response.statusText}`);
      return arrayBufferOf(response);
    };
    const label = (language) => new DisplayNames(["en"], { type: "language" }).of(language) ?? language;

    const video = (row) => {
      const placeholder = `https://customer-placeholder.cloudflarestream.com/${row.id}`;
      return {
        id: row.id, creator: row.creator, thumbnail: row.thumbnail || `${placeholder}/thumbnails/thumbnail.jpg`, thumbnailTimestampPct: row.thumbnail_timestamp_pct,
        readyToStream: row.ready_to_stream === 1, readyToStreamAt: row.ready_to_stream_at,
        status: { state: row.status_state, pctComplete: row.status_pct_complete ?? undefined, errorReasonCode: row.status_error_reason_code, errorReasonText: row.status_error_reason_text },
        meta: JSONParse(row.meta), created: row.created, modified: row.modified, scheduledDeletion: row.scheduled_deletion, size: row.size,
        preview: `${native.origin()}${videoPath}/${row.id}/watch`, allowedOrigins: JSONParse(row.allowed_origins),
        requireSignedURLs: row.require_signed_urls === null ? null : row.require_signed_urls === 1,
        uploaded: row.uploaded, uploadExpiry: row.upload_expiry, maxSizeBytes: row.max_size_bytes, maxDurationSeconds: row.max_duration_seconds, duration: row.duration,
        input: { width: row.input_width, height: row.input_height }, hlsPlaybackUrl: `${placeholder}/manifest/video.m3u8`, dashPlaybackUrl: `${placeholder}/manifest/video.mpd`,
        watermark: null, liveInputId: row.live_input_id, clippedFromId: row.clipped_from_id, publicDetails: null,
      };
    };
    const caption = (row) => ({ language: row.language, label: row.label || row.language, generated: row.generated === 1, status: row.status });
    const watermark = (row) => ({
      id: row.id, name: row.name, size: row.size, height: row.height, width: row.width, created: row.created, downloadedFrom: row.downloaded_from,
      opacity: row.opacity, padding: row.padding, scale: row.scale, position: row.position,
    });
    const downloads = (rows) => {
      const out = {};
      for (let i = 0; i < rows.length; i++) out[rows[i].download_type] = { percentComplete: rows[i].percent_complete, status: rows[i].status, url: rows[i].url ?? undefined };
      return out;
    };

    class Captions extends RpcTarget {
      #id;
      constructor(id) { super(); this.#id = id; }
      async upload(language, input) { return caption(await ask("caption", { id: this.#id, language: `${language}`, label: label(language), type: "uploaded" }, await bytesOf(input))); }
      async generate(language) { return caption(await ask("caption", { id: this.#id, language: `${language}`, label: label(language) })); }
      async list(language) { return ArrayPrototypeMap(await ask("captions", { id: this.#id, language }), caption); }
      async delete(language) { await ask("deleteCaption", { id: this.#id, language: `${language}` }); }
    }
    class Downloads extends RpcTarget {
      #id;
      constructor(id) { super(); this.#id = id; }
      async generate(type = "default") { return downloads(await ask("download", { id: this.#id, type })); }
      async get() { return downloads(await ask("downloads", { id: this.#id })); }
      async delete(type = "default") { await ask("deleteDownload", { id: this.#id, type }); }
    }
    class Video extends RpcTarget {
      #id;
      constructor(id) { super(); this.#id = `${id}`; }
      async details() { return video(await ask("details", { id: this.#id })); }
      async update(params) {
        // What is there and undefined takes a creator or a deletion away.
        const given = { ...params };
        for (const name of ["creator", "scheduledDeletion"]) if (name in given) given[name] ??= null;
        return video(await ask("update", { id: this.#id, params: given }));
      }
      async delete() { await ask("delete", { id: this.#id }); }
      async generateToken() { return ask("token", { id: this.#id }); }
      get downloads() { return new Downloads(this.#id); }
      get captions() { return new Captions(this.#id); }
    }
    class Videos extends RpcTarget {
      async list(params) { return ArrayPrototypeMap(await ask("videos", { params: { ...params } }), video); }
    }
    class Watermarks extends RpcTarget {
      async generate(streamOrUrl, params) {
        for (const name of ["opacity", "padding", "scale"]) {
          if (params[name] !== undefined && (params[name] < 0 || params[name] > 1)) refuse("BadRequestError", `${name} must be between 0.0 and 1.0`);
        }
        const isURL = typeof streamOrUrl === "string";
        const bytes = isURL ? await download(streamOrUrl, "watermark") : await bytesOf(streamOrUrl);
        return watermark(await ask("watermark", { new: native.id(), from: isURL ? streamOrUrl : null, params: { ...params } }, bytes));
      }
      async list() { return ArrayPrototypeMap(await ask("watermarks", {}), watermark); }
      async get(id) { return watermark(await ask("getWatermark", { id: `${id}` })); }
      async delete(id) { await ask("deleteWatermark", { id: `${id}` }); }
    }
    class StreamBinding {
      async fetch(request) {
        const [{ status, headers }, body] = await native.call("watch", JSONStringify({ url: request.url }));
        return new Response(body, { status, headers });
      }
      async upload(urlOrBody, params) {
        if (urlOrBody === undefined || urlOrBody === null) throw new p.TypeError(`Cannot read properties of ${urlOrBody} (reading 'pipeTo')`);
        if (typeof urlOrBody !== "string" && typeof urlOrBody.pipeTo !== "function") throw new p.TypeError("body.pipeTo is not a function");
        const bytes = typeof urlOrBody === "string" ? await download(urlOrBody, "video") : await bytesOf(urlOrBody);
        return video(await ask("upload", { new: native.id(), params: { ...params } }, bytes));
      }
      async createDirectUpload() { refuse("BadRequestError", "createDirectUpload is not supported in local mode"); }
      video(id) { return new Video(id); }
      get videos() { return new Videos(); }
      get watermarks() { return new Watermarks(); }
    }
    return new StreamBinding();
  };
}
