package ecma

import "testing"

// A long string is not spread out into the properties of an object, which is a
// native that nothing can stop.
func TestTextAsObjectIsBounded(t *testing.T) {
	w := newWorld(t)
	w.script(nil, `
		const long = "x".repeat(3e5);
		try { say(Object.keys(Object.assign({}, long)).length) } catch (e) { say(e.name + ": " + e.message) }
		say(Object.keys(Object.assign({}, "abc", null, { d: 1 })).join());
		say(Object.keys(Object.assign({ a: 1 }, long.slice(0, 1e4))).length);
		say(long.split("").length); say(Object.keys(long).length);
	`)
	w.said("RangeError: Invalid array length", "0,1,2,d", "10001", "300000", "300000")
}
