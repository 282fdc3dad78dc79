package stepwise

import (
	"slices"
	"testing"
)

// long has more than two steps, and no round length.
func long() []byte {
	b := make([]byte, 2*Bytes+77)
	for i := range b {
		b[i] = byte(i * 7)
	}
	return b
}

func TestCopy(t *testing.T) {
	from := long()
	for _, n := range []int{0, 1, Bytes - 1, Bytes, Bytes + 1, len(from)} {
		to := make([]byte, n+3)
		if got := Copy(to, from[:n]); got != n || !slices.Equal(to[:n], from[:n]) || to[n] != 0 {
			t.Errorf("%d bytes: %d were copied", n, got)
		}
		to = make([]byte, n)
		if got := Copy(to, from); got != n || !slices.Equal(to, from[:n]) {
			t.Errorf("into %d bytes: %d were copied", n, got)
		}
	}
}

// Items that are larger than a byte go in steps of as many bytes.
func TestCopyItems(t *testing.T) {
	from := make([]any, 2*Bytes/16+5)
	for i := range from {
		from[i] = i
	}
	if grown := Grow(slices.Clip(from), 3); cap(grown) < len(from)+3 || !slices.Equal(grown, from) {
		t.Errorf("%d items became %d with room for %d", len(from), len(grown), cap(grown))
	}
}

func TestGrow(t *testing.T) {
	s := long()
	grown := Grow(slices.Clip(s), 5)
	if cap(grown) < len(s)+5 || !slices.Equal(grown, s) {
		t.Errorf("%d units became %d with room for %d", len(s), len(grown), cap(grown))
	}
	if again := Grow(grown, 5); &again[0] != &grown[0] {
		t.Error("what has room was copied")
	}
}
