package r2

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"minido.dev/minido/internal/sqlite"
)

// damaged says what is wrong with a file of the bucket, and what to do.
func (b *Bucket) damaged(path string, err error) error {
	return fmt.Errorf("r2: the file %s of the bucket %s is damaged: %w; restore it from a copy, or delete the bucket's files to start it empty", path, b.opts.Name, err)
}

// wrap names the database's file in an error of SQLite.
func (b *Bucket) wrap(err error) error {
	if sqlite.IsCode(err, sqlite.CodeCorrupt) || sqlite.IsCode(err, sqlite.CodeNotADB) {
		return b.damaged(b.database(), err)
	}
	return fmt.Errorf("r2: %w", err)
}

// checkPresent refuses a database that is missing or empty although there are
// blobs: making a new one would forget them all in silence.
func (b *Bucket) checkPresent() error {
	info, err := os.Stat(b.database())
	if err == nil && info.Size() > 0 {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("r2: %w", err)
	}
	return b.needNoBlobs("it is missing or empty")
}

func (b *Bucket) needNoBlobs(what string) error {
	blobs, err := os.ReadDir(b.blobs())
	if err != nil {
		return fmt.Errorf("r2: %w", err)
	}
	if len(blobs) == 0 {
		return nil
	}
	return b.damaged(b.database(), fmt.Errorf("%s, and %s holds %d blobs", what, b.blobs(), len(blobs)))
}

// check looks at a database that was opened, before its tables are made.
func (b *Bucket) check() error {
	verdict, tables := "", 0
	err := b.query("PRAGMA quick_check(1)", func(st *sqlite.Stmt) error {
		verdict = st.ColumnText(0)
		return nil
	})
	if err != nil {
		return err
	}
	if verdict != "ok" {
		return b.damaged(b.database(), errors.New(verdict))
	}
	err = b.query("SELECT 1 FROM sqlite_schema WHERE name = '_mf_objects'", func(*sqlite.Stmt) error {
		tables++
		return nil
	})
	if err != nil || tables > 0 {
		return err
	}
	return b.needNoBlobs("it has no table of objects")
}

// readBlob reads an object's bytes and compares them with what was stored: the
// etag of one that was not uploaded in parts is its MD5.
func (b *Bucket) readBlob(r *row) ([]byte, error) {
	path := filepath.Join(b.blobs(), filepath.Base(r.blob))
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("r2: the bytes of %q: %w", r.Key, err)
	}
	if int64(len(data)) != r.Size {
		return nil, b.damaged(path, fmt.Errorf("it has %d bytes, and %q should have %d", len(data), r.Key, r.Size))
	}
	if sum := md5.Sum(data); len(r.Etag) == 2*len(sum) && hex.EncodeToString(sum[:]) != r.Etag {
		return nil, b.damaged(path, fmt.Errorf("its MD5 is not the etag of %q", r.Key))
	}
	return data, nil
}
