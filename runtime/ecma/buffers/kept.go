package buffers

import (
	"weak"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// keptBuffers are ArrayBuffers that only their owner may detach, as those of a
// WebAssembly.Memory (ECMA-262, section 25.1.3.5: [[ArrayBufferDetachKey]]).
// Loop-confined.
type keptBuffers struct {
	all  map[weak.Pointer[goja.Object]]struct{}
	look int // the number at which those that are gone are dropped
}

// Keep makes a buffer one that transfer() and structuredClone() refuse to detach.
func Keep(e *engine.Engine, buffer *goja.Object) {
	k := &states.Of(e).kept
	if k.all == nil {
		k.all = map[weak.Pointer[goja.Object]]struct{}{}
	}
	if len(k.all) >= max(k.look, 64) {
		for w := range k.all { // order-independent: each entry is looked at alone
			if w.Value() == nil {
				delete(k.all, w)
			}
		}
		k.look = 2 * len(k.all)
	}
	k.all[weak.Make(buffer)] = struct{}{}
}

// Release ends what Keep began: the owner is about to detach the buffer.
func Release(e *engine.Engine, buffer *goja.Object) { delete(states.Of(e).kept.all, weak.Make(buffer)) }

// Kept reports whether v is a buffer that must not be detached.
func Kept(e *engine.Engine, v goja.Value) bool {
	o, ok := v.(*goja.Object)
	if !ok || len(states.Of(e).kept.all) == 0 {
		return false
	}
	_, kept := states.Of(e).kept.all[weak.Make(o)]
	return kept
}
