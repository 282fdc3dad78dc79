// Classes of node:crypto are streams too, but most are never used as such:
// node:stream is loaded, and put above the class, when something looks for
// more than the class's own methods.
function (native, p) {
  "use strict";
  const { ObjectSetPrototypeOf, ObjectDefineProperty } = p;
  return (C, methods) => {
    for (const name of p.ObjectKeys(methods)) {
      ObjectDefineProperty(C.prototype, name, { value: methods[name], writable: true, enumerable: true, configurable: true });
    }
    let parent;
    const link = () => {
      if (parent === undefined) {
        const { Transform, lazyTransform } = native.require("internal/stream_duplex");
        parent = Transform.prototype;
        lazyTransform(C.prototype);
        ObjectSetPrototypeOf(C, Transform);
        ObjectSetPrototypeOf(C.prototype, parent);
      }
      return parent;
    };
    ObjectSetPrototypeOf(C.prototype, new p.Proxy(p.ObjectCreate(null), {
      get: (_, key, self) => { link(); return self[key]; },
      has: (_, key) => key in link(),
      set: (_, key, value, self) => { link(); self[key] = value; return true; },
      getPrototypeOf: link,
    }));
  };
}
