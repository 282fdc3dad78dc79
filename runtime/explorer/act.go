package explorer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"minido.dev/minido/durableobject"
	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/runtime/binding/workflow"
	"minido.dev/minido/runtime/config"
)

// doQuery is the body of POST .../namespaces/{id}/query.
type doQuery struct {
	ID      *string `json:"durable_object_id"`
	Name    *string `json:"durable_object_name"`
	Queries []struct {
		SQL    *string         `json:"sql"`
		Params json.RawMessage `json:"params"`
	} `json:"queries"`
}

type doRows struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
	Meta    doMeta   `json:"meta"`
}

type doMeta struct {
	Read    int64 `json:"rows_read"`
	Written int64 `json:"rows_written"`
}

// query runs SQL in an object as its own code would. Blobs are arrays of numbers, as in
// D1, where wrangler has {}.
func (x *Explorer) query(r *http.Request) answer {
	id := r.PathValue("id")
	var ask doQuery
	if bad := decode(r, &ask); bad != nil {
		return *bad
	}
	if ask.ID == nil && ask.Name == nil || ask.Queries == nil {
		return failure(http.StatusBadRequest, codeInvalid, "Invalid input")
	}
	var statements []durableobject.Statement
	for i, q := range ask.Queries {
		params := strings.TrimSpace(string(q.Params))
		switch {
		case q.SQL == nil, params != "" && params[0] != '[':
			return failure(http.StatusBadRequest, codeInvalid, "Invalid input")
		case *q.SQL == "":
			return failure(http.StatusBadRequest, codeInvalid, fmt.Sprintf("queries.%d.sql: Too small: expected string to have >=1 characters", i))
		}
		statements = append(statements, durableobject.Statement{SQL: *q.SQL, Params: q.Params})
	}
	if !slices.ContainsFunc(x.classes(), func(n namespace) bool { return n.ID == id }) {
		return failure(http.StatusNotFound, codeNoNamespace, fmt.Sprintf("Durable Object namespace ID '%s' not found.", id))
	}
	object := ""
	if ask.ID != nil {
		object = *ask.ID
		if _, err := objectid.NewNamespace(id).Parse(object); err != nil {
			return failure(http.StatusBadRequest, codeInvalid, err.Error())
		}
	} else {
		object = *ask.Name
	}
	if len(statements) == 0 {
		return failure(http.StatusBadRequest, codeInvalid, "No queries provided")
	}
	return answer{later: func(done func(answer)) {
		x.opts.Execute(id, object, statements, func(results []durableobject.Result, err error) {
			if err != nil {
				done(failure(http.StatusBadRequest, codeInvalid, err.Error()))
				return
			}
			out := []doRows{}
			for _, one := range results {
				rows := doRows{one.Columns, [][]any{}, doMeta{one.RowsRead, one.RowsWritten}}
				for _, row := range one.Rows {
					rows.Rows = append(rows.Rows, jsonRow(row))
				}
				out = append(out, rows)
			}
			done(success(out, nil))
		})
	}}
}

// maxScheduled bounds the time of a cron event, in milliseconds before and after the epoch:
// what workerd holds in nanoseconds.
const maxScheduled = 9223372036854

// scheduled fires a cron trigger of a worker of the session, whether it is configured or not.
func (x *Explorer) scheduled(r *http.Request) answer {
	worker := r.URL.Query()["worker"]
	switch {
	case len(worker) == 0:
		return failure(http.StatusBadRequest, codeInvalid, "worker: Invalid input: expected string, received undefined")
	case worker[0] == "":
		return failure(http.StatusBadRequest, codeInvalid, "worker: Too small: expected string to have >=1 characters")
	}
	ask, bad := fields(r)
	if bad != nil {
		return *bad
	}
	given, there := ask["cron"]
	cron, ok := given.(string)
	if !ok {
		return invalid("cron", "string", given, there)
	}
	if strings.TrimSpace(cron) == "" {
		return failure(http.StatusBadRequest, codeInvalid, "cron: Invalid string: must match pattern /.*\\S.*/")
	}
	at := x.opts.Now()
	if given, ok := ask["scheduled_time"]; ok {
		ms, ok := given.(float64)
		switch {
		case !ok:
			return invalid("scheduled_time", "number", given, true)
		case ms != math.Trunc(ms):
			return invalid("scheduled_time", "int", given, true)
		case ms < -maxScheduled:
			return failure(http.StatusBadRequest, codeInvalid, fmt.Sprintf("scheduled_time: Too small: expected number to be >=%d", -maxScheduled))
		case ms > maxScheduled:
			return failure(http.StatusBadRequest, codeInvalid, fmt.Sprintf("scheduled_time: Too big: expected number to be <=%d", maxScheduled))
		}
		at = time.UnixMilli(int64(ms))
	}
	if !slices.ContainsFunc(x.opts.Projects(), func(p *config.Project) bool { return p.Name == worker[0] }) {
		return failure(http.StatusNotFound, codeInternal, fmt.Sprintf("Worker %q is not registered.", worker[0]))
	}
	return answer{later: func(done func(answer)) {
		x.opts.Scheduled(worker[0], cron, at, func(noRetry bool, err error) {
			outcome := "ok"
			if err != nil {
				outcome = "exception"
			}
			done(success(struct {
				Outcome string `json:"outcome"`
				NoRetry bool   `json:"noRetry"`
			}{outcome, noRetry}, nil))
		})
	}}
}

