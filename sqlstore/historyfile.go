package sqlstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
)

// The history file is a row of records, each with a header that a checksum
// covers and a payload that another one covers. A tail that makes no sense is
// the trace of a crash while it was written; nothing relied on it. Numbers are
// little-endian.
const recordHeader = 16 // bytes: kind, length, checksums of payload and header

// Kinds of records.
const (
	recordStart       = 1 + iota // a history begins: its id, and since when its first state held
	recordGeneration             // the live segment, or the WAL's generation within it, begins
	recordMark                   // a commit of the live segment and its time
	recordSegment                // a segment that is no longer live: its points and page versions
	recordFingerprint            // how to recognize the database file after a checkpoint
	recordRestore                // a restore is to happen at the next opening
	recordRestoring              // it begins: what to return to, to undo it
	recordRestored               // it has happened, or was given up
)

// recordWords is how many 64-bit numbers the payload of each kind has at least.
var recordWords = [...]int{recordStart: 4, recordGeneration: 4, recordMark: 2, recordSegment: 5, recordFingerprint: 4, recordRestore: 3, recordRestoring: 3, recordRestored: 0}

// maxSmallRecord bounds the payload of every kind but segments.
const maxSmallRecord = 64

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// mark is a commit that can be returned to. Times are milliseconds since the
// Unix epoch.
type mark struct {
	frame uint32
	time  int64
}

// point is a state of the database: the commit that ended at a frame of the WAL
// in a segment.
type point struct{ segment, frame uint32 }

// segmentRef says where a segment's payload is in the file.
type segmentRef struct {
	number      uint32
	from, to    uint32 // frames: after which it begins, with which it ends
	first, last int64  // times of these two states
	offset      int64
	length      uint32
	checksum    uint32
}

// fingerprint tells whether anybody else has changed the database file. sum is
// of the whole content, for files up to summedBytes.
type fingerprint struct {
	size, modified int64
	sum            uint64
	summed         summing
}

// summing is how the sum of a fingerprint was made.
type summing int64

const (
	notSummed   summing = iota
	wholeSummed         // a checksum of the file, as the first versions wrote it
	pagesSummed         // pageSum of each page, added up
)

// restore is one that was asked for.
type restore struct {
	id     uint32
	target point
}

// historyState is what the records of a history file say together.
type historyState struct {
	id       [16]byte
	began    int64 // when the first state of all began to hold
	segments []segmentRef
	// The live segment: its number, the WAL's generation, the frame after which
	// it begins, and the marked commits since.
	number   uint32
	salt     walSalt
	known    bool // whether salt is
	from     uint32
	marks    []mark
	synced   uint32 // a frame up to which the live segment's WAL was on the disk
	stale    bool   // file was taken before the last checkpoint
	file     *fingerprint
	pending  *restore
	restores uint32           // asked for so far
	undo     map[uint32]point // what to return to, to undo a restore
	end      int64            // of the last good record
}

// lastTime is when the last archived state was committed.
func (h *historyState) lastTime() int64 {
	if n := len(h.segments); n > 0 {
		return h.segments[n-1].last
	}
	return h.began
}

func record(kind uint32, payload []byte) []byte {
	b := make([]byte, recordHeader, recordHeader+len(payload))
	le := binary.LittleEndian
	le.PutUint32(b, kind)
	le.PutUint32(b[4:], uint32(len(payload)))
	le.PutUint32(b[8:], crc32.Checksum(payload, castagnoli))
	le.PutUint32(b[12:], crc32.Checksum(b[:12], castagnoli))
	return append(b, payload...)
}

