// D1 databases (workerd: src/cloudflare/internal/d1-api.ts). Queries are run in
// Go; this is the shape that workers see.
function (native, p) {
  "use strict";
  const { ArrayIsArray, ArrayBufferIsView, ArrayFrom, ArrayPrototypePush, StringPrototypeSplit,
    ObjectDefineProperty } = p;
  const failure = (prefix, message, cause) => new p.Error(`${prefix}: ${message}`, { cause: new p.Error(cause ?? message) });

  // text is a statement's SQL, as miniflare takes it.
  const text = (sql) => {
    if (typeof sql !== "string") throw failure("D1_ERROR", "Failed to parse body as JSON, got: ZodError");
    return sql;
  };
  // query is the promise of what one statement gives, which resultsOf reads. shape
  // is that of the results: "objects", "rows" or "first", which is the first object
  // and no meta.
  const query = (session, statement, shape) => native.query(shape, session !== null, text(statement.statement), statement.params);
  // resultsOf are the results of a reply; session keeps its bookmark. prefix is that
  // of an error's text, place what comes before it there.
  const resultsOf = (session, reply, prefix, place) => {
    if (reply.error !== undefined) throw failure(prefix ?? "D1_ERROR", (place ?? "") + reply.error);
    if (reply.bookmark !== "") session._updateBookmark(reply.bookmark);
    return reply.results;
  };
  const batch = async (session, statements) => {
    const queries = [];
    statements.map((s) => { ArrayPrototypePush(queries, text(s.statement)); ArrayPrototypePush(queries, s.params); });
    return resultsOf(session, await native.query("objects", session !== null, ...queries));
  };

  const parameter = (value) => {
    const type = typeof value;
    if (type === "number" || type === "string") return value;
    if (type === "boolean") return value ? 1 : 0;
    if (type === "object") {
      if (value === null) return value;
      if (ArrayIsArray(value)) {
        let bytes = true;
        for (let i = 0; i < value.length && bytes; i++) bytes = typeof value[i] === "number" && value[i] >= 0 && value[i] < 256;
        if (bytes) return value;
      }
      if (value instanceof p.ArrayBuffer) return ArrayFrom(new p.Uint8Array(value));
      if (ArrayBufferIsView(value)) return ArrayFrom(value);
    }
    throw failure("D1_TYPE_ERROR", `Type '${type}' not supported for value '${value}'`);
  };

  class D1PreparedStatement {
    #session;
    statement;
    params;
    constructor(session, statement, values) {
      this.#session = session;
      this.statement = statement;
      this.params = values ?? [];
    }
    bind(...values) {
      for (let i = 0; i < values.length; i++) values[i] = parameter(values[i]);
      return new D1PreparedStatement(this.#session, this.statement, values);
    }
    async first(column) {
      const result = resultsOf(this.#session, await query(this.#session, this, "first"))[0];
      if (result === null || column === undefined) return result;
      const value = result[column];
      if (value === undefined) throw failure("D1_COLUMN_NOTFOUND", `Column not found (${column})`, "Column not found");
      return value;
    }
    async run() { return resultsOf(this.#session, await query(this.#session, this, "objects"))[0]; }
    async all() { return resultsOf(this.#session, await query(this.#session, this, "objects"))[0]; }
    async raw(options) {
      const { columns, rows } = resultsOf(this.#session, await query(this.#session, this, "rows"))[0].results;
      return options?.columnNames ? [columns, ...rows] : rows;
    }
  }

  const unconstrained = "first-unconstrained", primary = "first-primary";
  class D1DatabaseSession {
    #bookmarkOrConstraint;
    constructor(constraint) { this.#bookmarkOrConstraint = constraint; }
    _updateBookmark(bookmark) {
      const current = this.getBookmark();
      if (current === null || current < bookmark) this.#bookmarkOrConstraint = bookmark;
      return this.getBookmark();
    }
    prepare(sql) { return new D1PreparedStatement(this, sql); }
    async batch(statements) { return batch(this, statements); }
    getBookmark() {
      const b = this.#bookmarkOrConstraint;
      return b === unconstrained || b === primary ? null : b;
    }
  }
  class D1Database {
    prepare(sql) { return new D1PreparedStatement(null, sql); }
    async batch(statements) { return batch(null, statements); }
    async exec(query) {
      const queries = [], lines = StringPrototypeSplit(query.trim(), "\n");
      for (let i = 0; i < lines.length; i++) { ArrayPrototypePush(queries, lines[i]); ArrayPrototypePush(queries, undefined); }
      const results = resultsOf(null, await native.query("objects", false, ...queries), "D1_EXEC_ERROR", `Error in line 1: ${lines[0]}: `);
      let duration = 0;
      for (let i = 0; i < results.length; i++) duration += results[i].meta.duration;
      return { count: results.length, duration };
    }
    withSession(constraintOrBookmark) {
      const constraint = constraintOrBookmark?.trim();
      return new D1DatabaseSession(constraint == null || constraint === "" ? unconstrained : constraint);
    }
    async query() { throw new p.Error("D1_ERROR: D1Database.query() requires the d1_binding_jsrpc compatibility flag. Enable d1_binding_jsrpc before calling query()."); }
    async dump() { throw failure("D1_DUMP_ERROR", "Status + 404", "Status 404"); }
  }
  for (const C of [D1Database, D1DatabaseSession, D1PreparedStatement]) ObjectDefineProperty(C, "toString", { value: () => `function ${C.name}() { [native code] }` });
  p.resource(D1Database);
  ObjectDefineProperty(D1Database.prototype, p.SymbolToStringTag, { value: "WrappedBinding", configurable: true });
  return () => new D1Database();
}
