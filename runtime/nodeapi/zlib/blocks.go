package zlib

import "math/bits"

// blockWriter writes the blocks of DEFLATE (RFC 1951, section 3.2). Loop-confined.
type blockWriter struct {
	out   []byte
	acc   uint64
	have  uint // bits in acc
	limit int  // symbols of a block
	count int  // symbols of this block

	lengths   []byte   // of each symbol, less three
	distances []uint16 // of each symbol; 0 makes lengths a literal
	literals  [286]uint32
	dists     [30]uint32
	fixedOnly bool
}

const endOfBlock = 256

var (
	lengthExtra   = [29]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
	distanceExtra = [30]uint8{0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13}
	lengthOrder   = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

	lengthBase, lengthCode = lengthTables()
	distanceBase           = distanceTable()
	fixedLiterals          = fixedTree()
	fixedDistances         = fixedDistanceTree()
)

// lengthTables are the first length of each code and the code of each length,
// less three.
func lengthTables() (base [29]uint8, code [256]uint8) {
	n := 0
	for c := range 28 {
		base[c] = uint8(n)
		for range 1 << lengthExtra[c] {
			code[min(n, 255)] = uint8(c)
			n++
		}
	}
	code[255] = 28 // 258 has a code of its own
	base[28] = 255
	return base, code
}

func distanceTable() (base [30]uint16) {
	n := 0
	for c := range base {
		base[c] = uint16(n)
		n += 1 << distanceExtra[c]
	}
	return base
}

// distanceCode is the code of a distance less one.
func distanceCode(d int) int {
	if d < 4 {
		return d
	}
	n := bits.Len(uint(d)) - 1
	return 2*n + d>>(n-1)&1
}

// codeword is a Huffman code, its bits in the order in which they are written.
type codeword struct {
	bits uint16
	n    uint8
}

func fixedTree() []codeword {
	lengths := make([]uint8, 288)
	for i := range lengths {
		switch {
		case i < 144:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		case i < 280:
			lengths[i] = 7
		default:
			lengths[i] = 8
		}
	}
	return codewords(lengths)
}

func fixedDistanceTree() []codeword {
	lengths := make([]uint8, 30)
	for i := range lengths {
		lengths[i] = 5
	}
	return codewords(lengths)
}

// codewords gives codes to lengths (RFC 1951, section 3.2.2).
func codewords(lengths []uint8) []codeword {
	var counts, next [16]int
	for _, n := range lengths {
		counts[n]++
	}
	counts[0] = 0
	code := 0
	for n := 1; n < 16; n++ {
		code = (code + counts[n-1]) << 1
		next[n] = code
	}
	out := make([]codeword, len(lengths))
	for i, n := range lengths {
		if n > 0 {
			out[i] = codeword{bits.Reverse16(uint16(next[n])) >> (16 - n), n}
			next[n]++
		}
	}
	return out
}

func (w *blockWriter) init(limit int) {
	w.limit = limit
	w.reset()
}

func (w *blockWriter) reset() {
	w.count, w.lengths, w.distances = 0, w.lengths[:0], w.distances[:0]
	clear(w.literals[:])
	clear(w.dists[:])
	w.literals[endOfBlock] = 1
}

// literal adds a byte, and reports whether the block is full.
func (w *blockWriter) literal(b byte) bool {
	w.lengths, w.distances = append(w.lengths, b), append(w.distances, 0)
	w.literals[b]++
	w.count++
	return w.count == w.limit
}

// match adds n bytes from a distance.
func (w *blockWriter) match(distance, n int) bool {
	w.lengths, w.distances = append(w.lengths, byte(n-deflateMin)), append(w.distances, uint16(distance))
	w.literals[int(lengthCode[n-deflateMin])+endOfBlock+1]++
	w.dists[distanceCode(distance-1)]++
	w.count++
	return w.count == w.limit
}

func (w *blockWriter) bits(v uint32, n uint) {
	w.acc |= uint64(v) << w.have
	w.have += n
	for w.have >= 8 {
		w.out = append(w.out, byte(w.acc))
		w.acc >>= 8
		w.have -= 8
	}
}

// pad fills the byte.
func (w *blockWriter) pad() {
	if w.have > 0 {
		w.bits(0, 8-w.have)
	}
}