// fields is the body of a request, which is an object of JSON.
func fields(r *http.Request) (map[string]any, *answer) {
	var body any
	bad := decode(r, &body)
	ask, ok := body.(map[string]any)
	if bad == nil && !ok {
		wrong := invalid("", "object", body, true)
		bad = &wrong
	}
	return ask, bad
}

// invalid is the API's text for a value of another type than it expects, or for none.
func invalid(name, want string, got any, there bool) answer {
	of := "undefined"
	switch got.(type) {
	case nil:
		if there {
			of = "null"
		}
	case string:
		of = "string"
	case float64:
		of = "number"
	case bool:
		of = "boolean"
	case []any:
		of = "array"
	case map[string]any:
		of = "object"
	}
	text := fmt.Sprintf("Invalid input: expected %s, received %s", want, of)
	if name != "" {
		text = name + ": " + text
	}
	return failure(http.StatusBadRequest, codeInvalid, text)
}

// asked asks the instance that a request names, and tells what it answered.
func (x *Explorer) asked(r *http.Request, ask workflow.Ask, tell func(b []byte) answer) answer {
	w, missing := x.known(r)
	if missing != nil {
		return *missing
	}
	id := r.PathValue("id")
	return answer{later: func(done func(answer)) {
		x.opts.Workflow(w.Name, id, ask, func(b []byte, err error) {
			var refused *workflow.AskError
			switch {
			case errors.As(err, &refused) && refused.Status == http.StatusNotFound:
				done(noInstance(id))
			case errors.As(err, &refused):
				done(failure(refused.Status, codeInvalid, refused.Text))
			case err != nil:
				done(failure(http.StatusInternalServerError, codeInvalid, err.Error()))
			default:
				done(tell(b))
			}
		})
	}}
}

func noInstance(id string) answer {
	return failure(http.StatusNotFound, codeNoWorkflow, fmt.Sprintf("Workflow instance '%s' not found.", id))
}

func (x *Explorer) instance(r *http.Request) answer {
	return x.asked(r, workflow.Ask{Op: "details"}, func(b []byte) answer { return success(json.RawMessage(b), nil) })
}

// create makes an instance; a body that is no JSON is taken for none, as wrangler does.
func (x *Explorer) create(r *http.Request) answer {
	var body struct {
		ID     *string         `json:"id"`
		Params json.RawMessage `json:"params"`
	}
	decode(r, &body)
	id := ""
	if body.ID != nil {
		id = *body.ID
	} else {
		var b [16]byte
		if _, err := x.opts.Entropy.Read(b[:]); err != nil {
			return broken(err)
		}
		b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
		id = fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	}
	if _, missing := x.known(r); missing == nil && !workflow.ValidID(id) {
		return failure(http.StatusInternalServerError, codeInvalid, "WorkflowError: Workflow instance has invalid id")
	}
	r.SetPathValue("id", id)
	return x.asked(r, workflow.Ask{Op: "create", ID: id, Params: body.Params}, func([]byte) answer {
		return success(struct {
			ID string `json:"id"`
		}{id}, nil)
	})
}

