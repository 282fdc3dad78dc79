// Makes what stands for an export of a polyfill that refuses: a function that may also
// be called with `new` and extended.
function (native, p) {
  "use strict";
  return (text) => p.ObjectDefineProperty(function () { throw new Error(text); }, "name", { value: "fn", configurable: true });
}
