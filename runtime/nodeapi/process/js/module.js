// node:module in a bundle: what was imported is there, nothing is looked up.
function (native, p) {
  "use strict";
  const { errors } = native;
  const names = native.names();
  const bare = new p.Set(names), prefixed = new p.Set(["sqlite", "test"]);

  function Module(id = "") { this.id = id; this.exports = {}; this.loaded = false; this.children = []; }
  const isBuiltin = (name) => {
    if (typeof name !== "string") return false;
    return name.startsWith("node:") ? bare.has(name.slice(5)) || prefixed.has(name.slice(5)) : bare.has(name);
  };
  const createRequire = (path) => {
    const text = `${path?.href ?? path}`;
    if (!text.startsWith("/") && !text.startsWith("file:")) {
      throw errors.argValue("path", text, "The argument must be a file URL object, a file URL string, or an absolute path string."); // the reference's text
    }
    return ((id) => native.imported(id));
  };
  p.ObjectAssign(Module, {
    Module,
    builtinModules: names,
    createRequire,
    isBuiltin,
    constants: { compileCacheStatus: { __proto__: null, FAILED: 0, ENABLED: 1, ALREADY_ENABLED: 2, DISABLED: 3 } },
    globalPaths: [],
    _cache: { __proto__: null },
    _extensions: { __proto__: null },
    _pathCache: { __proto__: null },
    wrap: (script) => `(function (exports, require, module, __filename, __dirname) { ${script}\n});`,
    enableCompileCache() {},
    getCompileCacheDir: () => undefined,
    flushCompileCache() {},
    syncBuiltinESMExports() {},
    getSourceMapsSupport: () => ({ enabled: false, nodeModules: false, generatedCode: false }),
    setSourceMapsSupport() {},
  });
  return Module;
}
