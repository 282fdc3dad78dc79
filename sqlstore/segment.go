package sqlstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
)

// version is a page of an archived segment as it was at one of its points.
type version struct{ page, point uint32 }

// stamp is a point of a segment with what is known of it.
type stamp struct {
	mark
	pages uint32 // size of the database
}

// segment is an archived segment without the pages' content.
type segment struct {
	ref      segmentRef
	pageSize int
	points   []stamp   // the first is the state before the segment, the last the one after it
	versions []version // by page, then point; none of the last point
	data     int64     // offset of the first version's content in the file
}

// archive writes the live segment into the history file and begins the next one.
// It gives the pages that are in the WAL.
func (h *history) archive() ([]uint32, error) {
	if err := h.flush(); err != nil {
		return nil, err
	}
	w, err := openWAL(h.wal)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if w.salt != h.salt {
		return nil, errors.New("the WAL began anew before it was archived")
	}
	st, err := h.records()
	if err != nil {
		return nil, err
	}
	heads, err := w.heads(1, h.frames)
	if err != nil {
		return nil, err
	}
	base, err := h.baseOf(w, heads)
	if err != nil {
		return nil, err
	}
	points := []stamp{{mark{h.from, h.began}, base.pages}}
	for _, m := range st.marks {
		if last := &points[len(points)-1]; m.frame <= last.frame {
			last.time = m.time // a clock that went back marked the same commit again
			continue
		}
		if int(m.frame) > len(heads) {
			return nil, fmt.Errorf("a mark names frame %d of %d", m.frame, len(heads))
		}
		points = append(points, stamp{m, heads[m.frame-1].commit})
	}
	versions, frames := versionsOf(heads, h.from, points)
	if int64(len(versions))*int64(w.pageSize) > h.limit {
		return nil, fmt.Errorf("the changes of one segment, %d pages, exceed the bound of %d bytes", len(versions), h.limit)
	}
	last := points[len(points)-1]
	b := words(int64(h.number), int64(h.from), int64(h.frames), h.began, last.time, int64(w.pageSize), int64(len(points)), int64(len(versions)))
	for _, p := range points {
		b = append(b, words(int64(p.frame), p.time, int64(p.pages))...)
	}
	for _, v := range versions {
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, v.page), v.point)
	}
	page := make([]byte, w.pageSize)
	for i, v := range versions {
		if v.point == 0 {
			err = base.read(v.page, page)
		} else {
			err = w.page(frames[i], page)
		}
		if err != nil {
			return nil, err
		}
		b = append(b, page...)
	}
	if err := h.append(true, record(recordSegment, b)); err != nil {
		return nil, err
	}
	h.number, h.from, h.began = h.number+1, h.frames, last.time
	pages := map[uint32]bool{}
	for _, head := range heads {
		pages[head.page] = true
	}
	return slices.Sorted(maps.Keys(pages)), nil
}

// versionsOf lists the versions to keep of the pages that the frames after from
// changed, and the frame of each; those of point 0 have none.
func versionsOf(heads []frameHead, from uint32, points []stamp) (versions []version, frames []uint32) {
	source := map[version]uint32{}
	least := points[0].pages
	point := 1
	for n := from + 1; n <= uint32(len(heads)); n++ {
		head := heads[n-1]
		for point < len(points)-1 && points[point].frame < n {
			point++
		}
		if head.page <= points[0].pages {
			source[version{head.page, 0}] = 0
		}
		if point < len(points)-1 {
			source[version{head.page, uint32(point)}] = n
		}
		if head.commit != 0 {
			least = min(least, head.commit)
		}
	}
	// Pages that are cut off have no frame, and are gone after the checkpoint.
	for p := least + 1; p <= points[0].pages; p++ {
		source[version{p, 0}] = 0
	}
	for v := range source {
		versions = append(versions, v)
	}
	sort.Slice(versions, func(i, j int) bool {
		a, b := versions[i], versions[j]
		return a.page < b.page || a.page == b.page && a.point < b.point
	})
	for _, v := range versions {
		frames = append(frames, source[v])
	}
	return versions, frames
}

// base is the state at the beginning of the live segment: the database file, and
// frames of the WAL that were archived and are not in it yet.
type base struct {
	h        *history
	w        *walFile
	pages    uint32
	pageSize int
	frames   map[uint32]uint32 // the last frame of a page
}

// baseOf needs the headers of the WAL's frames up to the segment's beginning.
func (h *history) baseOf(w *walFile, heads []frameHead) (*base, error) {
	b := &base{h: h, w: w, frames: map[uint32]uint32{}}
	if h.from > uint32(len(heads)) {
		return nil, fmt.Errorf("sqlstore: %s has %d frames that are whole, and its history goes on from frame %d: the file was cut off or changed", h.wal, len(heads), h.from)
	}
	for n := uint32(1); n <= h.from; n++ {
		b.frames[heads[n-1].page] = n
		if c := heads[n-1].commit; c != 0 {
			b.pages = c
		}
	}
	if w != nil {
		b.pageSize = w.pageSize
	} else {
		size, err := h.databasePageSize()
		if err != nil {
			return nil, err
		}
		b.pageSize = size
	}
	if h.from == 0 {
		size, err := h.conn.FileSize()
		if err != nil {
			return nil, err
		}
		b.pages = uint32(size / int64(b.pageSize))
	}
	return b, nil
}

