package explorer

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"minido.dev/minido/runtime/binding"
	"minido.dev/minido/runtime/binding/kv"
	"minido.dev/minido/runtime/config"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// bindings are those of a kind, of all workers, in the order of their projects.
func (x *Explorer) bindings(kind binding.ID) (all []config.Binding) {
	for _, p := range x.opts.Projects() {
		for _, b := range p.Bindings {
			if b.Kind == kind {
				all = append(all, b)
			}
		}
	}
	return all
}

// once are the bindings without those whose key an earlier one has.
func once(all []config.Binding, key func(config.Binding) string) (first []config.Binding) {
	known := map[string]bool{}
	for _, b := range all {
		if !known[key(b)] {
			known[key(b)] = true
			first = append(first, b)
		}
	}
	return first
}

const kvKind = "kv_namespace"

// namespacesOfKV is what the driver of KV namespaces has.
type namespacesOfKV interface {
	Namespace(id string) (*kv.Namespace, error)
}

type kvNamespace struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

func (x *Explorer) kvNamespaces(r *http.Request) answer {
	order, direction := r.URL.Query().Get("order"), r.URL.Query().Get("direction")
	if order != "" && order != "id" && order != "title" {
		return failure(http.StatusBadRequest, codeInvalid, `order: Invalid option: expected one of "id"|"title"`)
	}
	if direction != "" && direction != "asc" && direction != "desc" {
		return failure(http.StatusBadRequest, codeInvalid, `direction: Invalid option: expected one of "asc"|"desc"`)
	}
	list := []kvNamespace{}
	for _, b := range once(x.bindings(kvKind), kv.ID) {
		list = append(list, kvNamespace{kv.ID(b), b.Name})
	}
	slices.SortFunc(list, func(a, b kvNamespace) int {
		if order == "title" {
			a.ID, b.ID = a.Title, b.Title
		}
		if direction == "desc" {
			a, b = b, a
		}
		return strings.Compare(a.ID, b.ID)
	})
	return success(list, count{len(list)})
}

// onKV runs an operation on the namespace that a request names. One that no binding
// names is an error, where wrangler makes it.
func (x *Explorer) onKV(r *http.Request, run func(n *kv.Namespace) (answer, error)) answer {
	id := r.PathValue("id")
	spaces, ok := x.opts.Driver(kvKind).(namespacesOfKV)
	if !ok || !has(x.bindings(kvKind), kv.ID, id) {
		return failure(http.StatusNotFound, codeInternal, "no binding names the KV namespace "+id)
	}
	n, err := spaces.Namespace(id)
	if err != nil {
		return broken(err)
	}
	a, err := run(n)
	var refused *kv.Error
	switch {
	case errors.As(err, &refused):
		return failure(refused.Status, codeInternal, refused.Text)
	case err != nil:
		return broken(err)
	}
	return a
}

