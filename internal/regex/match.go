package regex

import (
	"bytes"
	"errors"
	"slices"
	"unicode/utf16"
)

// ErrTooDeep is when a match keeps more alternatives than fit into memory.
var ErrTooDeep = errors.New("regex: too many alternatives are open")

const (
	// maxOpen bounds the alternatives and changes of a match that are kept, of 12
	// bytes each: V8 bounds its stack likewise.
	maxOpen = 4 << 20
	// maxKept is how many of them a Matcher has room for between matches.
	maxKept = 1 << 16
	// lookEvery is how many steps, or characters, there are between two calls of Look.
	lookEvery = 1 << 16
)

// Matcher runs patterns. It keeps its memory between matches. Loop-confined.
type Matcher struct {
	// Look is called now and then while matches go on; it may panic to end one.
	Look func()

	prog  *program
	slots []int32
	open  []alternative
	steps int
}

// alternative is where to go on when a match fails, or what to undo on the way:
// with pc < 0 slot -pc-1 gets back at. With low < at, one character less of a
// run (opStar) is the next alternative.
type alternative struct{ pc, at, low int32 }

// Match looks for the first match at or after start, or there alone if it is to
// be sticky. Each group has its bounds, -1 without; nil without a match. Text is
// ASCII or code units. The error is ErrTooDeep.
func Match[T byte | uint16](m *Matcher, p *Pattern, text []T, start int, sticky bool) ([]int, error) {
	m.prog = p.program()
	if cap(m.slots) < m.prog.slots {
		m.slots = make([]int32, m.prog.slots)
	}
	m.slots = m.slots[:m.prog.slots]
	defer m.shrink()
	if m.prog.points && start > 0 && start < len(text) && isLow(rune(text[start])) && isHigh(rune(text[start-1])) {
		start-- // the character that the place is within (22.2.7.2)
	}
	for at := start; at <= len(text); at++ {
		if m.prog.lines && !sticky {
			if at = lineFrom(text, at); at > len(text) {
				break
			}
		}
		if m.prog.first != nil {
			if !sticky && !m.prog.lines {
				at = skip(m.prog, text, at)
			}
			if at >= len(text) {
				return nil, nil
			}
		}
		if m.prog.points && at > start && at < len(text) && isLow(rune(text[at])) && isHigh(rune(text[at-1])) {
			continue
		}
		for i := range m.slots {
			m.slots[i] = -1
		}
		m.open = m.open[:0]
		if ok, err := run(m, text, 0, at); err != nil {
			return nil, err
		} else if ok {
			return m.bounds(), nil
		}
		if sticky {
			break
		}
	}
	return nil, nil
}

// skip is the next place where a match may begin.
func skip[T byte | uint16](p *program, text []T, at int) int {
	if ascii, ok := any(text).([]byte); ok && p.only >= 0 {
		if i := bytes.IndexByte(ascii[at:], byte(p.only)); i >= 0 {
			return at + i
		}
		return len(text)
	}
	for first := p.first; at < len(text); at++ {
		r := rune(text[at])
		if r >= 0xD800 {
			r = characterAt(p, text, at)
		}
		if first.has(r) {
			break
		}
	}
	return at
}

// lineFrom is the first start of a line at or after a place, beyond the text if
// there is none.
func lineFrom[T byte | uint16](text []T, at int) int {
	for ; at > 0 && at <= len(text); at++ {
		if r := rune(text[at-1]); r == '\n' || r == '\r' || r == 0x2028 || r == 0x2029 {
			break
		}
	}
	return at
}

// shrink gives back what an unusual match has needed.
func (m *Matcher) shrink() {
	if cap(m.open) > maxKept {
		m.open = nil
	}
}

// spend counts steps and characters.
func (m *Matcher) spend(n int) {
	if m.steps += n; m.steps >= lookEvery {
		m.look()
	}
}

func (m *Matcher) look() {
	if m.steps = 0; m.Look != nil {
		m.Look()
	}
}

