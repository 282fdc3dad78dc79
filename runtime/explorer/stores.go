package explorer

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"minido.dev/minido/runtime/binding/d1"
	"minido.dev/minido/runtime/binding/r2"
	"minido.dev/minido/runtime/config"
)

// decode reads a body as JSON; the answer says what is wrong with it.
func decode(r *http.Request, into any) *answer {
	b, err := io.ReadAll(r.Body)
	if err == nil && !json.Valid(b) {
		a := failure(http.StatusBadRequest, codeInvalid, "Invalid JSON request body")
		return &a
	}
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		a := failure(http.StatusBadRequest, codeInvalid, "Invalid input")
		return &a
	}
	return nil
}

// has reports whether a binding names a store.
func has(all []config.Binding, key func(config.Binding) string, id string) bool {
	return slices.ContainsFunc(all, func(b config.Binding) bool { return key(b) == id })
}

const d1Kind, r2Kind = "d1", "r2_bucket"

type d1Database struct {
	Name    string `json:"name"`
	UUID    string `json:"uuid"`
	Version string `json:"version"`
}

func (x *Explorer) d1Databases(r *http.Request) answer {
	list := []d1Database{}
	for _, b := range once(x.bindings(d1Kind), d1.ID) {
		if strings.Contains(strings.ToLower(b.Name), strings.ToLower(r.URL.Query().Get("name"))) {
			list = append(list, d1Database{b.Name, d1.ID(b), "production"})
		}
	}
	return success(list, count{len(list)})
}

// databasesOfD1 is what the driver of D1 has.
type databasesOfD1 interface {
	Database(id string) (*d1.Database, error)
}

type d1Query struct {
	SQL    *string `json:"sql"`
	Params []any   `json:"params"`
}

type timings struct {
	MS float64 `json:"sql_duration_ms"`
}

type d1Meta struct {
	ServedBy    string  `json:"served_by"`
	Primary     bool    `json:"served_by_primary"`
	Attempts    int     `json:"total_attempts"`
	Timings     timings `json:"timings"`
	Duration    float64 `json:"duration"`
	Changes     int64   `json:"changes"`
	LastRowID   int64   `json:"last_row_id"`
	ChangedDB   bool    `json:"changed_db"`
	SizeAfter   int64   `json:"size_after"`
	RowsRead    int64   `json:"rows_read"`
	RowsWritten int64   `json:"rows_written"`
}

type columnsAndRows struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
}

type d1Result struct {
	Success bool           `json:"success"`
	Results columnsAndRows `json:"results"`
	Meta    d1Meta         `json:"meta"`
}

func (x *Explorer) d1Raw(r *http.Request) answer {
	var ask struct {
		d1Query
		Batch []d1Query `json:"batch"`
	}
	if bad := decode(r, &ask); bad != nil {
		return *bad
	}
	if ask.Batch == nil {
		ask.Batch = []d1Query{ask.d1Query}
	}
	var queries []d1.Query
	for _, q := range ask.Batch {
		if q.SQL == nil {
			return failure(http.StatusBadRequest, codeInvalid, "Invalid input")
		}
		for _, p := range q.Params {
			switch p.(type) {
			case nil, float64, string:
			default:
				return failure(http.StatusBadRequest, codeInvalid, "Invalid input")
			}
		}
		queries = append(queries, d1.Query{SQL: *q.SQL, Params: q.Params})
	}
	id := r.PathValue("id")
	databases, ok := x.opts.Driver(d1Kind).(databasesOfD1)
	if !ok || !has(x.bindings(d1Kind), d1.ID, id) {
		return failure(http.StatusNotFound, codeInvalid, "no binding names the D1 database "+id)
	}
	database, err := databases.Database(id)
	if err != nil {
		return broken(err)
	}
	results, err := database.Run(queries, true)
	if err != nil {
		return failure(http.StatusInternalServerError, codeInvalid, err.Error())
	}
	out := []d1Result{}
	for _, one := range results {
		m := one.Meta
		rows := columnsAndRows{one.Columns, [][]any{}}
		for _, row := range one.Rows {
			rows.Rows = append(rows.Rows, jsonRow(row))
		}
		out = append(out, d1Result{true, rows, d1Meta{"miniflare.db", true, 1, timings{m.DurationMS}, m.DurationMS, m.Changes, m.LastRowID, m.ChangedDB, m.SizeAfter, m.RowsRead, m.RowsWritten}})
	}
	return success(out, nil)
}

// jsonRow has blobs as arrays of numbers, as D1 does.
func jsonRow(row []any) []any {
	out := slices.Clone(row)
	for i, v := range out {
		if b, ok := v.([]byte); ok {
			numbers := make([]int, len(b))
			for j, one := range b {
				numbers[j] = int(one)
			}
			out[i] = numbers
		}
	}
	return out
}

// bucketsOfR2 is what the driver of R2 has.
type bucketsOfR2 interface {
	Bucket(name string) (*r2.Bucket, error)
}

func (x *Explorer) r2Buckets(*http.Request) answer {
	type bucket struct {
		Name string `json:"name"`
	}
	list := []bucket{}
	for _, b := range once(x.bindings(r2Kind), r2.BucketName) {
		list = append(list, bucket{r2.BucketName(b)})
	}
	slices.SortFunc(list, func(a, b bucket) int { return strings.Compare(a.Name, b.Name) })
	return success(map[string]any{"buckets": list}, struct {
		Count int `json:"count"`
		Total int `json:"total_count"`
	}{len(list), len(list)})
}

