package streams

import "minido.dev/minido/internal/stepwise"

// pieces are bytes in the order in which they were written, in blocks. What is there is
// never moved: to copy a hundred megabytes as a slice grows is one step, in which the
// collector, and with it every other worker of the process, waits. Loop-confined.
type pieces struct {
	blocks [][]byte // none is empty, but the last one may be
	size   int
}

// The sizes of blocks: they double up to the last. A decompressor's first one has room
// for what it tells at once.
const (
	leastBlock = 16 << 10
	mostBlock  = 1 << 20
)

// space is where the next bytes go; took says how many came. It may be asked for without.
func (p *pieces) space() []byte { return p.room(leastBlock) }

// room is what is left of the last block, or a new one, of so many bytes if it may be.
func (p *pieces) room(least int) []byte {
	if n := len(p.blocks); n > 0 {
		if last := p.blocks[n-1]; len(last) < cap(last) {
			return last[len(last):cap(last)]
		}
	}
	block := make([]byte, 0, min(max(p.size, least), mostBlock))
	p.blocks = append(p.blocks, block)
	return block[:cap(block)]
}

// took counts the first n bytes of the last space.
func (p *pieces) took(n int) {
	last := &p.blocks[len(p.blocks)-1]
	*last = (*last)[:len(*last)+n]
	p.size += n
}

// Write implements io.Writer. It does not fail.
func (p *pieces) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		n := stepwise.Copy(p.room(len(rest)), rest)
		p.took(n)
		rest = rest[n:]
	}
	return len(b), nil
}

// take removes the first n bytes, of which there must be so many. They are the caller's,
// who may not append to them.
func (p *pieces) take(n int) []byte {
	if n == 0 {
		return nil
	}
	p.size -= n
	first := p.blocks[0]
	if n < len(first) || n == len(first) && 2*n >= cap(first) {
		p.drop(n)
		return first[:n:n]
	}
	out := make([]byte, n)
	for rest := out; len(rest) > 0; {
		n := stepwise.Copy(rest, p.blocks[0])
		p.drop(n)
		rest = rest[n:]
	}
	return out
}

// drop removes n bytes of the first block.
func (p *pieces) drop(n int) {
	if p.blocks[0] = p.blocks[0][n:]; len(p.blocks[0]) > 0 {
		return
	}
	if p.blocks = p.blocks[1:]; len(p.blocks) == 0 {
		p.blocks = nil
	}
}
