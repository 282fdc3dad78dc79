package ecma

import "testing"

// Section 7.1.1, step 1.a, with V8's texts.
func TestDateOfAnObject(t *testing.T) {
	for source, want := range map[string]string{
		`new Date({[Symbol.toPrimitive]: 5})`:                   "TypeError: '5' returned for property 'Symbol(Symbol.toPrimitive)' of object '#<Object>' is not a function",
		`new Date({[Symbol.toPrimitive]: {}})`:                  "TypeError: '#<Object>' returned for property 'Symbol(Symbol.toPrimitive)' of object '#<Object>' is not a function",
		`new Date({[Symbol.toPrimitive]() { return {} }})`:      "TypeError: Cannot convert object to primitive value",
		`+new Date({[Symbol.toPrimitive]() { return "1970" }})`: "0",
	} {
		evaluates(t, source, want)
	}
}
