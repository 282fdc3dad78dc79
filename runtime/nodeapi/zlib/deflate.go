package zlib

// The compressor of DEFLATE (RFC 1951) makes the choices that zlib documents
// (deflateInit2, deflateTune: level, window, memory, strategy), so that what it
// puts out is byte for byte what the reference puts out: programs compare
// compressed texts, and send them as fixtures.

const (
	deflateMin   = 3   // the shortest match
	deflateMax   = 258 // the longest match
	deflateAhead = deflateMax + deflateMin + 1
	deflateFar   = 4096 // a match of three bytes from further away costs more than it saves
)

// deflateTuning are the four numbers of deflateTune: how hard a level looks.
type deflateTuning struct {
	good, lazy, nice, chain int
	fast                    bool // takes the first match, looks for no better one at the next byte
}

var deflateLevels = [10]deflateTuning{
	{}, {4, 4, 8, 4, true}, {4, 5, 16, 8, true}, {4, 6, 32, 32, true},
	{4, 4, 16, 16, false}, {8, 16, 32, 32, false}, {8, 16, 128, 128, false},
	{8, 32, 128, 256, false}, {32, 128, 258, 1024, false}, {32, 258, 258, 4096, false},
}

// The strategies (nodejs.org/api/zlib.html, "zlib constants").
const (
	zFiltered    = 1
	zHuffmanOnly = 2
	zRLE         = 3
	zFixed       = 4
)

// deflateState compresses one stream. Loop-confined.
//
// The window holds twice as many bytes as a match may reach back; when the
// upper half is nearly used up it becomes the lower half. Positions are indices
// of the window; 0 stands for none in head and prev, so the window's first byte
// never begins a match.
type deflateState struct {
	blockWriter
	level, strategy int
	tuning          deflateTuning

	window   []byte
	size     int      // of one half
	head     []uint16 // by hash, the last position
	prev     []uint16 // by position, the one before with its hash
	at       int      // the next byte to encode
	ahead    int      // bytes known from there on
	block    int      // where the block begins; negative when that has left the window
	owed     int      // bytes before at that are not in head yet
	input    []byte   // not in the window yet
	raw      []byte   // at level 0, what no block has yet
	pending  bool     // the byte before at is neither encoded nor part of a match
	matchLen int
	matchAt  int
	prevLen  int
	lastStep coderStep
}

func newDeflateState(level, strategy, window, memory int) *deflateState {
	if level < 0 {
		level = 6
	}
	if window < 9 || window > 15 {
		window = max(9, min(window, 15))
	}
	if memory < 1 || memory > 9 {
		memory = 8
	}
	s := &deflateState{size: 1 << window, matchLen: deflateMin - 1, prevLen: deflateMin - 1, lastStep: -1}
	s.window = make([]byte, 2*s.size+deflateMax)
	s.head, s.prev = make([]uint16, 1<<max(15, memory+7)), make([]uint16, s.size)
	s.blockWriter.init(1<<(memory+6) - 1)
	s.tune(level, strategy)
	return s
}

func (s *deflateState) tune(level, strategy int) {
	if level < 0 {
		level = 6
	}
	if s.level == 0 && level > 0 {
		clear(s.head)
		s.at, s.block, s.owed, s.ahead = 0, 0, 0, 0
	}
	s.level, s.strategy, s.tuning = level, strategy, deflateLevels[level]
	s.fixedOnly, s.prevLen = strategy == zFixed, deflateMin-1
}

// dictionary makes text what came before the first byte.
func (s *deflateState) dictionary(text []byte) {
	if len(text) > s.size {
		text = text[len(text)-s.size:]
	}
	s.input = text
	s.fill()
	for s.ahead >= deflateMin {
		for n := s.ahead - (deflateMin - 1); n > 0; n-- {
			s.insert(s.at)
			s.at++
		}
		s.ahead = deflateMin - 1
		s.fill()
	}
	s.at += s.ahead
	s.block, s.owed, s.ahead = s.at, s.ahead, 0
	s.matchLen, s.prevLen, s.pending = deflateMin-1, deflateMin-1, false
}

// rank orders the flushes: a weaker one after a stronger one with nothing
// between asks for nothing new.
func (h coderStep) rank() int {
	switch h {
	case coderBlock:
		return 1
	case coderPartial:
		return 2
	case coderFlush:
		return 3
	case coderFull:
		return 4
	case coderLast, coderCut:
		return 5
	}
	return 0
}

