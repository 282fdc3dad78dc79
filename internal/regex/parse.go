package regex

import (
	"slices"
	"unicode/utf16"
)

// kind is what a node of the tree is.
type kind uint8

const (
	empty     kind = iota
	sequence       // list
	choice         // list
	char           // r
	class          // set
	group          // of the number index
	loop           // min to max times list[0]
	look           // list[0] is ahead or behind, or is not
	lineStart      // ^
	lineEnd        // $
	boundary       // \b, or \B with negated
	reference      // to refs, or to name until the pattern is read
)

// node is a part of a pattern, with the flags that hold there.
type node struct {
	kind        kind
	flags       flags
	r           rune
	set         Set
	index       int
	refs        []int
	name        string
	min, max    int // max -1: without bound
	lazy        bool
	negated     bool
	closed      bool // set has what the flag i makes equal to its members
	behind      bool
	omits       bool // a match may leave out a group within, which is optional itself
	void        bool // a match may take no character
	first, last int  // numbers of the groups within: first <= n < last
	list        []*node
}

const unbounded = -1

// branch is an alternative of the choice-th disjunction, of depth-1 others around
// it; the names of two groups may be the same if they are in two alternatives of
// one. Immutable.
type branch struct {
	outer         *branch
	choice, depth int
}

type parser struct {
	src      []rune
	pos      int
	flags    flags // in force at pos
	named    bool  // \k is a reference
	groups   int   // how many there are in all
	names    []string
	places   map[string][]*branch
	branch   *branch // that pos is in
	choices  int
	pending  []*node // references by name
	twice    bool    // two groups have one name, and are not apart
	classes  int     // how many pos is in, with v
	work     int     // what maxWork bounds
	features Features

	lastCharacter   rune // the last operand of a class with v, if it was one
	lastIsCharacter bool
}

// Limits of a pattern. V8, too, refuses what is too deep or too large for it.
const (
	maxUnits    = 1 << 19 // of the source
	maxDepth    = 5000    // of groups in groups, and of classes in classes
	maxCaptures = 1<<15 - 1
	maxWork     = 1 << 22 // ranges of sets, and comparisons of groups with one name
)

const tooLarge = "Regular expression too large"

// Parse reads a pattern (ECMA-262, sections 22.2.1 and B.1.2), source in code
// units; flags must be right. The error is a SyntaxError.
func Parse(source []uint16, flagText string) (p *Pattern, err error) {
	f, ok := parseFlags(flagText)
	if !ok {
		return nil, SyntaxError("Invalid flags")
	}
	if len(source) > maxUnits {
		return nil, SyntaxError(tooLarge)
	}
	q := &parser{flags: f, names: []string{""}, places: map[string][]*branch{}}
	if f.points() {
		q.src = CodePoints(source)
	} else {
		for _, u := range source {
			q.src = append(q.src, rune(u))
		}
	}
	defer func() {
		if x := recover(); x != nil {
			failure, ok := x.(SyntaxError)
			if !ok {
				panic(x)
			}
			p, err = nil, failure
		}
	}()
	q.count()
	if q.named = q.named || f.points(); q.groups > maxCaptures {
		q.fail("Too many captures")
	}
	root := q.disjunction()
	if q.pos < len(q.src) {
		q.fail("Unmatched ')'")
	}
	q.resolve()
	return &Pattern{Features: q.features, Names: q.names, root: root, flags: f}, nil
}

// CodePoints are the code points of units; a lone surrogate stands for itself.
func CodePoints(units []uint16) []rune {
	out := make([]rune, 0, len(units))
	for i := 0; i < len(units); i++ {
		r := rune(units[i])
		if utf16.IsSurrogate(r) && i+1 < len(units) {
			if pair := utf16.DecodeRune(r, rune(units[i+1])); pair != '\uFFFD' {
				r = pair
				i++
			}
		}
		out = append(out, r)
	}
	return out
}

func (p *parser) fail(text string) { panic(SyntaxError(text)) }

// spend counts work that can be far more than the source is long.
func (p *parser) spend(n int) {
	if p.work += n; p.work > maxWork {
		p.fail(tooLarge)
	}
}

// peek is the character n places on, -1 at the end.
func (p *parser) peek(n int) rune {
	if p.pos+n < len(p.src) {
		return p.src[p.pos+n]
	}
	return -1
}

func (p *parser) has(text string) bool {
	for i := range len(text) {
		if p.peek(i) != rune(text[i]) {
			return false
		}
	}
	return true
}

func (p *parser) accept(text string) bool {
	ok := p.has(text)
	if ok {
		p.pos += len(text)
	}
	return ok
}

// count looks ahead for groups: what \1 and \k mean depends on all of them.
func (p *parser) count() {
	inClass := 0
	for i := 0; i < len(p.src); i++ {
		switch c := p.src[i]; {
		case c == '\\':
			i++
		case c == '[' && (inClass == 0 || p.flags.sets):
			inClass++
		case c == ']' && inClass > 0:
			inClass--
		case c == '(' && inClass == 0:
			at := func(n int) rune {
				if i+n < len(p.src) {
					return p.src[i+n]
				}
				return -1
			}
			if at(1) != '?' {
				p.groups++
			} else if at(2) == '<' && at(3) != '=' && at(3) != '!' {
				p.groups++
				p.named = true
			}
		}
	}
}

