package streams

import (
	"bytes"
	"compress/flate"
	"errors"
	"math/rand"
	"testing"
)

// A codec asks between its steps whether it may go on: a few kilobytes that become
// hundreds of megabytes are stopped, and so is the compression of much.
func TestCodecsAreStopped(t *testing.T) {
	var bomb bytes.Buffer
	w, err := flate.NewWriter(&bomb, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for range 200 {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		decompress bool
		in         []byte
	}{"decompression": {true, bomb.Bytes()}, "compression": {false, make([]byte, 8<<20)}} {
		left := 3
		var out pieces
		err := newCompressor("deflate-raw", c.decompress, func(int) bool { left--; return left > 0 }).code(&out, c.in, false)
		if !errors.Is(err, errNoRoom) || left != 0 || out.size > 4*mostBlock {
			t.Errorf("%s: %v after %d bytes, asked until %d", name, err, out.size, left)
		}
	}
}

// What a codec tells does not depend on whether it is taken between the pieces of its input.
func TestCodedBetweenPieces(t *testing.T) {
	in := make([]byte, 300<<10)
	r := rand.New(rand.NewSource(1))
	for i := range in {
		in[i] = byte(r.Intn(40))
	}
	for _, format := range []string{"gzip", "deflate", "deflate-raw"} {
		packed, err := coded(format, false, in, 5000)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 100, 33_000, len(packed)} {
			if got, err := coded(format, true, packed, n); err != nil || !bytes.Equal(got, in) {
				t.Errorf("%s in pieces of %d: %d bytes of %d, %v", format, n, len(got), len(in), err)
			}
		}
	}
}

// A decompressor that is dropped in the middle of its input ends, whatever it was about
// to tell.
func TestDroppedDecompressor(t *testing.T) {
	packed, err := coded("gzip", false, bytes.Repeat([]byte("minido "), 10_000), 100)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(packed) {
		var out pieces
		x := newCompressor("gzip", true, func(int) bool { return true }).(*inflater)
		if err := x.code(&out, packed[:n], false); err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		x.stop() // what the collector does
	}
}

// What was written in pieces comes out as it went in, however it is taken, and a large
// block is not kept for a few bytes.
func TestPieces(t *testing.T) {
	in := make([]byte, 3*mostBlock+5)
	for i := range in {
		in[i] = byte(i * 31)
	}
	for _, n := range []int{7, 4096, 16<<10 + 1, mostBlock + 1, len(in)} {
		var p pieces
		for rest := in; len(rest) > 0; {
			part := rest[:min(len(rest), n)]
			rest = rest[len(part):]
			if _, err := p.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		if got := taken(&p, n+3); !bytes.Equal(got, in) || p.size != 0 || p.blocks != nil {
			t.Errorf("pieces of %d: %d bytes of %d, %d left", n, len(got), len(in), p.size)
		}
	}
	p := pieces{blocks: [][]byte{append(make([]byte, 0, mostBlock), "few"...)}, size: 3}
	block := p.blocks[0]
	if got := p.take(3); string(got) != "few" || &got[0] == &block[0] {
		t.Errorf("%q, in its block: %v", got, &got[0] == &block[0])
	}
}
