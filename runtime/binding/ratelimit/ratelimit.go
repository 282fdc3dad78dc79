// Package ratelimit is the rate limiting binding: how often something may be done
// in each window of 10 or 60 seconds. As in miniflare a counter belongs to a
// namespace, a key and a period, its windows are aligned to the clock's epoch, and
// it is kept in v3/ratelimit/miniflare-RateLimiterObject/<id of the
// namespace>.sqlite, so that a restart, of either tool, forgets nothing.
package ratelimit

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/dop251/goja"

	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
)

const (
	kind  = "ratelimit"
	class = "miniflare-RateLimiterObject"
)

//go:embed ratelimit.js
var source string

var prelude = engine.NewPrelude("ratelimit.js", source)

// limiters are the namespaces that the workers of a session count in. Safe for
// concurrent use.
type limiters struct {
	*driver.Stores[*sqlite.Conn] // by namespace
	session                      *driver.Session

	mu sync.Mutex // orders the counting
}

// New makes the driver of rate limits.
func New(s *driver.Session) driver.Driver {
	return &limiters{Stores: driver.NewStores[*sqlite.Conn](s, kind), session: s}
}

// Pause closes the files; who counts next asks for the connection again.
func (d *limiters) Pause() error { return d.Close() }

// Make implements driver.Driver.
func (d *limiters) Make(a *cfapi.API, w driver.Worker, b config.Binding) goja.Value {
	js := a.Engine.Load(prelude, a.Engine.Native(driver.Call(a, kind, d.operation(b.Param("namespace_id"))))).(*goja.Object)
	simple, _ := b.Params["simple"].(map[string]any) // the schema requires it
	vm := a.Engine.VM()
	fetcher := driver.Stub(a, w, a.Engine.Call(js.Get("counter"), goja.Undefined(), vm.GlobalObject().Get("Response")))
	return a.Engine.Call(js.Get("binding"), goja.Undefined(), fetcher, vm.ToValue(simple["limit"]), vm.ToValue(simple["period"]))
}

// attempt is what is counted.
type attempt struct {
	Key    string  `json:"key"`
	Limit  float64 `json:"limit"`
	Period int64   `json:"period"` // in seconds
	Delta  int64   `json:"delta"`
}

func (d *limiters) operation(namespace string) driver.Operation {
	return func(_ string, args, _ []byte, done func(reply, data []byte, err error)) {
		d.session.Scheduler.Go("rate limit", func() {
			var a attempt
			if err := json.Unmarshal(args, &a); err != nil {
				done(nil, nil, err)
				return
			}
			within, err := d.count(namespace, a)
			done(fmt.Appendf(nil, `{"success":%t}`, within), nil, err)
		})
	}
}

// count counts an attempt that is within the limit; one beyond it costs nothing.
func (d *limiters) count(namespace string, a attempt) (within bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	db, err := d.Get(namespace, func(dir string) (*sqlite.Conn, error) { return d.open(dir, namespace) })
	if err != nil {
		return false, err
	}
	epoch := d.session.Scheduler.Clock().Now().Unix() / a.Period
	count := int64(0)
	err = query(db, "SELECT count FROM _mf_ratelimit_buckets WHERE key = ? AND period = ? AND epoch = ?", func(row *sqlite.Stmt) { count = row.ColumnInt64(0) }, a.Key, a.Period, epoch)
	if err != nil {
		return false, err
	}
	if count == 0 { // the first of its key in a window: what earlier windows of the period counted is over
		if err := query(db, "DELETE FROM _mf_ratelimit_buckets WHERE period = ? AND epoch != ?", nil, a.Period, epoch); err != nil {
			return false, err
		}
	}
	if float64(count) >= a.Limit {
		return false, nil
	}
	return true, query(db, "INSERT OR REPLACE INTO _mf_ratelimit_buckets (key, period, epoch, count) VALUES (?, ?, ?, ?)", nil, a.Key, a.Period, epoch, count+a.Delta)
}

// open opens where a namespace counts. A count may be lost with the machine, not
// with the process.
func (d *limiters) open(dir, namespace string) (*sqlite.Conn, error) {
	dir = filepath.Join(dir, class)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("rate limit: %w", err)
	}
	path := filepath.Join(dir, objectid.NewNamespace(class).FromName(namespace).String()+".sqlite")
	db, err := sqlite.Open(sqlite.Options{Path: path, Now: d.session.Scheduler.Clock().Now, Rand: d.session.Entropy.Fork("rate limit " + namespace)})
	if err != nil {
		return nil, fmt.Errorf("rate limit: %w", err)
	}
	err = db.Exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS _mf_ratelimit_buckets (
    key TEXT NOT NULL,
    period INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (key, period)
)`)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("rate limit: %w", err), db.Close())
	}
	return db, nil
}

// query runs a statement and shows each row to see.
func query(db *sqlite.Conn, sql string, see func(row *sqlite.Stmt), args ...any) error {
	st, _, err := db.Prepare(sql, false)
	if err != nil {
		return fmt.Errorf("rate limit: %w", err)
	}
	defer st.Finalize()
	for i, a := range args {
		if err := st.Bind(i+1, a); err != nil {
			return fmt.Errorf("rate limit: %w", err)
		}
	}
	for {
		row, err := st.Step()
		if err != nil {
			return fmt.Errorf("rate limit: %w", err)
		}
		if !row {
			return nil
		}
		see(st)
	}
}
