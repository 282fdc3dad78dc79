// Package uses is a file that lists the modules that earlier processes evaluated, in
// their order.
package uses

import (
	"crypto/sha256"
	"fmt"
	"os"
	"sync"

	"minido.dev/minido/runtime/bundle/pack"
)

// Key is a file's content, or a part of it.
type Key struct {
	File [sha256.Size]byte
	Part string
}

// List is the file and what it holds. Safe for concurrent use.
type List struct {
	path, version string

	mu    sync.Mutex // guards what follows
	keys  []Key
	turns map[Key]int // the index of each
}

// Read reads the file at path; "" is none. One that is damaged, missing or of another version
// is empty: it only costs time.
func Read(path, version string) *List {
	l := &List{path: path, version: version}
	if path == "" {
		return l
	}
	if data, err := os.ReadFile(path); err == nil {
		l.set(decode(data, version))
	}
	return l
}

func (l *List) set(keys []Key) {
	l.keys, l.turns = keys, map[Key]int{}
	for i, k := range keys {
		l.turns[k] = i
	}
}

// Turn is how many others were evaluated before; -1 if it was not.
func (l *List) Turn(k Key) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if turn, ok := l.turns[k]; ok {
		return turn
	}
	return -1
}

// Replace writes other keys, unless only the order differs. Without a file it does nothing.
//
// # Errors
//
// Those of the system, of writing the file.
func (l *List) Replace(keys []Key) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := len(keys) == len(l.keys)
	for _, k := range keys {
		_, known := l.turns[k]
		same = same && known
	}
	if l.path == "" || same {
		return nil
	}
	l.set(keys)
	if err := pack.WriteFile(l.path, encode(keys, l.version)); err != nil {
		return fmt.Errorf("what was evaluated: %w", err)
	}
	return nil
}

// A file is the version, the number of keys, each one's file and part, and a CRC-32C like
// that of a pack.
func encode(keys []Key, version string) []byte {
	w := pack.Writer{}
	w.Text(version)
	w.Number(len(keys))
	for _, k := range keys {
		w.Bytes(k.File[:])
		w.Text(k.Part)
	}
	return w.Sealed()
}

func decode(data []byte, version string) (keys []Key) {
	r, ok := pack.Open(data)
	if !ok || r.Text() != version {
		return nil
	}
	for n := r.Number(); n > 0 && !r.Bad; n-- {
		k := Key{}
		copy(k.File[:], r.Take(len(k.File)))
		k.Part = r.Text()
		keys = append(keys, k)
	}
	if r.Bad {
		return nil
	}
	return keys
}
