package explorer

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"minido.dev/minido/runtime/binding/d1"
	"minido.dev/minido/runtime/binding/kv"
	"minido.dev/minido/runtime/binding/r2"
	"minido.dev/minido/runtime/config"
)

type namespace struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Script string `json:"script"`
	Class  string `json:"class"`
	SQLite bool   `json:"use_sqlite"`
}

// classes are those that bindings name, once each. All have SQLite.
func (x *Explorer) classes() []namespace {
	list := []namespace{}
	for _, p := range x.opts.Projects() {
		for _, b := range p.DurableObjects {
			if !slices.ContainsFunc(list, func(n namespace) bool { return n.ID == b.UniqueKey }) {
				list = append(list, namespace{b.UniqueKey, b.ScriptName + "_" + b.ClassName, b.ScriptName, b.ClassName, true})
			}
		}
	}
	return list
}

func (x *Explorer) namespaces(*http.Request) answer {
	list := x.classes()
	return success(list, count{len(list)})
}

type object struct {
	ID     string `json:"id"`
	Name   string `json:"name,omitempty"`
	Stored bool   `json:"hasStoredData"`
}

func (x *Explorer) objects(r *http.Request) answer {
	id, q := r.PathValue("id"), r.URL.Query()
	all := x.classes()
	at := slices.IndexFunc(all, func(n namespace) bool { return n.ID == id })
	if at < 0 {
		return failure(http.StatusNotFound, codeNoNamespace, fmt.Sprintf("Durable Object namespace ID '%s' not found.", id))
	}
	limit := 1000
	if given := q.Get("limit"); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 10 || n > 10_000 {
			return failure(http.StatusBadRequest, codeInvalid, "limit: expected a number from 10 to 10000")
		}
		limit = n
	}
	stored := stored(r, all[at].Class)
	slices.SortFunc(stored, func(a, b Stored) int { return strings.Compare(a.ID, b.ID) })
	stored = slices.DeleteFunc(stored, func(o Stored) bool { return o.ID <= q.Get("cursor") })
	cursor := ""
	if len(stored) > limit {
		stored, cursor = stored[:limit], stored[limit-1].ID
	}
	list := []object{}
	for _, o := range stored {
		list = append(list, object{o.ID, o.Name, true})
	}
	return success(list, struct {
		Count  int    `json:"count"`
		Cursor string `json:"cursor"`
	}{len(list), cursor})
}

const workflowKind = "workflow"

type workflowInfo struct {
	Name   string `json:"name"`
	Class  string `json:"class_name"`
	Script string `json:"script_name"`
}

func (x *Explorer) allWorkflows() []workflowInfo {
	list := []workflowInfo{}
	for _, p := range x.opts.Projects() {
		for _, b := range p.Bindings {
			if b.Kind == workflowKind && !slices.ContainsFunc(list, func(w workflowInfo) bool { return w.Name == b.Param("name") }) {
				list = append(list, workflowInfo{b.Param("name"), b.Param("class_name"), cmp.Or(b.Param("script_name"), p.Name)})
			}
		}
	}
	return list
}

func (x *Explorer) workflows(*http.Request) answer {
	list := x.allWorkflows()
	return success(list, count{len(list)})
}

type instance struct {
	ID      string `json:"id"`
	Status  string `json:"status,omitempty"`
	Created string `json:"created_on,omitempty"`
	created int64
}

// instancesOf reads what the instances of a Workflow are, the newest first.
func (x *Explorer) instancesOf(r *http.Request, workflow string) (list []instance, err error) {
	for _, o := range stored(r, "workflow-"+workflow) {
		rows, err := x.opts.Read(o.File, "SELECT id, status, created FROM instance")
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 {
			continue // deleted
		}
		id, _ := rows[0][0].(string)
		status, _ := rows[0][1].(string)
		created, _ := rows[0][2].(int64)
		list = append(list, instance{id, status, time.UnixMilli(created).UTC().Format(isoTime), created})
	}
	slices.SortStableFunc(list, func(a, b instance) int { return cmp.Compare(b.created, a.created) })
	return list, nil
}

func (x *Explorer) known(r *http.Request) (w workflowInfo, missing *answer) {
	all, name := x.allWorkflows(), r.PathValue("name")
	at := slices.IndexFunc(all, func(w workflowInfo) bool { return w.Name == name })
	if at < 0 {
		a := failure(http.StatusNotFound, codeNoWorkflow, fmt.Sprintf("Workflow '%s' not found.", name))
		return w, &a
	}
	return all[at], nil
}

