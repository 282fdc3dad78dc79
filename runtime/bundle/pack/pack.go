// Package pack is the encoding of the bundler's caches: numbers as unsigned varints, texts
// as length and bytes, and behind everything a CRC-32C. It knows nothing of what is written.
package pack

import (
	"encoding/binary"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Writer gathers what is written. Its zero value is empty; for one goroutine.
type Writer struct{ buf []byte }

// Sealed is what was written, with its check sum.
func (w *Writer) Sealed() []byte {
	return binary.LittleEndian.AppendUint32(w.buf, crc32.Checksum(w.buf, castagnoli))
}

// Bytes writes b without its length.
func (w *Writer) Bytes(b []byte) { w.buf = append(w.buf, b...) }

// Number writes n, which must not be negative.
func (w *Writer) Number(n int) { w.buf = binary.AppendUvarint(w.buf, uint64(n)) }

// Flag writes 1 or 0.
func (w *Writer) Flag(b bool) {
	if b {
		w.Number(1)
	} else {
		w.Number(0)
	}
}

// Text writes the length and the bytes of s.
func (w *Writer) Text(s string) {
	w.Number(len(s))
	w.buf = append(w.buf, s...)
}

// Texts writes how many there are, and each.
func (w *Writer) Texts(list []string) {
	w.Number(len(list))
	for _, s := range list {
		w.Text(s)
	}
}

// Numbers writes how many there are, and each.
func (w *Writer) Numbers(list []int) {
	w.Number(len(list))
	for _, n := range list {
		w.Number(n)
	}
}

// Reader reads what a Writer wrote; texts share memory. Bad is set once the data ends
// early; what is read from then on is empty. For one goroutine.
type Reader struct {
	data string
	Bad  bool
}

// Open checks the sum of sealed data. ok is false if it is damaged.
func Open(data []byte) (r Reader, ok bool) {
	end := len(data) - crc32.Size
	if end < 0 || crc32.Checksum(data[:end], castagnoli) != binary.LittleEndian.Uint32(data[end:]) {
		return Reader{}, false
	}
	return Reader{data: string(data[:end])}, true
}

// Take reads n bytes.
func (r *Reader) Take(n int) string {
	if n < 0 || n > len(r.data) {
		r.Bad, n = true, 0
	}
	s := r.data[:n]
	r.data = r.data[n:]
	return s
}

// Number reads a number.
func (r *Reader) Number() int {
	head := r.data[:min(len(r.data), binary.MaxVarintLen64)]
	n, size := binary.Uvarint([]byte(head))
	if size <= 0 {
		r.Bad = true
		return 0
	}
	r.data = r.data[size:]
	return int(n)
}

// Flag reads a flag.
func (r *Reader) Flag() bool { return r.Number() == 1 }

// Text reads a text.
func (r *Reader) Text() string { return r.Take(r.Number()) }

// Texts reads a list of texts.
func (r *Reader) Texts() []string {
	var list []string
	for n := r.Number(); n > 0 && !r.Bad; n-- {
		list = append(list, r.Text())
	}
	return list
}

// Numbers reads a list of numbers.
func (r *Reader) Numbers() []int {
	var list []int
	for n := r.Number(); n > 0 && !r.Bad; n-- {
		list = append(list, r.Number())
	}
	return list
}
