// The classes of the errors of node: modules (workerd: src/node/internal/internal_errors.ts).
// A TypeError, RangeError or SyntaxError is one of the language with code, name and toString
// of its own; others are of a class that has the code's name; what is out of range is of a
// class of its own, with the code in the first line of its stack.
function (native, p) {
  "use strict";
  const { ObjectDefineProperty: define, ObjectSetPrototypeOf: setPrototype, ObjectAssign: assign } = p;
  const text = (e) => `${e.name} [${e.code}]: ${e.message}`;
  class NodeErrorAbstraction extends Error {
    constructor(name, code, message) {
      super(message);
      this.code = code;
      this.name = name;
    }
    toString() {
      return text(this);
    }
  }
  class NodeError extends NodeErrorAbstraction {
    constructor(code, message) {
      super("Error", code, message);
    }
  }
  class NodeSyscallError extends NodeError {}
  class ERR_OUT_OF_RANGE extends RangeError {}
  const classes = { __proto__: null };
  const classOf = (name, Base) => {
    if (classes[name] === undefined) {
      classes[name] = class extends Base {};
      define(classes[name], "name", { __proto__: null, value: name, configurable: true });
    }
    return classes[name];
  };
  const own = (e, key, value) => define(e, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });

  class DnsError extends NodeError {}
  class ConnectException extends Error {}

  // mark gives a new error of a built-in class its code and what goes with it.
  const mark = (e, name, code) => {
    own(e, "code", code);
    if (code === "ERR_OUT_OF_RANGE" && name === "RangeError") {
      setPrototype(e, ERR_OUT_OF_RANGE.prototype);
      own(e, "name", `${name} [${code}]`);
      e.stack; // is made now, with that name
      own(e, "name", name);
      return;
    }
    own(e, "name", name);
    if (name === "Error" || name === "URIError") {
      setPrototype(e, classOf(code === "ECONNRESET" ? "ConnResetException" : code, NodeError).prototype);
      return;
    }
    own(e, "toString", function () {
      return text(this);
    });
  };
  // system is the error of a system call; others of its properties follow.
  const system = (code, message, syscall, errno, rest) => {
    const e = native.errors.make("Error", "", message);
    setPrototype(e, classOf(`ERR_${code}`, NodeSyscallError).prototype);
    return assign(e, { code, name: "Error", syscall, errno }, rest);
  };
  // dns is the error of a query for a name.
  const dns = (code, hostname, syscall) => {
    const e = native.errors.make("Error", "", `${syscall} ${code} ${hostname}`);
    setPrototype(e, DnsError.prototype);
    return assign(e, { code, name: "Error", errno: undefined, hostname, syscall });
  };
  // connect is the error of a connection that was not made.
  const connect = (code, errno, address, port) => {
    const e = native.errors.make("Error", "", `connect ${code} ${address}:${port}`);
    setPrototype(e, ConnectException.prototype);
    return assign(e, { code, errno, syscall: "connect", address, port });
  };
  return { mark, system, dns, connect };
}
