// What takes a callback in node:crypto computes at once, and calls back in a
// microtask with the result, or with members of it, or with the error. What is
// wrong with the arguments is thrown at once.
function (native, p) {
  "use strict";
  const { errors } = native;
  const isOfArguments = (e) => e?.code === "ERR_OUT_OF_RANGE" || e?.code === "ERR_INCOMPATIBLE_OPTION_PAIR" || e?.code?.startsWith("ERR_INVALID_ARG");
  return (make, callback, ...names) => {
    errors.func(callback, "callback");
    let results, error = null;
    try {
      const result = make();
      results = names.length > 0 ? names.map((name) => result[name]) : [result];
    } catch (e) {
      if (isOfArguments(e)) throw e;
      error = e;
    }
    native.nextTick(() => (error ? callback(error) : callback(null, ...results)));
  };
}
