// Values that goja cannot build, or that V8 writes in a form that depends on an
// object's history: workerd's bytes must be readable all the same.
const READS = {
  array_preallocated: () => new Array(3).fill(7),
  array_hole_filled: () => { const a = [1, , 3]; a[1] = 2; return a; },
  double_field_int: () => { const o = { a: 0.5 }; o.a = 3; return o; },
  resizable_buffer: () => new ArrayBuffer(4, { maxByteLength: 16 }),
  resizable_view: () => { const b = new ArrayBuffer(4, { maxByteLength: 16 }); new Uint8Array(b).set([1, 2, 3, 4]); return [new Uint8Array(b), new Uint8Array(b, 1, 2)]; },
  float16array: () => new Float16Array([1.5]),
  regexp_indices: () => /a/d,
  regexp_unicode_sets: () => /a/v,
  dom_exception: () => new DOMException("msg", "AbortError"),
  dom_exception_props: () => Object.assign(new DOMException("msg \u0416", "DataCloneError"), { extra: 1 }),
  headers: () => new Headers([["a", "1"], ["b", "2"], ["set-cookie", "x=1"], ["set-cookie", "y=2"]]),
  suppressed_error: () => { const e = new SuppressedError(new Error("a"), new Error("b"), "sup"); e.stack = "stack"; e.error.stack = "sa"; e.suppressed.stack = "sb"; return e; },
  url: () => new URL("http://example.com/"),
  blob: () => new Blob(["abc"], { type: "text/plain" }),
};
