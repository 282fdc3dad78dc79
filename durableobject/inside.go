package durableobject

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/dop251/goja"

	"minido.dev/minido/sqlstore"
)

// causeOutside is the cause of turns in which a person reads or writes an object's
// storage from outside.
const causeOutside = "edit"

// Limits of what one look at an object's storage gives.
const (
	maxInsideRows  = 10_000
	maxInsideBytes = 8 << 20
	maxShownBytes  = 16 << 10 // of one value, as text
)

// Inside is an object's storage for who is not its code: a person who edits it. What
// it does is an event of the object, behind its input gate, and is written as its own
// code would write it. Loop-confined; its methods are called outside any turn, and
// done is called exactly once, when what was written is durable.
type Inside struct{ o *Object }

// Inside is the object's storage for people.
func (o *Object) Inside() Inside { return Inside{o} }

// Statement is SQL as storage.sql.exec() takes it, with its bindings as a JSON array;
// nil for none.
type Statement struct {
	SQL    string
	Params json.RawMessage
}

// Result is what a statement gave. Rows hold nil, int64, float64, string and []byte.
type Result struct {
	Columns               []string
	Rows                  [][]any
	Truncated             bool // there were more rows
	RowsRead, RowsWritten int64
}

// event runs fn in a turn of the object; its error undoes nothing by itself.
func (i Inside) event(fn func() error, done func(error)) {
	o := i.o
	o.deliver(causeOutside, func() {
		defer o.done()
		finished := false
		finish := func(err error) {
			if !finished {
				finished = true
				done(err)
			}
		}
		forget := o.ctx.AtDeath(func(error) { finish(o.refusal()) })
		var err error
		if thrown := o.realm.eng.Try(func() { err = fn() }); thrown != nil {
			err = o.realm.eng.Errors.ToEvent(thrown)
		}
		o.ctx.Emit(func() { forget(); finish(err) })
	}, done)
}

// Execute runs statements; several are one transaction. The error is a
// *sqlstore.SQLError for what SQLite or the rules of storage.sql refuse.
func (i Inside) Execute(statements []Statement, done func([]Result, error)) {
	var results []Result
	i.event(func() (err error) {
		o := i.o
		var sp *sqlstore.Savepoint
		if len(statements) > 1 {
			if sp, err = o.db().Savepoint(); err != nil {
				return err
			}
		}
		for _, s := range statements {
			var r Result
			if r, err = i.execute(s); err != nil {
				break
			}
			results = append(results, r)
		}
		if o.store.Dirty() {
			o.wrote()
		}
		switch {
		case sp == nil:
			return err
		case err != nil:
			if undone := sp.Rollback(); undone != nil {
				return undone
			}
			return err
		default:
			return sp.Release()
		}
	}, func(err error) { done(results, err) })
}

func (i Inside) execute(s Statement) (r Result, err error) {
	o := i.o
	var args []any
	if len(s.Params) > 0 {
		list := o.realm.iso.CF.ParseJSON(string(s.Params)).ToObject(o.realm.vm)
		for _, key := range list.Keys() {
			args = append(args, o.realm.sqlValue(list.Get(key)))
		}
	}
	c, err := o.db().Exec(s.SQL, args)
	if err != nil {
		return r, err
	}
	defer c.Close()
	r.Columns, r.Rows = append([]string{}, c.ColumnNames()...), [][]any{}
	for size := 0; ; {
		row, ok, err := c.Next()
		if err != nil {
			return r, err
		}
		if !ok {
			break
		}
		if r.Truncated = len(r.Rows) == maxInsideRows || size > maxInsideBytes; r.Truncated {
			break
		}
		for _, v := range row {
			switch x := v.(type) {
			case string:
				size += len(x)
			case []byte:
				size += len(x)
			}
		}
		r.Rows = append(r.Rows, row)
	}
	r.RowsRead, r.RowsWritten = c.RowsRead(), c.RowsWritten()
	return r, nil
}

// StoredValue is one key of the object's key-value storage.
type StoredValue struct {
	Key   string
	Bytes int
	// Text is the value as console.log shows it, cut at 16 KB.
	Text string
	// JSON is the value if JSON has the same, nil for others: these cannot be edited.
	JSON json.RawMessage
}

// Values lists up to limit keys behind after that begin with prefix; more reports
// whether there are others. A value that cannot be decoded says so in its text.
func (i Inside) Values(prefix, after string, limit int, done func(list []StoredValue, more bool, err error)) {
	var list []StoredValue
	more := false
	i.event(func() error {
		o := i.o
		opts := sqlstore.ListOptions{Prefix: &prefix, Limit: limit + 1}
		if after != "" {
			opts.StartAfter = &after
		}
		it, err := o.db().List(opts)
		if err != nil {
			return err
		}
		defer it.Close()
		for {
			key, b, ok, err := it.Next()
			if err != nil || !ok {
				return err
			}
			if more = len(list) == limit; more {
				return nil
			}
			list = append(list, i.shown(key, b))
		}
	}, func(err error) { done(list, more, err) })
}

func (i Inside) shown(key string, b []byte) StoredValue {
	o := i.o
	e := o.realm.eng
	v := StoredValue{Key: key, Bytes: len(b)}
	var value goja.Value
	if thrown := e.Try(func() {
		value = o.storage.decode(b)
		v.Text = o.realm.iso.Platform.Console.InspectWith(value, goja.Undefined(), goja.Undefined())
	}); thrown != nil {
		v.Text = fmt.Sprintf("(cannot be decoded: %s)", e.Errors.ToEvent(thrown).Message)
		return v
	}
	// A getter or toJSON may throw: then JSON does not have it.
	e.Try(func() {
		text, ok := e.Call(e.Primordial("JSONStringify"), goja.Undefined(), value).Export().(string)
		if ok && bytes.Equal(o.storage.encode(o.realm.iso.CF.ParseJSON(text)), b) {
			v.JSON = json.RawMessage(text)
		}
	})
	if len(v.Text) > maxShownBytes {
		v.Text = v.Text[:maxShownBytes] + "…"
	}
	return v
}

// Put stores a value, which is JSON, under a key.
func (i Inside) Put(key string, value json.RawMessage, done func(error)) {
	i.event(func() error {
		i.o.storage.put(key, i.o.realm.iso.CF.ParseJSON(string(value)))
		return nil
	}, done)
}

// Delete deletes a key.
func (i Inside) Delete(key string, done func(error)) {
	i.event(func() error { i.o.storage.delete(key); return nil }, done)
}

// DeleteAll deletes all that the object has stored, and its alarm: what its code does
// with deleteAlarm() and deleteAll(). Its past stays.
func (i Inside) DeleteAll(done func(error)) {
	i.event(func() error {
		i.o.storage.deleteAlarm(goja.Undefined())
		i.o.storage.deleteAll()
		return nil
	}, done)
}