func (h *history) databasePageSize() (int, error) {
	var b [2]byte
	if _, err := h.conn.ReadAt(b[:], 16); err != nil {
		return 0, err
	}
	return pageSizeFrom(binary.BigEndian.Uint16(b[:])), nil
}

// pageSizeFrom reads the field of the header of a database, at byte 16.
func pageSizeFrom(field uint16) int {
	if field > 1 {
		return int(field)
	}
	return 65536
}

func (b *base) read(page uint32, p []byte) error {
	if n := b.frames[page]; n != 0 {
		return b.w.page(n, p)
	}
	_, err := b.h.conn.ReadAt(p, int64(page-1)*int64(len(p)))
	return err
}

// segmentHead is the length of what a segment's record begins with: eight words.
const segmentHead = 64

// loadSegment reads an archived segment's points and versions. Its content is
// checked as a whole.
func loadSegment(f io.ReaderAt, ref segmentRef) (*segment, error) {
	damaged := fmt.Errorf("segment %d is damaged", ref.number)
	sum := crc32.New(castagnoli)
	if _, err := io.Copy(sum, io.NewSectionReader(f, ref.offset, int64(ref.length))); err != nil {
		return nil, err
	}
	if sum.Sum32() != ref.checksum || ref.length < segmentHead {
		return nil, damaged
	}
	head := make([]byte, segmentHead)
	if _, err := f.ReadAt(head, ref.offset); err != nil {
		return nil, err
	}
	v, err := wordsOf(head, 8)
	if err != nil {
		return nil, err
	}
	pageSize, points, versions, length := v[5], v[6], v[7], int64(ref.length)
	if points < 1 || points > length || versions < 0 || versions > length || pageSize < 512 || pageSize > 65536 ||
		segmentHead+points*24+versions*(8+pageSize) > length {
		return nil, damaged
	}
	index := make([]byte, points*24+versions*8)
	if _, err := f.ReadAt(index, ref.offset+segmentHead); err != nil {
		return nil, err
	}
	s := &segment{ref: ref, pageSize: int(pageSize), data: ref.offset + segmentHead + int64(len(index))}
	for range points {
		w, err := wordsOf(index, 3)
		if err != nil {
			return nil, err
		}
		s.points = append(s.points, stamp{mark{uint32(w[0]), w[1]}, uint32(w[2])})
		index = index[24:]
	}
	for ; len(index) >= 8; index = index[8:] {
		s.versions = append(s.versions, version{binary.LittleEndian.Uint32(index), binary.LittleEndian.Uint32(index[4:])})
	}
	return s, nil
}

// at gives the index of a point in the segment; frame 0 is its beginning.
func (s *segment) at(frame uint32) (int, bool) {
	for i, p := range s.points {
		if frame == 0 || i > 0 && p.frame == frame {
			return i, true
		}
	}
	return 0, false
}

// point is the point with an index.
func (s *segment) point(i int) point {
	if i == 0 {
		return point{s.ref.number, 0}
	}
	return point{s.ref.number, s.points[i].frame}
}

// shorten writes the file anew without the oldest segments, to half its bound,
// and without those that are too old.
func (h *history) shorten() error {
	st, err := h.records()
	if err != nil {
		return err
	}
	keep, size := len(st.segments), int64(0)
	oldest := h.now() - historyDays*dayMillis
	for keep > 0 && st.segments[keep-1].last >= oldest {
		if size += int64(st.segments[keep-1].length); size > h.limit/2 {
			break
		}
		keep--
	}
	kept := st.segments[keep:]
	number, began := st.number, st.lastTime()
	if len(kept) > 0 {
		number, began = kept[0].number, kept[0].first
	}
	v, err := wordsOf(st.id[:], 2)
	if err != nil {
		return err
	}
	b := record(recordStart, words(v[0], v[1], began, int64(number)))
	ids := make([]uint32, 0, len(st.undo))
	for id := range st.undo {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	b = append(b, record(recordRestore, words(int64(st.restores), 0, 0))...)
	b = append(b, record(recordRestored, nil)...)
	for _, id := range ids {
		p := st.undo[id]
		b = append(b, record(recordRestoring, words(int64(id), int64(p.segment), int64(p.frame)))...)
	}
	for _, ref := range kept {
		payload := make([]byte, ref.length)
		if _, err := h.f.ReadAt(payload, ref.offset); err != nil {
			return err
		}
		if crc32.Checksum(payload, castagnoli) != ref.checksum {
			return fmt.Errorf("segment %d is damaged", ref.number)
		}
		b = append(b, record(recordSegment, payload)...)
	}
	b = append(b, h.generation()...)
	for _, m := range st.marks {
		b = append(b, h.mark(m)...)
	}
	if st.file != nil {
		b = append(b, st.file.record()...)
	}
	if p := st.pending; p != nil {
		b = append(b, record(recordRestore, words(int64(p.id), int64(p.target.segment), int64(p.target.frame)))...)
	}
	return h.replace(b)
}

// replace puts a new file into the place of the history file.
func (h *history) replace(b []byte) error {
	tmp := h.path + ".new"
	f, err := h.disk.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(b); err == nil && h.sync {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close(), h.f.Close()); err != nil {
		h.f = nil
		return err
	}
	h.f = nil
	if err := h.disk.Rename(tmp, h.path); err != nil {
		return err
	}
	if h.f, err = h.disk.OpenFile(h.path, os.O_RDWR, 0); err != nil {
		return err
	}
	h.size = int64(len(b))
	if h.sync {
		return h.disk.SyncDir(filepath.Dir(h.path))
	}
	return nil
}
