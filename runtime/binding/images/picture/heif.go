package picture

import (
	"encoding/binary"
	"slices"
)

// box is a box of an ISO base media file (ISO/IEC 14496-12, section 4.2).
type box struct {
	kind string
	body []byte
}

// boxes splits bytes into boxes, as far as they are whole.
func boxes(data []byte) (all []box) {
	for len(data) >= 8 {
		size, head := uint64(binary.BigEndian.Uint32(data)), uint64(8)
		switch {
		case size == 1 && len(data) >= 16:
			size, head = binary.BigEndian.Uint64(data[8:]), 16
		case size == 0:
			size = uint64(len(data))
		}
		if size < head || size > uint64(len(data)) {
			return all
		}
		all = append(all, box{string(data[4:8]), data[head:size]})
		data = data[size:]
	}
	return all
}

func find(all []box, kind string) []byte {
	i := slices.IndexFunc(all, func(b box) bool { return b.kind == kind })
	if i < 0 {
		return nil
	}
	return all[i].body
}

// readHEIF reads the properties of the primary item (ISO/IEC 23008-12, section 6.5):
// its size, and how it is to be turned and mirrored.
func (h *header) readHEIF(data []byte) error {
	corrupt := failed("Input buffer has corrupt header: heif: its primary item has no size")
	meta := find(boxes(data), "meta")
	if len(meta) < 4 {
		return errNoPicture()
	}
	within := boxes(meta[4:])
	pitm, iprp := find(within, "pitm"), boxes(find(within, "iprp"))
	properties := boxes(find(iprp, "ipco"))
	if len(pitm) < 6 {
		return corrupt
	}
	primary := uint32(binary.BigEndian.Uint16(pitm[4:]))
	if pitm[0] != 0 && len(pitm) >= 8 {
		primary = binary.BigEndian.Uint32(pitm[4:])
	}
	quarters, mirrored := 0, false
	for _, i := range associated(find(iprp, "ipma"), primary) {
		if i < 1 || i > len(properties) {
			continue
		}
		switch p := properties[i-1]; {
		case p.kind == "ispe" && len(p.body) >= 12:
			h.width, h.height = int(binary.BigEndian.Uint32(p.body[4:])), int(binary.BigEndian.Uint32(p.body[8:]))
		case p.kind == "irot" && len(p.body) >= 1:
			quarters = int(p.body[0] & 3) // counterclockwise
		case p.kind == "imir" && len(p.body) >= 1:
			mirrored = true
			if p.body[0]&1 == 0 { // about the horizontal axis: mirrored, and turned upside down
				quarters += 2
			}
		}
	}
	if h.width <= 0 || h.height <= 0 {
		return corrupt
	}
	h.turn = turned(quarters%4, mirrored)
	return nil
}

// turned is EXIF's number of what is turned counterclockwise, then mirrored.
func turned(quarters int, mirrored bool) orientation {
	if mirrored {
		return [...]orientation{2, 7, 4, 5}[quarters]
	}
	return [...]orientation{1, 8, 3, 6}[quarters]
}

// associated are the numbers of an item's properties, from 1.
func associated(ipma []byte, item uint32) (found []int) {
	if len(ipma) < 8 {
		return nil
	}
	wideItem, wide := ipma[0] >= 1, ipma[3]&1 != 0
	n, rest := binary.BigEndian.Uint32(ipma[4:]), ipma[8:]
	take := func(bytes int) (v uint32, ok bool) {
		if len(rest) < bytes {
			return 0, false
		}
		for _, b := range rest[:bytes] {
			v = v<<8 | uint32(b)
		}
		rest = rest[bytes:]
		return v, true
	}
	size := func(wide bool, a, b int) int {
		if wide {
			return a
		}
		return b
	}
	for range n {
		id, ok := take(size(wideItem, 4, 2))
		count, more := take(1)
		if !ok || !more {
			return found
		}
		for range count {
			v, ok := take(size(wide, 2, 1))
			if !ok {
				return found
			}
			if id == item {
				found = append(found, int(v&uint32(size(wide, 0x7fff, 0x7f))))
			}
		}
	}
	return found
}
