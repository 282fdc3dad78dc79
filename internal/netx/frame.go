package netx

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"unicode/utf8"

	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/runtime/event"
)

// Opcodes of RFC 6455, section 5.2.
const (
	opContinuation = 0x0
	opText         = 0x1
	opBinary       = 0x2
	opClose        = 0x8
	opPing         = 0x9
	opPong         = 0xA
)

// CloseFrame is what ReadMessage returns once the peer's Close frame has come.
// An empty frame has code 1005.
type CloseFrame struct {
	Code   int
	Reason string
}

// Error implements error.
func (c *CloseFrame) Error() string {
	return fmt.Sprintf("the peer closed the WebSocket with code %d (%s)", c.Code, c.Reason)
}

// ProtocolError says how the peer broke RFC 6455, and with which close code
// the connection fails for it.
type ProtocolError struct {
	Code    int
	Message string
}

// Error implements error.
func (e *ProtocolError) Error() string { return "WebSocket protocol error: " + e.Message }

func protocolError(text string) error { return &ProtocolError{Code: 1002, Message: text} }

// Conn is one WebSocket connection after its handshake (RFC 6455), without
// extensions. One goroutine may read while any number write. Conn starts no
// goroutine and sets no timer.
type Conn struct {
	rwc  io.ReadWriteCloser
	br   *bufio.Reader
	mask entropy.Source // nil on the server's side

	wmu sync.Mutex // guards what follows and orders frames
	buf []byte

	once     sync.Once
	closeErr error
}

// NewConn wraps a connection whose handshake is over. br may hold bytes that
// were read too far; nil stands for a new reader. mask is given on the
// client's side, whose frames are masked, and nil on the server's.
func NewConn(rwc io.ReadWriteCloser, br *bufio.Reader, mask entropy.Source) *Conn {
	if br == nil {
		br = bufio.NewReader(rwc)
	}
	return &Conn{rwc: rwc, br: br, mask: mask}
}

// Close cuts the connection, without a Close frame. It may be called from
// anywhere, and ends a Read and a Write in progress.
func (c *Conn) Close() error {
	c.once.Do(func() { c.closeErr = c.rwc.Close() })
	return c.closeErr
}

type frameHead struct {
	fin    bool
	op     byte
	length int64
	masked bool
	key    [4]byte
}

func (c *Conn) readHead() (h frameHead, err error) {
	var b [8]byte
	if _, err = io.ReadFull(c.br, b[:2]); err != nil {
		return h, err
	}
	if b[0]&0x70 != 0 {
		return h, protocolError("reserved bits are set, and no extension was negotiated")
	}
	h.fin, h.op, h.masked = b[0]&0x80 != 0, b[0]&0x0f, b[1]&0x80 != 0
	switch n := b[1] & 0x7f; n {
	case 126:
		if _, err = io.ReadFull(c.br, b[:2]); err != nil {
			return h, err
		}
		h.length = int64(binary.BigEndian.Uint16(b[:2]))
	case 127:
		if _, err = io.ReadFull(c.br, b[:8]); err != nil {
			return h, err
		}
		length := binary.BigEndian.Uint64(b[:8])
		if length>>63 != 0 {
			return h, protocolError("a frame's length has its highest bit set")
		}
		h.length = int64(length)
	default:
		h.length = int64(n)
	}
	if h.op >= opClose && (h.length > 125 || !h.fin) {
		return h, protocolError("a control frame is fragmented or longer than 125 bytes")
	}
	if server := c.mask == nil; h.masked != server {
		return h, protocolError("a client's frames must be masked, a server's must not")
	}
	if h.masked {
		_, err = io.ReadFull(c.br, h.key[:])
	}
	return h, err
}

// ReadMessage returns the next message, put together from its fragments. Pings
// are answered on the way. After the peer's Close frame it returns a
// *CloseFrame, for a violation of the protocol a *ProtocolError (1007 for text
// that is not UTF-8, 1009 for more than event.MaxMessageBytes), and for a
// broken connection that error.
func (c *Conn) ReadMessage() (event.Message, error) {
	var m event.Message
	started := false
	for {
		h, err := c.readHead()
		if err != nil {
			return m, err
		}
		switch h.op {
		case opPing, opPong, opClose:
			if err := c.control(h); err != nil {
				return m, err
			}
			continue
		case opText, opBinary:
			if started {
				return m, protocolError("a new message begins inside a fragmented one")
			}
			started, m.Binary = true, h.op == opBinary
		case opContinuation:
			if !started {
				return m, protocolError("a continuation frame follows no message")
			}
		default:
			return m, protocolError(fmt.Sprintf("unknown opcode %d", h.op))
		}
		if m.Data, err = c.readPayload(m.Data, h); err != nil {
			return m, err
		}
		if !h.fin {
			continue
		}
		if !m.Binary && !utf8.Valid(m.Data) {
			return m, &ProtocolError{Code: 1007, Message: "a text message is not valid UTF-8"}
		}
		return m, nil
	}
}

