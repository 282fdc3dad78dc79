// Package analyticsengine is Workers Analytics Engine. What a worker writes goes
// into a table of the dataset's name, with the columns of the service's SQL API, in
// one database for all datasets: wrangler dev keeps none of it.
package analyticsengine

import (
	"errors"
	"fmt"
	"strings"

	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/binding/miniflare"
)

// Columns of each type that a point has; what goes beyond is dropped.
const (
	maxBlobs   = 20
	maxDoubles = 20
)

// Path is the database of all datasets below v3/analytics.
func Path(dir string) string { return miniflare.PathOf(dir, class, name) }

const class, name = "minido-AnalyticsEngine", "datasets"

// Point is one data point; Blobs and Doubles are at most 20 each.
type Point struct {
	Index   string
	Blobs   []any // string or nil
	Doubles []float64
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func columns() string {
	list := []string{"timestamp", "index1", "_sample_interval"}
	for i := range maxBlobs {
		list = append(list, fmt.Sprintf("blob%d", i+1))
	}
	for i := range maxDoubles {
		list = append(list, fmt.Sprintf("double%d", i+1))
	}
	return strings.Join(list, ", ")
}

// write stores a point. Missing blobs are "" and missing doubles 0, as the
// service's SQL shows them.
func write(s *miniflare.Store, dataset string, p Point) error {
	return s.Do(func() error {
		values := []any{s.Now() / 1000, p.Index, int64(1)}
		for i := range maxBlobs {
			if i < len(p.Blobs) && p.Blobs[i] != nil {
				values = append(values, p.Blobs[i])
			} else {
				values = append(values, "")
			}
		}
		for i := range maxDoubles {
			if i < len(p.Doubles) {
				values = append(values, p.Doubles[i])
			} else {
				values = append(values, 0.0)
			}
		}
		return s.Effect("write", func() error {
			err := s.Query("CREATE TABLE IF NOT EXISTS "+quoted(dataset)+" ("+columns()+")", miniflare.Nothing)
			if err != nil {
				return err
			}
			return s.Query("INSERT INTO "+quoted(dataset)+" VALUES (?"+strings.Repeat(", ?", len(values)-1)+")", miniflare.Nothing, values...)
		})
	})
}

// Query runs one SELECT over the datasets of a database, read-only, and gives its
// columns and rows: of nil, int64, float64, string and []byte.
func Query(o sqlite.Options, sql string) (names []string, rows [][]any, err error) {
	o.ReadOnly, o.MustExist = true, true
	db, err := sqlite.Open(o)
	if err != nil {
		return nil, nil, fmt.Errorf("no data points at %s: %w", o.Path, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetBusyTimeout(miniflare.Busy)
	st, _, err := db.Prepare(sql, false)
	if err != nil {
		return nil, nil, err
	}
	if st == nil {
		return nil, nil, fmt.Errorf("there is no statement in %q", sql)
	}
	defer st.Finalize()
	names = st.ColumnNames()
	for {
		row, err := st.Step()
		if err != nil || !row {
			return names, rows, err
		}
		values := make([]any, st.Columns())
		for i := range values {
			values[i] = st.Column(i)
		}
		rows = append(rows, values)
	}
}
