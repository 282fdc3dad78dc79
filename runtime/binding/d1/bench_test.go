package d1_test

import (
	"testing"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/runtime/binding/d1"
)

// A point query without JavaScript around it.
func BenchmarkPointQuery(b *testing.B) {
	db := d1.Open(d1.Options{Dir: b.TempDir(), ID: "x", Clock: clock.Real{}, Entropy: entropy.NewSeeded(1)})
	defer func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	}()
	if _, err := db.Run([]d1.Query{{SQL: "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)"}, {SQL: "INSERT INTO t VALUES (7, 'seven')"}}, true); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := db.Run([]d1.Query{{SQL: "SELECT v FROM t WHERE id = ?", Params: []any{7.0}}}, false); err != nil {
			b.Fatal(err)
		}
	}
}
