// The error of an operation that a signal ended (nodejs.org/api/errors.html,
// "Class: AbortError"): made by (cause), with the cause where there is one.
function (native, p) {
  "use strict";
  class AbortError extends Error {
    constructor(options) {
      super("The operation was aborted", options);
      this.code = "ABORT_ERR";
      this.name = "AbortError";
    }
  }
  return (cause) => new AbortError(cause === undefined ? undefined : { cause });
}