// resolve gives references by name their groups.
func (p *parser) resolve() {
	if p.twice {
		p.fail("Duplicate capture group name")
	}
	for _, n := range p.pending {
		for i, name := range p.names {
			if i > 0 && name == n.name {
				n.refs = append(n.refs, i)
			}
		}
		if n.refs == nil {
			p.fail("Invalid named capture referenced")
		}
	}
}

func (p *parser) disjunction() *node {
	p.choices++
	outer, here := p.branch, branch{p.branch, p.choices, 1}
	if outer != nil {
		here.depth = outer.depth + 1
	}
	if here.depth > maxDepth {
		p.fail(tooLarge)
	}
	n := &node{kind: choice, flags: p.flags, first: len(p.names)}
	for more := true; more; more = p.accept("|") {
		alternative := here
		p.branch = &alternative
		n.list = append(n.list, p.alternative())
	}
	p.branch = outer
	if len(n.list) == 1 {
		return n.list[0]
	}
	return p.closed(n)
}

func (p *parser) alternative() *node {
	n := &node{kind: sequence, flags: p.flags, first: len(p.names)}
	for p.pos < len(p.src) && p.peek(0) != '|' && p.peek(0) != ')' {
		n.list = append(n.list, p.term())
	}
	if len(n.list) == 1 {
		return n.list[0]
	}
	return p.closed(n)
}

// closed ends a node that has others.
func (p *parser) closed(n *node) *node {
	n.last = len(p.names)
	switch n.kind {
	case sequence:
		n.void = !slices.ContainsFunc(n.list, func(m *node) bool { return !m.void })
	case look:
		n.void = true
	default:
		n.void = n.kind == loop && n.min == 0 || slices.ContainsFunc(n.list, func(m *node) bool { return m.void })
	}
	optional := n.kind == choice || n.kind == loop && n.min == 0 || n.kind == look && n.negated
	n.omits = optional && n.first < n.last || slices.ContainsFunc(n.list, func(m *node) bool { return m.omits })
	return n
}

func (p *parser) leaf(k kind) *node {
	return &node{kind: k, flags: p.flags, first: len(p.names), last: len(p.names), void: k != char && k != class}
}

func (p *parser) char(r rune) *node {
	n := p.leaf(char)
	n.r = r
	if p.flags.ignoreCase && !p.features.Odd {
		for f := simpleFold(r); f != r; f = simpleFold(f) {
			p.features.Odd = p.features.Odd || r >= 0x80 && canonical(f, p.flags.points()) != canonical(r, p.flags.points())
		}
	}
	return n
}

func (p *parser) class(s Set) *node {
	p.spend(len(s))
	n := p.leaf(class)
	n.set, n.closed = s, true
	return n
}

func (p *parser) term() *node {
	var n *node
	first := len(p.names)
	repeatable := true
	switch c := p.peek(0); c {
	case '^', '$':
		p.pos++
		p.features.Odd = p.features.Odd || p.flags.multiline // to goja only \n ends a line
		if c == '^' {
			return p.leaf(lineStart)
		}
		return p.leaf(lineEnd)
	case '(':
		n = p.open()
		repeatable = n.kind != look || !n.behind && !p.flags.points()
	case '*', '+', '?':
		p.fail("Nothing to repeat")
	case '{':
		if _, _, ok := p.interval(); ok {
			p.fail("Nothing to repeat")
		}
		n = p.plain()
	case '.':
		p.pos++
		n = p.class(allButLineEnds)
		if p.flags.dotAll {
			n.set = all
		}
	case '[':
		n = p.classNode()
	case '\\':
		if n = p.escape(); n.kind == boundary {
			return n
		}
	default:
		n = p.plain()
	}
	if q := p.quantified(n, first); repeatable || q == n {
		return q
	}
	p.fail("Invalid quantifier")
	return nil
}

// plain is a character that stands for itself.
func (p *parser) plain() *node {
	c := p.peek(0)
	if p.flags.points() && (c == '{' || c == '}' || c == ']') {
		p.fail("Lone quantifier brackets")
	}
	p.pos++
	return p.char(c)
}

var (
	all            = Set{{0, maxRune}}
	lineEnds       = Set{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}
	allButLineEnds = lineEnds.negate()
)