func (m *Matcher) bounds() []int {
	out := make([]int, 2*m.prog.groups)
	for i := 0; i < len(out); i += 2 {
		out[i], out[i+1] = int(m.slots[i]), int(m.slots[i+1])
		if out[i] < 0 || out[i+1] < 0 {
			out[i], out[i+1] = -1, -1
		}
	}
	return out
}

func isHigh(r rune) bool { return r >= 0xD800 && r < 0xDC00 }
func isLow(r rune) bool  { return r >= 0xDC00 && r < 0xE000 }

func characterAt[T byte | uint16](p *program, text []T, at int) rune {
	r := rune(text[at])
	if p.points && isHigh(r) && at+1 < len(text) && isLow(rune(text[at+1])) {
		return utf16.DecodeRune(r, rune(text[at+1]))
	}
	return r
}

func characterBefore[T byte | uint16](p *program, text []T, at int) rune {
	r := rune(text[at-1])
	if p.points && isLow(r) && at > 1 && isHigh(rune(text[at-2])) {
		return utf16.DecodeRune(rune(text[at-2]), r)
	}
	return r
}

func width(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

func (m *Matcher) set(slot, value int) {
	m.open = append(m.open, alternative{pc: int32(-slot - 1), at: m.slots[slot]})
	m.slots[slot] = int32(value)
}

// or opens an alternative at pc.
func (m *Matcher) or(pc, at int) {
	m.open = append(m.open, alternative{pc: int32(pc), at: int32(at), low: int32(at)})
}

// back undoes up to the latest alternative above base and answers where it goes
// on; ok is false if there is none.
func back[T byte | uint16](m *Matcher, text []T, base int) (pc, at int, ok bool) {
	for len(m.open) > base {
		a := &m.open[len(m.open)-1]
		if a.pc < 0 {
			m.slots[-a.pc-1] = a.at
			m.open = m.open[:len(m.open)-1]
			continue
		}
		pc, at = int(a.pc), int(a.at)
		if a.low < a.at { // one character less of a run
			at -= width(characterBefore(m.prog, text, at))
			if a.at = int32(at); a.at > a.low {
				return pc, at, true
			}
		}
		m.open = m.open[:len(m.open)-1]
		return pc, at, true
	}
	return 0, 0, false
}

// run matches from pc on at a place of the text.
func run[T byte | uint16](m *Matcher, text []T, pc, at int) (bool, error) {
	base, code := len(m.open), m.prog.code
	for {
		m.spend(1)
		ok := true
		in := &code[pc]
		pc++
		switch in.op {
		case opChar:
			var r rune
			r, at = next(m.prog, text, at, in.behind)
			ok = r == in.r
		case opClass:
			var r rune
			r, at = next(m.prog, text, at, in.behind)
			ok = r >= 0 && in.class.has(r)
		case opStar:
			at, ok = star(m, text, in, pc, at)
		case opSplit:
			m.or(in.a, at)
		case opSplitLazy:
			m.or(pc, at)
			pc = in.a
		case opJump:
			pc = in.a
		case opSave, opMark:
			m.set(in.a, at)
		case opZero:
			m.set(in.a, 0)
		case opClear:
			for i := 2 * in.a; i < 2*in.b; i++ {
				if m.slots[i] >= 0 {
					m.set(i, -1)
				}
			}
		case opProgress:
			ok = int(m.slots[in.a]) != at
		case opRepeat:
			pc = m.repeat(in, pc, at)
		case opRound:
			m.set(in.b, int(m.slots[in.b])+1)
			m.set(in.b+1, at)
		case opCounted:
			// A round that the minimum does not ask for has to move.
			ok = int(m.slots[in.b+1]) != at || int(m.slots[in.b]) <= in.min
			pc = in.a
		case opLook:
			found, err := around(m, text, in.negated, pc, at)
			if err != nil {
				return false, err
			}
			ok = found != in.negated
			pc = in.a
		case opReference:
			at, ok = again(m, text, in, at)
		case opEnd:
			return true, nil
		default:
			ok = holds(m.prog, text, in, at)
		}
		if len(m.open) > maxOpen {
			return false, ErrTooDeep
		}
		if !ok {
			if pc, at, ok = back(m, text, base); !ok {
				return false, nil
			}
		}
	}
}

// next is the character before or after a place, and the place beyond it; -1 at
// the end.
func next[T byte | uint16](p *program, text []T, at int, behind bool) (rune, int) {
	if behind {
		if at == 0 {
			return -1, at
		}
		r := characterBefore(p, text, at)
		return r, at - width(r)
	}
	if at >= len(text) {
		return -1, at
	}
	r := rune(text[at])
	if r < 0xD800 || !p.points {
		return r, at + 1
	}
	r = characterAt(p, text, at)
	return r, at + width(r)
}

// star takes as many characters of a class as there are; fewer are the
// alternatives.
func star[T byte | uint16](m *Matcher, text []T, in *instruction, pc, at int) (int, bool) {
	low, n := at, 0
	for ; in.b == unbounded || n < in.b; n++ {
		r, after := next(m.prog, text, at, false)
		if r < 0 || !in.class.has(r) {
			break
		}
		if at = after; n < in.a {
			low = at
		}
	}
	m.spend(n)
	if n < in.a {
		return at, false
	}
	if at > low && !in.whole {
		m.open = append(m.open, alternative{pc: int32(pc), at: int32(at), low: int32(low)})
	}
	return at, true
}

// repeat decides at the head of a counted loop; pc is that of a round.
func (m *Matcher) repeat(in *instruction, pc, at int) int {
	count := int(m.slots[in.b])
	switch {
	case count < in.min:
		return pc
	case in.max != unbounded && count >= in.max:
		return in.a
	}
	onward, other := pc, in.a
	if in.lazy {
		onward, other = other, onward
	}
	m.or(other, at)
	return onward
}

// around runs what a look-around holds. What an assertion that holds has captured
// stays, but it is not tried another way; a negated one leaves nothing.
func around[T byte | uint16](m *Matcher, text []T, negated bool, pc, at int) (bool, error) {
	base := len(m.open)
	found, err := run(m, text, pc, at)
	if !found || err != nil {
		return false, err
	}
	if negated {
		for i := len(m.open) - 1; i >= base; i-- {
			if a := m.open[i]; a.pc < 0 {
				m.slots[-a.pc-1] = a.at
			}
		}
		m.open = m.open[:base]
		return true, nil
	}
	changes := slices.DeleteFunc(m.open[base:], func(a alternative) bool { return a.pc >= 0 })
	m.open = m.open[:base+len(changes)]
	return true, nil
}

// again matches what a group has; of groups with one name at most one has any.
func again[T byte | uint16](m *Matcher, text []T, in *instruction, at int) (int, bool) {
	for _, g := range in.refs {
		from, to := int(m.slots[2*g]), int(m.slots[2*g+1])
		if from < 0 || to < 0 {
			continue
		}
		end := to
		if in.behind {
			from, end = to, from
		}
		m.spend(max(end-from, from-end))
		for from != end {
			want, f := next(m.prog, text, from, in.behind)
			have, a := next(m.prog, text, at, in.behind)
			if have < 0 || want != have && (!in.folds || canonical(want, m.prog.points) != canonical(have, m.prog.points)) {
				return at, false
			}
			from, at = f, a
		}
		return at, true
	}
	return at, true
}

// holds answers an assertion.
func holds[T byte | uint16](p *program, text []T, in *instruction, at int) bool {
	switch in.op {
	case opLineStart:
		return at == 0 || in.multiline && lineEnds.contains(rune(text[at-1]))
	case opLineEnd:
		return at == len(text) || in.multiline && lineEnds.contains(rune(text[at]))
	}
	before := at > 0 && in.class.has(characterBefore(p, text, at))
	after := at < len(text) && in.class.has(characterAt(p, text, at))
	return (before != after) != in.negated
}
