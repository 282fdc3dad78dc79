package zlib

import (
	"errors"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"io"
	"iter"
	"math/bits"
	"reflect"
	"runtime"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/dop251/goja"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
	"minido.dev/minido/internal/stepwise"
	"minido.dev/minido/runtime/nodeapi/node"
)

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
	sum    hash.Hash32 // of the format that is being read, or nil
	total  uint32      // bytes put out by a member of gzip
	over   bool
	ended  bool // a whole stream was read: what is wrong with the rest does not matter
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

// fill waits for a piece, if nothing of the last one is left.
func (d *decoding) fill() error {
	for len(d.in) == 0 {
		if d.last {
			return io.EOF
		}
		if !d.yield(struct{}{}) {
			return io.ErrClosedPipe
		}
	}
	return nil
}

// Read implements io.Reader over the pieces.
func (d *decoding) Read(b []byte) (int, error) {
	if err := d.fill(); err != nil {
		return 0, err
	}
	n := copy(b, d.in)
	d.in = d.in[n:]
	return n, nil
}

// ReadByte implements io.ByteReader, so that nothing is read ahead.
func (d *decoding) ReadByte() (byte, error) {
	if err := d.fill(); err != nil {
		return 0, err
	}
	b := d.in[0]
	d.in = d.in[1:]
	return b, nil
}

func (d *decoding) run(yield func(struct{}) bool) {
	d.yield = yield
	err := d.decode()
	if d.over = true; err != nil && !d.ended {
		d.err = err
	}
}

// maxZstdWindow is the largest window that zstd's decoder takes by default
// (ZSTD_WINDOWLOG_LIMIT_DEFAULT): a few bytes of input ask for so much memory.
const maxZstdWindow = 1 << 27