// deflate encodes a piece; the output is in out.
func (s *deflateState) deflate(piece []byte, how coderStep) {
	if len(piece) == 0 && how != coderLast && s.lastStep >= 0 && how.rank() <= s.lastStep.rank() {
		return
	}
	s.lastStep = how
	s.input = piece
	flush := how != coderMore
	switch {
	case s.level == 0:
		s.stored(how)
	case s.strategy == zHuffmanOnly:
		s.literals(flush)
	case s.strategy == zRLE:
		s.runs(flush)
	case s.tuning.fast:
		s.greedy(flush)
	default:
		s.lazily(flush)
	}
	if !flush {
		return
	}
	if s.level > 0 {
		s.owed = min(s.at, deflateMin-1)
		if how == coderLast || s.count > 0 {
			s.flushBlock(how == coderLast)
		}
	}
	if how == coderLast {
		return
	}
	switch how {
	case coderPartial:
		s.align()
	case coderFlush, coderFull, coderCut:
		s.storedBlock(nil, false)
		if how == coderFull {
			clear(s.head)
			if s.ahead == 0 {
				s.at, s.block, s.owed = 0, 0, 0
			}
		}
	}
}

// fill moves input into the window.
func (s *deflateState) fill() {
	for {
		room := 2*s.size - s.ahead - s.at
		if s.at >= s.size+s.size-deflateAhead {
			copy(s.window[:s.size], s.window[s.size:2*s.size])
			s.matchAt -= s.size
			s.at -= s.size
			s.block -= s.size
			s.owed = min(s.owed, s.at)
			slide(s.head, s.size)
			slide(s.prev, s.size)
			room += s.size
		}
		if len(s.input) == 0 {
			return
		}
		n := copy(s.window[s.at+s.ahead:s.at+s.ahead+room], s.input)
		s.input = s.input[n:]
		s.ahead += n
		for p := s.at - s.owed; s.owed > 0 && s.ahead+s.owed > deflateMin; p++ {
			s.insert(p)
			s.owed--
		}
		if s.ahead >= deflateAhead || len(s.input) == 0 {
			return
		}
	}
}

// slide moves positions down by half a window; those below it are forgotten.
func slide(positions []uint16, by int) {
	for i, p := range positions {
		positions[i] = uint16(max(int(p)-by, 0))
	}
}

// insert enters position p and returns the last one with the same hash. As in
// the reference it looks at four bytes: it finds few matches of three, which
// rarely are worth it.
func (s *deflateState) insert(p int) int {
	w := s.window[p : p+4 : p+4]
	v := uint32(w[0]) | uint32(w[1])<<8 | uint32(w[2])<<16 | uint32(w[3])<<24
	h := (v*66521 + 66521) >> 16 & uint32(len(s.head)-1)
	last := s.head[h]
	s.head[h] = uint16(p)
	s.prev[p&(s.size-1)] = last
	return int(last)
}

// more reports whether there is a byte to encode; without a flush enough of
// what follows it must be known.
func (s *deflateState) more(flush bool) bool {
	if s.ahead < deflateAhead {
		s.fill()
		if s.ahead < deflateAhead && !flush {
			return false
		}
	}
	return s.ahead > 0
}

func (s *deflateState) reach() int { return s.size - deflateAhead }

// longest finds the longest match of the chain that begins at p, if it is
// longer than prevLen; it sets matchAt.
func (s *deflateState) longest(p int) int {
	chain, best, nice := s.tuning.chain, s.prevLen, min(s.tuning.nice, s.ahead)
	if s.prevLen >= s.tuning.good {
		chain >>= 2
	}
	limit := max(s.at-s.reach(), 0)
	scan := s.window[s.at : s.at+deflateMax : s.at+deflateMax]
	for {
		m := s.window[p : p+deflateMax : p+deflateMax]
		if m[best] == scan[best] && m[best-1] == scan[best-1] && m[0] == scan[0] && m[1] == scan[1] {
			n := 2
			for n < deflateMax && m[n] == scan[n] {
				n++
			}
			if n > best {
				s.matchAt, best = p, n
				if n >= nice {
					break
				}
			}
		}
		p = int(s.prev[p&(s.size-1)])
		chain--
		if p <= limit || chain == 0 {
			break
		}
	}
	return min(best, s.ahead)
}

