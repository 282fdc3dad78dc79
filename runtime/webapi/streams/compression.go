package streams

import (
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"iter"
	"runtime"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

var errTrailing = errors.New("data after the end")

// errNoRoom says that a codec was stopped: its worker is, or has no memory for what follows.
var errNoRoom = errors.New("no room for the result")

// compressor is one direction of a compression format, fed in pieces.
// Loop-confined.
type compressor interface {
	// code takes a piece and writes what it can tell now; last ends the input.
	code(out *pieces, piece []byte, last bool) error
}

// newCompressor makes a codec. room is asked now and then whether a step may go on and
// take so many bytes more: a few megabytes decompress to gigabytes.
func newCompressor(format string, decompress bool, room func(bytes int) bool) compressor {
	if decompress {
		x := &inflation{format: format, room: room}
		x.next, x.stop = iter.Pull(iter.Seq[struct{}](x.run))
		c := &inflater{x}
		runtime.AddCleanup(c, func(stop func()) { stop() }, x.stop)
		return c
	}
	d := &deflater{room: room}
	switch format {
	case "gzip":
		d.w = gzip.NewWriter(&d.out)
	case "deflate":
		d.w = zlib.NewWriter(&d.out)
	default:
		d.w, _ = flate.NewWriter(&d.out, flate.DefaultCompression) // the level is valid
	}
	return d
}

type deflater struct {
	out  sink
	w    io.WriteCloser
	room func(bytes int) bool
}

// sink is where a deflater's output goes at the moment.
type sink struct{ to *pieces }

// Write implements io.Writer.
func (s *sink) Write(b []byte) (int, error) { return s.to.Write(b) }

// deflateStep is how much is compressed between two looks at the limits.
const deflateStep = 256 << 10

func (d *deflater) code(out *pieces, piece []byte, last bool) error {
	d.out.to = out
	for len(piece) > 0 {
		n := min(len(piece), deflateStep)
		if _, err := d.w.Write(piece[:n]); err != nil {
			return err
		}
		if piece = piece[n:]; len(piece) > 0 && !d.room(2*mostBlock) {
			return errNoRoom
		}
	}
	if last {
		return d.w.Close()
	}
	return nil
}

// inflater is what JavaScript holds; when it is dropped, the coroutine ends.
type inflater struct{ *inflation }

// inflation runs a reader of the standard library as a coroutine, which yields
// whenever it has used up its input: those readers cannot be resumed otherwise.
type inflation struct {
	format string
	room   func(bytes int) bool
	in     []byte
	last   bool
	out    *pieces // nil but in code
	err    error
	next   func() (struct{}, bool)
	stop   func()
}

// inputOf is the input side, as the coroutine sees it.
type inputOf struct {
	x     *inflation
	yield func(struct{}) bool
}

// Read implements io.Reader.
func (r inputOf) Read(b []byte) (int, error) {
	for len(r.x.in) == 0 {
		if r.x.last {
			return 0, io.EOF
		}
		if !r.yield(struct{}{}) {
			return 0, io.ErrClosedPipe
		}
	}
	n := copy(b, r.x.in)
	r.x.in = r.x.in[n:]
	return n, nil
}

// ReadByte implements io.ByteReader, so that nothing is read ahead.
func (r inputOf) ReadByte() (byte, error) {
	var b [1]byte
	_, err := r.Read(b[:])
	return b[0], err
}

// byteReader is what a decompressor reads without reading ahead.
type byteReader interface {
	io.Reader
	io.ByteReader
}

// gzipMagic reads the first two bytes: what does not begin with them is refused
// before the rest of a head is there.
func gzipMagic(in byteReader) ([]byte, error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, err
	}
	if head[0] != 0x1f || head[1] != 0x8b {
		return nil, gzip.ErrHeader
	}
	return head, nil
}

// prefixed reads head, then the rest.
type prefixed struct {
	byteReader
	head []byte
}

func (r *prefixed) Read(b []byte) (int, error) {
	if len(r.head) == 0 {
		return r.byteReader.Read(b)
	}
	n := copy(b, r.head)
	r.head = r.head[n:]
	return n, nil
}

func (r *prefixed) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(r, b[:])
	return b[0], err
}

// decompressor reads one stream of a format. It may read the stream's head at once.
func decompressor(format string, in byteReader) (io.Reader, error) {
	switch format {
	case "gzip":
		head, err := gzipMagic(in)
		if err != nil {
			return nil, err
		}
		z, err := gzip.NewReader(&prefixed{in, head})
		if err != nil {
			return nil, err
		}
		z.Multistream(false)
		return z, nil
	case "deflate":
		return zlib.NewReader(in)
	default:
		return flate.NewReader(in), nil
	}
}

func (x *inflation) run(yield func(struct{}) bool) {
	r, err := decompressor(x.format, inputOf{x, yield})
	if err == io.EOF {
		err = io.ErrUnexpectedEOF // an empty input is no stream of its format
	}
	chunk, made := make([]byte, 16<<10), 0
	for err == nil {
		n := 0
		// While it reads, the reader may yield, and what has been told so far be taken.
		if n, err = r.Read(chunk); n > 0 && x.out != nil {
			_, _ = x.out.Write(chunk[:n]) // which does not fail
		}
		if made += n; made >= mostBlock && err == nil {
			if made = 0; !x.room(2 * mostBlock) {
				err = errNoRoom
			}
		}
	}
	if err != io.EOF {
		x.err = err
	}
}

