package ecma

import "testing"

// ECMA-262, 25.1: buffers that are resized, and what their views then show.
func TestResizableBuffers(t *testing.T) {
	const made = `const b = new ArrayBuffer(8, { maxByteLength: 16 }), u = new Uint8Array(b), fixed = new Uint8Array(b, 4, 4), tail = new Uint16Array(b, 2), dv = new DataView(b, 1);
		for (let i = 0; i < 8; i++) u[i] = i; `
	for source, want := range map[string]string{
		`[b.resizable, b.maxByteLength, b.byteLength, new ArrayBuffer(1).resizable, new ArrayBuffer(3).maxByteLength]`: "true,16,8,false,3",
		`(b.resize(11), [b.byteLength, u.length, fixed.length, tail.length, tail.byteLength, dv.byteLength, u])`:       "11,11,4,4,8,10,0,1,2,3,4,5,6,7,0,0,0",
		`(b.resize(6), b.resize(8), u.join())`: "0,1,2,3,4,5,0,0",
		`(b.resize(6), [fixed.length, fixed.byteOffset, fixed.byteLength, fixed[0], 0 in fixed, fixed.buffer === b, Object.keys(fixed).length])`: "0,0,0,,false,true,0",
		`(b.resize(6), b.resize(9), [fixed.length, fixed.byteOffset, fixed])`:                                                                    "4,4,4,5,0,0",
		`(b.resize(0), [u.length, dv.buffer === b])`:                                                                                             "0,true",
		`(b.resize(1), tail.byteOffset + tail.length)`:                                                                                           "0",
		`(b.resize(6), fixed.fill(1))`:                                                                                                           "TypeError: ArrayBuffer is detached",
		`(b.resize(0), dv.byteLength)`:                                                                                                           "TypeError: ArrayBuffer is detached",
		`(b.resize(0), dv.getUint8(0))`:                                                                                                          "TypeError: ArrayBuffer is detached",
		`(b.resize(3), dv.getUint8(2))`:                                                                                                          "RangeError: Offset is outside the bounds of the DataView",
		`(b.resize(3), [...tail].length)`:                                                                                                        "0",
		`(() => { const it = u.values(), seen = [it.next().value]; b.resize(2); for (const x of it) seen.push(x); return seen })()`:                                                      "0,1",
		`(() => { const it = fixed.values(); it.next(); b.resize(2); return it.next() })()`:                                                                                              "TypeError: ArrayBuffer is detached",
		`(() => { const seen = []; u.forEach((x, i) => { if (i === 0) b.resize(3); seen.push(String(x)) }); return seen.join() })()`:                                                     "0,1,2,undefined,undefined,undefined,undefined,undefined",
		`(() => { let n = 0; u.some(() => { if (n++ === 0) b.resize(16); return false }); return n })()`:                                                                                 "8",
		`u.every((x, i) => { b.resize(4); return i < 4 ? x === i : x === undefined })`:                                                                                                   "true",
		`[u.map((x) => x * 2), u.filter((x) => x & 1), u.find((x) => x > 2), u.findLast((x) => x < 6), u.findIndex((x) => x > 99), u.findLastIndex((x) => x === 3)].join("|")`:           "0,2,4,6,8,10,12,14|1,3,5,7|3|5|-1|3",
		`[u.reduce((a, x) => a + x), u.reduceRight((a, x) => a + "-" + x), u.includes(3), u.includes(9), u.indexOf(5, -3), u.lastIndexOf(5, 4), u.lastIndexOf(7), u.join("")].join("|")`: "28|7-6-5-4-3-2-1-0|true|false|5|-1|7|01234567",
		`u.includes(undefined, { valueOf() { b.resize(4); return 0 } })`:                                                                                                                 "true",
		`u.indexOf(undefined, { valueOf() { b.resize(4); return 0 } })`:                                                                                                                  "-1",
		`u.slice(1, { valueOf() { b.resize(4); return 8 } }).join()`:                                                                                                                     "1,2,3,0,0,0,0",
		`u.copyWithin(0, 2, { valueOf() { b.resize(4); return 8 } }).join()`:                                                                                                             "2,3,2,3",
		`u.copyWithin(1, 0).join()`:                                    "0,0,1,2,3,4,5,6",
		`u.fill({ valueOf() { b.resize(2); return 9 } }, 0, 8).join()`: "9,9",
		`u.fill(300, 6).join()`:                                        "0,1,2,3,4,5,44,44",
		`u.sort((x, y) => { b.resize(4); return y - x }).join()`:       "7,6,5,4",
		`new Float64Array(new ArrayBuffer(24, { maxByteLength: 24 })).fill(-0, 1, 2).fill(NaN, 0, 1).sort().join()`:                                "0,0,NaN",
		`[u.subarray(2).length, (b.resize(10), u.subarray(2).length), u.subarray(2, 4).length, u.at(-1), u.at(0)]`:                                 "6,8,2,0,0",
		`(() => { const s = u.subarray(4); b.resize(5); return s.length })()`:                                                                      "1",
		`(() => { class A extends Uint8Array {} const a = new A(b); return [a.map((x) => x) instanceof A, a.slice(2) instanceof A, a.length] })()`: "true,true,8",
		`u.every(5)`: "TypeError: 5 is not a function",
		`(() => { b.resize(0); return u.every(5) })()`:                                                  "TypeError: 5 is not a function",
		`(b.resize(7), new Uint32Array(b).length)`:                                                      "1",
		`(b.resize(7), new Uint32Array(b, 8))`:                                                          "RangeError: Start offset 8 is outside the bounds of the buffer",
		`(b.resize(7), new Uint32Array(b, 1))`:                                                          "RangeError: start offset of Uint32Array should be a multiple of 4",
		`(() => { const f = new Float16Array(b); f[0] = 1.5; b.resize(2); return [f.length, f[0]] })()`: "1,1.5",
		`(() => { const c = b.transfer(); c.resize(12); return [c.resizable, c.maxByteLength, b.detached, b.resizable, b.maxByteLength, u.length, new Uint8Array(c).length] })()`: "true,16,true,true,0,0,12",
		`(() => { const c = b.transferToFixedLength(4); return [c.resizable, c.byteLength, c.maxByteLength] })()`:                                                                 "false,4,4",
		`(b.transfer(), b.resize(1))`:  "TypeError: Cannot perform ArrayBuffer.prototype.resize on a detached ArrayBuffer",
		`b.transfer(17)`:               "RangeError: Invalid array buffer length",
		`b.resize(17)`:                 "RangeError: ArrayBuffer.prototype.resize: Invalid length parameter",
		`b.resize(-1)`:                 "RangeError: ArrayBuffer.prototype.resize: Invalid length parameter",
		`new ArrayBuffer(8).resize(3)`: "TypeError: Method ArrayBuffer.prototype.resize called on incompatible receiver #<ArrayBuffer>",
		`ArrayBuffer.prototype.resize.call(new SharedArrayBuffer(1))`: "TypeError: Method ArrayBuffer.prototype.resize called on incompatible receiver #<SharedArrayBuffer>",
		`new ArrayBuffer(8, { maxByteLength: 4 })`:                    "RangeError: Invalid array buffer max length",
		`new ArrayBuffer(0, { maxByteLength: 7 * 2 ** 50 })`:          "RangeError: Array buffer allocation failed",
		`[new ArrayBuffer(1, 5).resizable, new ArrayBuffer(1, {}).resizable, new ArrayBuffer(0, { maxByteLength: 0 }).resizable, ArrayBuffer.prototype.resize.length, ArrayBuffer.prototype.transfer.length]`: "false,false,true,1,0",
		`(() => { const s = new SharedArrayBuffer(2, { maxByteLength: 4 }), v = new Int8Array(s); s.grow(3); return [s.growable, s.maxByteLength, s.byteLength, v.length, v.buffer === s] })()`:               "true,4,3,3,true",
		`new SharedArrayBuffer(2, { maxByteLength: 4 }).grow(1)`: "RangeError: SharedArrayBuffer.prototype.grow: Invalid length parameter",
		`(() => { const big = new ArrayBuffer(1, { maxByteLength: 1 << 20 }), v = new Uint8Array(big); v[0] = 7; for (let n = 2; n <= 1 << 20; n *= 2) big.resize(n); return [v.length, v[0], v.at(-1)] })()`: "1048576,7,0",
	} {
		evaluates(t, `(() => { `+made+`return `+source+` })()`, want)
	}
}
