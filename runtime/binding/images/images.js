// The images binding (workerd: src/cloudflare/internal/images-api.ts; miniflare:
// plugins/images/fetcher.ts, workers/images/images.worker.ts). Pictures and what is
// hosted are Go; this is the shape that workers see.
function (native, p) {
  "use strict";
  const { JSONStringify, ArrayPrototypePush, ArrayPrototypeJoin, ArrayPrototypeIncludes, ObjectDefineProperty, ObjectEntries, SymbolToStringTag, StringPrototypeTrim } = p;

  return (Response, Headers, RpcTarget, stubOf) => {
    const arrayBufferOf = p.uncurryThis(Response.prototype.arrayBuffer);
    const headersSet = p.uncurryThis(Headers.prototype.set);

    class ImagesErrorImpl extends Error {
      code;
      constructor(message, code) {
        super(message);
        this.code = code;
      }
    }
    const check = (operation, failure) => {
      if (failure === undefined) return;
      if (failure.code) throw new ImagesErrorImpl(StringPrototypeTrim(`IMAGES_${operation}_${failure.text}`), failure.code);
      // The reference puts the lines of a stack behind it.
      throw new ImagesErrorImpl(`Unexpected error response ${failure.status}: Error: ${StringPrototypeTrim(failure.text)}`, 9523);
    };

    // bytesOf reads a stream, or whatever else a Blob could be made of.
    const bytesOf = async (source, encoding) => {
      const bytes = await arrayBufferOf(new Response(source));
      if (encoding !== "base64") return bytes;
      const decoded = native.decode(bytes);
      if (decoded === undefined) throw new p.Error("base64 error: Failed to decode base64");
      return decoded;
    };
    const isText = (source) => typeof source === "object" && "content" in source && "options" in source;

    class WrappedBinding {}
    ObjectDefineProperty(WrappedBinding.prototype, SymbolToStringTag, { value: "WrappedBinding", configurable: true });

    class TransformationResultImpl {
      #bytes;
      #type;
      constructor(bytes, type) {
        this.#bytes = bytes;
        this.#type = type;
      }
      contentType() { return this.#type; }
      image(options) {
        // As a body the bytes can be read once.
        const bytes = this.#bytes;
        if (bytes === undefined) throw new p.TypeError("This ReadableStream is disturbed (has already been read from), and cannot be used as a body.");
        this.#bytes = undefined;
        return new Response(options?.encoding === "base64" ? native.encode(bytes) : bytes).body;
      }
      response(options) {
        const headers = new Headers(options?.headers);
        headersSet(headers, "content-type", this.#type);
        return new Response(this.image(), { headers });
      }
    }

    class DrawTransformer {
      constructor(child, options) {
        this.child = child;
        this.options = options;
      }
    }

    // The members of a transformation that are acted on; the others are ignored, as in
    // wrangler's local mode, and named in the log.
    const known = ["rotate", "width", "height", "fit", "gravity", "background"];

    class ImageTransformerImpl {
      #source;
      #encoding;
      #transforms = [];
      #consumed = false;
      constructor(source, encoding) {
        this.#source = source;
        this.#encoding = encoding;
      }
      transform(transform) {
        ArrayPrototypePush(this.#transforms, transform);
        return this;
      }
      draw(image, options = {}) {
        if (image instanceof ImageTransformerImpl) image.#consume();
        ArrayPrototypePush(this.#transforms, new DrawTransformer(image instanceof ImageTransformerImpl ? image : new ImageTransformerImpl(image), options));
        return this;
      }
      async output(options) {
        this.#consume();
        const sources = [], steps = [], ignored = [];
        ArrayPrototypePush(sources, this);
        // Picture 0 is the canvas; those that are drawn are numbered as they come.
        const walk = (target, transforms) => {
          for (let i = 0; i < transforms.length; i++) {
            const t = transforms[i];
            if (!(t instanceof DrawTransformer)) {
              for (const [name, value] of ObjectEntries(t ?? {})) {
                if (value !== undefined && !ArrayPrototypeIncludes(known, name) && !ArrayPrototypeIncludes(ignored, name)) ArrayPrototypePush(ignored, name);
              }
              ArrayPrototypePush(steps, { imageIndex: target, ...t });
              continue;
            }
            const drawn = sources.length;
            ArrayPrototypePush(sources, t.child);
            walk(drawn, t.child.#transforms);
            ArrayPrototypePush(steps, { ...t.options, drawImageIndex: drawn, targetImageIndex: target });
          }
        };
        walk(0, this.#transforms);
        const parts = [];
        for (let i = 0; i < sources.length; i++) {
          const text = isText(sources[i].#source);
          if (text && i > 0) ArrayPrototypePush(ignored, "text that is drawn");
          ArrayPrototypePush(parts, text ? undefined : await bytesOf(sources[i].#source, sources[i].#encoding));
        }
        const sizes = [];
        let total = 0;
        for (let i = 0; i < parts.length; i++) {
          ArrayPrototypePush(sizes, parts[i] === undefined ? -1 : parts[i].byteLength);
          if (parts[i] !== undefined) total += parts[i].byteLength;
        }
        native.limit(total);
        const body = new p.Uint8Array(total);
        for (let i = 0, at = 0; i < parts.length; i++) {
          if (parts[i] === undefined) continue;
          body.set(new p.Uint8Array(parts[i]), at);
          at += parts[i].byteLength;
        }
        if (ignored.length > 0) native.warn(ArrayPrototypeJoin(ignored, ", "));
        const request = { sizes, steps: JSONStringify(steps), format: `${options.format}`, quality: options.quality };
        const [reply, data] = await native.call("transform", JSONStringify(request), body.buffer);
        check("TRANSFORM", reply.failure);
        return new TransformationResultImpl(data, reply.type);
      }
      #consume() {
        if (this.#consumed) throw new ImagesErrorImpl("IMAGES_TRANSFORM_ERROR 9525: ImageTransformer consumed; you may only call .output() or draw a transformer once", 9525);
        this.#consumed = true;
      }
    }

    // What is hosted is asked for over RPC in the reference, and so are its errors.
    const hosted = async (operation, args, body) => {
      const [reply, data] = await native.call(operation, JSONStringify(args), body);
      if (reply.refused !== undefined) throw new p.Error(reply.refused);
      return [reply.result, data];
    };
    class ImageHandleImpl extends RpcTarget {
      #id;
      constructor(id) {
        super();
        this.#id = `${id}`;
      }
      async details() { return (await hosted("details", { id: this.#id }))[0]; }
      async bytes() {
        const [found, data] = await hosted("bytes", { id: this.#id });
        return found ? new Response(data).body : null;
      }
      async signedUrl(options) { return (await hosted("signedUrl", { id: this.#id, variant: options.variant, expiresIn: options.expiresIn }))[0]; }
      async update(options) {
        return (await hosted("update", { id: this.#id, requireSignedURLs: options?.requireSignedURLs, metadata: options?.metadata, creator: options?.creator }))[0];
      }
      async delete() { return (await hosted("delete", { id: this.#id }))[0]; }
    }
    class HostedImages {
      image(id) { return new ImageHandleImpl(id); }
      async upload(bytes, options) { return (await hosted("upload", { ...options, id: options?.id ?? native.id() }, bytes))[0]; }
      async list(options) {
        const limit = options?.limit;
        if (limit !== undefined && typeof limit !== "number" && p.NumberIsNaN(+limit)) return { images: [], listComplete: true }; // as in the reference
        return (await hosted("list", limit === undefined ? { ...options } : { ...options, limit: +limit }))[0];
      }
      async createDirectUpload(options) { return (await hosted("createDirectUpload", { ...options, given: options?.id !== undefined, id: options?.id ?? native.id() }))[0]; }
    }

    const served = stubOf(new HostedImages());
    class HostedImagesBindingImpl {
      image(id) { return served.image(id); }
      async upload(image, options) {
        const bytes = await bytesOf(image, options?.encoding);
        native.limit(bytes.byteLength);
        return served.upload(bytes, options);
      }
      async list(options) { return served.list(options); }
      async createDirectUpload(options) { return served.createDirectUpload(options); }
    }

    class ImagesBindingImpl extends WrappedBinding {
      #hosted = new HostedImagesBindingImpl();
      get hosted() { return this.#hosted; }
      async info(stream, options) {
        const bytes = await bytesOf(stream, options?.encoding);
        native.limit(bytes.byteLength);
        const [reply] = await native.call("info", "null", bytes);
        check("INFO", reply.failure);
        return reply.info;
      }
      input(stream, options) { return new ImageTransformerImpl(stream, options?.encoding); }
      text(content, options) { return new ImageTransformerImpl({ content, options }); }
    }
    return new ImagesBindingImpl();
  };
}