// onR2 runs an operation on the bucket that a request names.
func (x *Explorer) onR2(r *http.Request, op string, ask r2.Request, body []byte, tell func(reply r2.Reply, data []byte) answer) answer {
	name := r.PathValue("bucket")
	buckets, ok := x.opts.Driver(r2Kind).(bucketsOfR2)
	if !ok || !has(x.bindings(r2Kind), r2.BucketName, name) {
		return failure(http.StatusNotFound, codeInternal, "no binding names the R2 bucket "+name)
	}
	bucket, err := buckets.Bucket(name)
	if err != nil {
		return broken(err)
	}
	reply, data, err := bucket.Do(op, ask, body)
	var refused *r2.Error
	switch {
	case errors.As(err, &refused):
		return failure(http.StatusBadRequest, refused.Code, refused.Text)
	case err != nil:
		return broken(err)
	}
	return tell(reply, data)
}

type r2Object struct {
	Key          string          `json:"key"`
	Etag         string          `json:"etag"`
	Size         int64           `json:"size"`
	LastModified string          `json:"last_modified"`
	HTTP         json.RawMessage `json:"http_metadata"`
	Custom       json.RawMessage `json:"custom_metadata"`
}

const isoTime = "2006-01-02T15:04:05.000Z"

func objectOfR2(o r2.Object, metadata bool) r2Object {
	out := r2Object{o.Key, o.Etag, o.Size, time.UnixMilli(o.Uploaded).UTC().Format(isoTime), json.RawMessage("{}"), json.RawMessage("{}")}
	if metadata {
		out.HTTP, out.Custom = o.HTTPMetadata, o.CustomMetadata
	}
	return out
}

func (x *Explorer) r2List(r *http.Request) answer {
	q := r.URL.Query()
	ask := r2.Request{Prefix: q.Get("prefix"), Delimiter: q.Get("delimiter"), Cursor: q.Get("cursor"), Include: []string{}}
	limit := 1000
	if given := q.Get("per_page"); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil {
			return failure(http.StatusBadRequest, codeInvalid, `per_page: Expected query param to be number but received "`+given+`"`)
		}
		limit = n
	}
	ask.Limit = &limit
	return x.onR2(r, "list", ask, nil, func(reply r2.Reply, _ []byte) answer {
		list := []r2Object{}
		for _, o := range reply.Objects {
			list = append(list, objectOfR2(o, false))
		}
		return success(list, struct {
			Delimited []string `json:"delimited"`
			Cursor    string   `json:"cursor,omitempty"`
			Truncated string   `json:"is_truncated"`
		}{append([]string{}, reply.Prefixes...), reply.Cursor, strconv.FormatBool(reply.Truncated)})
	})
}

func (x *Explorer) r2Get(r *http.Request) answer {
	op := "get"
	if r.Header.Get("cf-metadata-only") == "true" {
		op = "head"
	}
	return x.onR2(r, op, r2.Request{Key: r.PathValue("key")}, nil, func(reply r2.Reply, data []byte) answer {
		o := reply.Object
		if o == nil {
			return failure(http.StatusNotFound, 10007, "The specified key does not exist.")
		}
		if op == "head" {
			return success(objectOfR2(*o, true), nil)
		}
		a := answer{status: http.StatusOK, body: data, header: [][2]string{{"Etag", o.Etag}, {"Last-Modified", time.UnixMilli(o.Uploaded).UTC().Format(http.TimeFormat)}}}
		var fields struct{ ContentType string }
		custom := map[string]string{}
		if err := errors.Join(json.Unmarshal(o.HTTPMetadata, &fields), json.Unmarshal(o.CustomMetadata, &custom)); err != nil {
			return broken(err)
		}
		if fields.ContentType != "" {
			a.header = append(a.header, [2]string{"Content-Type", fields.ContentType})
		}
		for _, name := range sortedKeys(custom) {
			a.header = append(a.header, [2]string{"X-R2-Custom-Metadata-" + name, custom[name]})
		}
		return a
	})
}

func (x *Explorer) r2Put(r *http.Request) answer {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return broken(err)
	}
	ask := r2.Request{Key: r.PathValue("key")}
	if kind := r.Header.Get("Content-Type"); kind != "" {
		if ask.HTTPMetadata, err = json.Marshal(map[string]string{"contentType": kind}); err != nil {
			return broken(err)
		}
	}
	if given := r.Header.Get("cf-r2-custom-metadata"); given != "" {
		var custom map[string]string
		if json.Unmarshal([]byte(given), &custom) != nil {
			return failure(http.StatusBadRequest, codeInvalid, "Invalid custom metadata JSON")
		}
		ask.CustomMetadata = json.RawMessage(given)
	}
	return x.onR2(r, "put", ask, body, func(reply r2.Reply, _ []byte) answer {
		o := reply.Object
		return success(struct {
			Key     string `json:"key"`
			Etag    string `json:"etag"`
			Size    int64  `json:"size"`
			Version string `json:"version"`
		}{o.Key, o.Etag, o.Size, o.Version}, nil)
	})
}

type keyOf struct {
	Key string `json:"key"`
}

func (x *Explorer) r2Delete(r *http.Request) answer {
	key := r.PathValue("key")
	return x.onR2(r, "delete", r2.Request{Keys: []string{key}}, nil, func(r2.Reply, []byte) answer { return success(keyOf{key}, nil) })
}

func (x *Explorer) r2DeleteAll(r *http.Request) answer {
	var keys []string
	if bad := decode(r, &keys); bad != nil {
		return *bad
	}
	return x.onR2(r, "delete", r2.Request{Keys: keys}, nil, func(r2.Reply, []byte) answer {
		gone := []keyOf{}
		for _, key := range keys {
			gone = append(gone, keyOf{key})
		}
		return success(gone, nil)
	})
}