func (x *inflation) code(out *pieces, piece []byte, last bool) error {
	x.in, x.last, x.out = piece, last, out
	_, more := x.next()
	if x.err == nil && !more && len(x.in) > 0 {
		x.err = errTrailing
	}
	if x.err != nil || last {
		x.stop()
	}
	x.out = nil
	return x.err
}

// recoding is a CompressionStream or DecompressionStream: what is written is coded at
// once, and waits, joined, for who reads (workerd: src/workerd/api/streams/compression.c++).
// Loop-confined.
type recoding struct {
	p      *Streams
	c      *controller // of the readable side
	w      *writable
	coder  compressor
	out    pieces           // coded, and read by nobody yet
	ended  bool             // nothing follows
	pulled *engine.Deferred // nil: nobody reads
	broken goja.Value       // what the next write fails with, nil: it does not
}

func (p *Streams) newRecoding(c compressor) *mapping {
	x := &recoding{p: p, coder: c}
	s := p.create(readableOptions{bytes: true, pull: x.pull, cancel: x.cancel})
	s.single = true
	x.c = s.controller
	x.w = p.createWritable(sinkOf{write: x.write, close: x.close, abort: x.abort, refuses: p.refusesBytes}, 1, p.weightless, nil)
	x.w.internal = true
	return &mapping{transform: transform{p: p, readable: s, writable: x.w}}
}

// code feeds the codec; what it tells is there to be read even if it fails then.
func (x *recoding) code(piece []byte, last bool) *engine.Deferred {
	err := x.coder.code(&x.out, piece, last)
	if err == nil {
		x.ended = last
		x.deliver()
		return x.p.void
	}
	text := "Decompression failed."
	switch {
	case errors.Is(err, errTrailing):
		text = "Trailing bytes after end of compressed data"
	case errors.Is(err, errNoRoom):
		text = "The result does not fit into the worker's memory."
	case last && errors.Is(err, io.ErrUnexpectedEOF):
		text = "Called close() on a decompression stream with incomplete data"
	}
	reason := x.p.typeError(text)
	x.fail(reason)
	return x.p.Engine.Promises.Rejected(reason)
}

// deliver hands over what was coded to who reads, as much as one read gives.
func (x *recoding) deliver() {
	pulled := x.pulled
	if pulled == nil || x.out.size == 0 && !x.ended {
		return
	}
	x.pulled = nil
	if n := x.out.size; n > 0 {
		if x.c.pending.empty() {
			n = min(n, maxRead)
		} else {
			d := *x.c.pending.first()
			n = min(n, d.len-d.filled)
		}
		x.c.give(x.out.take(n))
	} else {
		x.c.end()
	}
	pulled.Fulfil(goja.Undefined())
}

func (x *recoding) pull() *engine.Deferred {
	pulled := x.p.Engine.Promises.New()
	x.pulled = pulled
	x.deliver()
	return pulled
}

// fail breaks the readable side.
func (x *recoding) fail(reason goja.Value) {
	x.broken = reason
	x.out, x.pulled = pieces{}, nil
	x.c.fail(reason)
}

func (x *recoding) abort(reason goja.Value) *engine.Deferred {
	x.fail(x.p.carried(reason))
	return x.p.void
}

// cancel lets the writer learn of it with its next write, unless whoever the bytes
// went to is gone.
func (x *recoding) cancel(reason goja.Value) *engine.Deferred {
	x.out, x.pulled, x.broken = pieces{}, nil, x.p.carried(reason)
	if x.c.stream.lost {
		x.broken = reason
		x.w.fail(reason)
	}
	return x.p.void
}

func (x *recoding) write(chunk goja.Value) *engine.Deferred {
	if x.broken != nil {
		return x.p.Engine.Promises.Rejected(x.broken)
	}
	data, _ := x.p.chunkCopy(chunk)
	if len(data) == 0 {
		return x.p.void
	}
	return x.code(data, false)
}

func (x *recoding) close() *engine.Deferred {
	if x.broken != nil {
		return x.p.Engine.Promises.Rejected(x.broken)
	}
	return x.code(nil, true)
}

// defineCompression is CompressionStream or DecompressionStream (Compression,
// sections 4 and 5).
func defineCompression(p *Streams, name string, decompress bool) *engine.Class[*mapping] {
	return mappingClass(p, name, func(call goja.ConstructorCall) *mapping {
		if len(call.Arguments) == 0 {
			p.Engine.Throw("TypeError", "Failed to construct '%s': constructor parameter 1 is not of type 'string'.", name)
		}
		format := p.DOMString(call.Argument(0))
		if format != "gzip" && format != "deflate" && format != "deflate-raw" {
			p.Engine.Throw("TypeError", "The compression format must be either 'deflate', 'deflate-raw' or 'gzip'.")
		}
		p.Engine.IO(name)
		return p.newRecoding(newCompressor(format, decompress, p.Engine.Memory.Allows))
	})
}
