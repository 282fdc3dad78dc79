// Vectorize indexes (workerd: src/cloudflare/internal/vectorize-api.ts). Search is Go.
function (native, p) {
  "use strict";
  const { JSONStringify, ArrayIsArray, ArrayFrom, ObjectAssign, ObjectDefineProperty } = p;
  const array = (values) => {
    if (values === undefined || values === null) throw new p.TypeError(`${values === null ? "object null" : "undefined"} is not iterable (cannot read property Symbol(Symbol.iterator))`);
    return ArrayIsArray(values) ? values : ArrayFrom(values);
  };
  const levels = ["all", "indexed", "none"];

  return (indexId, fetcher) => {
    const send = async (operation, op, args) => {
      const [reply] = await native.call(op, JSONStringify(args) ?? "null");
      if (reply.error !== undefined) {
        throw new p.Error(`${operation}_ERROR${reply.code === undefined ? "" : ` (code = ${reply.code})`}: ${reply.error}`, { cause: new p.Error(reply.error) });
      }
      return reply;
    };
    const query = (given, options) => {
      if (options?.returnMetadata) {
        const level = options.returnMetadata;
        if (typeof level !== "boolean" && level !== levels[0] && level !== levels[1] && level !== levels[2]) {
          throw new p.Error(`Invalid returnMetadata option. Expected: true, false, "none", "indexed" or "all"; got: ${level}`);
        }
        if (level === true) options.returnMetadata = "all"; // so do the caller's own, as in the reference
      }
      return send("VECTOR_QUERY", "query", ObjectAssign({}, options, given));
    };
    const withValues = (vectors) => vectors.map((v) => ObjectAssign({}, v, { values: array(v.values) }));

    class VectorizeIndexImpl {
      constructor() {
        this.fetcher = fetcher;
        this.indexId = indexId;
        this.indexVersion = "v2";
        this.useNdJson = true;
      }
      async describe() { return send("INDEX_GET", "describe", null); }
      async query(vector, options) { return query({ vector: array(vector) }, options); }
      async queryById(vectorId, options) { return query({ vectorId }, options); }
      async insert(list) { return send("VECTOR_INSERT", "insert", withValues(list)); }
      async upsert(list) { return send("VECTOR_UPSERT", "upsert", withValues(list)); }
      async getByIds(ids) { return send("VECTOR_GET", "get", ids); }
      async deleteByIds(ids) { return send("VECTOR_DELETE", "delete", ids); }
    }
    for (const name of p.ownKeys(VectorizeIndexImpl.prototype)) ObjectDefineProperty(VectorizeIndexImpl.prototype, name, { enumerable: false });
    return new VectorizeIndexImpl();
  };
}
