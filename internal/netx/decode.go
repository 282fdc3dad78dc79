package netx

import (
	"bufio"
	"compress/zlib"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

// decoder undoes a Content-Encoding as it is read. The decompressor is made at
// the first read, for it wants to see bytes.
type decoder struct {
	src  io.ReadCloser
	open func(io.Reader) (io.Reader, error)
	r    io.Reader
	err  error
}

// decode returns src decoded, or false for an encoding that is left as it is.
func decode(src io.ReadCloser, encoding string) (io.ReadCloser, bool) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "gzip", "x-gzip":
		return &decoder{src: src, open: func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }}, true
	case "br":
		return &decoder{src: src, open: func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }}, true
	case "deflate":
		return &decoder{src: src, open: openDeflate}, true
	}
	return nil, false
}

// openDeflate tells the zlib format, which "deflate" means, from the bare one
// that many servers send under that name.
func openDeflate(r io.Reader) (io.Reader, error) {
	br := bufio.NewReader(r)
	head, err := br.Peek(2)
	if err != nil {
		return nil, err
	}
	if head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
		return zlib.NewReader(br)
	}
	return flate.NewReader(br), nil
}

// Read implements io.Reader.
func (d *decoder) Read(p []byte) (int, error) {
	if d.r == nil && d.err == nil {
		d.r, d.err = d.open(d.src)
	}
	if d.err != nil {
		return 0, d.err
	}
	return d.r.Read(p)
}

// Close implements io.Closer.
func (d *decoder) Close() error { return d.src.Close() }
