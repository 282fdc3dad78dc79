package zlib

import (
	"fmt"
	"testing"
)

func BenchmarkDeflateText(b *testing.B) {
	var text []byte
	for i := 0; len(text) < 1<<20; i++ {
		text = fmt.Appendf(text, "line %d of a text that says %d things, %x of them new\n", i, i*7919%1000, i*104729)
	}
	b.SetBytes(int64(len(text)))
	for range b.N {
		newDeflateState(6, 0, 15, 8).deflate(text, coderLast)
	}
}
