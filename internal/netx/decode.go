package netx

import (
	"bufio"
	"errors"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"

	"minido.dev/minido/runtime/event"
)

// decoder undoes a Content-Encoding as it is read. The decompressor is made at
// the first read, for it wants to see bytes.
type decoder struct {
	src  arriving
	open func(io.Reader) (io.Reader, error)
	name string // in the text of a failure
	r    io.Reader
	err  error
}

// arriving remembers how the bytes ended, and whether there were any.
type arriving struct {
	io.ReadCloser
	err  error
	came bool
}

// Read implements io.Reader.
func (a *arriving) Read(p []byte) (n int, err error) {
	n, err = a.ReadCloser.Read(p)
	a.err, a.came = err, a.came || n > 0
	return n, err
}

// decode returns src decoded, or false for an encoding that is left as it is:
// every one but these, spelled like this (workerd: api/util.h, getContentEncoding).
func decode(src io.ReadCloser, encoding string) (io.ReadCloser, bool) {
	d := &decoder{src: arriving{ReadCloser: src}}
	switch encoding {
	case "gzip":
		d.name, d.open = "Gzip", openGzip
	case "br":
		d.name, d.open = "Brotli", func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }
	default:
		return nil, false
	}
	return d, true
}

// Read implements io.Reader. Errors: that of the connection, or a TypeError for
// bytes that are not of the encoding, or end too early (workerd:
// api/system-streams.c++, EncodedAsyncInputStream). No bytes at all are no body.
func (d *decoder) Read(p []byte) (n int, err error) {
	if d.r == nil && d.err == nil {
		if d.r, d.err = d.open(&d.src); d.err != nil {
			d.r = nil // not a reader that is nil
			if errors.Is(d.err, io.EOF) && d.src.came {
				d.err = io.ErrUnexpectedEOF
			}
		}
	}
	if n, err = 0, d.err; err == nil {
		n, err = d.r.Read(p)
	}
	switch {
	case err == nil, err == io.EOF:
		return n, err
	case d.src.err != nil && !errors.Is(d.src.err, io.EOF):
		return n, d.src.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return n, &event.Error{Name: "TypeError", Message: d.name + " compressed stream ended prematurely."}
	}
	return n, &event.Error{Name: "TypeError", Message: d.name + " decompression failed."}
}

// Close implements io.Closer.
func (d *decoder) Close() error { return d.src.Close() }

// gzipMembers reads the members of a gzip stream one after another. The library
// would do so, but takes one that ends within its header's texts for the end of all.
type gzipMembers struct {
	in *bufio.Reader
	*gzip.Reader
}

func openGzip(r io.Reader) (io.Reader, error) {
	in := bufio.NewReader(r)
	if begin, _ := in.Peek(2); len(begin) == 2 && (begin[0] != 0x1f || begin[1] != 0x8b) {
		return nil, gzip.ErrHeader // zlib says so before it misses the rest of a header
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &gzipMembers{in, z}, nil
}

// Read implements io.Reader.
func (g *gzipMembers) Read(p []byte) (n int, err error) {
	for {
		if n, err = g.Reader.Read(p); n > 0 && err == io.EOF {
			return n, nil
		}
		if err != io.EOF {
			return n, err
		}
		if _, err := g.in.Peek(1); err != nil {
			return 0, err // the end of what arrives, or of its connection
		}
		if err := g.Reset(g.in); errors.Is(err, io.EOF) {
			return 0, io.ErrUnexpectedEOF
		} else if err != nil {
			return 0, err
		}
		g.Multistream(false)
	}
}
