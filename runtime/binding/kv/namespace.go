// Package kv is Workers KV: namespaces in miniflare's files (package miniflare),
// whose table _mf_entries names the file of each value (miniflare:
// workers/kv/namespace.worker.ts, shared/keyvalue.worker.ts).
package kv

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/binding/miniflare"
)

// Options say where a namespace is. All but Points are required.
type Options struct {
	// Dir is v3/kv of the persist directory.
	Dir string
	// Class is miniflare's class of namespaces; "" is that of KV.
	Class string
	// ID is the namespace's id.
	ID      string
	Clock   clock.Clock
	Entropy entropy.Source
	// Points is called for each effect: those of a miniflare.Store, and put, delete
	// and expire (a commit).
	Points *killpoint.Points
}

// Namespace is one namespace. Safe for concurrent use. Close ends it.
type Namespace struct {
	store *miniflare.Store
	cache *cache // guarded by store.Do
}

const schema = `
CREATE TABLE IF NOT EXISTS _mf_entries (
  key TEXT PRIMARY KEY,
  blob_id TEXT NOT NULL,
  expiration INTEGER,
  metadata TEXT
);
CREATE INDEX IF NOT EXISTS _mf_entries_expiration_idx ON _mf_entries(expiration)`

// Open returns a namespace; nothing is opened or created before its first use.
func Open(o Options) (*Namespace, error) {
	store, err := miniflare.New(miniflare.Options{Dir: o.Dir, Product: "kv", Noun: "namespace", Class: cmp.Or(o.Class, "miniflare-KVNamespaceObject"), Name: o.ID,
		Blobs: true, Schema: schema, Table: "_mf_entries", Clock: o.Clock, Entropy: o.Entropy, Points: o.Points})
	return &Namespace{store, newCache()}, err
}

// Close closes the database. A later operation opens it again.
func (n *Namespace) Close() error { return n.store.Close() }

// Entry is what a key has, beside its value. Immutable.
type Entry struct {
	Key string
	// Expiration is in seconds since the epoch; 0 is never.
	Expiration int64
	// Metadata is JSON, "" if there is none.
	Metadata string
}

// Value is an entry with its value.
type Value struct {
	Entry
	Data []byte // read-only
}

// Now is the time that expirations are compared with, in milliseconds since the epoch.
func (n *Namespace) Now() int64 { return n.store.Now() }

// Get is the value of a key, nil if there is none. An entry whose time is over is
// removed. It blocks on the disk.
//
// # Errors
//
// *Error for what the service refuses.
func (n *Namespace) Get(key string) (found *Value, err error) {
	err = n.store.Do(func() error {
		found, err = n.get(key)
		return err
	})
	return found, err
}

// GetCached is Get for a value that is at hand; known is false for any other key.
// It reads the database, and no file of a value.
func (n *Namespace) GetCached(key string) (found *Value, known bool, err error) {
	err = n.store.Do(func() error {
		blob, expires := "", int64(0)
		if found, blob, expires, err = n.entry(key); err != nil {
			return err
		}
		if known = found == nil; known || expires != 0 && expires <= n.store.Now() {
			return nil
		}
		found.Data, known = n.cache.get(blob)
		return nil
	})
	return found, known, err
}

// GetAll is Get for several keys, nil for those without a value.
func (n *Namespace) GetAll(keys []string) (found []*Value, err error) {
	err = n.store.Do(func() error {
		for _, key := range keys {
			one, err := n.get(key)
			if err != nil {
				return err
			}
			found = append(found, one)
		}
		return nil
	})
	return found, err
}

// entry is what the table has of a key: nil, or an entry without its value, the
// blob that has this, and when it expires, in milliseconds since the epoch.
func (n *Namespace) entry(key string) (found *Value, blob string, expires int64, err error) {
	err = n.store.Query("SELECT blob_id, expiration, metadata FROM _mf_entries WHERE key = ?", func(row *sqlite.Stmt) error {
		blob, expires = row.ColumnText(0), row.ColumnInt64(1)
		found = &Value{Entry: Entry{key, expires / 1000, row.ColumnText(2)}}
		return nil
	}, key)
	return found, blob, expires, err
}

