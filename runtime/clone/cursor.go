package clone

import (
	"encoding/binary"
	"math"
	"math/big"
	"unicode/utf16"
)

// cursor reads the wire format's plain parts. It knows nothing of goja, so that
// tools can read stored values without a runtime.
type cursor struct {
	b           []byte
	pos         int
	version     uint32
	depth       int
	brokenViews bool // version 13 with version 14's view flags
}

// deepest is how far values may be nested when read. V8's own limit lies lower
// (see stackUnits), so all that V8 wrote can be read.
const deepest = 10_000

func (c *cursor) fail(reason string) error { return &DeserializeError{Offset: c.pos, Reason: reason} }

func (c *cursor) nest() error {
	if c.depth++; c.depth > deepest {
		return c.fail("nested too deeply")
	}
	return nil
}

func (c *cursor) rest() int { return len(c.b) - c.pos }

// header reads the version.
func (c *cursor) header() error {
	if c.rest() < 2 || c.b[c.pos] != tagVersion {
		return c.fail("the version header is missing")
	}
	c.pos++
	version, err := c.varint()
	if err != nil {
		return err
	}
	if version < oldestVersion || version > newestVersion {
		return c.fail("format version " + itoa(int(version)) + " is not supported")
	}
	c.version = uint32(version)
	return nil
}

// tag reads the next tag and skips padding before it.
func (c *cursor) tag() (byte, error) {
	for c.pos < len(c.b) {
		t := c.b[c.pos]
		c.pos++
		if t != tagPadding {
			return t, nil
		}
	}
	return 0, c.fail("the data ends early")
}

// peek returns the next tag without consuming it, 0 at the end.
func (c *cursor) peek() byte {
	for i := c.pos; i < len(c.b); i++ {
		if c.b[i] != tagPadding {
			return c.b[i]
		}
	}
	return 0
}

// varint reads a number of up to 64 bits.
func (c *cursor) varint() (uint64, error) {
	if c.pos < len(c.b) && c.b[c.pos] < 0x80 {
		c.pos++
		return uint64(c.b[c.pos-1]), nil
	}
	n, size := binary.Uvarint(c.b[c.pos:])
	if size <= 0 {
		return 0, c.fail("a number is cut short or too long")
	}
	c.pos += size
	return n, nil
}

func (c *cursor) uint32() (uint32, error) {
	n, err := c.varint()
	return uint32(n), err // V8 drops the higher bits too
}

func (c *cursor) zigzag() (int32, error) {
	n, err := c.uint32()
	return int32(n>>1) ^ -int32(n&1), err
}

func (c *cursor) double() (float64, error) {
	raw, err := c.take(8)
	if err != nil {
		return 0, err
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(raw)), nil
}

// take returns the next n bytes, which remain part of the input.
func (c *cursor) take(n uint64) ([]byte, error) {
	if n > uint64(c.rest()) {
		return nil, c.fail("a length exceeds the data")
	}
	c.pos += int(n)
	return c.b[c.pos-int(n) : c.pos : c.pos], nil
}

// lengthPrefixed reads a length of 32 bits and that many bytes.
func (c *cursor) lengthPrefixed() ([]byte, error) {
	n, err := c.uint32()
	if err != nil {
		return nil, err
	}
	return c.take(uint64(n))
}

// bigInt reads the sign and byte length, then the digits, least significant
// first.
func (c *cursor) bigInt() (*big.Int, error) {
	field, err := c.uint32()
	if err != nil {
		return nil, err
	}
	raw, err := c.take(uint64(field >> 1))
	if err != nil {
		return nil, err
	}
	reversed := make([]byte, len(raw))
	for i, b := range raw {
		reversed[len(raw)-1-i] = b
	}
	n := new(big.Int).SetBytes(reversed)
	if field&1 != 0 {
		n.Neg(n)
	}
	return n, nil
}

// units reads the characters of a two-byte string.
func (c *cursor) units() ([]uint16, error) {
	raw, err := c.lengthPrefixed()
	if err != nil {
		return nil, err
	}
	if len(raw)%2 != 0 {
		return nil, c.fail("a two-byte string has an odd length")
	}
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(raw[2*i:])
	}
	return units, nil
}

