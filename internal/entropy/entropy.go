// Package entropy is injected randomness: from the operating system, or from a seed.
// It is the only package that may import math/rand or crypto/rand's Reader; a lint
// test enforces it.
package entropy

import (
	crand "crypto/rand"
	"encoding/binary"
	"math/rand/v2"
	"sync"
)

// Source gives random bytes and numbers. Implementations are safe for
// concurrent use and never fail: running out of entropy is not an error a
// caller could handle.
type Source interface {
	// Read fills p; it always returns len(p), nil (an io.Reader).
	Read(p []byte) (int, error)
	// Uint64 is uniformly distributed.
	Uint64() uint64
	// Float64 is uniformly distributed in [0, 1).
	Float64() float64
	// Fork returns an independent source. Of a seeded source the fork's bytes
	// depend only on the seed and the name, so that components do not disturb
	// each other's sequence.
	Fork(name string) Source
}

// readBytes is the most that is asked of the operating system at once.
const readBytes = 256 << 10

// System reads the operating system's cryptographic generator.
type System struct{}

// Read implements Source.
func (System) Read(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		// Never fails since Go 1.24: it ends the program instead. A long call could not
		// be preempted, and the collector waits for it.
		n, _ := crand.Read(rest[:min(len(rest), readBytes)])
		rest = rest[n:]
	}
	return len(p), nil
}

// Uint64 implements Source.
func (s System) Uint64() uint64 {
	var b [8]byte
	crand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// Float64 implements Source.
func (s System) Float64() float64 { return float64(s.Uint64()>>11) / (1 << 53) }

// Fork implements Source.
func (s System) Fork(string) Source { return s }

// Seeded is a ChaCha8 generator whose output is a function of its seed.
type Seeded struct {
	seed [32]byte
	mu   sync.Mutex
	gen  *rand.ChaCha8
}

// NewSeeded returns the source of a seed.
func NewSeeded(seed uint64) *Seeded {
	var s [32]byte
	binary.LittleEndian.PutUint64(s[:], seed)
	copy(s[8:], "minido entropy")
	return newSeeded(s)
}

func newSeeded(s [32]byte) *Seeded { return &Seeded{seed: s, gen: rand.NewChaCha8(s)} }

// Read implements Source.
func (s *Seeded) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gen.Read(p)
}

// Uint64 implements Source.
func (s *Seeded) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gen.Uint64()
}

// Float64 implements Source.
func (s *Seeded) Float64() float64 { return float64(s.Uint64()>>11) / (1 << 53) }

// Fork implements Source.
func (s *Seeded) Fork(name string) Source {
	// FNV-1a over the name, folded into the seed through the generator itself:
	// good enough to separate streams, and independent of how much was read.
	h := uint64(14695981039346656037)
	for i := 0; i < len(name); i++ {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	next := s.seed
	binary.LittleEndian.PutUint64(next[16:], binary.LittleEndian.Uint64(next[16:])^h)
	mixed := rand.NewChaCha8(next)
	var out [32]byte
	mixed.Read(out[:])
	return newSeeded(out)
}