func (n *Namespace) get(key string) (*Value, error) {
	found, blob, expires, err := n.entry(key)
	if err != nil || found == nil {
		return nil, err
	}
	if expires != 0 && expires <= n.store.Now() {
		return nil, n.remove("expire", "DELETE FROM _mf_entries WHERE key = ? AND expiration <= ? RETURNING blob_id", key, n.store.Now())
	}
	if data, ok := n.cache.get(blob); ok {
		found.Data = data
		return found, nil
	}
	found.Data, err = os.ReadFile(n.store.BlobPath(blob))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, n.store.Damaged(n.store.BlobPath(blob), fmt.Errorf("it is missing, and %q should have it as its value", key))
	}
	if err != nil {
		return nil, fmt.Errorf("kv: the value of %q: %w", key, err)
	}
	n.cache.put(blob, found.Data)
	return found, nil
}

// Put stores a value with its entry, durably. It blocks on the disk.
func (n *Namespace) Put(e Entry, data []byte) error {
	return n.store.Do(func() error {
		blob, err := n.store.WriteBlob(data)
		if err != nil {
			return err
		}
		var expiration, metadata any
		if e.Expiration != 0 {
			expiration = e.Expiration * 1000
		}
		if e.Metadata != "" {
			metadata = e.Metadata
		}
		before := ""
		err = n.store.Effect("put", func() error {
			return n.store.Transaction(func() error {
				err := n.store.Query("SELECT blob_id FROM _mf_entries WHERE key = ?", func(row *sqlite.Stmt) error {
					before = row.ColumnText(0)
					return nil
				}, e.Key)
				if err != nil {
					return err
				}
				return n.store.Query("INSERT OR REPLACE INTO _mf_entries (key, blob_id, expiration, metadata) VALUES (?, ?, ?, ?)",
					miniflare.Nothing, e.Key, blob, expiration, metadata)
			})
		})
		if err != nil || before == "" {
			return err
		}
		return n.forget(before)
	})
}

// Delete removes a key, if there is one. It blocks on the disk.
func (n *Namespace) Delete(key string) error {
	return n.store.Do(func() error {
		return n.remove("delete", "DELETE FROM _mf_entries WHERE key = ? RETURNING blob_id", key)
	})
}

// remove runs a DELETE that returns blobs, and removes these after it.
func (n *Namespace) remove(what, sql string, args ...any) error {
	var blobs []string
	err := n.store.Effect(what, func() error {
		return n.store.Query(sql, func(row *sqlite.Stmt) error {
			blobs = append(blobs, row.ColumnText(0))
			return nil
		}, args...)
	})
	for _, blob := range blobs {
		if err == nil {
			err = n.forget(blob)
		}
	}
	return err
}

func (n *Namespace) forget(blob string) error {
	n.cache.drop(blob)
	return n.store.RemoveBlob(blob)
}

// Page is a part of a listing.
type Page struct {
	Entries []Entry
	// Cursor goes on after the last entry; "" at the end.
	Cursor string
}

// List lists the entries whose keys have a prefix, in the order of their bytes,
// and removes those whose time is over. limit is at least 1. It blocks on the disk.
func (n *Namespace) List(prefix, cursor string, limit int) (page Page, err error) {
	after := decodeCursor(cursor)
	err = n.store.Do(func() error {
		now, expired := n.store.Now(), 0
		err := n.store.Query(`SELECT key, expiration, metadata FROM _mf_entries WHERE substr(key, 1, length(?1)) = ?1 AND key > ?2
			AND (expiration IS NULL OR expiration >= ?3) ORDER BY key LIMIT ?4`, func(row *sqlite.Stmt) error {
			page.Entries = append(page.Entries, Entry{row.ColumnText(0), row.ColumnInt64(1) / 1000, row.ColumnText(2)})
			return nil
		}, prefix, after, now, int64(limit)+1)
		if err != nil {
			return err
		}
		if len(page.Entries) > limit {
			page.Entries = page.Entries[:limit]
			page.Cursor = base64.StdEncoding.EncodeToString([]byte(page.Entries[limit-1].Key))
		}
		err = n.store.Query("SELECT 1 FROM _mf_entries WHERE expiration < ? LIMIT 1", func(*sqlite.Stmt) error {
			expired++
			return nil
		}, now)
		if err != nil || expired == 0 {
			return err
		}
		return n.remove("expire", "DELETE FROM _mf_entries WHERE expiration < ? RETURNING blob_id", now)
	})
	return page, err
}

// decodeCursor is what Node's Buffer makes of a cursor: bytes that are not of the
// alphabet are skipped.
func decodeCursor(cursor string) string {
	var kept []byte
	for _, c := range []byte(cursor) {
		switch {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '+', c == '/':
			kept = append(kept, c)
		}
	}
	out := make([]byte, base64.RawStdEncoding.DecodedLen(len(kept)))
	count, _ := base64.RawStdEncoding.Decode(out, kept) // what is cut short gives what there is
	return string(out[:count])
}