// quantified reads the quantifier behind n, if there is one.
func (p *parser) quantified(n *node, first int) *node {
	lo, hi := 0, unbounded
	switch p.peek(0) {
	case '*':
		p.pos++
	case '+':
		lo = 1
		p.pos++
	case '?':
		hi = 1
		p.pos++
	case '{':
		a, b, ok := p.interval()
		if !ok {
			if p.flags.points() {
				p.fail("Incomplete quantifier")
			}
			return n
		}
		if b != unbounded && b < a {
			p.fail("numbers out of order in {} quantifier")
		}
		lo, hi = a, b
		p.features.Odd = p.features.Odd || max(a, b) == maxCount
	default:
		return n
	}
	q := p.closed(&node{kind: loop, flags: p.flags, min: lo, max: hi, lazy: p.accept("?"), list: []*node{n}, first: first})
	if hi != 0 && first < q.last && (hi != 1 && n.omits || n.void) {
		p.features.Sticks = true
	}
	return q
}

// maxCount bounds what is counted: no text is as long.
const maxCount = 1<<31 - 1

// interval reads {n}, {n,} or {n,m}; without one nothing is read.
func (p *parser) interval() (lo, hi int, ok bool) {
	start := p.pos
	number := func() (n int, ok bool) {
		for c := p.peek(0); c >= '0' && c <= '9'; c = p.peek(0) {
			n, ok = min(n*10+int(c-'0'), maxCount), true
			p.pos++
		}
		return n, ok
	}
	p.pos++
	if lo, ok = number(); ok {
		hi = lo
		if p.accept(",") {
			var bounded bool
			if hi, bounded = number(); !bounded {
				hi = unbounded
			}
		}
		ok = p.accept("}")
	}
	if !ok {
		p.pos = start
	}
	return lo, hi, ok
}

// open reads what an opening parenthesis begins.
func (p *parser) open() *node {
	p.pos++
	n := &node{flags: p.flags, first: len(p.names)}
	outer := p.flags
	switch {
	case p.accept("?:"):
		n.kind = sequence
	case p.accept("?="), p.accept("?!"), p.accept("?<="), p.accept("?<!"):
		n.kind, n.behind, n.negated = look, p.src[p.pos-2] == '<', p.src[p.pos-1] == '!'
		p.features.LookAround = true
	case p.accept("?<"):
		n.kind, n.name = group, p.groupName("Invalid capture group name")
		p.declare(n)
	case p.accept("?"):
		n.kind = sequence
		p.modifiers()
	default:
		n.kind, n.index = group, len(p.names)
		p.names = append(p.names, "")
	}
	n.list = []*node{p.disjunction()}
	if !p.accept(")") {
		p.fail("Unterminated group")
	}
	p.flags = outer
	return p.closed(n)
}

// apart reports whether two places are in two alternatives of one choice.
func (p *parser) apart(a, b *branch) bool {
	for a != b {
		p.spend(1)
		switch {
		case b == nil || a != nil && a.depth > b.depth:
			a = a.outer
		case a == nil || a.depth < b.depth:
			b = b.outer
		case a.choice == b.choice:
			return true
		default:
			a, b = a.outer, b.outer
		}
	}
	return false
}

// declare gives a named group its number.
func (p *parser) declare(n *node) {
	for _, other := range p.places[n.name] {
		p.twice = p.twice || !p.apart(other, p.branch)
		p.features.Duplicates = true
	}
	p.places[n.name] = append(p.places[n.name], p.branch)
	n.index = len(p.names)
	p.names = append(p.names, n.name)
}

// modifiers reads what stands between ( and : in (?i-s:...).
func (p *parser) modifiers() {
	p.features.Modifiers = true
	seen := map[rune]bool{}
	off, none := false, true
	for ; ; p.pos++ {
		c := p.peek(0)
		switch c {
		case ':':
			if none {
				p.fail("Invalid flag group")
			}
			p.pos++
			return
		case '-':
			if off {
				p.fail("Multiple dashes in flag group")
			}
			off = true
			continue
		case 'i':
			p.flags.ignoreCase = !off
		case 'm':
			p.flags.multiline = !off
		case 's':
			p.flags.dotAll = !off
		default:
			if off || !none {
				p.fail("Invalid flag group")
			}
			p.fail("Invalid group")
		}
		if seen[c] {
			p.fail("Repeated flag in flag group")
		}
		seen[c], none = true, false
	}
}

// groupName reads a name and the bracket behind it.
func (p *parser) groupName(failure string) string {
	var name []rune
	for {
		c := p.peek(0)
		p.pos++
		switch {
		case c == -1:
			p.fail(failure)
		case c == '>':
			if len(name) == 0 {
				p.fail(failure)
			}
			return string(name)
		case c == '\\':
			if !p.accept("u") {
				p.fail(failure)
			}
			r, ok := p.unicodeEscape(true)
			if !ok {
				p.fail("Invalid Unicode escape")
			}
			c = r
			p.features.Odd = true
		case utf16.IsSurrogate(c):
			if pair := utf16.DecodeRune(c, p.peek(0)); pair != '\uFFFD' {
				c = pair
				p.pos++
				p.features.Odd = true
			}
		}
		if c != '$' && c != '_' && !idStarts().contains(c) && (len(name) == 0 || c != 0x200C && c != 0x200D && !idContinues().contains(c)) {
			p.fail(failure)
		}
		name = append(name, c)
	}
}
