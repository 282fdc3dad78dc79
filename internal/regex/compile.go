package regex

// opcode is what an instruction does. Those that move have a variant for going
// backwards, in a look-behind: instruction.behind.
type opcode uint8

const (
	opChar      opcode = iota // r
	opClass                   // class
	opStar                    // class, as often as it matches: a to b times
	opSplit                   // goes on, or at a when that fails
	opSplitLazy               // goes on at a, or here when that fails
	opJump                    // to a
	opSave                    // position to slot a
	opClear                   // groups a <= n < b
	opZero                    // slot a := 0
	opMark                    // position to slot a
	opProgress                // fails at the position of slot a
	opRepeat                  // the head of a counted loop, which ends at a
	opRound                   // counts a round in slot b
	opCounted                 // the end of a round; the head is at a
	opLook                    // runs what follows up to opEnd, then goes on at a
	opLineStart
	opLineEnd
	opBoundary
	opReference
	opEnd
)

type instruction struct {
	op             opcode
	behind         bool
	negated        bool
	lazy           bool
	multiline      bool
	folds          bool
	whole          bool // of opStar: with less of the run, what follows would fail
	a, b, min, max int
	r              rune
	class          *matchSet
	refs           []int
}

// matchSet is a set with its members below 128 as bits.
type matchSet struct {
	ascii [4]uint32
	set   Set
}

func newMatchSet(s Set) *matchSet {
	m := &matchSet{set: s}
	for c := range rune(128) {
		if s.contains(c) {
			m.ascii[c>>5] |= 1 << (c & 31)
		}
	}
	return m
}

func (m *matchSet) has(r rune) bool {
	if r < 128 {
		return m.ascii[r>>5]&(1<<(r&31)) != 0
	}
	return m.set.contains(r)
}

// program is a pattern's code. Immutable.
type program struct {
	code   []instruction
	groups int // with the whole match
	slots  int // two for each group, then those of loops
	points bool
	first  *matchSet // what a match can begin with; nil if that is not known
	only   rune      // the one ASCII character that first has, or -1
	lines  bool      // a match begins at the start of a line
}

type compiler struct {
	code   []instruction
	slots  int
	behind bool
}

func compile(p *Pattern) *program {
	c := &compiler{slots: 2 * len(p.Names)}
	c.emit(instruction{op: opSave, a: 0})
	c.node(p.root)
	c.emit(instruction{op: opSave, a: 1})
	c.emit(instruction{op: opEnd})
	c.settleRuns()
	out := &program{code: c.code, groups: len(p.Names), slots: c.slots, points: p.flags.points(), only: -1}
	out.lines = c.code[1].op == opLineStart && c.code[1].multiline
	if s, known := p.root.begins(); known {
		out.first = newMatchSet(s)
		if ascii := s.intersect(Set{{0, 127}}); len(ascii) == 1 && ascii[0].Lo == ascii[0].Hi {
			out.only = ascii[0].Lo
		}
	}
	return out
}

// settleRuns finds the runs that are to be taken as a whole: those followed by a
// character that is not of their class.
func (c *compiler) settleRuns() {
	for i := range c.code {
		if c.code[i].op != opStar {
			continue
		}
		after := i + 1
		for c.code[after].op == opSave {
			after++
		}
		switch then := &c.code[after]; then.op {
		case opChar:
			c.code[i].whole = !c.code[i].class.has(then.r)
		case opClass:
			c.code[i].whole = !c.code[i].class.set.meets(then.class.set)
		}
	}
}

func (c *compiler) emit(i instruction) int {
	c.code = append(c.code, i)
	return len(c.code) - 1
}

func (c *compiler) slot() int {
	c.slots++
	return c.slots - 1
}