type kvKey struct {
	Name       string          `json:"name"`
	Expiration int64           `json:"expiration,omitempty"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
}

func (x *Explorer) kvKeys(r *http.Request) answer {
	q := r.URL.Query()
	limit := 1000
	if given := q.Get("limit"); given != "" {
		n, err := strconv.Atoi(given)
		switch {
		case err != nil:
			return failure(http.StatusBadRequest, codeInvalid, fmt.Sprintf("limit: Expected query param to be number but received %q", given))
		case n < 10:
			return failure(http.StatusBadRequest, codeInvalid, "limit: Too small: expected number to be >=10")
		case n > 1000:
			return failure(http.StatusBadRequest, codeInvalid, "limit: Too big: expected number to be <=1000")
		}
		limit = n
	}
	return x.onKV(r, func(n *kv.Namespace) (answer, error) {
		page, err := n.List(q.Get("prefix"), q.Get("cursor"), limit)
		if err != nil {
			return answer{}, err
		}
		keys := []kvKey{}
		for _, e := range page.Entries {
			keys = append(keys, kvKey{e.Key, e.Expiration, json.RawMessage(e.Metadata)})
		}
		return success(keys, struct {
			Count  int    `json:"count"`
			Cursor string `json:"cursor"`
		}{len(keys), page.Cursor}), nil
	})
}

func (x *Explorer) kvGet(r *http.Request) answer {
	return x.onKV(r, func(n *kv.Namespace) (answer, error) {
		found, err := n.Get(r.PathValue("key"))
		if err != nil {
			return answer{}, err
		}
		if found == nil {
			return failure(http.StatusNotFound, codeNoKey, "Not Found"), nil
		}
		return answer{status: http.StatusOK, body: found.Data}, nil
	})
}

func (x *Explorer) kvPut(r *http.Request) answer {
	e := kv.Entry{Key: r.PathValue("key")}
	value, err := io.ReadAll(r.Body)
	if strings.Contains(r.Header.Get("Content-Type"), "multipart/form-data") {
		var bad string
		if value, e.Metadata, bad = form(r, value); bad != "" {
			return failure(http.StatusBadRequest, codeInvalid, bad)
		}
	}
	if err != nil {
		return broken(err)
	}
	return x.onKV(r, func(n *kv.Namespace) (answer, error) {
		if err := e.Check(value); err != nil {
			return answer{}, err
		}
		return success(struct{}{}, nil), n.Put(e, value)
	})
}

// form reads the fields value and metadata; bad says what is wrong with them.
func form(r *http.Request, body []byte) (value []byte, metadata, bad string) {
	r.Body = nopCloser{bytes.NewReader(body)}
	if err := r.ParseMultipartForm(int64(len(body)) + 1); err != nil {
		return nil, "", err.Error()
	}
	field := func(name string) (content []byte, ok bool, err error) {
		if texts := r.MultipartForm.Value[name]; len(texts) > 0 {
			return []byte(texts[0]), true, nil
		}
		files := r.MultipartForm.File[name]
		if len(files) == 0 {
			return nil, false, nil
		}
		f, err := files[0].Open()
		if err != nil {
			return nil, false, err
		}
		defer f.Close()
		content, err = io.ReadAll(f)
		return content, true, err
	}
	value, ok, err := field("value")
	if err != nil {
		return nil, "", err.Error()
	}
	if !ok {
		return nil, "", "Missing value field"
	}
	given, ok, err := field("metadata")
	switch {
	case err != nil:
		return nil, "", err.Error()
	case ok && !json.Valid(given):
		return nil, "", "Invalid metadata JSON"
	}
	return value, string(given), ""
}

func (x *Explorer) kvDelete(r *http.Request) answer {
	return x.onKV(r, func(n *kv.Namespace) (answer, error) { return success(struct{}{}, nil), n.Delete(r.PathValue("key")) })
}

func (x *Explorer) kvBulkGet(r *http.Request) answer {
	var ask struct {
		Keys []string `json:"keys"`
	}
	if bad := decode(r, &ask); bad != nil {
		return *bad
	}
	return x.onKV(r, func(n *kv.Namespace) (answer, error) {
		found, err := n.GetAll(ask.Keys)
		values := map[string]*string{}
		for i, v := range found {
			values[ask.Keys[i]] = nil
			if v != nil {
				text := string(v.Data)
				values[ask.Keys[i]] = &text
			}
		}
		return success(map[string]any{"values": values}, nil), err
	})
}

type bulkResult struct {
	Count  int      `json:"successful_key_count"`
	Failed []string `json:"unsuccessful_keys"`
}

func (x *Explorer) kvBulkDelete(r *http.Request) answer {
	var keys []string
	if bad := decode(r, &keys); bad != nil {
		return *bad
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	return x.onKV(r, func(n *kv.Namespace) (answer, error) {
		for _, key := range keys {
			if err := (kv.Entry{Key: key}).Check(nil); err != nil {
				return answer{}, err
			}
		}
		for _, key := range keys {
			if err := n.Delete(key); err != nil {
				return answer{}, err
			}
		}
		return success(bulkResult{len(keys), []string{}}, nil), nil
	})
}

type kvWrite struct {
	Key           string          `json:"key"`
	Value         string          `json:"value"`
	Base64        bool            `json:"base64"`
	Expiration    *int32          `json:"expiration"`
	ExpirationTTL *int32          `json:"expiration_ttl"`
	Metadata      json.RawMessage `json:"metadata"`
}

func (x *Explorer) kvBulkPut(r *http.Request) answer {
	var writes []kvWrite
	if bad := decode(r, &writes); bad != nil {
		return *bad
	}
	return x.onKV(r, func(n *kv.Namespace) (answer, error) {
		entries, values := make([]kv.Entry, len(writes)), make([][]byte, len(writes))
		for i, w := range writes { // all are checked before the first is put
			value := []byte(w.Value)
			if w.Base64 {
				var err error
				if value, err = base64.StdEncoding.DecodeString(w.Value); err != nil {
					return failure(http.StatusBadRequest, codeInvalid, "Invalid base64 value"), nil
				}
			}
			expires, err := kv.Expires(n.Now()/1000, w.Expiration, w.ExpirationTTL)
			e := kv.Entry{Key: w.Key, Expiration: expires, Metadata: string(w.Metadata)}
			if err == nil {
				err = e.Check(value)
			}
			var refused *kv.Error
			if errors.As(err, &refused) {
				return failure(refused.Status, codeInvalid, refused.Text), nil
			}
			entries[i], values[i] = e, value
		}
		for i, e := range entries {
			if err := n.Put(e, values[i]); err != nil {
				return answer{}, err
			}
		}
		return success(bulkResult{len(entries), []string{}}, nil), nil
	})
}
