package world

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/event"
)

// Recording is one life of a server as its outside met it: what entered it, and
// what it did then, in order; and its files at each effect point. Another world of
// the same seed plays it back instead of running a server (Options.From), up to a
// death at one of the points: what follows cannot tell the two apart. Complete, it
// is immutable and may be shared.
type Recording struct {
	ops    []op
	states []*saved // at each effect point, by its number less one
	bytes  int      // that it holds
	unfit  string   // why it cannot be played back, "" if it can
}

// maxRecorded bounds how many bytes of files and traffic a recording keeps. A longer
// one cannot be played back.
const maxRecorded = 64 << 20

// Fit reports whether r can be played back.
func (r *Recording) Fit() bool { return r != nil && r.unfit == "" }

// Bytes is about how much memory it holds.
func (r *Recording) Bytes() int { return r.bytes }

// hold counts n bytes more.
func (r *Recording) hold(n int) {
	if r.bytes += n; r.bytes > maxRecorded {
		r.spoil("it is too long")
	}
}

// StateHash is the hash of the files at the last effect point; two that are
// equal are of the same bytes.
func (r *Recording) StateHash() (sum [sha256.Size]byte) {
	if n := len(r.states); n > 0 {
		sum = r.states[n-1].sum
	}
	return sum
}

func (r *Recording) spoil(why string) {
	if r.unfit == "" {
		r.unfit = why
		r.ops = nil
	}
}

// opKind is what crosses the border between a server and its outside.
type opKind uint8

const (
	_ opKind = iota

	// What enters the server; n counts things of its kind, d is when, and text what it
	// brings. Each of these lasts until its leave; what the server does meanwhile stands
	// between the two.
	enterStart
	enterTask    // a function that it had queued, or a timer of its own
	enterFetch   // a client's request
	enterPending // is anything left to do?
	enterRead    // of a body of the server's
	enterCancel  // of a body of the server's
	enterBind    // a client listens to a socket; the next four are of sockets, too
	enterSend
	enterClose
	enterDrop
	enterTaken  // what a read of a body of the outside's has brought
	enterAnswer // to a request of its own
	leave       // value is the error that the outside was given
	told        // n is 1 if what the server did before has succeeded, as far as it was told

	// What the server does.
	doLoop
	doPost // m to the loop n
	doCloseLoop
	doDrain
	doGo
	doTimer
	doStop
	doPoint
	doNote
	doDial
	doAbort
	doRead         // m of the body n of the outside's
	doCancelSource // of a body of the outside's
	doCall         // of the outside's nth callback
	doMessage      // on a socket; and the next two
	doHangUp
	doFail
	doDrive // it waits, and everything goes on
	driven
)

// op is one line of a recording. What it holds outside of itself is counted with
// opBytes.
type op struct {
	kind  opKind
	n, m  int
	d     time.Duration
	text  string
	value any
}

// opBytes is about the size of an op, or of another entry, without what it points
// to; pointerBytes that of a pointer.
const opBytes, pointerBytes = 64, 8

func (o op) bytes() int {
	n := opBytes + len(o.text)
	switch v := o.value.(type) {
	case piece:
		n += len(v.chunk)
	case event.Message:
		n += len(v.Data)
	case answer:
		n += opBytes + len(v.content.bytes)
		if v.response != nil {
			n += headerBytes(v.response.Header)
		}
	case question:
		n += opBytes + len(v.content.bytes) + headerBytes(v.request.Header)
	case killpoint.Point:
		n += opBytes
	}
	return n
}

func headerBytes(h event.Header) (n int) {
	for _, f := range h {
		n += opBytes + len(f.Name) + len(f.Value)
	}
	return n
}

// piece is what a read brings.
type piece struct {
	chunk []byte
	err   error
}

// call runs a callback of a read, with bytes of its own.
func (p piece) call(cb func([]byte, error)) { cb(slices.Clone(p.chunk), p.err) }

// content is a body: none, bytes, or one that is read bit by bit.
type content struct {
	kind   contentKind
	bytes  []byte
	n      int
	length int64
}

type contentKind uint8

const (
	noContent contentKind = iota
	someBytes
	stream
)

// answer is a response of the server's.
type answer struct {
	response *event.Response // without its body and socket; nil with err
	content  content
	socket   int    // -1 without one
	object   string // that answered with the socket
	err      error
}

// question is a request of the server's.
type question struct {
	request event.Request // without its body
	content content
}

// hangUp is the end of a socket.
type hangUp struct {
	code   int
	reason string
	clean  bool
}

// point is an effect point of the server's.
func point(p killpoint.Point) op { return op{kind: doPoint, value: p} }

// saved is a persist directory at one moment. Parts that are alike in several are
// there once.
type saved struct {
	list []savedFile
	sum  [sha256.Size]byte
}

type savedFile struct {
	rel    string
	isDir  bool
	chunks []*savedChunk
}

// savedChunk is a part of a file, and its hash.
type savedChunk struct {
	data []byte
	sum  [sha256.Size]byte
}

// chunkSize is what is shared or not.
const chunkSize = 16 << 10

// taker reads the files of a persist directory again and again: it hashes and keeps only
// what has changed since. Confined to one goroutine.
type taker struct {
	last   *saved // what it has read last, for its chunks
	buffer [chunkSize]byte
}

// take reads what CopyState would copy. fresh is how many bytes it had to keep.
func (t *taker) take(dir string) (f *saved, fresh int, err error) {
	f = &saved{}
	h := sha256.New()
	err = walkState(dir, func(path, rel string, isDir bool) error {
		file := savedFile{rel: rel, isDir: isDir}
		if !isDir {
			n, err := t.read(path, &file)
			if err != nil {
				return err
			}
			fresh += n
		}
		_, _ = fmt.Fprintf(h, "%q %v %d\n", rel, isDir, len(file.chunks)) // a hash takes everything
		for _, c := range file.chunks {
			_, _ = h.Write(c.sum[:])
		}
		f.list = append(f.list, file)
		fresh += opBytes + len(rel) + len(file.chunks)*pointerBytes
		return nil
	})
	h.Sum(f.sum[:0])
	if err == nil {
		t.last = f
	}
	return f, fresh, err
}

// read reads a file's chunks, and says how many bytes it had to keep.
func (t *taker) read(path string, file *savedFile) (fresh int, err error) {
	in, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	old := t.last.find(file.rel).chunks
	for i := 0; ; i++ {
		n, err := io.ReadFull(in, t.buffer[:])
		if n == 0 && errors.Is(err, io.EOF) {
			return fresh, nil
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return fresh, err
		}
		if data := t.buffer[:n]; i < len(old) && bytes.Equal(old[i].data, data) {
			file.chunks = append(file.chunks, old[i])
		} else {
			file.chunks = append(file.chunks, &savedChunk{data: slices.Clone(data), sum: sha256.Sum256(data)})
			fresh += n + opBytes
		}
	}
}

func (f *saved) find(rel string) savedFile {
	if f != nil {
		for _, s := range f.list {
			if s.rel == rel {
				return s
			}
		}
	}
	return savedFile{}
}

// write makes the directory that was saved.
func (f *saved) write(dir string) error {
	for _, s := range f.list {
		path := filepath.Join(dir, s.rel)
		var err error
		if s.isDir {
			err = os.MkdirAll(path, 0o700)
		} else {
			err = writeChunks(path, s.chunks)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", s.rel, err)
		}
	}
	return nil
}

func writeChunks(path string, chunks []*savedChunk) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	for _, c := range chunks {
		if _, err := out.Write(c.data); err != nil {
			return errors.Join(err, out.Close())
		}
	}
	return out.Close()
}