func (x *Explorer) changeStatus(r *http.Request) answer {
	var body struct {
		Status   string          `json:"status"`
		From     json.RawMessage `json:"from"`
		Rollback *bool           `json:"rollback"`
	}
	if bad := decode(r, &body); bad != nil {
		return *bad
	}
	if body.Rollback != nil && body.Status != "terminate" {
		return failure(http.StatusBadRequest, codeInvalid, "'rollback' is only valid when terminating.")
	}
	if !slices.Contains([]string{"pause", "resume", "terminate", "restart"}, body.Status) {
		return failure(http.StatusBadRequest, codeInvalid, "Invalid input")
	}
	ask := workflow.Ask{Op: body.Status, Rollback: body.Rollback != nil && *body.Rollback}
	if body.Status == "restart" {
		ask.From = body.From
	}
	return x.asked(r, ask, func(b []byte) answer {
		var now struct {
			Status string `json:"status"`
			At     string `json:"timestamp"`
		}
		if err := json.Unmarshal(b, &now); err != nil {
			return broken(err)
		}
		now.At = x.opts.Now().UTC().Format(isoTime)
		return success(now, nil)
	})
}

type didSucceed struct {
	Success bool `json:"success"`
}

func (x *Explorer) sendEvent(r *http.Request) answer {
	var payload json.RawMessage
	decode(r, &payload) // none, as wrangler has it
	return x.asked(r, workflow.Ask{Op: "event", Type: r.PathValue("type"), Payload: payload}, func([]byte) answer { return success(didSucceed{true}, nil) })
}

func (x *Explorer) deleteInstance(r *http.Request) answer {
	return x.asked(r, workflow.Ask{Op: "delete"}, func([]byte) answer { return success(didSucceed{true}, nil) })
}

type deletion struct {
	Deleted []deleted    `json:"deleted"`
	Errors  []notDeleted `json:"errors"`
}

type deleted struct {
	ID string `json:"id"`
}

type notDeleted struct {
	ID      string `json:"id"`
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// deleteAll deletes instances one after another.
func (x *Explorer) deleteAll(workflowName string, ids []string, done func(deletion, error)) {
	out := deletion{[]deleted{}, []notDeleted{}}
	var next func(i int)
	next = func(i int) {
		if i == len(ids) {
			done(out, nil)
			return
		}
		x.opts.Workflow(workflowName, ids[i], workflow.Ask{Op: "delete"}, func(_ []byte, err error) {
			var refused *workflow.AskError
			switch {
			case errors.As(err, &refused) && refused.Status == http.StatusNotFound:
				out.Errors = append(out.Errors, notDeleted{ids[i], codeNoInstance, "workflows.api.error.instance.not_found"})
			case err != nil:
				done(out, err)
				return
			default:
				out.Deleted = append(out.Deleted, deleted{ids[i]})
			}
			next(i + 1)
		})
	}
	next(0)
}

func (x *Explorer) deleteInstances(r *http.Request) answer {
	var body struct {
		Instances []string `json:"instances"`
	}
	if bad := decode(r, &body); bad != nil {
		return *bad
	}
	switch n := len(body.Instances); {
	case body.Instances == nil:
		return failure(http.StatusBadRequest, codeInvalid, "Invalid input")
	case n == 0:
		return failure(http.StatusBadRequest, codeInvalid, "instances: Too small: expected array to have >=1 items")
	case n > 100:
		return failure(http.StatusBadRequest, codeInvalid, "instances: Too big: expected array to have <=100 items")
	}
	w, missing := x.known(r)
	if missing != nil {
		return *missing
	}
	return answer{later: func(done func(answer)) {
		x.deleteAll(w.Name, body.Instances, func(out deletion, err error) {
			if err != nil {
				done(failure(http.StatusInternalServerError, codeInvalid, err.Error()))
				return
			}
			done(success(out, nil))
		})
	}}
}

// deleteWorkflow deletes every instance.
func (x *Explorer) deleteWorkflow(r *http.Request) answer {
	w, missing := x.known(r)
	if missing != nil {
		return *missing
	}
	list, err := x.instancesOf(r, w.Name)
	if err != nil {
		return broken(err)
	}
	var ids []string
	for _, i := range list {
		ids = append(ids, i.ID)
	}
	return answer{later: func(done func(answer)) {
		x.deleteAll(w.Name, ids, func(_ deletion, err error) {
			if err != nil {
				done(failure(http.StatusInternalServerError, codeInvalid, err.Error()))
				return
			}
			done(success(struct {
				Status  string `json:"status"`
				Success bool   `json:"success"`
			}{"ok", true}, nil))
		})
	}}
}
