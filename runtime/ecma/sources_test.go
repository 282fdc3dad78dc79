package ecma

import "testing"

// ECMA-262, section 20.2.3.5: built-ins show no source, in whatever they are written.
func TestSourcesOfBuiltins(t *testing.T) {
	w := newWorld(t)
	w.script(nil, `const f = function (a) { return a; };
say([Date.prototype.toISOString, Number.prototype.toExponential, Math.sin, f.bind(1), Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "detached").get, f].map(String).join(";"))`)
	w.said("function toISOString() { [native code] };function toExponential() { [native code] };function sin() { [native code] };function () { [native code] };function get detached() { [native code] };function (a) { return a; }")
}

// Section 21.4.1.32: years that do not have four digits have six, and a sign.
func TestYearsOfISOStrings(t *testing.T) {
	w := newWorld(t)
	w.script(nil, `say([253402300799999, 253402300800000, -62167219200000, -62167219200001, 8.64e15, -8.64e15].map((t) => new Date(t).toISOString().slice(0, -14)).join())`)
	w.said("9999-12-31,+010000-01-01,0000-01-01,-000001-12-31,+275760-09-13,-271821-04-20")
}
