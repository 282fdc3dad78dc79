package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/runtime/binding"
	"minido.dev/minido/runtime/binding/d1"
	"minido.dev/minido/runtime/binding/kv"
	"minido.dev/minido/runtime/binding/r2"
	"minido.dev/minido/runtime/config"
)

// product is a kind of store that bindings name.
type product struct {
	kind binding.ID
	// class of miniflare that keeps it, and the name of one there.
	class string
	name  func(config.Binding) string
}

// products are by the folder that has their files.
var products = map[string]product{
	"kv": {"kv_namespace", "miniflare-KVNamespaceObject", kv.ID},
	"d1": {"d1", "miniflare-D1DatabaseObject", d1.ID},
	"r2": {"r2_bucket", "miniflare-R2BucketObject", r2.BucketName},
}

// store is the file of a binding's store, and its name.
func (f files) store(folder, name string) (file, id string, err error) {
	project, err := f.scenario.project()
	if err != nil {
		return "", "", err
	}
	p := products[folder]
	var known []string
	for _, b := range project.Bindings {
		if b.Kind != p.kind {
			continue
		}
		if b.Name == name {
			id = p.name(b)
			return filepath.Join(f.snapshot.Dir, "v3", folder, p.class, objectid.NewNamespace(p.class).FromName(id).String()+".sqlite"), id, nil
		}
		known = append(known, b.Name)
	}
	if len(known) == 0 {
		return "", "", errors.New("the project has no such binding")
	}
	return "", "", fmt.Errorf("the project has no such binding; it has %s", strings.Join(known, ", "))
}

// stored asks the file of a KV namespace or an R2 bucket; one that was never used has no rows.
func (f files) stored(file, sql string, args ...any) ([]evidence.Row, error) {
	values, err := json.Marshal(append([]any{}, args...))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f.rows(file, sql, string(values))
}

// d1 runs SQL on the database of a D1 binding, and returns the rows as JSON.
func (f files) d1(name, sql, args string) string {
	file, _, err := f.store("d1", name)
	var rows []evidence.Row
	if err == nil {
		rows, err = f.rows(file, sql, args)
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("nothing has used it")
		}
	}
	return f.thrown(fmt.Sprintf("d1(%q)", name), rows, err)
}

// list is the entries of a KV namespace or an R2 bucket whose keys begin so, by key.
func (f files) list(folder, name, prefix string) string {
	out := []map[string]any{}
	file, _, err := f.store(folder, name)
	if err == nil {
		sql := "SELECT key, expiration, metadata FROM _mf_entries WHERE substr(key, 1, length(?1)) = ?1 ORDER BY key"
		if folder == "r2" {
			sql = "SELECT key, size, etag FROM _mf_objects WHERE substr(key, 1, length(?1)) = ?1 ORDER BY key"
		}
		var rows []evidence.Row
		rows, err = f.stored(file, sql, prefix)
		for _, r := range rows {
			switch {
			case folder == "r2":
				out = append(out, map[string]any{"key": r.Text("key"), "size": r.Int("size"), "etag": r.Text("etag")})
			case !f.expired(r):
				out = append(out, entry(r))
			}
		}
	}
	return f.thrown(fmt.Sprintf("%s(%q)", folder, name), out, err)
}

// expired reports whether a KV entry was over at the moment of the files.
func (f files) expired(r evidence.Row) bool {
	return r["expiration"] != nil && !time.Unix(r.Int("expiration"), 0).After(f.snapshot.At)
}

// entry is one of a KV listing, as NAMESPACE.list() shows it.
func entry(r evidence.Row) map[string]any {
	e := map[string]any{"name": r.Text("key")}
	if r["expiration"] != nil {
		e["expiration"] = r.Int("expiration")
	}
	if m := r.Text("metadata"); m != "" {
		e["metadata"] = json.RawMessage(m)
	}
	return e
}

// value is what a key of a KV namespace or an R2 bucket has, as a text in JSON; null
// if it has nothing.
func (f files) value(folder, name, key string) string {
	file, id, err := f.store(folder, name)
	var text any
	if err == nil {
		text, err = f.body(folder, file, id, key)
	}
	return f.thrown(fmt.Sprintf("%s(%q).get(%q)", folder, name, key), text, err)
}

func (f files) body(folder, file, id, key string) (any, error) {
	sql := "SELECT blob_id, expiration FROM _mf_entries WHERE key = ?1"
	if folder == "r2" { // an upload in several parts has a file for each
		sql = `SELECT blob_id FROM _mf_objects WHERE key = ?1 AND blob_id IS NOT NULL UNION ALL
			SELECT * FROM (SELECT blob_id FROM _mf_multipart_parts WHERE object_key = ?1 ORDER BY part_number)`
	}
	rows, err := f.stored(file, sql, key)
	if err != nil || len(rows) == 0 || f.expired(rows[0]) {
		return nil, err
	}
	var text strings.Builder
	for _, r := range rows {
		part, err := os.ReadFile(filepath.Join(f.snapshot.Dir, "v3", folder, id, "blobs", filepath.Base(r.Text("blob_id"))))
		if err != nil {
			return nil, fmt.Errorf("its value has no file: %w", err)
		}
		text.Write(part)
	}
	return text.String(), nil
}
