package encoding

import (
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// multibyteMachine decodes the encodings of several bytes per character. The
// library knows the indexes; which bytes belong to a malformed sequence, and
// which are read again after it, is the standard's (Encoding, sections 10 to
// 14) and differs from the library's. Loop-confined.
type multibyteMachine struct {
	index   *encoding.Decoder // decodes one sequence at a time
	next    func(m *multibyteMachine, data []byte) sequence
	pending []byte
	buffer  [8]byte
	icu     icuRules // nil in a machine of the standard

	// ISO-2022-JP alone: the final byte of the last escape, and whether
	// nothing came since.
	set     byte
	escaped bool
}

// sequence is the beginning of a stream: a character of size bytes, or a
// malformed sequence of that many. A size of 0 says that more bytes decide it.
type sequence struct {
	r, mark rune // mark is a second code point, or 0
	size    int
	kind    sequenceKind
}

type sequenceKind uint8

const (
	sequenceChar sequenceKind = iota
	sequenceBad
	sequenceSilent // an escape sequence
)

func newMultibyteMachine(name string) *multibyteMachine {
	m := &multibyteMachine{set: 'B'}
	switch name {
	case "gbk", "gb18030":
		m.index, m.next = simplifiedchinese.GB18030.NewDecoder(), nextGB18030
	case "big5":
		m.index, m.next = traditionalchinese.Big5.NewDecoder(), nextBig5
	case "euc-jp":
		m.index, m.next = japanese.EUCJP.NewDecoder(), nextEUCJP
	case "iso-2022-jp":
		m.index, m.next = japanese.EUCJP.NewDecoder(), nextISO2022JP
	case "shift_jis":
		m.index, m.next = japanese.ShiftJIS.NewDecoder(), nextShiftJIS
	case "euc-kr":
		m.index, m.next = korean.EUCKR.NewDecoder(), nextEUCKR
	default:
		return nil
	}
	return m
}

func (m *multibyteMachine) reset() { m.pending, m.set, m.escaped = nil, 'B', false }

func (m *multibyteMachine) decode(chunk []byte, flush bool) (Text, bool) {
	if len(m.pending) > 0 {
		chunk = append(m.pending, chunk...)
		m.pending = nil
	}
	units, ok := make([]uint16, 0, len(chunk)+1), true
	for len(chunk) > 0 {
		s := m.next(m, chunk)
		if m.icu != nil {
			s = m.icu(chunk, s)
		}
		if s.size == 0 {
			if !flush {
				break
			}
			// ISO-2022-JP reads again what follows an escape that is cut off.
			s.size, s.kind = len(chunk), sequenceBad
			if chunk[0] == 0x1B {
				s.size, m.escaped = 1, false
			}
		}
		switch s.kind {
		case sequenceChar:
			units = utf16.AppendRune(units, s.r)
			if s.mark != 0 {
				units = utf16.AppendRune(units, s.mark)
			}
		case sequenceBad:
			units, ok = append(units, utf8.RuneError), false
		}
		chunk = chunk[s.size:]
	}
	if flush {
		m.reset()
	} else {
		m.pending = slices.Clone(chunk)
	}
	return Text{units: units}, ok
}

// lookup is the character of a whole sequence in the index.
func (m *multibyteMachine) lookup(seq ...byte) (rune, bool) {
	n, read, err := m.index.Transform(m.buffer[:], seq, true)
	r, size := utf8.DecodeRune(m.buffer[:n])
	return r, err == nil && read == len(seq) && size == n && r != utf8.RuneError
}

func oneByte(r rune) sequence { return sequence{r: r, size: 1} }

var badByte = sequence{size: 1, kind: sequenceBad}

// pair is the character of the first bytes of data, or an error in which an
// ASCII byte at the end has no part.
func (m *multibyteMachine) pair(valid bool, data ...byte) sequence {
	if valid {
		if r, ok := m.lookup(data...); ok {
			return sequence{r: r, size: len(data)}
		}
	}
	size := len(data)
	if data[size-1] < utf8.RuneSelf {
		size--
	}
	return sequence{size: size, kind: sequenceBad}
}

func within(c, low, high byte) bool { return low <= c && c <= high }

// nextGB18030 is section 10.2.1; GBK is decoded likewise (10.1.1).
func nextGB18030(m *multibyteMachine, data []byte) sequence {
	c := data[0]
	switch {
	case c < 0x80:
		return oneByte(rune(c))
	case c == 0x80:
		return oneByte('€')
	case c == 0xFF:
		return badByte
	case len(data) < 2:
		return sequence{}
	}
	second := data[1]
	if !within(second, '0', '9') {
		valid := within(second, 0x40, 0x7E) || within(second, 0x80, 0xFE)
		s := m.pair(valid, c, second)
		if r := privateGB18030(c, second); r != 0 && valid && s.kind == sequenceBad {
			return sequence{r: r, size: 2}
		}
		return s
	}
	for i, low := range []byte{0x81, '0'} {
		if len(data) < 3+i {
			return sequence{}
		}
		if high := []byte{0xFE, '9'}[i]; !within(data[2+i], low, high) {
			return badByte
		}
	}
	switch [4]byte(data) {
	case [4]byte{0x81, 0x35, 0xF4, 0x37}: // pointer 7457
		return sequence{r: 0xE7C7, size: 4}
	case [4]byte{0x84, 0x31, 0xA4, 0x37}:
		return sequence{r: utf8.RuneError, size: 4}
	}
	return m.pair(true, data[:4]...).whole(4)
}

// gbPrivate are the runs of pairs of index gb18030 (first, last, code point of
// the first) that the library's table, which is older, leaves empty.
var gbPrivate = []struct{ first, last, r rune }{
	{0xA2AB, 0xA2B0, 0xE766}, {0xA2E4, 0xA2E4, 0xE76D}, {0xA2EF, 0xA2F0, 0xE76E}, {0xA2FD, 0xA2FE, 0xE770},
	{0xA4F4, 0xA4FE, 0xE772}, {0xA5F7, 0xA5FE, 0xE77D}, {0xA6B9, 0xA6C0, 0xE785}, {0xA6D9, 0xA6D9, 0xFE10},
	{0xA6DA, 0xA6DA, 0xFE12}, {0xA6DB, 0xA6DB, 0xFE11}, {0xA6DC, 0xA6DF, 0xFE13}, {0xA6EC, 0xA6ED, 0xFE17},
	{0xA6F3, 0xA6F3, 0xFE19}, {0xA6F6, 0xA6FE, 0xE797}, {0xA7C2, 0xA7D0, 0xE7A0}, {0xA7F2, 0xA7FE, 0xE7AF},
	{0xA896, 0xA8A0, 0xE7BC}, {0xA8BC, 0xA8BC, 0x1E3F}, {0xA8C1, 0xA8C4, 0xE7C9}, {0xA8EA, 0xA8FE, 0xE7CD},
	{0xA958, 0xA958, 0xE7E2}, {0xA95B, 0xA95B, 0xE7E3}, {0xA95D, 0xA95F, 0xE7E4}, {0xA997, 0xA9A3, 0xE7F4},
	{0xA9F0, 0xA9FE, 0xE801}, {0xD7FA, 0xD7FE, 0xE810}, {0xFE51, 0xFE53, 0xE816}, {0xFE59, 0xFE59, 0x9FB4},
	{0xFE61, 0xFE61, 0x9FB5}, {0xFE66, 0xFE67, 0x9FB6}, {0xFE6C, 0xFE6C, 0xE831}, {0xFE6D, 0xFE6D, 0x9FB8},
	{0xFE76, 0xFE76, 0xE83B}, {0xFE7E, 0xFE7E, 0x9FB9}, {0xFE90, 0xFE90, 0x9FBA}, {0xFE91, 0xFE91, 0xE855},
	{0xFEA0, 0xFEA0, 0x9FBB},
}

// privateGB18030 is the character of a pair that gbPrivate has, or that GB 18030
// leaves to its users; 0 if it is none.
func privateGB18030(lead, trail byte) rune {
	row, cell := rune(lead), rune(trail)
	switch {
	case trail >= 0xA1 && within(lead, 0xAA, 0xAF):
		return 0xE000 + (row-0xAA)*94 + cell - 0xA1
	case trail >= 0xA1 && within(lead, 0xF8, 0xFE):
		return 0xE234 + (row-0xF8)*94 + cell - 0xA1
	case trail < 0xA1 && within(lead, 0xA1, 0xA7):
		if trail > 0x7F {
			cell--
		}
		return 0xE4C6 + (row-0xA1)*96 + cell - 0x40
	}
	for _, run := range gbPrivate {
		if at := row<<8 | cell; run.first <= at && at <= run.last {
			return run.r + at - run.first
		}
	}
	return 0
}

// whole is s over size bytes, an error too.
func (s sequence) whole(size int) sequence {
	s.size = size
	return s
}

// leadByte is what the first byte says by itself where pairs begin with 0x81 to
// 0xFE; ended is false if it begins one that is there.
func leadByte(data []byte) (s sequence, ended bool) {
	switch c := data[0]; {
	case c < 0x80:
		return oneByte(rune(c)), true
	case !within(c, 0x81, 0xFE):
		return badByte, true
	}
	return sequence{}, len(data) < 2
}

// bigMarks are the pairs of Big5 that are two code points.
var bigMarks = map[byte]sequence{0x62: {r: 0xCA, mark: 0x304, size: 2}, 0x64: {r: 0xCA, mark: 0x30C, size: 2},
	0xA3: {r: 0xEA, mark: 0x304, size: 2}, 0xA5: {r: 0xEA, mark: 0x30C, size: 2}}

// nextBig5 is section 11.1.1.
func nextBig5(m *multibyteMachine, data []byte) sequence {
	c := data[0]
	if s, ended := leadByte(data); ended {
		return s
	}
	if s, ok := bigMarks[data[1]]; ok && c == 0x88 {
		return s
	}
	return m.pair(within(data[1], 0x40, 0x7E) || within(data[1], 0xA1, 0xFE), c, data[1])
}

// nextEUCJP is section 12.1.1.
func nextEUCJP(m *multibyteMachine, data []byte) sequence {
	c := data[0]
	switch {
	case c < 0x80:
		return oneByte(rune(c))
	case c != 0x8E && c != 0x8F && !within(c, 0xA1, 0xFE):
		return badByte
	case len(data) < 2:
		return sequence{}
	}
	high := within(data[1], 0xA1, 0xFE)
	switch {
	case c == 0x8E:
		return m.pair(within(data[1], 0xA1, 0xDF), c, data[1])
	case c == 0x8F && high && len(data) < 3:
		return sequence{}
	case c == 0x8F && high:
		return m.pair(within(data[2], 0xA1, 0xFE), c, data[1], data[2])
	}
	return m.pair(high && c != 0x8F, c, data[1])
}

// nextISO2022JP is section 12.2.1.
func nextISO2022JP(m *multibyteMachine, data []byte) sequence {
	c := data[0]
	if c == 0x1B {
		return m.escape(data)
	}
	escaped := m.escaped
	m.escaped = false
	double := m.set == '@'
	switch {
	case double && within(c, 0x21, 0x7E) && len(data) < 2:
		m.escaped = escaped
		return sequence{}
	case double && within(c, 0x21, 0x7E):
		if data[1] == 0x1B {
			return badByte
		}
		return m.pair(within(data[1], 0x21, 0x7E), c|0x80, data[1]|0x80)
	case m.set == 'I' && within(c, 0x21, 0x5F):
		return oneByte(0xFF61 - 0x21 + rune(c))
	case double || m.set == 'I' || c >= 0x80 || c == 0x0E || c == 0x0F:
		return badByte
	case m.set == 'J' && c == '\\':
		return oneByte('¥')
	case m.set == 'J' && c == '~':
		return oneByte('‾')
	}
	return oneByte(rune(c))
}

// escape is the escape sequence that data begins with. Two in a row are an
// error, since text could hide between them.
func (m *multibyteMachine) escape(data []byte) sequence {
	if len(data) < 2 || (data[1] == '$' || data[1] == '(') && len(data) < 3 {
		return sequence{}
	}
	set := byte(0)
	if len(data) > 2 {
		switch string(data[1:3]) {
		case "(B", "(J", "(I":
			set = data[2]
		case "$@", "$B":
			set = '@'
		}
	}
	if set == 0 {
		m.escaped = false
		return badByte
	}
	s := sequence{size: 3, kind: sequenceSilent}
	if m.escaped {
		s.kind = sequenceBad
	}
	m.set, m.escaped = set, true
	return s
}

// nextShiftJIS is section 12.3.1.
func nextShiftJIS(m *multibyteMachine, data []byte) sequence {
	c := data[0]
	switch {
	case c <= 0x80:
		return oneByte(rune(c))
	case within(c, 0xA1, 0xDF):
		return oneByte(0xFF61 - 0xA1 + rune(c))
	case !within(c, 0x81, 0x9F) && !within(c, 0xE0, 0xFC):
		return badByte
	case len(data) < 2:
		return sequence{}
	}
	trail := data[1]
	valid := within(trail, 0x40, 0x7E) || within(trail, 0x80, 0xFC)
	if valid && within(c, 0xF0, 0xF9) { // characters of the user
		offset := rune(0x40)
		if trail >= 0x7F {
			offset++
		}
		return sequence{r: 0xE000 + rune(c-0xF0)*188 + rune(trail) - offset, size: 2}
	}
	return m.pair(valid, c, trail)
}

// nextEUCKR is section 13.1.1.
func nextEUCKR(m *multibyteMachine, data []byte) sequence {
	if s, ended := leadByte(data); ended {
		return s
	}
	return m.pair(within(data[1], 0x41, 0xFE), data[0], data[1])
}
