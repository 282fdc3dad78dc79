package nodeapi

import (
	"bytes"
	"errors"
	"hash/adler32"
	"hash/crc32"
	"io"
	"iter"
	"runtime"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/dop251/goja"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"minido.dev/minido/runtime/engine"
)

// coder is one direction of a compression format, fed in pieces. Loop-confined.
type coder interface {
	// code takes a piece and returns what it can tell now.
	code(piece []byte, how coderStep) ([]byte, error)
}

// coderStep says what follows a piece.
type coderStep int

const (
	coderMore  coderStep = iota // more pieces
	coderFlush                  // more pieces, but all that was given must be readable
	coderLast                   // nothing
)

// coderOptions are those of zlib's and brotli's options that matter here;
// window, memory and strategy only steer the size of the output.
type coderOptions struct {
	level      int
	dictionary []byte
	limit      int // bytes of output
}

// maxZlibOutput bounds what one call decompresses: an isolate's memory.
const maxZlibOutput = 128 << 20

// errTooLarge says that the output exceeds its limit.
const errTooLarge = textError("Memory limit exceeded")

// zlibModule are the natives of js/zlib.js (nodejs.org/api/zlib.html).
func zlibModule(m *Modules) []engine.Func {
	return []engine.Func{
		{Name: "coder", Length: 5, Fn: func(c goja.FunctionCall) goja.Value {
			o := coderOptions{level: int(toInt64(c.Argument(2))), limit: maxZlibOutput}
			if v := c.Argument(4); isNumber(v) && v.ToFloat() < maxZlibOutput {
				o.limit = int(v.ToFloat())
			}
			if b, ok := m.bytes(c.Argument(3)); ok {
				o.dictionary = append([]byte(nil), b...)
			}
			k, err := newCoder(c.Argument(1).String(), o)
			if err != nil {
				m.throw("Error", "ERR_INVALID_ARG_VALUE", "%v", err)
			}
			m.engine.Attach(c.Argument(0).(*goja.Object), k)
			return goja.Undefined()
		}},
		{Name: "code", Length: 3, Fn: m.zlibCode},
		{Name: "crc32", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			return m.vm.ToValue(int64(crc32.Update(uint32(toInt64(c.Argument(1))), crc32.IEEETable, m.zlibInput(c.Argument(0)))))
		}},
		{Name: "input", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			m.zlibInput(c.Argument(0))
			return goja.Undefined()
		}},
	}
}

func (m *Modules) zlibInput(v goja.Value) []byte {
	if s, ok := v.(goja.String); ok {
		return []byte(s.String())
	}
	b, ok := m.bytes(v)
	if !ok {
		m.throwArgType("buffer", "of type string or an instance of Buffer, TypedArray, DataView, or ArrayBuffer", v)
	}
	return b
}

// zlibCode is (state, data, step).
func (m *Modules) zlibCode(c goja.FunctionCall) goja.Value {
	k, ok := m.engine.Attached(c.Argument(0)).(coder)
	if !ok {
		m.throw("Error", "ERR_ZLIB_INITIALIZATION_FAILED", "Initialization failed")
	}
	var data []byte
	if v := c.Argument(1); !absent(v) && !goja.IsNull(v) {
		data = m.zlibInput(v)
	}
	out, err := k.code(data, coderStep(c.Argument(2).ToInteger()))
	if err != nil {
		panic(m.zlibError(err))
	}
	return m.newBuffer(out)
}

// zlibError words a failure as zlib does, with its code and number.
func (m *Modules) zlibError(err error) *goja.Object {
	if errors.Is(err, errTooLarge) {
		return m.newError("RangeError", "ERR_BUFFER_TOO_LARGE", err.Error())
	}
	text, code, number := "invalid stored block lengths", "Z_DATA_ERROR", -3
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		text, code, number = "unexpected end of file", "Z_BUF_ERROR", -5
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, zlib.ErrHeader):
		text = "incorrect header check"
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, zlib.ErrChecksum):
		text = "incorrect data check"
	case errors.Is(err, zlib.ErrDictionary):
		text, code, number = "Missing dictionary", "Z_NEED_DICT", 2
	case strings.HasPrefix(err.Error(), "brotli"):
		text, code, number = "Decompression failed", "ERR__ERROR_FORMAT_PADDING_1", -1
	case strings.Contains(err.Error(), "magic number"):
		text, code, number = "Unknown frame descriptor", "ZSTD_error_prefix_unknown", -10
	}
	e := m.newError("Error", code, text)
	m.define(e, "errno", m.vm.ToValue(number))
	return e
}

