package sqlstore

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"slices"
)

// fingerprint takes the database file's, with its sum if the file is not too large.
func (h *history) fingerprint(how summing) (fingerprint, error) {
	fp, err := h.outside()
	if err != nil || how == notSummed || fp.size > summedBytes {
		return fp, err
	}
	b := make([]byte, fp.size)
	if _, err := h.conn.ReadAt(b, 0); err != nil && fp.size > 0 {
		return fingerprint{}, err
	}
	fp.summed = how
	if how == wholeSummed {
		fp.sum = uint64(crc32.Checksum(b, castagnoli))
		return fp, nil
	}
	size := len(b)
	if size >= 18 {
		size = pageSizeFrom(binary.BigEndian.Uint16(b[16:]))
	}
	for page := uint32(1); len(b) > 0; page++ {
		n := min(size, len(b))
		fp.sum += pageSum(page, b[:n])
		b = b[n:]
	}
	return fp, nil
}

// outside is what the file system says of the database file.
func (h *history) outside() (fingerprint, error) {
	info, err := os.Stat(h.database)
	if err != nil {
		return fingerprint{}, err
	}
	return fingerprint{size: info.Size(), modified: info.ModTime().UnixNano()}, nil
}

// without is the last fingerprint without some pages, in ascending order, as they are in
// the file now; false if it is not known, or a new one costs less.
func (h *history) without(pages []uint32) (fingerprint, bool) {
	fp := h.last
	now, err := h.outside()
	if err != nil || fp.summed != pagesSummed || now.size != fp.size || now.modified != fp.modified || len(pages) == 0 {
		return fingerprint{}, false
	}
	if size, err := h.databasePageSize(); err != nil || int64(2*len(pages))*int64(size) > fp.size {
		return fingerprint{}, false
	}
	sum, err := h.sumOf(pages, fp.size)
	fp.sum -= sum
	return fp, err == nil
}

// with is the fingerprint of the file whose other pages are those of rest. A file that has
// lost pages is summed anew; pages that it has gained need not all have been in the WAL.
func (h *history) with(rest fingerprint, pages []uint32) (fingerprint, error) {
	fp, err := h.outside()
	if err != nil || fp.size < rest.size || fp.size > summedBytes {
		return h.fingerprint(pagesSummed)
	}
	size, err := h.databasePageSize()
	if err != nil {
		return fingerprint{}, err
	}
	had, has := uint32(rest.size/int64(size)), uint32(fp.size/int64(size))
	old, _ := slices.BinarySearch(pages, had+1)
	pages = slices.Clone(pages[:old])
	for page := had + 1; page <= has; page++ {
		pages = append(pages, page)
	}
	sum, err := h.sumOf(pages, fp.size)
	fp.sum, fp.summed = rest.sum+sum, pagesSummed
	return fp, err
}

// sumOf adds up the sums of those of the pages that a file of some bytes has.
func (h *history) sumOf(pages []uint32, bytes int64) (sum uint64, err error) {
	size, err := h.databasePageSize()
	if err != nil {
		return 0, err
	}
	b := make([]byte, size)
	for _, page := range pages {
		offset := int64(page-1) * int64(size)
		if offset >= bytes {
			break
		}
		if _, err := h.conn.ReadAt(b, offset); err != nil {
			return 0, err
		}
		sum += pageSum(page, b)
	}
	return sum, nil
}

// pageSum is a number that depends on a page's content and place, spread over all bits
// (the last step of SplitMix64) so that sums of such numbers differ, too.
func pageSum(page uint32, content []byte) uint64 {
	x := uint64(page)<<32 | uint64(crc32.Checksum(content, castagnoli))
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (f fingerprint) record() []byte {
	return record(recordFingerprint, words(f.size, f.modified, int64(f.sum), int64(f.summed)))
}

// recognizes says whether the database file is the one that f was taken of.
func (h *history) recognizes(f fingerprint) bool {
	now, err := h.fingerprint(notSummed)
	if err != nil || now.size != f.size {
		return false
	}
	if now.modified == f.modified {
		return true
	}
	if f.summed == notSummed {
		return false
	}
	now, err = h.fingerprint(f.summed)
	return err == nil && now.sum == f.sum
}
