package nodeapi

import "testing"

// The functions that make buffers are plain functions, as in node and workerd:
// cbor-x calls `new Buffer.allocUnsafeSlow(8192)`
// (nodejs.org/api/buffer.html#static-method-bufferallocunsafeslowsize).
func TestBufferFunctionsConstruct(t *testing.T) {
	w := newWorld(t, Options{})
	w.in(`const target = new Buffer.allocUnsafeSlow(3);
		say(target.length, Buffer.isBuffer(target), Buffer.isBuffer(new Buffer.alloc(1)), new Buffer.from("é").length, new Buffer.of(1, 2).length, new Buffer.allocUnsafe(4).length);
		say(["alloc", "allocUnsafe", "allocUnsafeSlow", "from", "of"].map((k) => k + Buffer[k].name + Buffer[k].length));`)
	w.said("3 true true 2 2 4", "allocalloc3,allocUnsafeallocUnsafe1,allocUnsafeSlowallocUnsafeSlow1,fromfrom3,ofof0")
}