// words makes a payload of 64-bit numbers.
func words(v ...int64) []byte {
	b := make([]byte, 0, 8*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return b
}

// wordsOf reads n 64-bit numbers.
func wordsOf(b []byte, n int) ([]int64, error) {
	if len(b) < 8*n {
		return nil, errors.New("a record is too short")
	}
	v := make([]int64, n)
	for i := range v {
		v[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return v, nil
}

// readHistory reads the records of a file; nil if there is none, or none that
// makes sense.
func readHistory(path string) (*historyState, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	h := &historyState{undo: map[uint32]point{}}
	r := &windowReader{r: f}
	for {
		head, err := r.at(h.end, recordHeader)
		if err != nil {
			return nil, err
		}
		le := binary.LittleEndian
		if len(head) < recordHeader || le.Uint32(head[12:]) != crc32.Checksum(head[:12], castagnoli) {
			break
		}
		kind, length, sum := le.Uint32(head), le.Uint32(head[4:]), le.Uint32(head[8:])
		next := h.end + recordHeader + int64(length)
		if next > info.Size() || kind != recordSegment && length > maxSmallRecord {
			break
		}
		payload, err := r.at(h.end+recordHeader, int(min(length, maxSmallRecord)))
		if err != nil {
			return nil, err
		}
		if kind != recordSegment && sum != crc32.Checksum(payload, castagnoli) {
			break
		}
		if err := h.apply(kind, payload, segmentRef{offset: h.end + recordHeader, length: length, checksum: sum}); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		h.end = next
	}
	if h.end == 0 {
		return nil, nil
	}
	return h, nil
}

// apply takes one record in.
func (h *historyState) apply(kind uint32, b []byte, ref segmentRef) error {
	v, err := wordsOf(b, len(b)/8)
	if err != nil || kind < uint32(len(recordWords)) && len(v) < recordWords[kind] {
		return fmt.Errorf("a record of kind %d has %d bytes", kind, len(b))
	}
	switch kind {
	case recordStart:
		copy(h.id[:], b)
		h.began, h.number = v[2], uint32(v[3])
	case recordGeneration:
		h.number, h.salt, h.from, h.known = uint32(v[0]), walSalt{uint32(v[1]), uint32(v[2])}, uint32(v[3]), true
		h.synced = 0
	case recordMark:
		h.marks = append(h.marks, mark{uint32(v[0]), v[1]})
		if len(v) > 2 { // others than the first versions wrote it
			h.synced = max(h.synced, uint32(v[2]))
		}
	case recordSegment:
		ref.number, ref.from, ref.to, ref.first, ref.last = uint32(v[0]), uint32(v[1]), uint32(v[2]), v[3], v[4]
		h.segments = append(h.segments, ref)
		h.number, h.from, h.marks, h.synced, h.stale = ref.number+1, ref.to, nil, 0, true
	case recordFingerprint:
		h.file = &fingerprint{size: v[0], modified: v[1], sum: uint64(v[2]), summed: summing(v[3])}
		h.stale = false
	case recordRestore:
		h.restores = uint32(v[0])
		h.pending = &restore{id: uint32(v[0]), target: point{uint32(v[1]), uint32(v[2])}}
	case recordRestoring:
		if _, again := h.undo[uint32(v[0])]; !again { // after a crash in the middle
			h.undo[uint32(v[0])] = point{uint32(v[1]), uint32(v[2])}
		}
	case recordRestored:
		h.pending = nil
	default:
		return fmt.Errorf("unknown kind of record %d: it was written by a newer version", kind)
	}
	return nil
}

// windowReader reads small pieces of a file in large ones; behind what was passed over, the
// pages of a segment, in smaller ones. Loop-confined.
type windowReader struct {
	r     io.ReaderAt
	start int64
	buf   []byte
}

// at gives up to n bytes at an offset, fewer at the file's end.
func (w *windowReader) at(off int64, n int) ([]byte, error) {
	if off < w.start || off+int64(n) > w.start+int64(len(w.buf)) {
		const large, small = 16 << 10, 512
		if w.buf == nil {
			w.buf = make([]byte, 0, large)
		}
		window := large
		if off > w.start+int64(len(w.buf)) {
			window = small
		}
		got, err := w.r.ReadAt(w.buf[:window], off)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		w.start, w.buf = off, w.buf[:got]
	}
	i := min(int(off-w.start), len(w.buf))
	return w.buf[i:min(i+n, len(w.buf))], nil
}