// readPayload appends a data frame's payload to data. Memory grows with what
// has arrived, not with what the head announces.
func (c *Conn) readPayload(data []byte, h frameHead) ([]byte, error) {
	if int64(len(data))+h.length > event.MaxMessageBytes {
		return data, &ProtocolError{Code: 1009, Message: fmt.Sprintf("Message is too large: more than %d bytes", event.MaxMessageBytes)}
	}
	const step = 64 << 10
	from := len(data)
	for left := h.length; left > 0; {
		n := min(left, step)
		at := len(data)
		if cap(data)-at < int(n) {
			grown := make([]byte, at, min(int64(2*cap(data))+n, int64(at)+left))
			copy(grown, data)
			data = grown
		}
		data = data[:at+int(n)]
		if _, err := io.ReadFull(c.br, data[at:]); err != nil {
			return data, err
		}
		left -= n
	}
	if h.masked {
		applyMask(data[from:], h.key)
	}
	return data, nil
}

// control handles a control frame; a Close frame becomes an error.
func (c *Conn) control(h frameHead) error {
	var b [125]byte
	payload := b[:h.length]
	if _, err := io.ReadFull(c.br, payload); err != nil {
		return err
	}
	if h.masked {
		applyMask(payload, h.key)
	}
	switch h.op {
	case opPing:
		return c.writeFrame(opPong, payload)
	case opPong:
		return nil
	}
	switch len(payload) {
	case 0:
		return &CloseFrame{Code: CloseNoStatus}
	case 1:
		return protocolError("a Close frame of one byte")
	}
	code, reason := int(binary.BigEndian.Uint16(payload)), string(payload[2:])
	if !onWire(code) {
		return protocolError(fmt.Sprintf("close code %d must not be sent", code))
	}
	if !utf8.ValidString(reason) {
		return &ProtocolError{Code: 1007, Message: "a close reason is not valid UTF-8"}
	}
	return &CloseFrame{Code: code, Reason: reason}
}

// onWire reports whether a close code may appear in a Close frame (RFC 6455,
// section 7.4, and the registry that it opens).
func onWire(code int) bool {
	switch {
	case code < 1000 || code > 4999, code == 1004, code == CloseNoStatus, code == CloseLost, code == 1015:
		return false
	}
	return code < 1016 || code >= 3000
}

// WriteMessage sends m as one frame, with one write where it is small.
func (c *Conn) WriteMessage(m event.Message) error {
	op := byte(opText)
	if m.Binary {
		op = opBinary
	}
	return c.writeFrame(op, m.Data)
}

// WriteMessages sends several messages with as few writes as fit.
func (c *Conn) WriteMessages(ms []event.Message) error {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	c.buf = c.buf[:0]
	for _, m := range ms {
		op := byte(opText)
		if m.Binary {
			op = opBinary
		}
		if err := c.appendFrame(op, m.Data); err != nil {
			return err
		}
	}
	return c.flush()
}

// WriteClose sends a Close frame. Codes 0 and 1005 stand for an empty one. A
// code that may not travel is an error, and so is a reason above 123 bytes.
func (c *Conn) WriteClose(code int, reason string) error {
	if code == 0 || code == CloseNoStatus {
		return c.writeFrame(opClose, nil)
	}
	if !onWire(code) || len(reason) > 123 {
		return fmt.Errorf("netx: close code %d with a reason of %d bytes cannot be sent", code, len(reason))
	}
	return c.writeFrame(opClose, append(binary.BigEndian.AppendUint16(nil, uint16(code)), reason...))
}

func (c *Conn) writeFrame(op byte, payload []byte) error {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	c.buf = c.buf[:0]
	if err := c.appendFrame(op, payload); err != nil {
		return err
	}
	return c.flush()
}

// batchBytes is how much is gathered for one write; a larger payload is
// written from where it lies.
const batchBytes = 64 << 10

func (c *Conn) appendFrame(op byte, payload []byte) error {
	masked := byte(0)
	if c.mask != nil {
		masked = 0x80
	}
	b := append(c.buf, 0x80|op)
	switch n := len(payload); {
	case n < 126:
		b = append(b, masked|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, masked|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, masked|127), uint64(n))
	}
	if c.mask != nil {
		var key [4]byte
		c.mask.Read(key[:])
		b = append(b, key[:]...)
		at := len(b)
		b = append(b, payload...)
		applyMask(b[at:], key)
		c.buf = b
		return c.flushAbove(batchBytes)
	}
	if len(payload) > batchBytes {
		c.buf = b[:0]
		bufs := net.Buffers{b, payload}
		_, err := bufs.WriteTo(c.rwc)
		return err
	}
	c.buf = append(b, payload...)
	return c.flushAbove(batchBytes)
}

func (c *Conn) flushAbove(limit int) error {
	if len(c.buf) < limit {
		return nil
	}
	return c.flush()
}

func (c *Conn) flush() error {
	if len(c.buf) == 0 {
		return nil
	}
	_, err := c.rwc.Write(c.buf)
	if c.buf = c.buf[:0]; cap(c.buf) > 4*batchBytes || cap(c.buf) > 4<<10 && err == nil {
		c.buf = nil // idle sockets hold no large buffer
	}
	return err
}

// applyMask xors b with the key, eight bytes at a time.
func applyMask(b []byte, key [4]byte) {
	k := uint64(binary.LittleEndian.Uint32(key[:]))
	k |= k << 32
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)^k)
		b = b[8:]
	}
	for i := range b {
		b[i] ^= key[i&3]
	}
}

// lost reports whether err is the end of a connection and not a violation.
func lost(err error) bool {
	var p *ProtocolError
	var c *CloseFrame
	return !errors.As(err, &p) && !errors.As(err, &c)
}
