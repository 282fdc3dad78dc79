package engine

import (
	"testing"
)

// Functions that count their arguments count them as goja does, and those that do more
// with them have them.
func TestCountedArguments(t *testing.T) {
	const calls = `[[], [1], [undefined], [1, 2, 3]].map((a) => JSON.stringify([f(...a)])).join()`
	for _, source := range []string{
		`function f() { return arguments.length } var many = [15, 16, 40].map((n) => f(...Array(n).fill(0))); f = (f => (...a) => f(...a) + many.join())(f);`,
		`"use strict"; function f(a, b) { return arguments.length < 2 ? a : b }`,
		`function f(a) { return typeof arguments + arguments.length }`,
		`function f(a) { arguments.length = 7; return arguments.length }`,
		`function f(a) { arguments = "abc"; return arguments.length }`,
		`function f(a) { a = 5; return arguments[0] + "/" + arguments.length }`,
		`function f(a) { const x = arguments; return x.length + typeof x }`,
		`function f(a) { return [].slice.call(arguments).concat(arguments.length) }`,
		`function f(a) { var arguments; return arguments.length }`,
		`function f(a) { return arguments.length.toFixed(1) }`,
		`function f(a) { return delete arguments.length && arguments.length }`,
		`function f(a) { return eval("arguments.length") + arguments.length }`,
		`function f(a) { let n = 0; for (let i = 0; i < arguments.length; i++) { let m = i; n += m } return n }`,
		`function f(a) { let n = arguments.length; { let o = n; n = o + arguments.length } return n }`,
		`function f(a) { return arguments?.length }`,
		`function f(a) { const { length } = arguments; return length + arguments.length }`,
		`function* g(a) { yield arguments.length; yield arguments.length } function f() { return [...g(1, 2)].join() }`,
		`function f(a, ...b) { return arguments.length + b.length }`,
		`class C { static m(a) { return arguments.length } } function f(...a) { return C.m(...a) }`,
	} {
		asGoja(t, source+"\n"+calls)
	}
}
