(v) => {
  const seen = [];
  const show = (v) => {
    if (typeof v === "string") return JSON.stringify(v);
    if (typeof v === "bigint") return v + "n";
    if (typeof v === "symbol") return String(v);
    if (typeof v === "function") return "[Function " + v.name + "]";
    if (Object.is(v, -0)) return "-0";
    if (v === null || typeof v !== "object") return String(v);
    if (v instanceof Error) return (v.name + " " + (v.code ?? "")).trim() + ": " + v.message.replaceAll("\n", "\\n");
    if (v instanceof ArrayBuffer) return "ArrayBuffer(" + new Uint8Array(v).join() + ")";
    if (ArrayBuffer.isView(v)) return v.constructor.name + "(" + (v.byteLength > 100 ? v.byteLength + " bytes" : Array.prototype.join.call(v)) + ")";
    if (seen.includes(v)) return "[Circular]";
    seen.push(v);
    try {
      if (Array.isArray(v)) return "[" + v.map(show).join(", ") + "]";
      if (v instanceof Map) return "Map" + show([...v]);
      if (v instanceof Set) return "Set" + show([...v]);
      const name = Object.getPrototypeOf(v)?.constructor?.name;
      return (name && name !== "Object" ? name + " " : "") + "{" + Object.keys(v).map((k) => k + ": " + show(v[k])).join(", ") + "}";
    } finally { seen.pop(); }
  };
  return show(v);
}
