// R2 buckets (workerd: api/r2-bucket.h). The operations themselves are Go; this
// is the shape that workers see.
function (native, p) {
  "use strict";
  const { JSONStringify, ObjectDefineProperty, ObjectEntries, ArrayIsArray, ArrayBufferIsView, ArrayPrototypePush, DatePrototypeGetTime,
    StringPrototypeSlice, RegExpPrototypeExec, StringPrototypeToLowerCase, MathTrunc } = p;

  return (Response, Headers, Blob, ReadableStream) => {
    const headersGet = p.uncurryThis(Headers.prototype.get);
    const headersSet = p.uncurryThis(Headers.prototype.set);
    const arrayBufferOf = p.uncurryThis(Response.prototype.arrayBuffer);
    // struct is a struct of workerd's: before enable_fast_jsg_struct what is undefined is no
    // member of it ("suffix" in object.range is a common question).
    const struct = (o) => {
      if (!native.whole) for (const name of p.ObjectKeys(o)) if (o[name] === undefined) delete o[name];
      return o;
    };
    const isHeaders = (v) => v instanceof Headers;
    const fields = [["contentType", "content-type"], ["contentLanguage", "content-language"], ["contentDisposition", "content-disposition"],
      ["contentEncoding", "content-encoding"], ["cacheControl", "cache-control"], ["cacheExpiry", "expires"]];

    const algorithms = ["md5", "sha1", "sha256", "sha384", "sha512"];

    const make = (proto, o, range) => {
      const v = p.ObjectCreate(proto);
      const http = {};
      for (const [name] of fields) {
        const value = o.httpMetadata[name];
        http[name] = name === "cacheExpiry" && value !== undefined ? new p.Date(value) : value;
      }
      const sums = o.checksums;
      if (sums.md5 === undefined && o.etag.length === 32) sums.md5 = o.etag;
      v.ssecKeyMd5 = undefined;
      v.storageClass = "";
      v.range = range && struct({ offset: range.offset, length: range.length, suffix: range.suffix });
      v.customMetadata = o.customMetadata;
      v.httpMetadata = struct(http);
      v.uploaded = new p.Date(o.uploaded);
      v.checksums = new Checksums(sums);
      v.httpEtag = `"${o.etag}"`;
      v.etag = o.etag;
      v.size = o.size;
      v.version = o.version;
      v.key = o.key;
      return v;
    };

    class Checksums {
      #json = {};
      constructor(hex) {
        for (const name of ["sha512", "sha384", "sha256", "sha1", "md5"]) this[name] = hex[name] === undefined ? undefined : bytesOf(hex[name]).buffer;
        for (const name of algorithms) this.#json[name] = hex[name];
      }
      toJSON() { return this.#json; }
    }
    class HeadResult {
      writeHttpMetadata(headers) {
        for (const [name, header] of fields) {
          const value = this.httpMetadata[name];
          if (value !== undefined) headersSet(headers, header, name === "cacheExpiry" ? value.toUTCString() : value);
        }
      }
    }
    class GetResult extends HeadResult {
      #body;
      static of(o, data) {
        const v = make(GetResult.prototype, o, o.range);
        return GetResult.#fill(v, data);
      }
      static #fill(v, data) {
        const full = new GetResult();
        for (const [k, value] of ObjectEntries(v)) full[k] = value;
        full.#body = new Response(data);
        return full;
      }
      get body() { return this.#body.body; }
      get bodyUsed() { return this.#body.bodyUsed; }
      async arrayBuffer() { return this.#body.arrayBuffer(); }
      async bytes() { return this.#body.bytes(); }
      async text() { return this.#body.text(); }
      async json() { return this.#body.json(); }
      async blob() {
        const type = this.httpMetadata.contentType;
        if (type === undefined) return this.#body.blob();
        return native.blob(await this.#body.arrayBuffer(), type); // a Blob of a script would lower the letters
      }
    }

    const badField = (field, struct, type) => new p.TypeError(`Incorrect type for the '${field}' field on '${struct}': the provided value is not of type '${type}'.`);
    const isObject = (v) => typeof v === "object" || typeof v === "function";
    const bytesOf = (hex) => {
      const out = new p.Uint8Array(hex.length / 2);
      for (let i = 0; i < out.length; i++) out[i] = p.Number("0x" + StringPrototypeSlice(hex, 2 * i, 2 * i + 2));
      return out;
    };
    // hexOf checks a checksum that was given as text or as bytes (workerd: R2Bucket::put).
    const names = { __proto__: null, md5: ["MD5", 16], sha1: ["SHA-1", 20], sha256: ["SHA-256", 32], sha384: ["SHA-384", 48], sha512: ["SHA-512", 64] };
    const hexOf = (name, value) => {
      const [title, length] = names[name];
      if (typeof value === "string") {
        const bytes = native.utf8Length(value);
        if (bytes !== 2 * length) throw new p.TypeError(`${title} is ${2 * length} hex characters, not ${bytes}`);
        if (RegExpPrototypeExec(/^[0-9a-fA-F]*$/, value) === null) throw new p.TypeError(`Provided ${title} wasn't a valid hex string`);
        return StringPrototypeToLowerCase(value);
      }
      if (!(value instanceof p.ArrayBuffer) && !ArrayBufferIsView(value)) {
        throw badField(name, "PutOptions", "BufferSource or string");
      }
      if (value.byteLength !== length) throw new p.TypeError(`${title} is ${length} bytes, not ${value.byteLength}`);
      let hex = "";
      const bytes = ArrayBufferIsView(value) ? new p.Uint8Array(value.buffer, value.byteOffset, value.byteLength) : new p.Uint8Array(value);
      for (let i = 0; i < bytes.length; i++) hex += (bytes[i] < 16 ? "0" : "") + bytes[i].toString(16);
      return hex;
    };

    // etagsIn are the etags of a header, as workerd reads it (api/r2-bucket.c++). If-Match compares strongly: a weak etag
    // matches nothing.
    const etagsIn = (text, header, weakly) => {
      if (text === null) return undefined;
      const out = [], invalid = () => new p.Error(`Invalid ETag in ${header} header`);
      const blanks = /[ \t,]*/y, spaces = /[ \t]*/y;
      const skip = (what, from) => { what.lastIndex = from; RegExpPrototypeExec(what, text); return what.lastIndex; };
      let at = skip(blanks, 0);
      if (at === text.length) throw invalid();
      while (at < text.length) {
        if (text[at] === "*") return ["*"];
        const weak = text[at] === "W";
        if (weak && (text[at + 1] !== "/" || text[at + 2] !== '"')) throw new p.Error("Weak etags must start with W/ and their value must be quoted");
        if (weak) at += 2;
        if (text[at] !== '"') throw invalid();
        let end = at + 1;
        while (end < text.length && text[end] !== '"') end++;
        if (end === text.length) throw new p.Error("Unclosed double quote for Etag");
        if (!weak || weakly) ArrayPrototypePush(out, StringPrototypeSlice(text, at + 1, end));
        at = skip(spaces, end + 1);
        if (at === text.length) break;
        const found = { __proto__: null, "*": "a wildcard character '*' instead.", '"': "a double quote character '\"' instead. This would otherwise indicate the start of a new strong etag.",
          W: "a weak quotation character 'W' instead. This would otherwise indicate the start of a new weak etag." }[text[at]];
        if (found !== undefined) throw new p.Error(`Comma was expected to separate etags. Encountered ${found}`);
        if (text[at] !== ",") throw invalid();
        at = skip(blanks, at);
      }
      return out;
    };
    // timeIn is the time of a header; one that is no date is the beginning of time.
    const timeIn = (text) => (text === null ? undefined : DatePrototypeGetTime(new p.Date(text)) || 0);
    const time = (v, field, struct) => {
      if (v === undefined || v === null) return undefined;
      if (!(v instanceof p.Date)) throw badField(field, struct, "date");
      const ms = DatePrototypeGetTime(v);
      if (p.NumberIsNaN(ms)) throw new p.TypeError("The value cannot be converted because it is not a valid Date.");
      return ms;
    };
    const etagOf = (v) => {
      if (v === undefined || v === null) return undefined;
      const etag = `${v}`;
      if (RegExpPrototypeExec(/^"(?:.*")?$/s, etag) !== null) throw new p.TypeError(`Conditional ETag should not be wrapped in quotes (${etag}).`);
      return [etag];
    };
    const condition = (v, struct) => {
      if (v === undefined || v === null) return undefined;
      if (!isObject(v)) throw badField("onlyIf", struct, "Conditional or Headers");
      if (isHeaders(v)) {
        return {
          etagMatches: etagsIn(headersGet(v, "if-match"), "if-match", false), etagDoesNotMatch: etagsIn(headersGet(v, "if-none-match"), "if-none-match", true),
          uploadedAfter: timeIn(headersGet(v, "if-modified-since")), uploadedBefore: timeIn(headersGet(v, "if-unmodified-since")), secondsGranularity: true,
        };
      }
      return {
        etagMatches: etagOf(v.etagMatches), etagDoesNotMatch: etagOf(v.etagDoesNotMatch),
        uploadedAfter: time(v.uploadedAfter, "uploadedAfter", "Conditional"), uploadedBefore: time(v.uploadedBefore, "uploadedBefore", "Conditional"), secondsGranularity: !!v.secondsGranularity,
      };
    };
    const whole = (v, title, subject) => {
      if (v === undefined) return undefined;
      const n = +v, shown = p.NumberIsNaN(n) ? "nan" : n;
      if (!(n >= 0)) throw new p.RangeError(`${title} (${shown}) must be greater than or equal to 0.`);
      if (MathTrunc(n) !== n) throw new p.RangeError(`${subject} (${shown}) must be an integer, not floating point.`);
      return n;
    };
    const rangeOf = (v) => {
      if (v === undefined || v === null) return undefined;
      if (!isObject(v)) throw badField("range", "GetOptions", "Range or Headers");
      if (!isHeaders(v)) {
        const offset = whole(v.offset, "Invalid range. Starting offset", "Invalid range. Starting offset"), length = whole(v.length, "Invalid range. Length", "Invalid range. Length");
        if (v.suffix !== undefined && offset !== undefined) throw new p.TypeError("Suffix is incompatible with offset.");
        if (v.suffix !== undefined && length !== undefined) throw new p.TypeError("Suffix is incompatible with length.");
        return { offset, length, suffix: whole(v.suffix, "Invalid suffix. Suffix", "Invalid range. Suffix") };
      }
      // One range of bytes; anything else is the whole object, as HTTP has it.
      const m = RegExpPrototypeExec(/^ *bytes *= *(\d*) *- *(\d*) *$/i, headersGet(v, "range") ?? "");
      if (m === null || (m[1] === "" && m[2] === "")) return undefined;
      if (m[1] === "") return { suffix: +m[2], header: true };
      return { offset: +m[1], length: m[2] === "" ? undefined : +m[2] - +m[1] + 1, header: true };
    };
    const metadata = (v, struct) => {
      if (v === undefined || v === null) return {};
      if (!isObject(v)) throw badField("httpMetadata", struct, "HttpMetadata or Headers");
      const out = {};
      for (const [name, header] of fields) {
        const value = isHeaders(v) ? headersGet(v, header) ?? undefined : v[name];
        if (value === undefined) continue;
        if (name !== "cacheExpiry") out[name] = `${value}`;
        else out[name] = isHeaders(v) ? timeIn(value) : time(value, name, "HttpMetadata");
      }
      return out;
    };

    const custom = (v, struct) => {
      if (v !== undefined && (v === null || !isObject(v))) throw badField("customMetadata", struct, "object");
      const out = {};
      for (const [name, value] of ObjectEntries(v ?? {})) out[name] = `${value}`;
      return out;
    };

    // checkKey checks ssecKey. As in miniflare nothing is encrypted with it.
    const checkKey = (options) => {
      const key = options?.ssecKey;
      if (key === undefined) return;
      let bytes;
      if (key instanceof p.ArrayBuffer || ArrayBufferIsView(key)) {
        bytes = key.byteLength;
      } else {
        if (RegExpPrototypeExec(/^[0-9a-fA-F]*$/, `${key}`) === null) throw new p.Error("SSE-C Key has invalid format");
        bytes = `${key}`.length / 2;
      }
      if (bytes !== 32) throw new p.Error("SSE-C Key must be 32 bytes in length");
    };
    // sized refuses a stream whose length nobody knows: R2 has to tell it before the body.
    const sized = (value) => {
      if (value instanceof ReadableStream && native.length(value) < 0) {
        throw new p.TypeError("Provided readable stream must have a known length (request/response body or readable half of FixedLengthStream)");
      }
    };
    // given refuses a call with too few arguments for one that is not optional (workerd: jsg/type-wrapper.h).
    const given = (method, args, n, type) => {
      if (args.length < n) throw new p.TypeError(`Failed to execute '${method}' on 'R2Bucket': parameter ${n} is not of type '${type}'.`);
    };
    // dictionary refuses options that are a primitive value.
    const dictionary = (method, options, n, type) => {
      if (options !== undefined && options !== null && typeof options !== "object" && typeof options !== "function") throw new p.TypeError(`Failed to execute '${method}' on 'R2Bucket': parameter ${n} is not of type '${type}'.`);
    };
    const contents = "JsReadableStream or ArrayBuffer or ArrayBufferView or string or Blob";
    const call = (op, request, body) => native.call(op, JSONStringify(request), body);

    class R2Bucket {
      async head(key) {
        given("head", arguments, 1, "string");
        const [r] = await call("head", { key: `${key}` });
        return r.object ? make(HeadResult.prototype, r.object, r.object.range) : null;
      }
      async get(key, options) {
        given("get", arguments, 1, "string");
        dictionary("get", options, 2, "GetOptions");
        checkKey(options);
        const [r, data] = await call("get", { key: `${key}`, onlyIf: condition(options?.onlyIf, "GetOptions"), range: rangeOf(options?.range) });
        if (!r.object) return null;
        return r.hasBody ? GetResult.of(r.object, data) : make(HeadResult.prototype, r.object, r.object.range);
      }
      async put(key, value, options) {
        given("put", arguments, 1, "string");
        given("put", arguments, 2, contents);
        dictionary("put", options, 3, "PutOptions");
        checkKey(options);
        const accepted = value === null || value === undefined || typeof value === "string" || value instanceof p.ArrayBuffer || ArrayBufferIsView(value) ||
          value instanceof Blob || value instanceof ReadableStream;
        if (!accepted) {
          throw new p.TypeError(`Failed to execute 'put' on 'R2Bucket': parameter 2 is not of type '${contents}'.`);
        }
        const sums = {};
        let count = 0;
        for (const name of algorithms) {
          const sum = options?.[name];
          if (sum === undefined) continue;
          sums[name] = hexOf(name, sum);
          if (++count > 1) throw new p.TypeError("You cannot specify multiple hashing algorithms.");
        }
        const request = {
          key: `${key}`, onlyIf: condition(options?.onlyIf, "PutOptions"), httpMetadata: metadata(options?.httpMetadata, "PutOptions"),
          customMetadata: custom(options?.customMetadata, "PutOptions"), checksums: sums,
        };
        sized(value);
        const bytes = await arrayBufferOf(new Response(value ?? ""));
        const [r] = await call("put", request, bytes);
        return r.object ? make(HeadResult.prototype, r.object, undefined) : null;
      }
      async createMultipartUpload(key, options) {
        given("createMultipartUpload", arguments, 1, "string");
        dictionary("createMultipartUpload", options, 2, "MultipartOptions");
        checkKey(options);
        const [r] = await call("createMultipartUpload", { key: `${key}`, httpMetadata: metadata(options?.httpMetadata, "MultipartOptions"), customMetadata: custom(options?.customMetadata, "MultipartOptions") });
        return new R2MultipartUpload(`${key}`, r.uploadId);
      }
      resumeMultipartUpload(key, uploadId) {
        given("resumeMultipartUpload", arguments, 1, "string");
        given("resumeMultipartUpload", arguments, 2, "string");
        return new R2MultipartUpload(`${key}`, `${uploadId}`);
      }
      async delete(keys) {
        given("delete", arguments, 1, "string or Array");
        const list = ArrayIsArray(keys) ? keys : [keys];
        const names = [];
        for (let i = 0; i < list.length; i++) ArrayPrototypePush(names, `${list[i]}`);
        await call("delete", { keys: names });
      }
      async list(options) {
        dictionary("list", options, 1, "ListOptions");
        const o = options ?? {};
        const text = (name) => {
          const v = o[name];
          if (v !== undefined && typeof v !== "string") throw badField(name, "ListOptions", "string");
          return v;
        };
        const limit = o.limit === undefined ? undefined : o.limit | 0; // a negative one is a huge one, as an unsigned number
        if (o.include !== undefined && !ArrayIsArray(o.include)) throw badField("include", "ListOptions", "Array");
        for (const name of o.include ?? []) {
          if (name !== "httpMetadata" && name !== "customMetadata") throw new p.RangeError(`Unsupported include value ${name}`);
        }
        const [r] = await call("list", {
          prefix: text("prefix"), delimiter: text("delimiter"), startAfter: text("startAfter"), cursor: text("cursor"), limit: limit < 0 ? undefined : limit, include: o.include,
        });
        const objects = [];
        for (const object of r.objects ?? []) ArrayPrototypePush(objects, make(HeadResult.prototype, object, undefined));
        return struct({ objects, truncated: !!r.truncated, cursor: r.cursor, delimitedPrefixes: r.prefixes ?? [] });
      }
    }
    class R2MultipartUpload {
      constructor(key, uploadId) {
        this.uploadId = uploadId;
        this.key = key;
      }
      async uploadPart(partNumber, value, options) {
        checkKey(options);
        const n = MathTrunc(+partNumber) || 0;
        if (n < 1 || n > 10000) throw new p.TypeError(`Part number must be between 1 and 10000 (inclusive). Actual value was: ${n}`);
        sized(value);
        const bytes = await arrayBufferOf(new Response(value ?? ""));
        const [r] = await call("uploadPart", { key: this.key, uploadId: this.uploadId, partNumber: n }, bytes);
        return { partNumber: n, etag: r.etag };
      }
      async complete(parts) {
        const named = [];
        for (const { partNumber, etag } of parts) ArrayPrototypePush(named, { partNumber: MathTrunc(+partNumber) || 0, etag: `${etag}` });
        const [r] = await call("completeMultipartUpload", { key: this.key, uploadId: this.uploadId, parts: named });
        return make(HeadResult.prototype, r.object, undefined);
      }
      async abort() { await call("abortMultipartUpload", { key: this.key, uploadId: this.uploadId }); }
    }
    p.tag(R2Bucket, "R2Bucket");
    p.resource(Checksums);
    p.tag(R2MultipartUpload, "R2MultipartUpload");
    p.tag(HeadResult, "HeadResult");
    p.tag(GetResult, "GetResult");
    const enumerable = (C, names) => {
      for (const name of names) ObjectDefineProperty(C.prototype, name, { enumerable: true });
    };
    enumerable(R2Bucket, ["head", "get", "put", "createMultipartUpload", "resumeMultipartUpload", "delete", "list"]);
    enumerable(R2MultipartUpload, ["uploadPart", "abort", "complete"]);
    enumerable(HeadResult, ["writeHttpMetadata"]);
    enumerable(GetResult, ["body", "bodyUsed", "arrayBuffer", "bytes", "text", "json", "blob"]);
    enumerable(Checksums, ["toJSON"]);
    for (const C of [R2Bucket, R2MultipartUpload, HeadResult, GetResult, Checksums]) ObjectDefineProperty(C, "toString", { value: () => `function ${C.name}() { [native code] }` });
    return new R2Bucket();
  };
}
