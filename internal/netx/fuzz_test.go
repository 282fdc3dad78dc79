package netx

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/andybalholm/brotli"

	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/runtime/event"
)

// wire is a connection that gives what was sent, and keeps what is written.
type wire struct {
	io.Reader
	bytes.Buffer
}

func (w *wire) Read(p []byte) (int, error) { return w.Reader.Read(p) }
func (*wire) Close() error                 { return nil }

// messages reads a connection to its end.
func messages(in io.Reader, mask entropy.Source) (ms []event.Message, answered []byte, err error) {
	w := &wire{Reader: in}
	c := NewConn(w, bufio.NewReaderSize(w, 16), mask)
	for {
		m, err := c.ReadMessage()
		if err != nil {
			return ms, w.Bytes(), err
		}
		ms = append(ms, m)
	}
}

func sameMessages(a, b []event.Message) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Binary != b[i].Binary || !bytes.Equal(a[i].Data, b[i].Data) {
			return false
		}
	}
	return true
}

// FuzzFrames: bytes of a peer are messages and one end, the same ones however
// they arrive; an end is the connection's, a Close frame, or a violation with a
// code that may travel. What WriteMessages sends, the other side reads.
func FuzzFrames(f *testing.F) {
	for _, seed := range []string{
		"\x81\x85\x01\x02\x03\x04iglkn", "\x82\xfe\x00\x80\x00\x00\x00\x00" + string(make([]byte, 128)), "\x01\x81\x00\x00\x00\x00a\x89\x80\x00\x00\x00\x00\x80\x81\x00\x00\x00\x00b",
		"\x88\x82\x00\x00\x00\x00\x03\xe8", "\x88\x81\x00\x00\x00\x00\x03", "\x81\x81\x00\x00\x00\x00\xff", "\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00", "\x81\x03abc\x88\x02\x03\xe8",
		"\x00\x80\x00\x00\x00\x00", "\xc1\x80\x00\x00\x00\x00",
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, in []byte, server bool) {
		var mask entropy.Source
		if !server {
			mask = entropy.NewSeeded(1)
		}
		ms, answered, err := messages(bytes.NewReader(in), mask)
		var violation *event.ProtocolError
		if errors.As(err, &violation) && !onWire(violation.Code) {
			t.Fatalf("code %d cannot be sent: %v", violation.Code, err)
		}
		if !server {
			mask = entropy.NewSeeded(1)
		}
		slow, slowAnswered, slowErr := messages(iotest.OneByteReader(bytes.NewReader(in)), mask)
		if !sameMessages(ms, slow) || err.Error() != slowErr.Error() || !bytes.Equal(answered, slowAnswered) {
			t.Fatalf("at once: %v %v %q; by the byte: %v %v %q", ms, err, answered, slow, slowErr, slowAnswered)
		}
		ms = append(ms, event.Message{Binary: true, Data: in})
		out := &wire{}
		if err := NewConn(out, nil, mask).WriteMessages(ms); err != nil {
			t.Fatal(err)
		}
		var other entropy.Source
		if server {
			other = entropy.NewSeeded(2)
		}
		back, _, err := messages(bytes.NewReader(out.Bytes()), other)
		if !sameMessages(ms, back) || !errors.Is(err, io.EOF) {
			t.Fatalf("%d messages went, %d came, %v", len(ms), len(back), err)
		}
	})
}

// most bounds what FuzzDecode reads.
const most = 1 << 20

// strictGzip is the standard library's reader, which lets the reserved flags of a
// member pass: as in zlib, they are an error (RFC 1952, 2.3.1.2).
func strictGzip(in []byte) (io.Reader, error) {
	src := bufio.NewReader(bytes.NewReader(in))
	z, err := gzip.NewReader(src)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for head := in; err == nil; {
		if head[3]&0xe0 != 0 {
			return nil, gzip.ErrHeader
		}
		z.Multistream(false)
		if _, err = io.Copy(&out, io.LimitReader(z, most)); err != nil {
			return nil, err
		}
		if head, _ = src.Peek(4); len(head) == 0 || out.Len() >= most {
			return &out, nil
		}
		err = z.Reset(src) // of a header that ends early, too
	}
	return nil, err
}

// FuzzDecode: a body of any Content-Encoding is what the decompressor's own
// library makes of it, however it arrives, and ends with an error or its end.
func FuzzDecode(f *testing.F) {
	var zip, br bytes.Buffer
	z, b := gzip.NewWriter(&zip), brotli.NewWriter(&br)
	for _, w := range []io.WriteCloser{z, b} {
		if _, err := io.WriteString(w, "minido minido minido minido"); err != nil || w.Close() != nil {
			f.Fatal(err)
		}
	}
	for _, seed := range [][]byte{zip.Bytes(), br.Bytes(), append(bytes.Clone(zip.Bytes()), zip.Bytes()...), zip.Bytes()[:20], br.Bytes()[:5], nil, {0x1f, 0x8b}} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, in []byte, gz bool) {
		if len(in) == 0 {
			return // no body at all, which has no encoding either
		}
		encoding := "br"
		reference := func() (io.Reader, error) { return brotli.NewReader(bytes.NewReader(in)), nil }
		if gz {
			encoding = "gzip"
			reference = func() (io.Reader, error) { return strictGzip(in) }
		}
		read := func(r io.Reader) ([]byte, error) {
			d, ok := decode(io.NopCloser(r), encoding)
			if !ok {
				t.Fatal("an encoding that is not known")
			}
			defer d.Close()
			return io.ReadAll(io.LimitReader(d, most))
		}
		got, err := read(bytes.NewReader(in))
		slow, slowErr := read(iotest.OneByteReader(bytes.NewReader(in)))
		if (err == nil) != (slowErr == nil) || err == nil && !bytes.Equal(got, slow) {
			t.Fatalf("at once %d bytes, %v; by the byte %d, %v", len(got), err, len(slow), slowErr)
		}
		r, refErr := reference()
		var want []byte
		if refErr == nil {
			want, refErr = io.ReadAll(io.LimitReader(r, most))
		}
		if (err == nil) != (refErr == nil) || err == nil && !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, %v; the library gives %d, %v", len(got), err, len(want), refErr)
		}
	})
}
