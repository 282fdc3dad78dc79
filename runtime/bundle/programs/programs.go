// Package programs stores the compiled programs of modules on disk, so that a process
// compiles nothing that an earlier one has compiled.
package programs

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"minido.dev/minido/internal/version"
	"minido.dev/minido/runtime/bundle/pack"
	"minido.dev/minido/runtime/bundle/uses"
)

// Build tells this executable from every other; only it reads the programs that it has
// written. Package managers give all files one time, so version and commit are a part of it. It
// is "" if the executable cannot be looked at: then no programs are kept.
var Build = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("programs-1 %s %d %d", version.Current(), info.Size(), info.ModTime().UnixNano())
})

// Store is a file of programs. A file that is damaged or of another build counts as empty.
// Safe for concurrent use.
type Store struct {
	path string

	mu   sync.Mutex // guards list
	list map[uses.Key]string
}

// Open is the store in a file, which is read at its first use; "" keeps nothing.
func Open(path string) *Store { return &Store{path: path} }

// Program is what was kept of a module; "" if nothing was. It shares memory with the others.
func (s *Store) Program(k uses.Key) string {
	text, _ := s.Find(k)
	return text
}

// Find is Program, and whether the module is kept: as "", too, if it has no program to be kept.
func (s *Store) Find(k uses.Key) (program string, has bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
	program, has = s.list[k]
	return program, has
}

// load reads the file. Call it with mu held.
func (s *Store) load() {
	if s.list != nil {
		return
	}
	s.list = map[uses.Key]string{}
	if s.path == "" || Build() == "" {
		return
	}
	data, err := os.ReadFile(s.path)
	if err != nil {
		return // none yet, or none that can be read: both only cost time
	}
	r, ok := pack.Open(data)
	if !ok || r.Text() != Build() {
		return
	}
	list := map[uses.Key]string{}
	for n := r.Number(); n > 0 && !r.Bad; n-- {
		k := uses.Key{}
		copy(k.File[:], r.Take(len(k.File)))
		k.Part = r.Text()
		list[k] = r.Text()
	}
	if !r.Bad {
		s.list = list
	}
}

// Keeps reports whether the store can keep programs.
func (s *Store) Keeps() bool { return s.path != "" && Build() != "" }

// Lacks reports whether the store could keep programs and has none for one of the keys.
func (s *Store) Lacks(keys []uses.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
	return s.Keeps() && slices.ContainsFunc(keys, func(k uses.Key) bool { _, has := s.list[k]; return !has })
}

// Save replaces what the file has. An empty program says that there is none to be kept.
func (s *Store) Save(list map[uses.Key]string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := pack.Writer{}
	w.Text(Build())
	w.Number(len(list))
	for _, k := range slices.SortedFunc(maps.Keys(list), compare) {
		w.Bytes(k.File[:])
		w.Text(k.Part)
		w.Text(list[k])
	}
	if err := pack.WriteFile(s.path, w.Sealed()); err != nil {
		return err
	}
	s.list = list
	return nil
}

func compare(a, b uses.Key) int {
	return cmp.Or(slices.Compare(a.File[:], b.File[:]), strings.Compare(a.Part, b.Part))
}
