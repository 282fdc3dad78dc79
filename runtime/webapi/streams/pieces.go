package streams

import "minido.dev/minido/internal/stepwise"

// pieces are bytes in the order in which they were written, in blocks. What is there is
// never moved: to copy a hundred megabytes as a slice grows is one step, in which the
// collector, and with it every other worker of the process, waits. Loop-confined.
type pieces struct {
	blocks [][]byte // none is empty
	size   int
}

// mostBlock bounds a block; they double up to it.
const mostBlock = 1 << 20

// Write implements io.Writer. It does not fail.
func (p *pieces) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		last := len(p.blocks) - 1
		if last < 0 || len(p.blocks[last]) == cap(p.blocks[last]) {
			p.blocks = append(p.blocks, make([]byte, 0, min(max(p.size, len(rest)), mostBlock)))
			last++
		}
		block := p.blocks[last]
		n := stepwise.Copy(block[len(block):cap(block)], rest)
		p.blocks[last] = block[:len(block)+n]
		p.size += n
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
