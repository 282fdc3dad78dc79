package durableobject

import (
	"runtime"
	"weak"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/sqlstore"
)

// sqlAPI is storage.sql (workerd: api/sql.c++).
type sqlAPI struct{ o *Object }

func (s *sqlAPI) object() *Object { return s.o }

// sqlCursor is the result of exec(). Loop-confined.
type sqlCursor struct {
	o     *Object
	c     *sqlstore.Cursor
	names []string
}

func (c *sqlCursor) object() *Object { return c.o }

func (r *Realm) defineSQL() {
	r.sql = engine.DefineClass(r.eng, engine.ClassDef[*sqlAPI]{
		Name: "SqlStorage",
		Methods: []engine.Method[*sqlAPI]{
			method("exec", 1, func(s *sqlAPI, c goja.FunctionCall) goja.Value { return s.o.storage.exec(c) }),
		},
		Accessors: []engine.Accessor[*sqlAPI]{{Name: "databaseSize", Get: func(s *sqlAPI, _ *goja.Object) goja.Value {
			s.o.ctx.Check()
			needSQLite(s.o, legacySQL)
			n, err := s.o.db().DatabaseSize()
			if err != nil {
				r.storageError(err)
			}
			return r.vm.ToValue(n)
		}}},
	})
	r.cursor = engine.DefineClass(r.eng, engine.ClassDef[*sqlCursor]{
		Name: "Cursor",
		Methods: []engine.Method[*sqlCursor]{
			method("next", 0, func(c *sqlCursor, _ goja.FunctionCall) goja.Value {
				res := r.vm.NewObject()
				row, ok := c.row()
				res.Set("done", !ok)
				switch {
				case ok:
					res.Set("value", c.asObject(row))
				case r.wholeStructs():
					res.Set("value", goja.Undefined())
				}
				return res
			}),
			method("toArray", 0, func(c *sqlCursor, _ goja.FunctionCall) goja.Value {
				var rows []any
				for row, ok := c.row(); ok; row, ok = c.row() {
					rows = append(rows, c.asObject(row))
				}
				return r.vm.NewArray(rows...)
			}),
			method("one", 0, func(c *sqlCursor, _ goja.FunctionCall) goja.Value {
				row, ok := c.row()
				if !ok {
					r.eng.Throw("Error", "Expected exactly one result from SQL query, but got no results.")
				}
				if _, more := c.row(); more {
					c.c.Close()
					r.eng.Throw("Error", "Expected exactly one result from SQL query, but got multiple results.")
				}
				return c.asObject(row)
			}),
			method("raw", 0, func(c *sqlCursor, _ goja.FunctionCall) goja.Value { return c.raw() }),
		},
		Accessors: []engine.Accessor[*sqlCursor]{
			{Name: "columnNames", Get: func(c *sqlCursor, _ *goja.Object) goja.Value {
				names := make([]any, len(c.names))
				for i, n := range c.names {
					names[i] = n
				}
				return r.vm.NewArray(names...)
			}},
			{Name: "rowsRead", Get: func(c *sqlCursor, _ *goja.Object) goja.Value { return r.vm.ToValue(c.c.RowsRead()) }},
			{Name: "rowsWritten", Get: func(c *sqlCursor, _ *goja.Object) goja.Value { return r.vm.ToValue(c.c.RowsWritten()) }},
		},
	})
	r.cursor.Proto.DefineDataPropertySymbol(goja.SymIterator, r.eng.Func("[Symbol.iterator]", 0, func(call goja.FunctionCall) goja.Value {
		c := r.cursor.Self(call.This)
		return r.rowIter.wrap(c.o, func() (goja.Value, bool) {
			row, ok := c.row()
			if !ok {
				return nil, false
			}
			return c.asObject(row), true
		})
	}), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	statement := engine.DefineClass(r.eng, engine.ClassDef[struct{}]{Name: "Statement"})
	own(r.sql.Proto, "Cursor", r.cursor.Ctor)
	own(r.sql.Proto, "Statement", statement.Ctor)
	r.rawIter = r.defineIterators("RawIterator", method("toArray", 0, func(it *iterator, _ goja.FunctionCall) goja.Value {
		var rows []any
		for row, ok := it.step(); ok; row, ok = it.step() {
			rows = append(rows, row)
		}
		return r.vm.NewArray(rows...)
	}))
}

// exec implements sql.exec(query, ...bindings).
func (o *storage) exec(call goja.FunctionCall) goja.Value {
	r := o.realm
	r.need(call, 1, "SqlStorage", "exec", "String")
	query := r.text(call.Arguments[0])
	needSQLite(o.Object, legacySQL)
	var args []any
	if len(call.Arguments) > 1 {
		args = make([]any, len(call.Arguments)-1)
		for i, v := range call.Arguments[1:] {
			args[i] = r.sqlValue(v)
		}
	}
	noted := r.eng.Turns.Statement("", query)
	c, err := o.db().Exec(query, args)
	noted(c, err)
	if o.store.Dirty() {
		r.eng.Sites.Statement(query)
		o.wrote()
	}
	if err != nil {
		r.storageError(err)
	}
	cur := &sqlCursor{o: o.Object, c: c, names: c.ColumnNames()}
	if len(cur.names) > 0 {
		// Weak, since a cleanup's argument is a root: through the store it would hold
		// the isolate that holds the cursor, and none of them would ever be collected.
		runtime.AddCleanup(cur, func(c weak.Pointer[sqlstore.Cursor]) {
			if c := c.Value(); c != nil {
				c.Abandon()
			}
		}, weak.Make(c))
	}
	return r.cursor.Wrap(cur)
}

// sqlValue converts a binding: numbers bind as REAL, everything that is not a
// number, null or bytes as its text (docs/semantics.md 14).
func (r *Realm) sqlValue(v goja.Value) any {
	if v == nil || goja.IsNull(v) || goja.IsUndefined(v) {
		return nil
	}
	switch x := v.Export().(type) {
	case int64:
		return float64(x)
	case float64:
		return x
	case string:
		return r.text(v)
	case goja.ArrayBuffer:
		return append([]byte{}, x.Bytes()...)
	}
	if obj, ok := v.(*goja.Object); ok {
		if b, ok := r.viewBytes(obj); ok {
			return b
		}
	}
	if v.ExportType() != nil && v.ExportType().String() == "*big.Int" {
		r.eng.Throw("TypeError", "Cannot convert a BigInt value to a number")
	}
	return r.text(v)
}

// viewBytes copies the bytes of a typed array or DataView.
func (r *Realm) viewBytes(obj *goja.Object) ([]byte, bool) {
	isView := r.eng.Call(r.eng.Primordial("ArrayBufferIsView"), goja.Undefined(), obj).ToBoolean()
	if !isView {
		return nil, false
	}
	buf, ok := obj.Get("buffer").Export().(goja.ArrayBuffer)
	if !ok {
		return nil, false
	}
	off, n := obj.Get("byteOffset").ToInteger(), obj.Get("byteLength").ToInteger()
	return append([]byte{}, buf.Bytes()[off:off+n]...), true
}

// row is the next row, nil at the end.
func (c *sqlCursor) row() ([]any, bool) {
	c.o.db()
	row, ok, err := c.c.Next()
	if err != nil {
		c.o.realm.storageError(err)
	}
	return row, ok
}

// column makes the JavaScript value of a column: blobs are ArrayBuffers,
// integers are Numbers.
func (c *sqlCursor) column(v any) goja.Value {
	vm := c.o.realm.vm
	switch x := v.(type) {
	case nil:
		return goja.Null()
	case []byte:
		return vm.ToValue(vm.NewArrayBuffer(x))
	case int64:
		if x > 1<<53 || x < -(1<<53) {
			return vm.ToValue(float64(x))
		}
		return vm.ToValue(x)
	default:
		return vm.ToValue(x)
	}
}

func (c *sqlCursor) asObject(row []any) goja.Value {
	obj := c.o.realm.vm.NewObject()
	for i, v := range row {
		obj.Set(c.names[i], c.column(v))
	}
	return obj
}

// raw implements cursor.raw(): an iterator of arrays.
func (c *sqlCursor) raw() goja.Value {
	r := c.o.realm
	return r.rawIter.wrap(c.o, func() (goja.Value, bool) {
		row, ok := c.row()
		if !ok {
			return nil, false
		}
		vals := make([]any, len(row))
		for i, v := range row {
			vals[i] = c.column(v)
		}
		return r.vm.NewArray(vals...), true
	})
}
