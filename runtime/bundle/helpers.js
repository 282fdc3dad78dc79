// What lowered modules call instead of esbuild's own helpers: the same rules,
// with deferred namespaces in mind. Evaluated once per runtime, before user
// code, so the built-ins it captures are the originals.
(function (isNamespace, touch) {
  "use strict";
  const { create, defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames, getPrototypeOf, hasOwn } = Object;

  // Properties that read through to `from`, so that bindings stay live.
  const copy = (to, from, except) => {
    if ((typeof from !== "object" || from === null) && typeof from !== "function") return to;
    for (const key of getOwnPropertyNames(from)) {
      if (key === except || hasOwn(to, key)) continue;
      const enumerable = getOwnPropertyDescriptor(from, key)?.enumerable ?? true;
      defineProperty(to, key, { get: () => from[key], enumerable, configurable: true });
    }
    return to;
  };

  // The namespace of a CommonJS module. `default` is module.exports unless the
  // module was compiled from ESM and the importer is not in Node's mode.
  const wrap = (mod, node) => {
    if (isNamespace(mod)) return mod;
    const target = mod === null || mod === undefined ? {} : create(getPrototypeOf(mod));
    if (node || !mod || !mod.__esModule) defineProperty(target, "default", { value: mod, enumerable: true });
    return copy(target, mod);
  };

  return {
    __export: (target, all) => {
      for (const name in all) defineProperty(target, name, { get: all[name], enumerable: true, configurable: true });
    },
    __toESM: (mod) => wrap(mod, false),
    __toESMNode: (mod) => wrap(mod, true),
    __toCommonJS: (ns) => ns,
    __reExport: (target, mod) => copy(target, mod, "default"),
    // Getters for names that exist before their module has run.
    announce: (ns, id, names) => {
      for (const name of names) {
        defineProperty(ns, name, { get: () => touch(id, name), enumerable: true, configurable: true });
      }
    },
    // Gives a re-export the getter of its origin, which saves later reads the detour.
    adopt: (ns, name, from, original) => {
      const d = getOwnPropertyDescriptor(from, original);
      if (d?.get) defineProperty(ns, name, d);
    },
  };
})