func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// storedBlock writes text as it is.
func (w *blockWriter) storedBlock(text []byte, last bool) {
	for {
		part := text[:min(len(text), 1<<16-1)]
		text = text[len(part):]
		w.bits(bit(last && len(text) == 0), 3)
		w.pad()
		n := len(part)
		w.out = append(w.out, byte(n), byte(n>>8), byte(^n), byte(^n>>8))
		w.out = append(w.out, part...)
		if len(text) == 0 {
			return
		}
	}
}

// align writes an empty block with the fixed codes: what was given can be read.
func (w *blockWriter) align() {
	w.bits(1<<1, 3)
	w.bits(0, 7)
}

// endBlock writes the symbols as the shortest kind of block. Text is what they
// stand for, nil when it is not at hand.
func (w *blockWriter) endBlock(text []byte, size int, last bool) {
	literals, dists := huffman(w.literals[:], fixedLiterals, lengthExtra[:], endOfBlock+1, 15), huffman(w.dists[:], fixedDistances, distanceExtra[:], 0, 15)
	h := newBlockHeader(literals.lengths[:literals.top+1], dists.lengths[:dists.top+1])
	best := (literals.size + dists.size + h.size + 3 + 7) >> 3
	fixed := (literals.fixed + dists.fixed + 3 + 7) >> 3
	if fixed <= best || w.fixedOnly {
		best = fixed
	}
	switch {
	case size+4 <= best && text != nil:
		w.storedBlock(text, last)
	case fixed == best:
		w.bits(1<<1|bit(last), 3)
		w.symbols(fixedLiterals, fixedDistances)
	default:
		w.bits(2<<1|bit(last), 3)
		h.write(w)
		w.symbols(codewords(literals.lengths), codewords(dists.lengths))
	}
	w.reset()
	if last {
		w.pad()
	}
}

func (w *blockWriter) symbols(literals, dists []codeword) {
	for i, d := range w.distances {
		v := w.lengths[i]
		if d == 0 {
			w.bits(uint32(literals[v].bits), uint(literals[v].n))
			continue
		}
		c := lengthCode[v]
		word := literals[int(c)+endOfBlock+1]
		w.bits(uint32(word.bits), uint(word.n))
		w.bits(uint32(v-lengthBase[c]), uint(lengthExtra[c]))
		dc := distanceCode(int(d) - 1)
		w.bits(uint32(dists[dc].bits), uint(dists[dc].n))
		w.bits(uint32(d-1-distanceBase[dc]), uint(distanceExtra[dc]))
	}
	w.bits(uint32(literals[endOfBlock].bits), uint(literals[endOfBlock].n))
}

// blockHeader tells the lengths of two trees (RFC 1951, section 3.2.7).
type blockHeader struct {
	literals, dists []uint8
	codes           tree
	used            int // code lengths of the code lengths that are told
	size            int // bits
}

func newBlockHeader(literals, dists []uint8) *blockHeader {
	h := &blockHeader{literals: literals, dists: dists}
	var counts [19]uint32
	count := func(code int, extra uint32) { counts[code]++ }
	runLengths(literals, count)
	runLengths(dists, count)
	h.codes = huffman(counts[:], nil, []uint8{2, 3, 7}, 16, 7)
	h.used = len(lengthOrder)
	for h.used > 4 && h.codes.lengths[lengthOrder[h.used-1]] == 0 {
		h.used--
	}
	h.size = h.codes.size + 3*h.used + 5 + 5 + 4
	return h
}

func (h *blockHeader) write(w *blockWriter) {
	w.bits(uint32(len(h.literals)-257), 5)
	w.bits(uint32(len(h.dists)-1), 5)
	w.bits(uint32(h.used-4), 4)
	for _, c := range lengthOrder[:h.used] {
		w.bits(uint32(h.codes.lengths[c]), 3)
	}
	words := codewords(h.codes.lengths)
	tell := func(code int, extra uint32) {
		w.bits(uint32(words[code].bits), uint(words[code].n))
		if code >= 16 {
			w.bits(extra, [3]uint{2, 3, 7}[code-16])
		}
	}
	runLengths(h.literals, tell)
	runLengths(h.dists, tell)
}

// runLengths tells lengths with repetitions; a run is cut as zlib cuts it.
func runLengths(lengths []uint8, tell func(code int, extra uint32)) {
	prev, count := -1, 0
	most, least := 7, 4
	next := int(lengths[0])
	if next == 0 {
		most, least = 138, 3
	}
	for i := range lengths {
		cur := next
		next = -1
		if i+1 < len(lengths) {
			next = int(lengths[i+1])
		}
		count++
		if count < most && cur == next {
			continue
		}
		switch {
		case count < least:
			for range count {
				tell(cur, 0)
			}
		case cur != 0:
			if cur != prev {
				tell(cur, 0)
				count--
			}
			tell(16, uint32(count-3))
		case count <= 10:
			tell(17, uint32(count-3))
		default:
			tell(18, uint32(count-11))
		}
		count, prev = 0, cur
		switch {
		case next == 0:
			most, least = 138, 3
		case cur == next:
			most, least = 6, 3
		default:
			most, least = 7, 4
		}
	}
}