func newCoder(format string, o coderOptions) (coder, error) {
	switch format {
	case "gunzip", "inflate", "inflateraw", "unzip", "brotlidecompress", "zstddecompress":
		return newDecoder(format, o), nil
	}
	c := &encoder{}
	var err error
	switch format {
	case "gzip":
		var w *gzip.Writer
		if w, err = gzip.NewWriterLevel(&c.out, o.level); err == nil {
			w.OS = 3 // as zlib on Unix
		}
		c.w = w
	case "deflate":
		c.w, err = zlib.NewWriterLevelDict(&c.out, o.level, o.dictionary)
	case "deflateraw":
		c.w, err = flate.NewWriterDict(&c.out, o.level, o.dictionary)
	case "brotlicompress":
		c.w = brotli.NewWriterLevel(&c.out, o.level)
	case "zstdcompress":
		c.w, err = zstd.NewWriter(&c.out, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(o.level)))
	default:
		err = errors.New("unknown format " + format)
	}
	return c, err
}

type encoder struct {
	out bytes.Buffer
	w   interface {
		io.WriteCloser
		Flush() error
	}
}

func (c *encoder) code(piece []byte, how coderStep) ([]byte, error) {
	if _, err := c.w.Write(piece); err != nil {
		return nil, err
	}
	var err error
	switch how {
	case coderLast:
		err = c.w.Close()
	case coderFlush:
		err = c.w.Flush()
	}
	out := bytes.Clone(c.out.Bytes())
	c.out.Reset()
	return out, err
}

// decoder is what JavaScript holds; when it is dropped, the coroutine ends.
type decoder struct{ *decoding }

// decoding runs a reader as a coroutine, which yields when it has used up its
// input: decompressors are readers and could not be resumed otherwise.
type decoding struct {
	format string
	o      coderOptions
	in     []byte
	last   bool
	out    []byte
	err    error
	over   bool
	next   func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
}

func newDecoder(format string, o coderOptions) *decoder {
	d := &decoding{format: format, o: o}
	d.next, d.stop = iter.Pull(iter.Seq[struct{}](d.run))
	c := &decoder{d}
	runtime.AddCleanup(c, func(stop func()) { stop() }, d.stop)
	return c
}

// Read implements io.Reader over the pieces.
func (d *decoding) Read(b []byte) (int, error) {
	for len(d.in) == 0 {
		if d.last {
			return 0, io.EOF
		}
		if !d.yield(struct{}{}) {
			return 0, io.ErrClosedPipe
		}
	}
	n := copy(b, d.in)
	d.in = d.in[n:]
	return n, nil
}

// ReadByte implements io.ByteReader, so that nothing is read ahead.
func (d *decoding) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(d, b[:])
	return b[0], err
}

func (d *decoding) run(yield func(struct{}) bool) {
	d.yield = yield
	r, err := d.reader()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	chunk := make([]byte, 16<<10)
	for err == nil {
		var n int
		n, err = r.Read(chunk)
		if d.out = append(d.out, chunk[:n]...); len(d.out) > d.o.limit {
			err = errTooLarge
		}
	}
	if d.over = true; !errors.Is(err, io.EOF) {
		d.err = err
	}
}

// pieces is the input with the bytes put back that told the format.
type pieces struct {
	*decoding
	head []byte
}

// Read implements io.Reader.
func (p *pieces) Read(b []byte) (int, error) {
	if len(p.head) > 0 {
		n := copy(b, p.head)
		p.head = p.head[n:]
		return n, nil
	}
	return p.decoding.Read(b)
}

// ReadByte implements io.ByteReader.
func (p *pieces) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(p, b[:])
	return b[0], err
}

// reader begins to decompress. Headers are judged by their first bytes, as
// zlib does, which does not wait for the rest.
func (d *decoding) reader() (io.Reader, error) {
	in := &pieces{decoding: d}
	format := d.format
	switch format {
	case "gunzip", "inflate", "unzip":
		first, err := d.ReadByte()
		if err != nil {
			return nil, err
		}
		if format == "unzip" {
			if format = "inflate"; first == 0x1f {
				format = "gunzip"
			}
		}
		if format == "gunzip" && first != 0x1f || format == "inflate" && first&0x0f != 8 {
			return nil, gzip.ErrHeader
		}
		in.head = []byte{first}
	}
	switch format {
	case "gunzip":
		return gzip.NewReader(in)
	case "inflate":
		return zlib.NewReaderDict(in, d.dictionary())
	case "inflateraw":
		return flate.NewReaderDict(in, d.o.dictionary), nil
	case "brotlidecompress":
		return brotli.NewReader(in), nil
	}
	return zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
}

// dictionary is nil rather than empty, so that none is expected.
func (d *decoding) dictionary() []byte {
	if len(d.o.dictionary) == 0 || adler32.Checksum(d.o.dictionary) == 1 {
		return nil
	}
	return d.o.dictionary
}

func (d *decoding) code(piece []byte, how coderStep) ([]byte, error) {
	if !d.over && d.err == nil {
		d.in, d.last = piece, how == coderLast
		d.next()
	}
	if d.err != nil || how == coderLast {
		d.stop()
	}
	out := d.out
	d.out = nil
	return out, d.err
}
