// Makes what stands for an export that does not work here. It is a function
// that may also be called with `new` and extended, so that code which only
// mentions it loads. An API is named as in refused.txt: module.name.
function (native, p) {
  "use strict";
  const { errors } = native;
  return (api) => {
    const refuses = function () { throw errors.refused(api); };
    p.ObjectDefineProperty(refuses, "name", { value: api.slice(api.lastIndexOf(".") + 1), configurable: true });
    return refuses;
  };
}
