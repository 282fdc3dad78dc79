package control

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"minido.dev/minido/durableobject"
	"minido.dev/minido/durableobject/pool"
)

// maxValues bounds the answer of POST /v1/values.
const maxValues = 1000

// ExecuteRequest is the body of POST /v1/execute.
type ExecuteRequest struct {
	Class      string      `json:"class"`
	Object     string      `json:"object"`
	Statements []Statement `json:"statements"` // several are one transaction
}

// Statement is SQL as the object's own storage.sql.exec() takes it.
type Statement struct {
	SQL    string `json:"sql"`
	Params []any  `json:"params,omitempty"`
}

// Executed is its answer: what each statement gave.
type Executed struct {
	Results []ExecuteResult `json:"results"`
}

// ExecuteResult is what a statement gave; rows are as in QueryResult.
type ExecuteResult struct {
	Columns     []string `json:"columns"`
	Rows        [][]any  `json:"rows"`
	Truncated   bool     `json:"truncated"`
	RowsRead    int64    `json:"rows_read"`
	RowsWritten int64    `json:"rows_written"`
}

// editable finds an object whose storage a person may write: minido's own objects, the
// brokers of queues and the instances of Workflows, are not among them.
func (c *Control) editable(class, object string) (pool.Ref, error) {
	ref, err := c.opts.Server.Find(class, object)
	if err != nil {
		return ref, err
	}
	if of, _, _ := strings.Cut(ref.Label(), "/"); strings.Contains(of, "-") { // no class of a worker has such a name
		return ref, &pool.RefusedError{Reason: "the rows of " + of + " are minido's own: act on it as a queue or a Workflow"}
	}
	return ref, nil
}

// execute answers POST /v1/execute.
func (c *Control) execute(w http.ResponseWriter, r *http.Request) {
	var req ExecuteRequest
	if !read(w, r, &req) {
		return
	}
	ref, err := c.editable(req.Class, req.Object)
	if err != nil {
		failWith(w, err)
		return
	}
	var statements []durableobject.Statement
	for _, s := range req.Statements {
		st := durableobject.Statement{SQL: s.SQL}
		if len(s.Params) > 0 {
			if st.Params, err = json.Marshal(s.Params); err != nil {
				failWith(w, &InputError{err.Error()})
				return
			}
		}
		statements = append(statements, st)
	}
	if statements == nil {
		failWith(w, &InputError{"statements: there is none"})
		return
	}
	out := Executed{[]ExecuteResult{}}
	err = c.wait(r, answerTime, func(done func(error)) {
		ref.Execute(statements, func(results []durableobject.Result, err error) {
			for _, one := range results {
				res := ExecuteResult{Columns: one.Columns, Rows: [][]any{}, Truncated: one.Truncated, RowsRead: one.RowsRead, RowsWritten: one.RowsWritten}
				for _, row := range one.Rows {
					for i := range row {
						row[i], _ = value(row[i], 0)
					}
					res.Rows = append(res.Rows, row)
				}
				out.Results = append(out.Results, res)
			}
			done(err)
		})
	})
	if err != nil {
		failWith(w, err)
		return
	}
	reply(w, http.StatusOK, out)
}

// ValuesRequest is the body of POST /v1/values.
type ValuesRequest struct {
	Class  string `json:"class"`
	Object string `json:"object"`
	Prefix string `json:"prefix,omitempty"`
	After  string `json:"after,omitempty"` // lists the keys behind this one
	Limit  int    `json:"limit,omitempty"` // default 100, at most 1,000
}

// Values is its answer.
type Values struct {
	Values []StoredValue `json:"values"`
	More   bool          `json:"more"`
}

// StoredValue is a key of an object's key-value storage.
type StoredValue struct {
	Key   string `json:"key"`
	Bytes int    `json:"bytes"`
	// Text is the value as console.log shows it.
	Text string `json:"text"`
	// JSON is the value as JSON text, absent where JSON has not the same value: such a
	// value cannot be edited.
	JSON string `json:"json,omitempty"`
}

// values answers POST /v1/values.
func (c *Control) values(w http.ResponseWriter, r *http.Request) {
	var req ValuesRequest
	ref, ok := c.find(w, r, &req, &req.Class, &req.Object)
	if !ok {
		return
	}
	if req.Limit <= 0 {
		req.Limit = 100
	}
	out := Values{Values: []StoredValue{}}
	err := c.wait(r, answerTime, func(done func(error)) {
		ref.Values(req.Prefix, req.After, min(req.Limit, maxValues), func(list []durableobject.StoredValue, more bool, err error) {
			for _, v := range list {
				out.Values = append(out.Values, StoredValue{v.Key, v.Bytes, v.Text, string(v.JSON)})
			}
			out.More = more
			done(err)
		})
	})
	if err != nil {
		failWith(w, err)
		return
	}
	reply(w, http.StatusOK, out)
}

// ValueRequest is the body of POST /v1/values/put and /v1/values/delete.
type ValueRequest struct {
	Class  string `json:"class"`
	Object string `json:"object"`
	Key    string `json:"key"`
	JSON   string `json:"json,omitempty"` // put: the value as JSON text
}

// putValue answers POST /v1/values/put.
func (c *Control) putValue(w http.ResponseWriter, r *http.Request) {
	c.edit(w, r, "put", func(ref pool.Ref, req ValueRequest, done func(error)) {
		if !json.Valid([]byte(req.JSON)) {
			done(&InputError{"json: the value is not JSON"})
			return
		}
		ref.Put(req.Key, json.RawMessage(req.JSON), done)
	})
}

// deleteValue answers POST /v1/values/delete.
func (c *Control) deleteValue(w http.ResponseWriter, r *http.Request) {
	c.edit(w, r, "delete", func(ref pool.Ref, req ValueRequest, done func(error)) { ref.Delete(req.Key, done) })
}

func (c *Control) edit(w http.ResponseWriter, r *http.Request, name string, start func(ref pool.Ref, req ValueRequest, done func(error))) {
	var req ValueRequest
	if !read(w, r, &req) {
		return
	}
	ref, err := c.editable(req.Class, req.Object)
	if err == nil {
		err = c.wait(r, answerTime, func(done func(error)) { start(ref, req, done) })
	}
	if err != nil {
		failWith(w, err)
		return
	}
	reply(w, http.StatusOK, Done{name})
}

// deleteAll answers POST /v1/delete.
func (c *Control) deleteAll(w http.ResponseWriter, r *http.Request) {
	var req ObjectRequest
	if !read(w, r, &req) {
		return
	}
	ref, err := c.editable(req.Class, req.Object)
	if err == nil {
		err = c.wait(r, answerTime, ref.DeleteAll)
	}
	if err != nil {
		failWith(w, fmt.Errorf("delete: %w", err))
		return
	}
	reply(w, http.StatusOK, Done{"delete"})
}