func (c *compiler) node(n *node) {
	switch n.kind {
	case sequence:
		for i := range n.list {
			if c.behind {
				i = len(n.list) - 1 - i
			}
			c.node(n.list[i])
		}
	case choice:
		c.choice(n)
	case char, class:
		c.one(n)
	case group:
		from, to := 2*n.index, 2*n.index+1
		if c.behind {
			from, to = to, from
		}
		c.emit(instruction{op: opSave, a: from})
		c.node(n.list[0])
		c.emit(instruction{op: opSave, a: to})
	case loop:
		c.loop(n)
	case look:
		at := c.emit(instruction{op: opLook, negated: n.negated})
		outer := c.behind
		c.behind = n.behind
		c.node(n.list[0])
		c.behind = outer
		c.emit(instruction{op: opEnd})
		c.code[at].a = len(c.code)
	case lineStart:
		c.emit(instruction{op: opLineStart, multiline: n.flags.multiline})
	case lineEnd:
		c.emit(instruction{op: opLineEnd, multiline: n.flags.multiline})
	case boundary:
		c.emit(instruction{op: opBoundary, negated: n.negated, class: newMatchSet(n.flags.words())})
	case reference:
		c.emit(instruction{op: opReference, refs: n.refs, folds: n.flags.ignoreCase, behind: c.behind})
	}
}

func (c *compiler) choice(n *node) {
	var ends []int
	for i, alternative := range n.list {
		if i == len(n.list)-1 {
			c.node(alternative)
			break
		}
		split := c.emit(instruction{op: opSplit})
		c.node(alternative)
		ends = append(ends, c.emit(instruction{op: opJump}))
		c.code[split].a = len(c.code)
	}
	for _, at := range ends {
		c.code[at].a = len(c.code)
	}
}

// one is the instruction of a character or a class.
func (c *compiler) one(n *node) {
	i := instruction{op: opClass, behind: c.behind}
	if set := n.matches(); len(set) == 1 && set[0].Lo == set[0].Hi {
		i.op, i.r = opChar, set[0].Lo
	} else {
		i.class = newMatchSet(set)
	}
	c.emit(i)
}

// matches is what a character or a class stands for.
func (n *node) matches() Set {
	s := n.set
	if n.kind == char {
		s = Set{{n.r, n.r}}
	}
	if n.flags.ignoreCase && !n.closed {
		s = closed(s, n.flags.points())
	}
	return s
}

// loop compiles a quantifier (22.2.2.3.1, RepeatMatcher): each round forgets the
// groups within; a round that the minimum does not ask for must move.
func (c *compiler) loop(n *node) {
	body := n.list[0]
	switch {
	case n.max == 0:
		return
	case (body.kind == char || body.kind == class) && !n.lazy && !c.behind:
		c.emit(instruction{op: opStar, class: newMatchSet(body.matches()), a: n.min, b: n.max})
		return
	case n.min > 0 || n.max != unbounded && n.max != 1:
		c.counted(n)
		return
	}
	op := opSplit
	if n.lazy {
		op = opSplitLazy
	}
	split := c.emit(instruction{op: op})
	if body.void {
		mark := c.slot()
		c.emit(instruction{op: opMark, a: mark})
		c.round(n)
		c.emit(instruction{op: opProgress, a: mark})
	} else {
		c.round(n)
	}
	if n.max == unbounded {
		c.emit(instruction{op: opJump, a: split})
	}
	c.code[split].a = len(c.code)
}

// counted compiles a loop that counts its rounds in a slot; the next slot has
// where the round began.
func (c *compiler) counted(n *node) {
	counter := c.slot()
	c.slot()
	c.emit(instruction{op: opZero, a: counter})
	head := c.emit(instruction{op: opRepeat, b: counter, min: n.min, max: n.max, lazy: n.lazy})
	c.emit(instruction{op: opRound, b: counter})
	c.round(n)
	c.emit(instruction{op: opCounted, a: head, b: counter, min: n.min})
	c.code[head].a = len(c.code)
}

func (c *compiler) round(n *node) {
	if n.first < n.last {
		c.emit(instruction{op: opClear, a: n.first, b: n.last})
	}
	c.node(n.list[0])
}

// begins is what a match of the node can begin with; known is false if it may
// match without taking a character, or if that is not clear.
func (n *node) begins() (s Set, known bool) {
	switch n.kind {
	case char, class:
		return n.matches(), true
	case group:
		return n.list[0].begins()
	case loop:
		if n.min == 0 {
			return nil, false
		}
		return n.list[0].begins()
	case sequence:
		for _, m := range n.list {
			switch m.kind {
			case lineStart, lineEnd, boundary, look:
				continue // they take nothing
			}
			return m.begins()
		}
	case choice:
		var ranges []Range
		for _, m := range n.list {
			more, known := m.begins()
			if !known {
				return nil, false
			}
			ranges = append(ranges, more...)
		}
		return newSet(ranges), true
	}
	return nil, false
}
