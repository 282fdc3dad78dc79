package sqlite

import (
	"bytes"
	"testing"

	"modernc.org/libc"
	"pgregory.net/rapid"
)

// Every size up to the largest slot belongs to a class whose slots hold it and
// waste at most an eighth, or 15 bytes.
func TestSlotSizes(t *testing.T) {
	sizes := map[int]uintptr{}
	for n := uintptr(1); n <= maxSlot; n++ {
		i, size := classOf(n)
		if i < 0 || i >= numClasses || size < n || size%16 != 0 || size-n > max(n/8, 15) {
			t.Fatalf("%d bytes: class %d of %d, slots of %d bytes", n, i, numClasses, size)
		}
		if had, ok := sizes[i]; ok && had != size {
			t.Fatalf("class %d has slots of %d and of %d bytes", i, had, size)
		}
		sizes[i] = size
		if j, again := classOf(size); j != i || again != size {
			t.Fatalf("a slot of %d bytes, of class %d, is found in class %d with %d", size, i, j, again)
		}
	}
}

// Allocations keep their bytes, whatever is allocated, resized and freed around
// them, and say how much room they have.
func TestHeapModel(t *testing.T) {
	tls := libc.NewTLS()
	defer tls.Close()
	var h heap // of all runs
	rapid.Check(t, func(t *rapid.T) {
		type piece struct {
			p    uintptr
			want []byte
		}
		var pieces []piece
		fill := func(p, n uintptr, seed byte) []byte {
			if usable(p) < n || p%8 != 0 {
				t.Fatalf("%d bytes: room for %d at %#x", n, usable(p), p)
			}
			want := bytes.Repeat([]byte{seed}, int(n))
			copy(bytesAt(p, int(n)), want)
			return want
		}
		size := rapid.OneOf(rapid.UintptrRange(1, 600), rapid.UintptrRange(1, 2*maxSlot))
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			n, seed := size.Draw(t, "bytes"), rapid.Byte().Draw(t, "seed")
			at := rapid.IntRange(0, max(len(pieces)-1, 0)).Draw(t, "at")
			switch op := rapid.IntRange(0, 3).Draw(t, "op"); {
			case op == 0 || len(pieces) == 0:
				p := h.alloc(tls, n)
				pieces = append(pieces, piece{p, fill(p, n, seed)})
			case op == 1:
				x := pieces[at]
				p := h.resize(tls, x.p, n)
				kept := x.want[:min(len(x.want), int(n))]
				if got := bytesAt(p, len(kept)); !bytes.Equal(got, kept) {
					t.Fatalf("resized from %d to %d bytes, the contents differ", len(x.want), n)
				}
				pieces[at] = piece{p, fill(p, n, seed)}
			case op == 2:
				h.trim(tls)
			default:
				h.free(tls, pieces[at].p)
				pieces = append(pieces[:at], pieces[at+1:]...)
			}
			for _, x := range pieces {
				if !bytes.Equal(bytesAt(x.p, len(x.want)), x.want) {
					t.Fatalf("an allocation of %d bytes has changed", len(x.want))
				}
			}
		}
		for _, x := range pieces {
			h.free(tls, x.p)
		}
	})
}

// What nobody uses any more goes back to the system, slab by slab, and what is in
// use stays.
func TestHeapTrim(t *testing.T) {
	tls := libc.NewTLS()
	defer tls.Close()
	var h heap
	const page, n = 4368, 1000
	pieces := make([]uintptr, n)
	for i := range pieces {
		pieces[i] = h.alloc(tls, page)
	}
	i, size := classOf(page + slotHeader)
	c := &h.classes[i]
	perSlab := int(slabSize / size)
	slabs := (n + perSlab - 1) / perSlab
	if len(c.slabs) != slabs {
		t.Fatalf("%d slabs, want %d", len(c.slabs), slabs)
	}
	for _, p := range pieces[1:] { // in the first slab one piece stays
		h.free(tls, p)
	}
	h.trim(tls)
	if len(c.slabs) != 1 || c.next != c.end || usable(pieces[0]) < page {
		t.Fatalf("%d slabs are left", len(c.slabs))
	}
	for i := range perSlab - 1 { // its free slots serve again, and no new slab
		pieces[1+i] = h.alloc(tls, page)
	}
	if len(c.slabs) != 1 {
		t.Errorf("%d slabs", len(c.slabs))
	}
	for _, p := range pieces[:perSlab] {
		h.free(tls, p)
	}
	h.trim(tls)
	if len(c.slabs) != 0 || c.free != 0 {
		t.Errorf("%d slabs, free %#x", len(c.slabs), c.free)
	}
	h.free(tls, h.alloc(tls, page)) // begins anew
	if len(c.slabs) != 1 {
		t.Errorf("%d slabs", len(c.slabs))
	}
}
