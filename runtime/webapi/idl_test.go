package webapi_test

import (
	_ "embed"
	"strings"
	"testing"

	"minido.dev/minido/runtime/webapi/webapitest"
)

//go:embed testdata/idl.txt
var idlTable string

// checkInterface holds one line of the table against the interface: Web IDL, section 3.7
// (interface objects, prototypes, constants, attributes, operations).
const checkInterface = `
async (name, ctor, parent, members) => {
  const bad = [], C = globalThis[name], expect = (what, ok) => { if (!ok) bad.push(name + " " + what); };
  const flags = (o, k) => { const d = Object.getOwnPropertyDescriptor(o, k); return d === undefined ? "none" : (d.enumerable ? "E" : "e") + (d.configurable ? "C" : "c") + ("value" in d ? (d.writable ? "W" : "w") : ""); };
  const throws = (fn) => { try { fn(); return false; } catch (e) { return e instanceof TypeError; } };
  if (typeof C !== "function") return [name + " is absent"];
  const scope = Object.getPrototypeOf(globalThis);
  expect("global", flags(name === "EventTarget" ? Object.getPrototypeOf(scope) : scope, name) === "ECW" && !Object.hasOwn(globalThis, name));
  expect("name and length", C.name === name && flags(C, "name") === "eCw" && C.length === 0 && flags(C, "length") === "eCw");
  expect("prototype", flags(C, "prototype") === "ecW" && flags(C.prototype, "constructor") === "eCW" && C.prototype.constructor === C);
  expect("parent", Object.getPrototypeOf(C) === Function.prototype && (name === "DOMException" || Object.getPrototypeOf(C.prototype) === (parent ? globalThis[parent] : Object).prototype));
  expect("toStringTag", C.prototype[Symbol.toStringTag] === name && flags(C.prototype, Symbol.toStringTag) === "eCW");
  expect("call without new", throws(() => C()) && throws(() => Reflect.apply(C, {}, [])));
  if (ctor === "-" || Number(ctor) > 0) expect("new without arguments", throws(() => new C()));
  for (const m of members) {
    if (m[0] === "#") {
      const [k, v] = m.slice(1).split("=");
      expect(m, [C, C.prototype].every((o) => o[k] === Number(v) && flags(o, k) === "ECw"));
      continue;
    }
    if (m[0] === ".") {
      expect(m + " is a property of instances", !Object.hasOwn(C.prototype, m.slice(1)));
      continue;
    }
    const isStatic = m[0] === "+", isIterator = m[0] === "[";
    const [k, length] = m.replace(/^[+~[]/, "").replace(/=$/, "").split("/");
    const on = isStatic ? C : C.prototype, d = Object.getOwnPropertyDescriptor(on, k);
    if (!d) { bad.push(name + " " + m + " is absent"); continue; }
    const refuses = async (fn, args) => { try { Reflect.apply(fn, {}, args); return false; } catch (e) { return e instanceof TypeError; } };
    if (length === undefined) {
      expect(m + " is an attribute", typeof d.get === "function" && flags(on, k) === "EC" && d.get.name === "" && d.get.length === 0 && !("prototype" in d.get));
      expect(m + " setter", m.endsWith("=") ? typeof d.set === "function" && d.set.name === "" && d.set.length === 0 : d.set === undefined);
      expect(m + " brand", await refuses(d.get, []));
      if (d.set) expect(m + " setter's brand", await refuses(d.set, [null]));
      continue;
    }
    expect(m + " is an operation", typeof d.value === "function" && flags(on, k) === "ECW");
    if (typeof d.value !== "function") continue;
    expect(m + " name and length (" + d.value.length + ")", d.value.name === k && d.value.length === 0);
    expect(m + " is no constructor", throws(() => new d.value()) && !("prototype" in d.value));
    if (isIterator) expect(m + " is the iterator", typeof C.prototype[Symbol.iterator] === "function" && C.prototype[Symbol.iterator].name === "" && flags(C.prototype, Symbol.iterator) === "eCW");
    if (isStatic) { if (Number(length) > 0) expect(m + " without arguments", throws(() => d.value())); }
    else if (name !== "EventTarget") expect(m + " brand", await refuses(d.value, Array(Number(length)).fill(undefined)));
  }
  return bad;
}`

// Every interface has the members that its standard gives it, and refuses what Web IDL
// says; where its properties are, and how, is workerd's (jsg/resource.h).
func TestInterfaces(t *testing.T) {
	w := webapitest.New(t)
	for line := range strings.Lines(idlTable) {
		head, members, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		head, parent, _ := strings.Cut(head, " < ")
		name, length, _ := strings.Cut(strings.TrimSuffix(head, ")"), "(")
		w.Run(`for (const bad of await (` + checkInterface + `)("` + name + `", "` + length + `", "` + parent + `", "` + strings.TrimSpace(members) + `".split(" ").filter(Boolean))) say(bad)`)
	}
	for _, bad := range w.Out {
		t.Error(bad)
	}
	w.Out = nil
	w.Said()
}