func (x *Explorer) workflow(r *http.Request) answer {
	w, missing := x.known(r)
	if missing != nil {
		return *missing
	}
	list, err := x.instancesOf(r, w.Name)
	if err != nil {
		return broken(err)
	}
	counts := map[string]int{"complete": 0, "errored": 0, "paused": 0, "queued": 0, "running": 0, "terminated": 0, "waiting": 0, "waitingForPause": 0}
	for _, i := range list {
		counts[i.Status]++
	}
	return success(struct {
		workflowInfo
		Instances map[string]int `json:"instances"`
	}{w, counts}, nil)
}

func (x *Explorer) instances(r *http.Request) answer {
	w, missing := x.known(r)
	if missing != nil {
		return *missing
	}
	q := r.URL.Query()
	var between [2]int64
	for i, name := range []string{"date_start", "date_end"} {
		between[i] = int64(i) * math.MaxInt64
		if given := q.Get(name); given != "" {
			at, err := time.Parse(time.RFC3339, given)
			if err != nil || !strings.HasSuffix(given, "Z") {
				return failure(http.StatusBadRequest, codeInvalid, name+": Invalid ISO datetime")
			}
			between[i] = at.UnixMilli()
		}
	}
	if between[0] > between[1] {
		return failure(http.StatusBadRequest, codeDates, "'date_start' must not be after 'date_end'. Update 'date_start' or 'date_end' so 'date_start' is before or equal to 'date_end'.")
	}
	number := func(name string, otherwise int) (int, bool) {
		n, err := strconv.Atoi(cmp.Or(q.Get(name), strconv.Itoa(otherwise)))
		return n, err == nil && n > 0
	}
	page, ok := number("page", 1)
	size, also := number("per_page", 25)
	switch {
	case !ok || !also:
		return failure(http.StatusBadRequest, codeInvalid, "page and per_page: expected positive numbers")
	case size > 100:
		return failure(http.StatusBadRequest, codeInvalid, "per_page: Too big: expected number to be <=100")
	}
	list, err := x.instancesOf(r, w.Name)
	if err != nil {
		return broken(err)
	}
	counts := map[string]int{}
	for _, i := range list {
		counts[i.Status]++
	}
	if status := q.Get("status"); status != "" {
		list = slices.DeleteFunc(list, func(i instance) bool { return i.Status != status })
	}
	list = slices.DeleteFunc(list, func(i instance) bool { return i.created < between[0] || i.created > between[1] })
	total := len(list)
	from := min((page-1)*size, total)
	return success(append([]instance{}, list[from:min(from+size, total)]...), struct {
		Page   int            `json:"page"`
		Size   int            `json:"per_page"`
		Total  int            `json:"total_count"`
		Pages  int            `json:"total_pages"`
		Counts map[string]int `json:"status_counts"`
	}{page, size, total, max(1, (total+size-1)/size), counts})
}

// workers tells of each worker that runs, and of its bindings.
func (x *Explorer) workers(*http.Request) answer {
	list := []map[string]any{}
	for _, p := range x.opts.Projects() {
		of := map[string][]map[string]any{"kv": {}, "d1": {}, "r2": {}, "do": {}, "workflows": {}, "sendEmail": {}, "flagship": {}}
		add := func(kind, id string, b config.Binding) {
			of[kind] = append(of[kind], map[string]any{"id": id, "bindingName": b.Name})
		}
		for _, b := range p.Bindings {
			switch b.Kind {
			case kvKind:
				add("kv", kv.ID(b), b)
			case d1Kind:
				add("d1", d1.ID(b), b)
			case r2Kind:
				add("r2", r2.BucketName(b), b)
			case workflowKind:
				of["workflows"] = append(of["workflows"], map[string]any{"id": b.Param("name"), "bindingName": b.Name, "className": b.Param("class_name"), "scriptName": cmp.Or(b.Param("script_name"), p.Name)})
			}
		}
		for _, b := range p.DurableObjects {
			of["do"] = append(of["do"], map[string]any{"id": b.UniqueKey, "bindingName": b.Name, "className": b.ClassName, "scriptName": b.ScriptName, "useSqlite": true})
		}
		crons := []string{}
		for _, c := range p.Crons {
			crons = append(crons, c.Expression)
		}
		list = append(list, map[string]any{"isSelf": true, "name": p.Name, "bindings": of, "triggers": map[string]any{"crons": crons}})
	}
	return success(list, nil)
}
