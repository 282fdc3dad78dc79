package streams

import (
	"bytes"
	"io"
	"testing"
)

// coded runs a codec over pieces of in.
func coded(format string, decompress bool, in []byte, size int) ([]byte, error) {
	c := newCompressor(format, decompress, func(int) bool { return true })
	var out pieces
	var all []byte
	for rest := in; len(rest) > 0; {
		piece := rest[:min(size, len(rest))]
		rest = rest[len(piece):]
		err := c.code(&out, bytes.Clone(piece), false)
		all = append(all, taken(&out, size)...)
		if err != nil {
			_ = c.code(&out, nil, true) // as a stream that is torn down
			return all, err
		}
	}
	err := c.code(&out, nil, true)
	return append(all, taken(&out, size)...), err
}

// taken empties p, n bytes at a time.
func taken(p *pieces, n int) (all []byte) {
	for p.size > 0 {
		all = append(all, p.take(min(n, p.size))...)
	}
	return all
}

// FuzzCompression: what a CompressionStream makes a DecompressionStream undoes; what
// one says of any bytes does not depend on where its chunks end, and is what the
// standard library reads of them, without data after the end.
func FuzzCompression(f *testing.F) {
	formats := []string{"gzip", "deflate", "deflate-raw"}
	for i, format := range formats {
		packed, err := coded(format, false, []byte("minido minido minido"), 7)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed, uint8(i), uint8(3))
		f.Add(append(packed, 'x'), uint8(i), uint8(0))
		f.Add(packed[:len(packed)-2], uint8(i), uint8(50))
		f.Add([]byte{}, uint8(i), uint8(1))
	}
	const most = 1 << 20
	f.Fuzz(func(t *testing.T, in []byte, which, size uint8) {
		format := formats[int(which)%len(formats)]
		packed, err := coded(format, false, in, 1+int(size))
		if err != nil {
			t.Fatal(err)
		}
		if back, err := coded(format, true, packed, 1+int(size)/2); err != nil || !bytes.Equal(back, in) {
			t.Fatalf("%s: %d bytes became %d, %v", format, len(in), len(back), err)
		}
		rest := bytes.NewReader(in)
		want, wantErr := plainInflate(format, rest, most)
		if len(want) >= most {
			return // a bomb
		}
		if wantErr == nil && rest.Len() > 0 {
			wantErr = errTrailing
		}
		for _, n := range []int{1 + int(size), len(in) + 1} {
			got, err := coded(format, true, in, n)
			if (err == nil) != (wantErr == nil) || !bytes.Equal(got, want) {
				t.Fatalf("%s in chunks of %d: %d bytes, %v, want %d, %v", format, n, len(got), err, len(want), wantErr)
			}
		}
	})
}

// plainInflate reads one stream of a format at once.
func plainInflate(format string, in *bytes.Reader, most int64) ([]byte, error) {
	r, err := decompressor(format, in)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, most))
}
