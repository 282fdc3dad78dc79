package netx

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

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

func protocolError(code int, format string, args ...any) error {
	return &event.ProtocolError{Code: code, Description: fmt.Sprintf(format, args...)}
}

// Conn is one WebSocket connection after its handshake (RFC 6455), without
// extensions. What a peer may send is what it may send to workerd, which takes frames
// without a mask, control frames of any length, any close code, and text that is not
// UTF-8 (capnproto, c++/src/kj/compat/http.c++). One goroutine may read while any number write. Conn starts no
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
	length uint64
	masked bool
	key    [4]byte
}

func (h frameHead) control() bool { return h.op >= opClose }

func (c *Conn) readHead() (h frameHead, err error) {
	var b [8]byte
	if _, err = io.ReadFull(c.br, b[:2]); err != nil {
		return h, err
	}
	reserved := b[0] & 0x70
	h.fin, h.op, h.masked = b[0]&0x80 != 0, b[0]&0x0f, b[1]&0x80 != 0
	switch n := b[1] & 0x7f; n {
	case 126:
		if _, err = io.ReadFull(c.br, b[:2]); err != nil {
			return h, err
		}
		h.length = uint64(binary.BigEndian.Uint16(b[:2]))
	case 127:
		if _, err = io.ReadFull(c.br, b[:8]); err != nil {
			return h, err
		}
		h.length = binary.BigEndian.Uint64(b[:8])
	default:
		h.length = uint64(n)
	}
	if h.masked {
		_, err = io.ReadFull(c.br, h.key[:])
	}
	switch {
	case err != nil:
		return h, err
	case reserved&0x30 != 0:
		return h, protocolError(CloseProtocol, "Received frame had RSV bits 2 or 3 set")
	case reserved != 0:
		return h, protocolError(CloseProtocol, "Received a WebSocket frame whose compression bit was set, but the compression extension was not negotiated for this connection.")
	}
	return h, nil
}

// ReadMessage returns the next message, put together from its fragments; a text need not
// be UTF-8. Pings are answered on the way. After the peer's Close frame it returns a
// *CloseFrame, for a violation of the protocol an *event.ProtocolError, and for a
// broken connection that error.
func (c *Conn) ReadMessage() (event.Message, error) {
	var m event.Message
	first := byte(opContinuation) // the opcode of the message that has begun
	for {
		h, err := c.readHead()
		if err != nil {
			return m, err
		}
		started := first != opContinuation
		if most := uint64(event.MaxMessageBytes - len(m.Data)); h.length > most {
			return m, protocolError(CloseTooBig, "Message is too large: %d > %d", h.length, most)
		}
		switch {
		case h.op == opContinuation && !started:
			return m, protocolError(CloseProtocol, "Unexpected continuation frame")
		case h.op != opContinuation && !h.control() && started:
			return m, protocolError(CloseProtocol, "Missing continuation frame")
		case h.control() && !h.fin:
			return m, protocolError(CloseProtocol, "Received fragmented control frame")
		case h.control():
			if err := c.control(h); err != nil {
				return m, err
			}
			continue
		case !started:
			first = h.op
		}
		if m.Data, err = c.readPayload(m.Data, h); err != nil {
			return m, err
		}
		if !h.fin {
			continue
		}
		if first != opText && first != opBinary {
			return m, unknownOpcode(first)
		}
		m.Binary = first == opBinary
		return m, nil
	}
}

func unknownOpcode(op byte) error { return protocolError(CloseProtocol, "Unknown opcode %d", op) }

// Drain reads on until the connection ends, and gives the reason: after the peer's Close
// frame nothing that comes means anything, but the loss of the connection must be noticed.
func (c *Conn) Drain() error {
	if _, err := io.Copy(io.Discard, c.br); err != nil {
		return err
	}
	return io.EOF
}

// readPayload appends a data frame's payload to data. Memory grows with what
// has arrived, not with what the head announces.
func (c *Conn) readPayload(data []byte, h frameHead) ([]byte, error) {
	const step = 64 << 10
	from := len(data)
	for left := int64(h.length); left > 0; {
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

// control handles a control frame; a Close frame becomes an error. One without a code
// has the code 1005.
func (c *Conn) control(h frameHead) error {
	var short [125]byte
	payload, err := c.readPayload(short[:0], h)
	if err != nil {
		return err
	}
	switch h.op {
	case opPing:
		return c.writeFrame(opPong, payload)
	case opPong:
		return nil
	case opClose:
	default:
		return unknownOpcode(h.op)
	}
	if len(payload) < 2 {
		return &CloseFrame{Code: CloseNoStatus}
	}
	return &CloseFrame{Code: int(binary.BigEndian.Uint16(payload)), Reason: string(payload[2:])}
}

// onWire reports whether a close code may be sent: those that a worker may give to close()
// (docs/semantics.md 27).
func onWire(code int) bool {
	return code >= 1000 && code <= 4999 && code != 1004 && code != CloseNoStatus && code != CloseLost && code != 1015
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
// code that may not be sent is an error.
func (c *Conn) WriteClose(code int, reason string) error {
	if code == 0 || code == CloseNoStatus {
		return c.writeFrame(opClose, nil)
	}
	if !onWire(code) {
		return fmt.Errorf("netx: close code %d cannot be sent", code)
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
	var p *event.ProtocolError
	var c *CloseFrame
	return !errors.As(err, &p) && !errors.As(err, &c)
}
