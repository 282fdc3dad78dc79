package vectorize

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/binding/miniflare"
)

// Limits of the service (its documentation, "Limits").
const (
	maxIDBytes       = 64
	maxNamespaceSize = 64
	maxMetadataBytes = 10 << 10
	maxBatch         = 1000
	maxDimensions    = 1536
	defaultTopK      = 5
	maxTopK          = 100
	maxTopKWithData  = 50
)

// schema is minido's own: wrangler keeps no index. State has one row.
const schema = `CREATE TABLE IF NOT EXISTS vectors (id TEXT PRIMARY KEY, namespace TEXT NOT NULL, vector BLOB NOT NULL, metadata TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS state (dimensions INTEGER NOT NULL, mutation TEXT NOT NULL, at INTEGER NOT NULL)`

// index is one index: a table that is searched from end to end. The first vector
// says how many dimensions it has. Used through its queue.
type index struct {
	*miniflare.Store
	*miniflare.Queue
	entropy entropy.Source
}

// vector is a vector as workers write and read it.
type vector struct {
	ID        *string         `json:"id"`
	Values    []float32       `json:"values,omitempty"`
	Namespace string          `json:"namespace,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
}

// refused is an error of the service, with its number where that is known.
type refused struct {
	Code int    `json:"code,omitempty"`
	Text string `json:"error"`
}

// Error implements error.
func (r *refused) Error() string { return r.Text }

func refuse(code int, format string, args ...any) error {
	return &refused{code, fmt.Sprintf(format, args...)}
}

func (x *index) dimensions() (n int, err error) {
	err = x.Store.Query("SELECT dimensions FROM state", func(row *sqlite.Stmt) error { n = int(row.ColumnInt64(0)); return nil })
	return n, err
}

// check says what the service has against vectors for the verb, "insert" or "upsert".
func (x *index) check(verb string, list []vector) (dimensions int, err error) {
	if dimensions, err = x.dimensions(); err != nil {
		return 0, err
	}
	if len(list) > maxBatch {
		return 0, refuse(0, "too many vectors; max is %d in one request of a Worker, got %d", maxBatch, len(list))
	}
	for _, v := range list {
		if v.ID == nil || v.Values == nil {
			return 0, refuse(40023, "failed to parse %s vectors request", verb)
		}
		if len(*v.ID) > maxIDBytes {
			return 0, refuse(40008, "id too long; max is %d bytes, got %d bytes", maxIDBytes, len(*v.ID))
		}
		if len(v.Namespace) > maxNamespaceSize {
			return 0, refuse(0, "namespace too long; max is %d bytes, got %d bytes", maxNamespaceSize, len(v.Namespace))
		}
		if len(v.Metadata) > maxMetadataBytes {
			return 0, refuse(0, "metadata of id=%q too large; max is %d bytes, got %d bytes", *v.ID, maxMetadataBytes, len(v.Metadata))
		}
		if dimensions == 0 {
			dimensions = len(v.Values)
		}
		if len(v.Values) != dimensions || dimensions > maxDimensions || dimensions == 0 {
			return 0, refuse(40012, "invalid vector for id=%q, expected %d dimensions, and got %d dimensions", *v.ID, min(max(dimensions, 1), maxDimensions), len(v.Values))
		}
	}
	return dimensions, nil
}

// write inserts vectors, or replaces those whose ids are there.
func (x *index) write(verb string, list []vector) (mutation string, err error) {
	dimensions, err := x.check(verb, list)
	if err != nil {
		return "", err
	}
	put := "INSERT INTO vectors (id, namespace, vector, metadata) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
	if verb == "upsert" {
		put = "INSERT OR REPLACE INTO vectors (id, namespace, vector, metadata) VALUES (?, ?, ?, ?)"
	}
	return x.mutate(verb, dimensions, func() error {
		for _, v := range list {
			var metadata any
			if v.Metadata != nil {
				metadata = string(v.Metadata)
			}
			if err := x.Store.Query(put, miniflare.Nothing, *v.ID, v.Namespace, pack(v.Values), metadata); err != nil {
				return err
			}
		}
		return nil
	})
}

func (x *index) delete(ids []string) (mutation string, err error) {
	dimensions, err := x.dimensions()
	if err != nil {
		return "", err
	}
	return x.mutate("delete", dimensions, func() error {
		for _, id := range ids {
			if err := x.Store.Query("DELETE FROM vectors WHERE id = ?", miniflare.Nothing, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// mutate changes the index at once; the service does it some seconds later.
func (x *index) mutate(verb string, dimensions int, change func() error) (mutation string, err error) {
	id := make([]byte, 16)
	if _, err := x.entropy.Read(id); err != nil {
		return "", err
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	mutation = fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	return mutation, x.Effect(verb, func() error {
		return x.Transaction(func() error {
			if err := change(); err != nil {
				return err
			}
			if err := x.Store.Query("DELETE FROM state", miniflare.Nothing); err != nil {
				return err
			}
			return x.Store.Query("INSERT INTO state VALUES (?, ?, ?)", miniflare.Nothing, int64(dimensions), mutation, x.Now())
		})
	})
}

// info is what describe() gives.
type info struct {
	Dimensions int    `json:"dimensions"`
	Count      int64  `json:"vectorCount"`
	At         string `json:"processedUpToDatetime,omitempty"`
	Mutation   string `json:"processedUpToMutation,omitempty"`
}

func (x *index) describe() (i info, err error) {
	err = x.Store.Query("SELECT dimensions, mutation, at FROM state", func(row *sqlite.Stmt) error {
		i.Dimensions, i.Mutation, i.At = int(row.ColumnInt64(0)), row.ColumnText(1), time.UnixMilli(row.ColumnInt64(2)).UTC().Format("2006-01-02T15:04:05.000Z")
		return nil
	})
	if err == nil {
		err = x.Store.Query("SELECT count(*) FROM vectors", func(row *sqlite.Stmt) error { i.Count = row.ColumnInt64(0); return nil })
	}
	return i, err
}

func (x *index) get(ids []string) (list []vector, err error) {
	list = []vector{}
	for _, id := range ids {
		err := x.Store.Query("SELECT namespace, vector, metadata FROM vectors WHERE id = ?", func(row *sqlite.Stmt) error {
			v := vector{ID: &id, Namespace: row.ColumnText(0), Values: unpack(row.ColumnBlob(1))}
			if text := row.ColumnText(2); text != "" {
				v.Metadata = json.RawMessage(text)
			}
			list = append(list, v)
			return nil
		}, id)
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// query is what a worker asks for.
type query struct {
	Vector         []float32                  `json:"vector"`
	VectorID       *string                    `json:"vectorId"`
	TopK           *int                       `json:"topK"`
	ReturnValues   bool                       `json:"returnValues"`
	ReturnMetadata any                        `json:"returnMetadata"`
	Namespace      *string                    `json:"namespace"`
	Filter         map[string]json.RawMessage `json:"filter"`
}

// match is a vector that was found.
type match struct {
	ID        string          `json:"id"`
	Score     float64         `json:"score"`
	Values    []float32       `json:"values,omitempty"`
	Namespace string          `json:"namespace,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
}

