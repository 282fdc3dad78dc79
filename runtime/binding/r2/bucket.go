// Package r2 keeps R2 buckets on disk as miniflare does (package miniflare): the
// table _mf_objects names the file of each object's bytes (miniflare:
// workers/r2/bucket.worker.ts).
package r2

import (
	"encoding/json"
	"fmt"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/binding/miniflare"
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
	*miniflare.Store
}

// Error is what the service answers: "put: text (code)" to the worker.
type Error struct {
	Text string
	Code int
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Text, e.Code) }

// Open returns a bucket; nothing is opened or created before its first use.
func Open(o Options) (*Bucket, error) {
	store, err := miniflare.New(miniflare.Options{Dir: o.Dir, Product: "r2", Noun: "bucket", Class: "miniflare-R2BucketObject", Name: o.Name,
		Blobs: true, Schema: schema, Table: "_mf_objects", Clock: o.Clock, Entropy: o.Entropy, Points: o.Points})
	return &Bucket{o, store}, err
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
	err = b.Query("SELECT "+columns+" FROM _mf_objects WHERE key = ?", func(st *sqlite.Stmt) error {
		r, err := scan(st)
		found = &r
		return err
	}, key)
	return found, err
}
