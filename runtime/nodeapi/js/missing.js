// Makes what stands for an export that does not work here. It is a function
// that may also be called with `new` and extended, so that code which only
// mentions it loads.
function (native, p) {
  "use strict";
  const { errors } = native;
  return (module, name, advice) => {
    const missing = function () { throw errors.unavailable(`${module}.${name}`, advice); };
    p.ObjectDefineProperty(missing, "name", { value: name, configurable: true });
    return missing;
  };
}
