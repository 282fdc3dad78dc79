// Package r2 keeps R2 buckets on disk as miniflare does, so that either tool goes
// on where the other stopped: v3/r2/<bucket>/blobs/<id> holds an object's bytes,
// and v3/r2/miniflare-R2BucketObject/<id of the bucket's name>.sqlite the table
// _mf_objects (miniflare: workers/r2/bucket.worker.ts, shared/blob.worker.ts).
package r2

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sqlite"
)

// Options say where a bucket is. All but Points are required.
type Options struct {
	// Dir is v3/r2 of the persist directory.
	Dir string
	// Name is the bucket's name: lower-case letters, digits, dashes.
	Name    string
	Clock   clock.Clock
	Entropy entropy.Source
	// Points is called for each effect: blob (a file written), put, delete (a commit),
	// unlink (a file removed).
	Points *killpoint.Points
}

// Bucket is one bucket. It is safe for concurrent use; one operation runs at a
// time. Close ends it.
type Bucket struct {
	opts Options

	mu sync.Mutex   // guards db and orders operations
	db *sqlite.Conn // nil until the first use
}

// Error is what the service answers: "put: text (code)" to the worker.
type Error struct {
	Text string
	Code int
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Text, e.Code) }

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// Open returns a bucket; nothing is opened or created before its first use.
func Open(o Options) (*Bucket, error) {
	if !validName.MatchString(o.Name) {
		return nil, fmt.Errorf("r2: %q is no name of a bucket", o.Name)
	}
	return &Bucket{opts: o}, nil
}

// Close closes the database. A later operation opens it again.
func (b *Bucket) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.db == nil {
		return nil
	}
	err := b.db.Close()
	b.db = nil
	return err
}

const schema = `
CREATE TABLE IF NOT EXISTS _mf_objects (
    key TEXT PRIMARY KEY,
    blob_id TEXT,
    version TEXT NOT NULL,
    size INTEGER NOT NULL,
    etag TEXT NOT NULL,
    uploaded INTEGER NOT NULL,
    checksums TEXT NOT NULL,
    http_metadata TEXT NOT NULL,
    custom_metadata TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS _mf_multipart_uploads (
    upload_id TEXT PRIMARY KEY,
    key TEXT NOT NULL,
    http_metadata TEXT NOT NULL,
    custom_metadata TEXT NOT NULL,
    state TINYINT DEFAULT 0 NOT NULL
);
CREATE TABLE IF NOT EXISTS _mf_multipart_parts (
    upload_id TEXT NOT NULL REFERENCES _mf_multipart_uploads(upload_id),
    part_number INTEGER NOT NULL,
    blob_id TEXT NOT NULL,
    size INTEGER NOT NULL,
    etag TEXT NOT NULL,
    checksum_md5 TEXT NOT NULL,
    object_key TEXT REFERENCES _mf_objects(key) DEFERRABLE INITIALLY DEFERRED,
    PRIMARY KEY (upload_id, part_number)
)`

// open opens the database, and creates it where there is none.
func (b *Bucket) open() error {
	if b.db != nil {
		return nil
	}
	for _, dir := range []string{filepath.Join(b.opts.Dir, class), b.blobs()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("r2: %w", err)
		}
	}
	if err := b.checkPresent(); err != nil {
		return err
	}
	return b.effect("open", func() error {
		db, err := sqlite.Open(sqlite.Options{Path: b.database(), Now: b.opts.Clock.Now, Rand: b.opts.Entropy})
		if err != nil {
			return fmt.Errorf("r2: %w", err)
		}
		b.db = db
		if err := b.prepare(); err != nil {
			b.db = nil
			return errors.Join(err, db.Close())
		}
		return nil
	})
}

// prepare makes the tables of a database that was opened.
func (b *Bucket) prepare() error {
	if err := b.db.Exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"); err != nil {
		return b.wrap(err)
	}
	if err := b.check(); err != nil {
		return err
	}
	if err := b.db.Exec(schema); err != nil {
		return b.wrap(err)
	}
	return nil
}

// class is the namespace that miniflare keeps buckets in.
const class = "miniflare-R2BucketObject"

// database is the path of the bucket's database.
func (b *Bucket) database() string {
	id := objectid.NewNamespace(class).FromName(b.opts.Name)
	return filepath.Join(b.opts.Dir, class, id.String()+".sqlite")
}

func (b *Bucket) blobs() string { return filepath.Join(b.opts.Dir, b.opts.Name, "blobs") }

// effect makes something durable, between two points.
func (b *Bucket) effect(what string, fn func() error) error {
	return b.opts.Points.Effect(killpoint.Store, "R2/"+b.opts.Name, what, fn)
}

// query runs a statement and gives each row to take.
func (b *Bucket) query(sql string, take func(st *sqlite.Stmt) error, args ...any) error {
	st, _, err := b.db.Prepare(sql, false)
	if err != nil {
		return b.wrap(err)
	}
	defer st.Finalize()
	for i, a := range args {
		if err := st.Bind(i+1, a); err != nil {
			return fmt.Errorf("r2: %w", err)
		}
	}
	for {
		row, err := st.Step()
		if err != nil {
			return b.wrap(err)
		}
		if !row {
			return nil
		}
		if err := take(st); err != nil {
			return err
		}
	}
}

func nothing(*sqlite.Stmt) error { return nil }

// row is an object as the table has it.
type row struct {
	Object
	blob string
}

const columns = "key, blob_id, version, size, etag, uploaded, checksums, http_metadata, custom_metadata"

func scan(st *sqlite.Stmt) (r row, err error) {
	r = row{Object: Object{Key: st.ColumnText(0), Version: st.ColumnText(2), Size: st.ColumnInt64(3), Etag: st.ColumnText(4), Uploaded: st.ColumnInt64(5),
		HTTPMetadata: json.RawMessage(st.ColumnText(7)), CustomMetadata: json.RawMessage(st.ColumnText(8))}, blob: st.ColumnText(1)}
	if err = json.Unmarshal([]byte(st.ColumnText(6)), &r.Checksums); err != nil {
		return r, fmt.Errorf("r2: %s: checksums: %w", r.Key, err)
	}
	return r, nil
}

// find is the object of a key, nil if there is none.
func (b *Bucket) find(key string) (found *row, err error) {
	err = b.query("SELECT "+columns+" FROM _mf_objects WHERE key = ?", func(st *sqlite.Stmt) error {
		r, err := scan(st)
		found = &r
		return err
	}, key)
	return found, err
}

// writeBlob stores bytes under a new id, durably.
func (b *Bucket) writeBlob(data []byte) (id string, err error) {
	var random [32]byte
	if _, err := b.opts.Entropy.Read(random[:]); err != nil {
		return "", fmt.Errorf("r2: %w", err)
	}
	id = hex.EncodeToString(random[:]) + fmt.Sprintf("%016x", b.opts.Clock.Now().UnixMilli())
	return id, b.effect("blob", func() error {
		f, err := os.OpenFile(filepath.Join(b.blobs(), id), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("r2: %w", err)
		}
		_, err = f.Write(data)
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			return fmt.Errorf("r2: %w", err)
		}
		return nil
	})
}

// removeBlob removes the bytes that no row names any more.
func (b *Bucket) removeBlob(id string) error {
	return b.effect("unlink", func() error {
		err := os.Remove(filepath.Join(b.blobs(), filepath.Base(id)))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}