func (s *deflateState) near(p int) bool { return p != 0 && s.at-p <= s.reach() }

// single encodes a byte as it is; it reports whether the block is full.
func (s *deflateState) single() bool {
	full := s.literal(s.window[s.at])
	s.ahead--
	s.at++
	return full
}

// greedy takes the first match there is.
func (s *deflateState) greedy(flush bool) {
	for s.more(flush) {
		n := 0
		if s.ahead >= deflateMin {
			if p := s.insert(s.at); s.near(p) {
				n = s.longest(p)
			}
		}
		var full bool
		if n >= deflateMin {
			full = s.match(s.at-s.matchAt, n)
			s.ahead -= n
			if n <= s.tuning.lazy && s.ahead >= deflateMin {
				for n--; n > 0; n-- {
					s.at++
					s.insert(s.at)
				}
				s.at++
			} else {
				s.at += n
			}
		} else {
			full = s.single()
		}
		if full {
			s.flushBlock(false)
		}
	}
}

// lazily takes a match only if the next byte begins no longer one.
func (s *deflateState) lazily(flush bool) {
	for s.more(flush) {
		p := 0
		if s.ahead >= deflateMin {
			p = s.insert(s.at)
		}
		prevAt := s.matchAt
		s.prevLen, s.matchLen = s.matchLen, deflateMin-1
		if s.prevLen < s.tuning.lazy && s.near(p) {
			s.matchLen = s.longest(p)
			if s.matchLen <= 5 && (s.strategy == zFiltered || s.matchLen == deflateMin && s.at-s.matchAt > deflateFar) {
				s.matchLen = deflateMin - 1
			}
		}
		switch {
		case s.prevLen >= deflateMin && s.matchLen <= s.prevLen:
			last := s.at + s.ahead - deflateMin
			full := s.match(s.at-1-prevAt, s.prevLen)
			s.ahead -= s.prevLen - 1
			for n := s.prevLen - 2; n > 0; n-- {
				s.at++
				if s.at <= last {
					s.insert(s.at)
				}
			}
			s.at++
			s.prevLen = 0
			s.pending, s.matchLen = false, deflateMin-1
			if full {
				s.flushBlock(false)
			}
		case s.pending:
			if s.literal(s.window[s.at-1]) {
				s.flushBlock(false)
			}
			s.at++
			s.ahead--
		default:
			s.pending = true
			s.at++
			s.ahead--
		}
	}
	if flush && s.pending {
		s.literal(s.window[s.at-1])
		s.pending = false
	}
}

// literals looks for no matches.
func (s *deflateState) literals(flush bool) {
	for {
		if s.ahead == 0 {
			s.fill()
			if s.ahead == 0 {
				return
			}
		}
		if s.single() {
			s.flushBlock(false)
		}
	}
}

// runs takes only matches with the byte before.
func (s *deflateState) runs(flush bool) {
	for {
		if s.ahead <= deflateMax {
			s.fill()
			if s.ahead <= deflateMax && !flush || s.ahead == 0 {
				return
			}
		}
		n := 0
		if s.at > 0 && s.ahead >= deflateMin {
			for n < min(deflateMax, s.ahead) && s.window[s.at+n] == s.window[s.at-1] {
				n++
			}
		}
		var full bool
		if n >= deflateMin {
			full = s.match(1, n)
			s.ahead -= n
			s.at += n
		} else {
			full = s.single()
		}
		if full {
			s.flushBlock(false)
		}
	}
}

// stored keeps the input for blocks that are as long as they may be; the
// reference's also end where its piece of output is full, and are shorter. It leaves
// the window alone: tune empties that when matches begin.
func (s *deflateState) stored(how coderStep) {
	const longest = 1<<16 - 1
	s.raw = append(s.raw, s.input...)
	s.input = nil
	for len(s.raw) > longest {
		s.storedBlock(s.raw[:longest], false)
		s.raw = s.raw[longest:]
	}
	if how == coderLast || how != coderMore && len(s.raw) > 0 {
		s.storedBlock(s.raw, how == coderLast)
		s.raw = nil
	}
}

// flushBlock ends the block before at.
func (s *deflateState) flushBlock(last bool) {
	var text []byte
	if s.block >= 0 {
		text = s.window[s.block:s.at]
	}
	s.endBlock(text, s.at-s.block, last)
	s.block = s.at
}