// copy reads a decompressor to its end.
func (d *decoding) copy(r io.Reader) error {
	for chunk := make([]byte, 16<<10); ; {
		if free := cap(d.out) - len(d.out); free < len(chunk) {
			more := max(len(d.out), 4*len(chunk))
			if !d.o.room(len(d.out) + more) {
				return errTooLarge
			}
			d.out = stepwise.Grow(d.out, more)
		}
		n, err := r.Read(chunk)
		if d.sum != nil {
			d.sum.Write(chunk[:n])
			d.total += uint32(n)
		}
		if d.out = append(d.out, chunk[:n]...); len(d.out) > d.o.limit {
			return errTooLarge
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// decode reads one stream, or the members of a gzip file.
func (d *decoding) decode() error {
	format := d.format
	switch format {
	case "brotlidecompress":
		err := d.copy(brotli.NewReader(d))
		d.ended = err != nil && err.Error() == "brotli: excessive input"
		return err
	case "zstddecompress":
		r, err := zstd.NewReader(d, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return err
		}
		defer r.Close()
		err = d.copy(r)
		d.ended = len(d.out) > 0 && errors.Is(err, zstd.ErrMagicMismatch)
		return err
	case "inflateraw":
		return d.inflate(d.o.dictionary)
	}
	first, err := d.ReadByte()
	if err != nil {
		return err
	}
	if format == "unzip" {
		if format = "inflate"; first == 0x1f {
			format = "gunzip"
		}
	}
	if format == "inflate" {
		return d.wrapped(first)
	}
	for {
		if err := d.member(first); err != nil {
			return err
		}
		// Zeros after a member are padding; anything else begins the next one.
		d.ended = true
		if first, err = d.ReadByte(); err != nil || first == 0 {
			return nil
		}
		d.ended = false
	}
}

// inflate reads DEFLATE data to its end.
func (d *decoding) inflate(dictionary []byte) error {
	first := -1
	err := d.copy(flate.NewReaderDict(&firstByte{decoding: d, first: &first}, dictionary))
	var corrupt flate.CorruptInputError
	if !errors.As(err, &corrupt) {
		return err
	}
	return dataError([...]string{"invalid stored block lengths", "invalid distance too far back", "invalid code lengths set", "invalid block type"}[first>>1&3])
}

// firstByte remembers where DEFLATE data began: the kind of its first block.
type firstByte struct {
	*decoding
	first *int
}

// ReadByte implements io.ByteReader.
func (f *firstByte) ReadByte() (byte, error) {
	b, err := f.decoding.ReadByte()
	if *f.first < 0 && err == nil {
		*f.first = int(b)
	}
	return b, err
}

// dataError is what zlib finds wrong with its input.
type dataError string

// Error implements error.
func (e dataError) Error() string { return string(e) }

const (
	errHeader     = dataError("incorrect header check")
	errMethod     = dataError("unknown compression method")
	errCheck      = dataError("incorrect data check")
	errDictionary = node.TextError("Missing dictionary")
	errWrongDict  = node.TextError("Bad dictionary")
)

// number reads n bytes as a little-endian number.
func (d *decoding) number(n int) (v uint32, err error) {
	for i := range n {
		b, err := d.ReadByte()
		if err != nil {
			return 0, err
		}
		v |= uint32(b) << (8 * i)
	}
	return v, nil
}

// wrapped reads the zlib format (RFC 1950) after its first byte.
func (d *decoding) wrapped(first byte) error {
	second, err := d.ReadByte()
	switch {
	case err != nil:
		return err
	case (int(first)<<8+int(second))%31 != 0:
		return errHeader
	case first&15 != 8:
		return errMethod
	case first>>4 > 7:
		return dataError("invalid window size")
	}
	var dictionary []byte
	if second&0x20 != 0 {
		id, err := d.number(4)
		if err != nil {
			return err
		}
		if dictionary = d.o.dictionary; len(dictionary) == 0 {
			return errDictionary
		}
		if bits.ReverseBytes32(id) != adler32.Checksum(dictionary) {
			return errWrongDict
		}
	}
	d.sum = adler32.New()
	defer func() { d.sum = nil }()
	if err := d.inflate(dictionary); err != nil {
		return err
	}
	sum, err := d.number(4)
	if err == nil && bits.ReverseBytes32(sum) != d.sum.Sum32() {
		err = errCheck
	}
	return err
}

// member reads one member of a gzip file (RFC 1952) after its first byte.
func (d *decoding) member(first byte) error {
	head := []byte{first}
	read := func(n int) error {
		for range n {
			b, err := d.ReadByte()
			if err != nil {
				return err
			}
			head = append(head, b)
		}
		return nil
	}
	if err := read(1); err != nil {
		return err
	}
	if first != 0x1f || head[1] != 0x8b {
		return errHeader
	}
	if err := read(2); err != nil {
		return err
	}
	flags := head[3]
	if head[2] != 8 {
		return errMethod
	}
	if flags&0xe0 != 0 {
		return dataError("unknown header flags set")
	}
	if err := d.gzipFields(flags, &head, read); err != nil {
		return err
	}
	d.sum = crc32.NewIEEE()
	d.total = 0
	defer func() { d.sum = nil }()
	if err := d.inflate(nil); err != nil {
		return err
	}
	sum, err := d.number(4)
	if err != nil {
		return err
	}
	if sum != d.sum.Sum32() {
		return errCheck
	}
	size, err := d.number(4)
	if err == nil && size != d.total {
		err = dataError("incorrect length check")
	}
	return err
}

// gzipFields skips time and system, and the fields that the flags announce.
func (d *decoding) gzipFields(flags byte, head *[]byte, read func(n int) error) error {
	err := read(6)
	if err == nil && flags&4 != 0 {
		if err = read(2); err == nil {
			h := *head
			err = read(int(h[len(h)-2]) | int(h[len(h)-1])<<8)
		}
	}
	for _, named := range []byte{8, 16} { // name, comment
		for err == nil && flags&named != 0 {
			if err = read(1); err == nil && (*head)[len(*head)-1] == 0 {
				break
			}
		}
	}
	if err == nil && flags&2 != 0 {
		want := crc32.ChecksumIEEE(*head) & 0xffff
		var got uint32
		if got, err = d.number(2); err == nil && got != want {
			err = dataError("header crc mismatch")
		}
	}
	return err
}

// zlibOnceError words a failure of a one-shot function, which has no code.
func (m *module) zlibOnceError(k coder, err error) *goja.Object {
	if errors.Is(err, errTooLarge) {
		return m.NewError("RangeError", "", err.Error())
	}
	failure := failureOf(err)
	if d, ok := k.(*decoder); ok && d.format == "brotlidecompress" && failure.code == "Z_BUF_ERROR" {
		failure.text = "Unexpected end of file"
	}
	return m.NewError("Error", "", failure.text)
}

// zlibError words a failure of a stream, with its code and number.
func (m *module) zlibError(_ coder, err error) *goja.Object {
	if errors.Is(err, errTooLarge) {
		return m.NewError("RangeError", "ERR_BUFFER_TOO_LARGE", err.Error())
	}
	failure := failureOf(err)
	e := m.NewError("Error", failure.code, failure.text)
	m.Define(e, "errno", m.VM.ToValue(failure.number))
	return e
}

// failure is what zlib, brotli or zstd says of data.
type failure struct {
	text, code string
	number     int
}

func failureOf(err error) failure {
	text, code, number := err.Error(), "Z_DATA_ERROR", -3
	var data dataError
	switch {
	case errors.As(err, &data):
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		text, code, number = "unexpected end of file", "Z_BUF_ERROR", -5
	case errors.Is(err, errDictionary), errors.Is(err, errWrongDict):
		code, number = "Z_NEED_DICT", 2
	case strings.HasPrefix(text, "brotli: "):
		code = "ERR__ERROR_FORMAT_" + strings.TrimPrefix(text, "brotli: ")
		text, number = "Compression failed", -1 // the reference's text for both directions
		if v := reflect.ValueOf(err); v.Kind() == reflect.Int {
			number = int(v.Int()) // the library's decodeError is brotli's number
		}
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		text, code, number = "Zstd decompression failed: Frame requires too much memory for decoding", "ERR_ZSTD_DECOMPRESSION_FAILED", -1
	case errors.Is(err, zstd.ErrMagicMismatch):
		text, code, number = "Zstd decompression failed: Unknown frame descriptor", "ERR_ZSTD_DECOMPRESSION_FAILED", -1
	default: // of zstd, whose other errors are not told apart
		text, code, number = "Zstd decompression failed: Data corruption detected", "ERR_ZSTD_DECOMPRESSION_FAILED", -1
	}
	return failure{text, code, number}
}

func (d *decoding) code(piece []byte, how coderStep) ([]byte, error) {
	last := how == coderLast || how == coderCut
	if !d.over && d.err == nil {
		d.in, d.last = piece, last
		d.next()
	}
	if how == coderCut && (errors.Is(d.err, io.EOF) || errors.Is(d.err, io.ErrUnexpectedEOF)) {
		d.err = nil
	}
	if d.err != nil || last {
		d.stop()
	}
	out := d.out
	d.out = nil
	return out, d.err
}
