package zlib

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/dop251/goja"
	"github.com/klauspost/compress/zstd"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
)

// coder is one direction of a compression format, fed in pieces. Loop-confined.
type coder interface {
	// code takes a piece and returns what it can tell now.
	code(piece []byte, how coderStep) ([]byte, error)
}

// coderStep says what follows a piece.
type coderStep int

const (
	coderMore    coderStep = iota // more pieces
	coderFlush                    // more pieces, but all that was given must be readable
	coderLast                     // nothing
	coderCut                      // nothing, and a decoder takes what there is
	coderFull                     // as coderFlush; what follows refers to nothing before it
	coderPartial                  // as coderFlush, in fewer bytes
	coderBlock                    // more pieces in another block
)

// coderOptions are those of zlib's and brotli's options that matter here.
type coderOptions struct {
	level      int
	window     int // bits, also of brotli
	memory     int // zlib's memLevel
	strategy   int // of zstd: whether to write a checksum
	dictionary []byte
	limit      int // bytes that one step may put out
	// room reports whether a step may go on and take so many bytes more
	// (engine.MemoryLimit.Allows).
	room func(bytes int) bool
}

// stepBytes is how much is compressed between two looks for an interrupt.
const stepBytes = 256 << 10

// maxZlibOutput bounds what one step puts out: an isolate's memory.
const maxZlibOutput = 128 << 20

// errTooLarge says that the output exceeds its limit.
const errTooLarge = node.TextError("Memory limit exceeded")

// zlibModule are the natives of js/zlib.js (nodejs.org/api/zlib.html).
func zlibModule(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	return []engine.Func{
		{Name: "coder", Length: 8, Fn: func(c goja.FunctionCall) goja.Value {
			o := coderOptions{level: int(node.ToInt64(c.Argument(2))), limit: maxZlibOutput, window: int(node.ToInt64(c.Argument(5))), strategy: int(node.ToInt64(c.Argument(6))), memory: int(node.ToInt64(c.Argument(7)))}
			o.room = m.Engine.Memory.Allows
			if v := c.Argument(4); node.IsNumber(v) && v.ToFloat() < maxZlibOutput {
				o.limit = int(v.ToFloat())
			}
			if b, ok := m.Bytes(c.Argument(3)); ok {
				o.dictionary = append([]byte(nil), b...)
			}
			k, err := newCoder(c.Argument(1).String(), o)
			if err != nil {
				m.Throw("Error", "ERR_INVALID_ARG_VALUE", "%v", err)
			}
			m.Engine.Attach(c.Argument(0).(*goja.Object), k)
			return goja.Undefined()
		}},
		{Name: "code", Length: 3, Fn: func(c goja.FunctionCall) goja.Value { return m.zlibCode(c, m.zlibError) }},
		{Name: "codeOnce", Length: 3, Fn: func(c goja.FunctionCall) goja.Value { return m.zlibCode(c, m.zlibOnceError) }},
		{Name: "params", Length: 3, Fn: func(c goja.FunctionCall) goja.Value {
			if k, ok := m.Engine.Attached(c.Argument(0)).(*deflater); ok {
				k.tune(int(node.ToInt64(c.Argument(1))), int(node.ToInt64(c.Argument(2))))
			}
			return goja.Undefined()
		}},
		{Name: "crc32", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			return m.VM.ToValue(int64(crc32.Update(uint32(node.ToInt64(c.Argument(1))), crc32.IEEETable, m.zlibInput(c.Argument(0), "crc32"))))
		}},
		{Name: "input", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			m.zlibInput(c.Argument(0), c.Argument(1).String())
			return goja.Undefined()
		}},
	}
}

// zlibInput is the data of a function of the reference's native code.
func (m *module) zlibInput(v goja.Value, function string) []byte {
	if s, ok := v.(goja.String); ok {
		return []byte(s.String())
	}
	b, ok := m.Bytes(v)
	if !ok {
		m.Throw("TypeError", "", "Failed to execute '%s' on 'ZlibUtil': parameter 1 is not of type 'string or ArrayBuffer or ArrayBufferView'.", function)
	}
	return b
}

// zlibCode is (state, data, step); worded makes the error of a failure.
func (m *module) zlibCode(c goja.FunctionCall, worded func(coder, error) *goja.Object) goja.Value {
	k, ok := m.Engine.Attached(c.Argument(0)).(coder)
	if !ok {
		m.Throw("Error", "ERR_ZLIB_INITIALIZATION_FAILED", "Initialization failed")
	}
	var data []byte
	if v := c.Argument(1); !node.Absent(v) && !goja.IsNull(v) {
		data = m.zlibInput(v, "zlib")
	}
	out, err := k.code(data, coderStep(c.Argument(2).ToInteger()))
	if err != nil {
		m.Engine.Natives.Pause() // it may be why
		panic(worded(k, err))
	}
	return m.NewBuffer(out)
}

