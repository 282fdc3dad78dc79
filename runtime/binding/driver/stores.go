package driver

import (
	"errors"
	"io"
	"sync"

	"minido.dev/minido/runtime/binding"
	"minido.dev/minido/runtime/config"
)

// Stores are what a kind of binding keeps open: one for each key that bindings name,
// whichever worker they belong to. Drivers that always work embed it in place of
// Stateless. Safe for concurrent use.
type Stores[T io.Closer] struct {
	session *Session
	kind    binding.ID

	mu   sync.Mutex // guards open
	open map[string]T
}

// NewStores is for the kind's folder of the session.
func NewStores[T io.Closer](s *Session, kind binding.ID) *Stores[T] {
	return &Stores[T]{session: s, kind: kind, open: map[string]T{}}
}

// Get is the store of a key. It is opened, in the kind's folder, when it is used
// first: a standby learns its persist directory only when it is put to work.
func (s *Stores[T]) Get(key string, open func(dir string) (T, error)) (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.open[key]; ok {
		return known, nil
	}
	var none T
	dir, err := s.session.Dir(s.kind)
	if err != nil {
		return none, err
	}
	store, err := open(dir)
	if err != nil {
		return none, err
	}
	s.open[key] = store
	return store, nil
}

// Offered implements Driver.
func (s *Stores[T]) Offered(Worker, config.Binding) bool { return true }

// Pause closes the files of stores whose next use opens them again.
func (s *Stores[T]) Pause() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, store := range s.open { // order-independent: each has a file of its own
		errs = append(errs, store.Close())
	}
	return errors.Join(errs...)
}

// Close implements Driver.
func (s *Stores[T]) Close() error {
	err := s.Pause()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = map[string]T{}
	return err
}
