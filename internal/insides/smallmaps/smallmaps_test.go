package smallmaps

import (
	"fmt"
	"maps"
	"runtime"
	"testing"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
	"pgregory.net/rapid"
)

// holder has what must not be touched around a map.
type holder[R Room] struct {
	before  [4]uint64
	values  Map[R]
	behind  [2 * Slots]Slot
	reached map[unistring.String]goja.Value
}

// check compares a map of so many slots with one of the runtime's, whatever is done to both.
func check[R Room](t *testing.T) {
	seed := HeadOf(map[unistring.String]goja.Value{"a": nil}).Seed
	vm := goja.New()
	rapid.Check(t, func(t *rapid.T) {
		h := &holder[R]{}
		for i := range h.behind {
			h.behind[i] = Slot{"behind", goja.Null()}
		}
		h.reached = h.values.Own(seed)
		like := map[unistring.String]goja.Value{}
		for i := range rapid.IntRange(0, len(h.values.Slots)).Draw(t, "entries at first") {
			name := unistring.String(fmt.Sprint("n", i))
			v := vm.ToValue(i)
			h.values.Add(i, name, ControlOf(name, seed), v)
			like[name] = v
		}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			name := unistring.String(fmt.Sprint("n", rapid.IntRange(0, 11).Draw(t, "name")))
			if rapid.IntRange(0, 2).Draw(t, "what") == 0 {
				delete(h.reached, name)
				delete(like, name)
			} else {
				v := vm.ToValue(rapid.IntRange(0, 1000).Draw(t, "value"))
				h.reached[name], like[name] = v, v
			}
			if got, want := h.reached[name], like[name]; got != want {
				t.Fatalf("%s: %v, not %v", name, got, want)
			}
		}
		if rapid.IntRange(0, 19).Draw(t, "collect") == 0 {
			runtime.GC()
		}
		got := map[unistring.String]goja.Value{}
		maps.Copy(got, h.reached) // goes through it
		if !maps.Equal(got, like) {
			t.Fatalf("%v, not %v", got, like)
		}
		for i := range h.behind {
			if h.behind[i] != (Slot{"behind", goja.Null()}) {
				t.Fatalf("what lies behind was written: %d", i)
			}
		}
		if h.before != [4]uint64{} {
			t.Fatal("what lies before was written")
		}
	})
}

// A map with room for some slots is like any other, and stays within its room.
func TestMapsAreLikeOthers(t *testing.T) {
	t.Run("1", check[[1]Slot])
	t.Run("2", check[[2]Slot])
	t.Run("3", check[[3]Slot])
	t.Run("4", check[[4]Slot])
	t.Run("5", check[[5]Slot])
	t.Run("6", check[[6]Slot])
	t.Run("7", check[[7]Slot])
	t.Run("8", check[[8]Slot])
}
