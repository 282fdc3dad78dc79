package miniflare

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

func (s *Store) blobs() string { return filepath.Join(s.opts.Dir, s.opts.Name, "blobs") }

// BlobPath is the path of a blob's file.
func (s *Store) BlobPath(id string) string { return filepath.Join(s.blobs(), filepath.Base(id)) }

// WriteBlob stores bytes under a new id, durably. For use within Do.
func (s *Store) WriteBlob(data []byte) (id string, err error) {
	var random [32]byte
	if _, err := s.opts.Entropy.Read(random[:]); err != nil {
		return "", fmt.Errorf("%s: %w", s.opts.Product, err)
	}
	id = hex.EncodeToString(random[:]) + fmt.Sprintf("%016x", s.Now())
	return id, s.Effect("blob", func() error {
		f, err := os.OpenFile(s.BlobPath(id), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("%s: %w", s.opts.Product, err)
		}
		_, err = f.Write(data)
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			return fmt.Errorf("%s: %w", s.opts.Product, err)
		}
		return nil
	})
}

// RemoveBlob removes the bytes that no row names any more.
func (s *Store) RemoveBlob(id string) error {
	return s.Effect("unlink", func() error {
		err := os.Remove(s.BlobPath(id))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}