// text reads the body of a string as UTF-8; lone surrogates become U+FFFD.
func (c *cursor) text(tag byte) (string, error) {
	switch tag {
	case tagOneByteString:
		raw, err := c.lengthPrefixed()
		if err != nil || isASCII(raw) {
			return string(raw), err
		}
		runes := make([]rune, len(raw))
		for i, b := range raw {
			runes[i] = rune(b)
		}
		return string(runes), nil
	case tagTwoByteString:
		units, err := c.units()
		return string(utf16.Decode(units)), err
	case tagUtf8String:
		raw, err := c.lengthPrefixed()
		return string(raw), err
	}
	return "", c.fail("a string is expected")
}

// regExpLetters reads the flags of a regular expression as letters.
func (c *cursor) regExpLetters() (string, error) {
	bits, err := c.uint32()
	if err != nil {
		return "", err
	}
	letters := ""
	for _, f := range regExpFlags {
		if bits&f.bit != 0 {
			letters += string(f.letter)
			bits &^= f.bit
		}
	}
	if bits != 0 {
		return "", c.fail("a regular expression has unknown flags")
	}
	return letters, nil
}

// view describes a view on the buffer that was read just before it.
type view struct {
	viewType
	offset, length int  // bytes
	tracking       bool // its length follows its buffer's
	index          int  // in viewTypes
}

// view reads a view's description and checks it against its buffer.
func (c *cursor) view(bufferBytes int) (view, error) {
	raw, err := c.take(1)
	if err != nil {
		return view{}, err
	}
	offset, err := c.uint32()
	if err != nil {
		return view{}, err
	}
	length, err := c.uint32()
	if err != nil {
		return view{}, err
	}
	var flags uint32
	if c.version >= 14 || c.brokenViews {
		if flags, err = c.uint32(); err != nil {
			return view{}, err
		}
	}
	for i, t := range viewTypes {
		if t.tag == raw[0] {
			tracking := flags&viewLengthTracking != 0
			if tracking && int64(offset) <= int64(bufferBytes) {
				// It reaches to the end, and the length written is 0.
				length = uint32((bufferBytes - int(offset)) / t.size * t.size)
			}
			if uint64(offset)+uint64(length) > uint64(bufferBytes) {
				return view{}, c.fail("a view exceeds its buffer")
			}
			if int(offset)%t.size != 0 || int(length)%t.size != 0 {
				return view{}, c.fail("a view is not aligned")
			}
			return view{viewType: t, offset: int(offset), length: int(length), tracking: tracking, index: i}, nil
		}
	}
	return view{}, c.fail("a view has an unknown type")
}

// bufferBody reads an ArrayBuffer's content, which remains part of the input,
// and the limit of a resizable one, else fixedLength.
func (c *cursor) bufferBody(tag byte) (content []byte, limit int, err error) {
	size, err := c.uint32()
	if err != nil {
		return nil, 0, err
	}
	limit = fixedLength
	if tag == tagResizableBuffer {
		most, err := c.uint32()
		if err != nil {
			return nil, 0, err
		}
		if size > most {
			return nil, 0, c.fail("a resizable buffer exceeds its maximum")
		}
		limit = int(most)
	}
	content, err = c.take(uint64(size))
	return content, limit, err
}

// end checks the counts that close an object, map, set or array.
func (c *cursor) end(written int, length int64) error {
	n, err := c.uint32()
	if err != nil {
		return err
	}
	if int64(n) != int64(written) {
		return c.fail("the number of properties does not match")
	}
	if length < 0 {
		return nil
	}
	again, err := c.uint32()
	if err == nil && int64(again) != length {
		err = c.fail("the length of an array does not match")
	}
	return err
}

// unsupported names what a tag stands for that cannot be read here.
func unsupported(tag byte) string {
	switch tag {
	case tagSharedBuffer:
		return "a SharedArrayBuffer cannot leave its runtime"
	case tagSharedObject:
		return "shared objects are not available in this runtime"
	case tagWasmModule, tagWasmMemory:
		return "WebAssembly objects cannot be read here"
	case tagBufferTransfer:
		return "a transferred buffer is missing"
	}
	return "unknown tag " + itoa(int(tag))
}