// matches are what query() gives.
type matches struct {
	Count   int     `json:"count"`
	Matches []match `json:"matches"`
}

func (x *index) search(q query) (found matches, err error) {
	found.Matches = []match{}
	level := "none"
	if q.ReturnMetadata != nil {
		var ok bool
		if level, ok = q.ReturnMetadata.(string); !ok {
			return found, refuse(40026, "Failed to parse the request body as JSON: returnMetadata: expected value")
		}
	}
	k, limit := defaultTopK, maxTopK
	if q.TopK != nil {
		k = *q.TopK
	}
	if q.ReturnValues || level == "all" {
		limit = maxTopKWithData
	}
	if k > limit && limit < maxTopK {
		return found, refuse(40025, "with returnValues=true or returnMetadata=all, max top K is %d, but got %d", limit, k)
	}
	if k < 1 || k > limit {
		return found, refuse(0, "top K must be between 1 and %d, but got %d", limit, k)
	}
	holds, err := compileFilter(q.Filter)
	if err != nil {
		return found, err
	}
	if q.VectorID != nil && q.Vector == nil {
		of, err := x.get([]string{*q.VectorID})
		if err != nil {
			return found, err
		}
		if len(of) == 0 {
			return found, refuse(0, "vector with id=%q not found", *q.VectorID)
		}
		q.Vector = of[0].Values
	}
	dimensions, err := x.dimensions()
	if err != nil {
		return found, err
	}
	if dimensions != 0 && len(q.Vector) != dimensions {
		return found, refuse(40006, "invalid query vector, expected %d dimensions, and got %d dimensions", dimensions, len(q.Vector))
	}
	norm := length(q.Vector)
	err = x.Store.Query("SELECT id, namespace, vector, metadata FROM vectors", func(row *sqlite.Stmt) error {
		m := match{ID: row.ColumnText(0), Namespace: row.ColumnText(1), Values: unpack(row.ColumnBlob(2)), Metadata: json.RawMessage(row.ColumnText(3))}
		if q.Namespace != nil && m.Namespace != *q.Namespace {
			return nil
		}
		if ok, err := holds(m.Metadata); err != nil || !ok {
			return err
		}
		m.Score = cosine(q.Vector, m.Values, norm)
		found.Matches = append(found.Matches, m)
		return nil
	})
	if err != nil {
		return found, err
	}
	slices.SortFunc(found.Matches, func(a, b match) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
	found.Matches = found.Matches[:min(k, len(found.Matches))]
	found.Count = len(found.Matches)
	for i := range found.Matches {
		m := &found.Matches[i]
		if !q.ReturnValues {
			m.Values = nil
		}
		if level == "none" || len(m.Metadata) == 0 {
			m.Metadata = nil
		}
	}
	return found, nil
}

// cosine is the similarity of two vectors, -1 to 1; 0 if one has no direction.
func cosine(a, b []float32, norm float64) float64 {
	dot := 0.0
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
	}
	if both := norm * length(b); both > 0 {
		return dot / both
	}
	return 0
}

func length(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

func pack(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func unpack(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}
