package d1

import (
	"math"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/webidl"
)

// api is what d1.js calls. Loop-confined, but for open.
type api struct {
	*cfapi.API
	open func() (*shared, error)
}

// query is query(shape, bookmark, ...queries): queries are SQL and its parameters
// in turn. It is a promise of {results, bookmark} (d1.js says what shape makes of
// the results), or of {error}, the text of what went wrong.
func (p *api) query(call goja.FunctionCall) goja.Value {
	shape, wantBookmark := call.Argument(0).String(), call.Argument(1).ToBoolean()
	var queries []Query
	for i := 2; i+1 < len(call.Arguments); i += 2 {
		queries = append(queries, Query{p.Platform.USV(call.Arguments[i]), p.params(call.Arguments[i+1])})
	}
	return driver.Async(p.API, "D1", "query", func(settle func(func() goja.Value)) {
		fail := func(err error) {
			settle(func() goja.Value { return p.Platform.Record("error", p.Engine.String(err.Error())) })
		}
		database, err := p.open()
		if err != nil {
			fail(err)
			return
		}
		database.Add("d1 query", func() {
			results, err := database.Run(queries, shape != "first")
			bookmark := ""
			if err == nil && wantBookmark {
				bookmark, err = database.Bookmark()
			}
			if err != nil {
				fail(err)
				return
			}
			settle(func() goja.Value { return p.reply(results, bookmark, shape) })
		})
	})
}

func (p *api) params(v goja.Value) (params []any) {
	list, ok := v.(*goja.Object)
	if !ok {
		return nil
	}
	for i := range int(list.Get("length").ToInteger()) {
		params = append(params, p.param(p.at(list, i)))
	}
	return params
}

func (p *api) at(list *goja.Object, i int) goja.Value {
	return p.Engine.Call(p.Engine.Primordial("ReflectGet"), goja.Undefined(), list, p.Engine.VM().ToValue(i))
}

// param is a parameter as it arrives through JSON: what is not finite is null,
// and a list is bytes.
func (p *api) param(v goja.Value) any {
	if webidl.IsMissing(v) {
		return nil
	}
	if list, ok := v.(*goja.Object); ok {
		data := make([]byte, int(list.Get("length").ToInteger()))
		for i := range data {
			data[i] = byte(p.at(list, i).ToInteger())
		}
		return data
	}
	if _, isText := v.(goja.String); isText {
		return p.Platform.DOMString(v)
	}
	n := v.ToFloat()
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return nil
	}
	return n + 0 // -0 is 0
}

func (p *api) reply(results []Result, bookmark, shape string) goja.Value {
	list := make([]any, len(results))
	for i, result := range results {
		list[i] = p.result(result, shape)
	}
	return p.Platform.Record("results", p.Engine.VM().NewArray(list...), "bookmark", bookmark)
}

func (p *api) result(result Result, shape string) goja.Value {
	r, vm := p.Platform, p.Engine.VM()
	if shape == "first" {
		if len(result.Rows) == 0 {
			return goja.Null()
		}
		return p.object(result.Columns, result.Rows[0])
	}
	rows := make([]any, len(result.Rows))
	for j, row := range result.Rows {
		if shape == "rows" {
			rows[j] = p.list(row)
		} else {
			rows[j] = p.object(result.Columns, row)
		}
	}
	var shown goja.Value = vm.NewArray(rows...)
	if shape == "rows" {
		shown = r.Record("columns", r.StringArray(result.Columns), "rows", shown)
	}
	return r.Record("success", true, "meta", p.meta(result.Meta), "results", shown)
}

func (p *api) object(columns []string, row []any) *goja.Object {
	obj := p.Engine.VM().NewObject()
	for i, v := range row {
		if columns[i] == "__proto__" {
			p.Platform.DefinePlain(obj, columns[i], p.value(v))
			continue
		}
		obj.Set(columns[i], p.value(v))
	}
	return obj
}

func (p *api) list(row []any) *goja.Object {
	out := make([]any, len(row))
	for i, v := range row {
		out[i] = p.value(v)
	}
	return p.Engine.VM().NewArray(out...)
}

// value is a column as it arrives through JSON: bytes are a list of numbers.
func (p *api) value(v any) goja.Value {
	vm := p.Engine.VM()
	switch x := v.(type) {
	case nil:
		return goja.Null()
	case string:
		return p.Engine.String(x)
	case []byte:
		list := make([]any, len(x))
		for i, b := range x {
			list[i] = int(b)
		}
		return vm.NewArray(list...)
	case int64:
		if x > 1<<53 || x < -(1<<53) {
			return vm.ToValue(float64(x))
		}
		return vm.ToValue(x)
	case float64:
		if math.IsInf(x, 0) {
			return goja.Null()
		}
		return vm.ToValue(x + 0)
	}
	return vm.ToValue(v)
}

func (p *api) meta(m Meta) *goja.Object {
	r := p.Platform
	return r.Record("served_by", "miniflare.db", "served_by_primary", true, "total_attempts", 1,
		"timings", r.Record("sql_duration_ms", m.DurationMS), "duration", m.DurationMS, "changes", m.Changes, "last_row_id", m.LastRowID,
		"changed_db", m.ChangedDB, "size_after", m.SizeAfter, "rows_read", m.RowsRead, "rows_written", m.RowsWritten)
}