// tree is a Huffman tree over symbols.
type tree struct {
	lengths []uint8
	top     int // the last symbol in use
	size    int // bits of all symbols, with their extra bits
	fixed   int // the same with the fixed tree
}

// huffman makes the tree of frequencies with codes of at most limit bits. Equal
// frequencies are ordered by depth, then by symbol, as zlib orders them.
func huffman(counts []uint32, fixed []codeword, extra []uint8, extraFrom int, limit int) tree {
	n := len(counts)
	t := tree{lengths: make([]uint8, n), top: -1}
	weight := make([]uint32, 2*n+1)
	depth := make([]uint8, 2*n+1)
	parent := make([]int, 2*n+1)
	copy(weight, counts)
	heap := make([]int, 1, 2*n+1) // heap[0] is not used
	for s, c := range counts {
		if c > 0 {
			heap = append(heap, s)
			t.top = s
		}
	}
	// A decoder wants at least two codes.
	for len(heap) < 3 {
		s := 0
		if t.top < 2 {
			t.top++
			s = t.top
		}
		heap = append(heap, s)
		weight[s] = 1
		t.size--
		if fixed != nil {
			t.fixed -= int(fixed[s].n)
		}
	}
	less := func(a, b int) bool {
		return weight[a] < weight[b] || weight[a] == weight[b] && depth[a] <= depth[b]
	}
	down := func(k int) {
		v := heap[k]
		for j := 2 * k; j < len(heap); j = 2 * k {
			if j+1 < len(heap) && less(heap[j+1], heap[j]) {
				j++
			}
			if less(v, heap[j]) {
				break
			}
			heap[k] = heap[j]
			k = j
		}
		heap[k] = v
	}
	for k := (len(heap) - 1) / 2; k >= 1; k-- {
		down(k)
	}
	order := make([]int, 0, 2*n+1) // nodes, rarest first
	node := n
	for len(heap) > 2 {
		a := heap[1]
		heap[1] = heap[len(heap)-1]
		heap = heap[:len(heap)-1]
		down(1)
		b := heap[1]
		order = append(order, a, b)
		weight[node] = weight[a] + weight[b]
		depth[node] = max(depth[a], depth[b]) + 1
		parent[a], parent[b] = node, node
		heap[1] = node
		node++
		down(1)
	}
	t.measure(append(order, heap[1]), parent, weight, n, fixed, extra, extraFrom, limit)
	return t
}

// measure gives lengths to the symbols of order (rarest first, the root last),
// and shortens those that are too long.
func (t *tree) measure(order, parent []int, weight []uint32, n int, fixed []codeword, extra []uint8, extraFrom, limit int) {
	length := make([]int, len(parent))
	var counts [16]int
	overflow := 0
	for i := len(order) - 2; i >= 0; i-- {
		v := order[i]
		bits := length[parent[v]] + 1
		if bits > limit {
			bits = limit
			overflow++
		}
		length[v] = bits
		if v >= n {
			continue
		}
		counts[bits]++
		t.lengths[v] = uint8(bits)
		more := 0
		if v >= extraFrom && v-extraFrom < len(extra) {
			more = int(extra[v-extraFrom])
		}
		t.size += int(weight[v]) * (bits + more)
		if fixed != nil {
			t.fixed += int(weight[v]) * (int(fixed[v].n) + more)
		}
	}
	if overflow == 0 {
		return
	}
	for ; overflow > 0; overflow -= 2 {
		bits := limit - 1
		for counts[bits] == 0 {
			bits--
		}
		counts[bits]--
		counts[bits+1] += 2
		counts[limit]--
	}
	i := 0
	for bits := limit; bits > 0; bits-- {
		for left := counts[bits]; left > 0; i++ {
			v := order[i]
			if v >= n {
				continue
			}
			if int(t.lengths[v]) != bits {
				t.size += (bits - int(t.lengths[v])) * int(weight[v])
				t.lengths[v] = uint8(bits)
			}
			left--
		}
	}
}
