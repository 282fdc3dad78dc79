package bundle

import "crypto/sha256"

type store struct{}

func openStore(dir, entry string) *store { return &store{} }

func (s *store) get(key [sha256.Size]byte) *lowered { return nil }

func (s *store) save(units map[string]*unit) error { return nil }