func newCoder(format string, o coderOptions) (coder, error) {
	c := &encoder{limit: o.limit, room: o.room}
	switch format {
	case "gunzip", "inflate", "inflateraw", "unzip", "brotlidecompress", "zstddecompress":
		return newDecoder(format, o), nil
	case "gzip", "deflate", "deflateraw":
		return &deflater{format: format, o: o, sum: adler32.New()}, nil
	case "brotlicompress":
		c.w = brotli.NewWriterOptions(&c.out, brotli.WriterOptions{Quality: o.level, LGWin: o.window})
		return c, nil
	case "zstdcompress":
		w, err := zstd.NewWriter(&c.out, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(o.level)),
			zstd.WithEncoderCRC(o.strategy != 0), zstd.WithZeroFrames(true), zstd.WithSingleSegment(true))
		c.w = w
		return &zstdEncoder{encoder: c, all: w.EncodeAll}, err
	}
	return nil, errors.New("unknown format " + format)
}

// compressor is a format's writer.
type compressor interface {
	io.WriteCloser
	Flush() error
}

// encoder compresses with a writer of a format. Loop-confined.
type encoder struct {
	room   func(bytes int) bool
	out    bytes.Buffer
	w      compressor
	limit  int
	closed bool
}

func (c *encoder) code(piece []byte, how coderStep) ([]byte, error) {
	if c.closed {
		return nil, nil
	}
	for len(piece) > 0 {
		n := min(len(piece), stepBytes)
		if _, err := c.w.Write(piece[:n]); err != nil {
			return nil, err
		}
		if piece = piece[n:]; len(piece) > 0 && !c.room(0) {
			return nil, errTooLarge
		}
	}
	return c.finish(how)
}

// zstdEncoder tells the size of what it is given in one piece. Loop-confined.
type zstdEncoder struct {
	*encoder
	all     func(src, dst []byte) []byte
	started bool
}

func (c *zstdEncoder) code(piece []byte, how coderStep) ([]byte, error) {
	if how == coderLast && !c.started && !c.closed {
		c.closed = true
		c.out.Write(c.all(piece, nil))
		return c.finish(coderMore)
	}
	c.started = true
	return c.encoder.code(piece, how)
}

// finish does what follows a piece and takes the output.
func (c *encoder) finish(how coderStep) (out []byte, err error) {
	switch how {
	case coderLast:
		err = c.w.Close()
		c.closed = true
	case coderMore:
	default:
		err = c.w.Flush()
	}
	if err == nil && c.out.Len() > c.limit {
		err = errTooLarge
	}
	out = bytes.Clone(c.out.Bytes())
	c.out.Reset()
	return out, err
}

// deflater writes the three formats around DEFLATE (RFC 1950, 1951, 1952),
// whose level can change between two pieces. Loop-confined.
type deflater struct {
	format string
	o      coderOptions
	state  *deflateState // nil before the first piece
	head   []byte        // not put out yet
	closed bool
	sum    hash.Hash32 // adler32, of deflate
	crc    uint32      // of gzip
	size   uint32
}

func (c *deflater) code(piece []byte, how coderStep) ([]byte, error) {
	if c.closed {
		return nil, nil
	}
	if c.state == nil {
		c.header()
		c.state = newDeflateState(c.o.level, c.o.strategy, c.o.window, c.o.memory)
		if c.o.level != 0 && c.format != "gzip" {
			c.state.dictionary(c.o.dictionary)
		}
	}
	switch c.format {
	case "gzip":
		c.size += uint32(len(piece))
		c.crc = crc32.Update(c.crc, crc32.IEEETable, piece)
	case "deflate":
		c.sum.Write(piece)
	}
	for ; len(piece) > stepBytes; piece = piece[stepBytes:] {
		if c.state.deflate(piece[:stepBytes], coderMore); !c.o.room(2 * len(c.state.out)) {
			return nil, errTooLarge
		}
	}
	c.state.deflate(piece, how)
	out := append(c.head, c.state.out...)
	c.head, c.state.out = nil, c.state.out[:0]
	if how == coderLast {
		c.closed = true
		switch c.format {
		case "gzip":
			out = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(out, c.crc), c.size)
		case "deflate":
			out = c.sum.Sum(out)
		}
	}
	if len(out) > c.o.limit {
		return out, errTooLarge
	}
	return out, nil
}

// tune changes level and strategy. What was given has been flushed.
func (c *deflater) tune(level, strategy int) {
	c.o.level, c.o.strategy = level, strategy
	if c.state != nil {
		c.state.tune(level, strategy)
	}
}

// header begins the format: the level tells a decoder nothing, and stands
// where zlib puts it.
func (c *deflater) header() {
	level := c.o.level
	if level < 0 {
		level = 6
	}
	fastest := level < 2 || c.o.strategy >= zHuffmanOnly
	switch c.format {
	case "gzip":
		var extra byte
		if level == 9 {
			extra = 2
		} else if fastest {
			extra = 4
		}
		c.head = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, extra, 3}
	case "deflate":
		var speed uint16
		switch {
		case fastest:
		case level < 6:
			speed = 1
		case level == 6:
			speed = 2
		default:
			speed = 3
		}
		head := uint16(8+(max(c.o.window, 9)-8)<<4)<<8 | speed<<6
		if len(c.o.dictionary) > 0 {
			head |= 0x20
		}
		c.head = binary.BigEndian.AppendUint16(nil, head+31-head%31)
		if len(c.o.dictionary) > 0 {
			c.head = binary.BigEndian.AppendUint32(c.head, adler32.Checksum(c.o.dictionary))
		}
	}
}
