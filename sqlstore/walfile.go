package sqlstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Sizes in a WAL file (https://www.sqlite.org/fileformat2.html#walformat).
const (
	walHeader   = 32
	frameHeader = 24
)

// walSalt identifies a generation of the WAL: it changes each time the WAL
// begins anew. The first half counts up by one, the second is random.
type walSalt [2]uint32

// walFile reads the WAL of an open database. No locks are taken on that file,
// so that opening and closing it is safe. Loop-confined.
type walFile struct {
	f        *os.File
	salt     walSalt
	pageSize int
}

// frameHead is what a frame's header says: the page, and the size of the
// database in pages if the frame ends a commit.
type frameHead struct{ page, commit uint32 }

// errNoWAL says that there is no WAL, or one without content.
var errNoWAL = errors.New("no WAL")

// openWAL opens a WAL; errNoWAL if there is none.
func openWAL(path string) (*walFile, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoWAL
	}
	if err != nil {
		return nil, err
	}
	var h [walHeader]byte
	if _, err := f.ReadAt(h[:], 0); err != nil {
		f.Close()
		if errors.Is(err, io.EOF) {
			return nil, errNoWAL
		}
		return nil, err
	}
	be := binary.BigEndian
	w := &walFile{f: f, pageSize: int(be.Uint32(h[8:])), salt: walSalt{be.Uint32(h[16:]), be.Uint32(h[20:])}}
	if magic := be.Uint32(h[:]); magic&^1 != 0x377f0682 || w.pageSize < 512 || w.pageSize > 65536 {
		f.Close()
		return nil, errNoWAL
	}
	return w, nil
}

func (w *walFile) close() { w.f.Close() } // only read from: nothing can be lost

// offset is where frame n, counted from 1, begins.
func (w *walFile) offset(n uint32) int64 {
	return walHeader + int64(n-1)*int64(frameHeader+w.pageSize)
}

// heads reads the headers of frames first..last, which are known to be
// committed.
func (w *walFile) heads(first, last uint32) ([]frameHead, error) {
	out := make([]frameHead, 0, last+1-min(first, last+1))
	var h [frameHeader]byte
	for n := first; n <= last; n++ {
		if _, err := w.f.ReadAt(h[:], w.offset(n)); err != nil {
			return nil, fmt.Errorf("read WAL: frame %d of %d: %w", n, last, err)
		}
		be := binary.BigEndian
		if (walSalt{be.Uint32(h[8:]), be.Uint32(h[12:])}) != w.salt {
			return nil, fmt.Errorf("read WAL: frame %d of %d is of another generation", n, last)
		}
		out = append(out, frameHead{be.Uint32(h[:]), be.Uint32(h[4:])})
	}
	return out, nil
}

// page reads the content of a frame.
func (w *walFile) page(n uint32, p []byte) error {
	if _, err := w.f.ReadAt(p, w.offset(n)+frameHeader); err != nil {
		return fmt.Errorf("read WAL: frame %d: %w", n, err)
	}
	return nil
}

// committed is the number of the last frame that belongs to a commit: what
// SQLite takes for valid after a crash.
func (w *walFile) committed() (last uint32, err error) {
	var h [walHeader]byte
	if _, err := w.f.ReadAt(h[:], 0); err != nil {
		return 0, err
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if binary.BigEndian.Uint32(h[:])&1 != 0 {
		order = binary.BigEndian
	}
	var sum walSum
	sum.add(order, h[:24])
	frame := make([]byte, frameHeader+w.pageSize)
	be := binary.BigEndian
	for n := uint32(1); ; n++ {
		if _, err := w.f.ReadAt(frame, w.offset(n)); err != nil {
			if errors.Is(err, io.EOF) {
				return last, nil
			}
			return 0, err
		}
		if (walSalt{be.Uint32(frame[8:]), be.Uint32(frame[12:])}) != w.salt {
			return last, nil
		}
		sum.add(order, frame[:8])
		sum.add(order, frame[frameHeader:])
		if be.Uint32(frame[16:]) != sum[0] || be.Uint32(frame[20:]) != sum[1] {
			return last, nil
		}
		if be.Uint32(frame[4:]) != 0 {
			last = n
		}
	}
}

// walSum is the WAL's cumulative checksum.
type walSum [2]uint32

func (s *walSum) add(order binary.ByteOrder, b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		s[0] += order.Uint32(b) + s[1]
		s[1] += order.Uint32(b[4:]) + s[0]
	}
}
