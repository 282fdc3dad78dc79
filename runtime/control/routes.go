package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"minido.dev/minido/durableobject"
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/dashboard"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/server"
)

// answerTime is how long a request waits for the loop, which may be computing.
const answerTime = 10 * time.Second

func (c *Control) routes() http.Handler {
	m := http.NewServeMux()
	for _, e := range c.endpoints() {
		m.HandleFunc(e.method+" "+e.path, e.serve)
	}
	m.Handle("GET "+dashboard.Path+"/", dashboard.Handler(c.opts.Server.URL()))
	for _, op := range []string{"pull", "ack"} {
		m.HandleFunc(pullPaths+op, queueRoutes{c}.pull(op))
	}
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, "not_found", "there is no "+r.Method+" "+r.URL.Path+"; docs/control.md lists what there is")
	})
	return m
}

// Failure is the body of every answer that is no success.
type Failure struct {
	Error ErrorBody `json:"error"`
}

// ErrorBody says what went wrong; Code is for programs, Message for people.
type ErrorBody struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func fail(w http.ResponseWriter, status int, code, message string) {
	reply(w, status, Failure{ErrorBody{code, message}})
}

// failWith chooses status and code by the error.
func failWith(w http.ResponseWriter, err error) {
	var refused *pool.RefusedError
	var input *InputError
	switch {
	case errors.As(err, &refused):
		fail(w, http.StatusConflict, "refused", refused.Reason)
	case errors.As(err, &input):
		fail(w, http.StatusBadRequest, "bad_request", input.Text)
	case errors.Is(err, pool.ErrNoClass), errors.Is(err, pool.ErrNoObject), errors.Is(err, pool.ErrNoFacet):
		fail(w, http.StatusNotFound, "not_found", err.Error())
	case errors.Is(err, pool.ErrNotRunning):
		fail(w, http.StatusConflict, "not_running", err.Error())
	case errors.Is(err, pool.ErrNoIsolate):
		fail(w, http.StatusConflict, "no_isolate", err.Error())
	case errors.Is(err, sched.ErrRunning):
		fail(w, http.StatusConflict, "real_clock", err.Error())
	case errors.Is(err, errSlow):
		fail(w, http.StatusServiceUnavailable, "busy", err.Error())
	default:
		fail(w, http.StatusConflict, "failed", err.Error())
	}
}

func reply(w http.ResponseWriter, status int, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"the answer cannot be written as JSON"}}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // a client that is gone needs no answer
}

// read decodes the body of a POST; unknown members are errors of the sender.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil && d.More() {
		err = errors.New("there is more after the JSON value")
	}
	if err != nil {
		fail(w, http.StatusBadRequest, "bad_request", "the body is not as it should be: "+err.Error())
		return false
	}
	return true
}

// find decodes the body of a POST about an object, whose class and name or id it then has
// read, and finds the object. It has answered if ok is false.
func (c *Control) find(w http.ResponseWriter, r *http.Request, into any, class, object *string) (ref pool.Ref, ok bool) {
	if !read(w, r, into) {
		return ref, false
	}
	ref, err := c.opts.Server.Find(*class, *object)
	if err != nil {
		failWith(w, err)
	}
	return ref, err == nil
}

var errSlow = errors.New("the worker has been computing for too long to answer; try again, or wait for its CPU limit")

// wait calls start and waits until it has called done.
func (c *Control) wait(r *http.Request, limit time.Duration, start func(done func(error))) error {
	answer, late := make(chan error, 1), make(chan struct{})
	timer := c.opts.Machine.AfterFunc(limit, func() { close(late) })
	defer timer.Stop()
	start(func(err error) {
		select {
		case answer <- err:
		default: // only the first answer counts
		}
	})
	select {
	case err := <-answer:
		return err
	case <-late:
		return errSlow
	case <-r.Context().Done():
		return r.Context().Err()
	}
}

// Status is GET /v1/status.
type Status struct {
	Version   string   `json:"version"`
	PID       int      `json:"pid"`
	Worker    string   `json:"worker"`
	Others    []string `json:"other_workers"`
	WorkerURL string   `json:"worker_url"`
	Persist   string   `json:"persist_dir"`
	HeapBytes uint64   `json:"heap_bytes"` // of the whole process
	Objects   int      `json:"objects_in_memory"`
}

func (c *Control) status(w http.ResponseWriter, _ *http.Request) {
	s := c.opts.Server
	st := Status{Version: c.opts.Version, PID: os.Getpid(), Worker: s.Project().Name, WorkerURL: s.URL(), Persist: s.PersistDir(),
		HeapBytes: engine.HeapBytes(), Objects: s.LiveObjects(), Others: []string{}}
	for _, o := range s.Others() {
		st.Others = append(st.Others, o.Project().Name)
		st.Objects += o.LiveObjects()
	}
	reply(w, http.StatusOK, st)
}

// Object is one element of GET /v1/objects.
type Object struct {
	Worker  string `json:"worker"`
	Class   string `json:"class"`
	Name    string `json:"name,omitempty"` // absent if it is not known
	ID      string `json:"id"`
	State   string `json:"state"`   // running, idle, hibernated or stored
	Sockets int    `json:"sockets"` // hibernatable WebSockets that are open
	AlarmMs *int64 `json:"alarm_ms"`
	// Live is absent for objects that are not in memory.
	Live *LiveObject `json:"live,omitempty"`
}

// LiveObject is what an object in memory does.
type LiveObject struct {
	Events       int      `json:"events"`               // in progress
	Busy         string   `json:"busy,omitempty"`       // why it cannot be evicted
	Awake        string   `json:"awake,omitempty"`      // why it cannot hibernate
	Timers       int      `json:"timers"`               // setTimeout, setInterval
	KeptAlive    int      `json:"kept_alive"`           // waitUntil promises, open sockets
	Operations   []string `json:"operations,omitempty"` // what it waits for
	AlarmRunning bool     `json:"alarm_running"`
	IdleMs       int64    `json:"idle_ms"`
	Facets       []Facet  `json:"facets,omitempty"`
	// DatabaseBytes is the database's size, CacheBytes what its connection
	// holds in memory. JavaScript's heap is one for all objects of an isolate:
	// heap_bytes of GET /v1/status.
	DatabaseBytes int64 `json:"database_bytes"`
	CacheBytes    int64 `json:"cache_bytes"`
}

// Facet is a facet that runs, with those below it.
type Facet struct {
	Name          string  `json:"name"`
	Class         string  `json:"class"`
	DatabaseBytes int64   `json:"database_bytes"`
	Facets        []Facet `json:"facets,omitempty"`
}

func facets(running []durableobject.FacetStatus) (list []Facet) {
	for _, f := range running {
		list = append(list, Facet{f.Name, f.Class, f.DatabaseBytes, facets(f.Facets)})
	}
	return list
}

func (c *Control) objects(w http.ResponseWriter, r *http.Request) {
	var all []server.WorkerObjects
	err := c.wait(r, answerTime, func(done func(error)) {
		c.opts.Server.Objects(func(list []server.WorkerObjects, err error) {
			all = list
			done(err)
		})
	})
	if err != nil {
		failWith(w, err)
		return
	}
	out := Objects{[]Object{}}
	for _, wo := range all {
		for _, o := range wo.Objects {
			out.Objects = append(out.Objects, object(wo.Worker, o))
		}
	}
	reply(w, http.StatusOK, out)
}

func object(worker string, o pool.ObjectInfo) Object {
	out := Object{Worker: worker, Class: o.Class, Name: o.Name, ID: o.ID, State: string(o.State), Sockets: o.Sockets, AlarmMs: o.Alarm}
	if l := o.Live; l != nil {
		out.Live = &LiveObject{
			Events: l.Events, Busy: l.Busy, Awake: l.Awake, Timers: l.Timers, KeptAlive: l.Held, Operations: l.Waiting,
			AlarmRunning: l.AlarmRunning, IdleMs: l.Idle.Milliseconds(), Facets: facets(l.Facets),
			DatabaseBytes: l.DatabaseBytes, CacheBytes: l.CacheBytes,
		}
	}
	return out
}

// ActRequest is the body of POST /v1/evict, hibernate, reset, abort, crash and
// alarm.
type ActRequest struct {
	Class  string `json:"class,omitempty"`
	Object string `json:"object,omitempty"` // name or id
	Scope  string `json:"scope,omitempty"`  // "object" (default), "isolate"
	Worker string `json:"worker,omitempty"` // for scope isolate; "" is the primary
	Force  bool   `json:"force,omitempty"`  // evict: also what is busy
	Reason string `json:"reason,omitempty"` // abort
	// At has crash wait for an effect point of the object: kind:side/cause#occurrence,
	// counted from now.
	At string `json:"at,omitempty"`
}

func (c *Control) act(w http.ResponseWriter, r *http.Request, verb pool.Verb) {
	var req ActRequest
	if !read(w, r, &req) {
		return
	}
	if req.At != "" {
		c.arm(w, req, verb)
		return
	}
	a := pool.Action{Verb: verb, Force: req.Force, Reason: req.Reason}
	var start func(done func(error))
	switch req.Scope {
	case "", "object":
		ref, err := c.opts.Server.Find(req.Class, req.Object)
		if err != nil {
			failWith(w, err)
			return
		}
		start = func(done func(error)) { ref.Act(a, done) }
	case "isolate":
		target := c.opts.Server.Worker(req.Worker)
		if target == nil {
			fail(w, http.StatusNotFound, "not_found", fmt.Sprintf("no worker is called %q", req.Worker))
			return
		}
		start = func(done func(error)) { target.ActOnIsolate(a, done) }
	default:
		fail(w, http.StatusBadRequest, "bad_request", "scope is object or isolate; to kill the process, kill it (pid in GET /v1/status)")
		return
	}
	if err := c.wait(r, 3*answerTime, start); err != nil {
		failWith(w, err)
		return
	}
	reply(w, http.StatusOK, Done{string(verb)})
}

// arm answers POST /v1/crash with "at".
func (c *Control) arm(w http.ResponseWriter, req ActRequest, verb pool.Verb) {
	if verb != pool.Crash || req.Scope != "" && req.Scope != "object" {
		fail(w, http.StatusBadRequest, "bad_request", "at goes with crash, of one object")
		return
	}
	ref, err := c.opts.Server.Address(req.Class, req.Object)
	if err != nil {
		failWith(w, err)
		return
	}
	if err := ref.ArmCrash(req.At); err != nil {
		fail(w, http.StatusBadRequest, "bad_request", err.Error())
		return
	}
	reply(w, http.StatusOK, Done{"armed"})
}

// Armed is GET /v1/armed and the answer of POST /v1/disarm.
type Armed struct {
	Armed []string `json:"armed"` // labels of the points that crashes wait for
}

func (c *Control) armed(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, Armed{append([]string{}, c.opts.Server.Points().Armed()...)})
}

func (c *Control) disarm(w http.ResponseWriter, r *http.Request) {
	if !read(w, r, &struct{}{}) {
		return
	}
	c.opts.Server.Points().Disarm()
	c.armed(w, r)
}

// QueryRequest is the body of POST /v1/sql.
type QueryRequest struct {
	Class  string `json:"class"`
	Object string `json:"object"`
	SQL    string `json:"sql"`
	Params []any  `json:"params,omitempty"` // null, booleans, numbers, text
	Limit  int    `json:"limit,omitempty"`  // rows; default 1000, at most 10,000
	// Bookmark names a state of the past to read; "" is what is committed now.
	Bookmark string `json:"bookmark,omitempty"`
	// Facet names the facet to read: the names that lead to it from the object. None is the
	// object itself. The past of a facet is read while it runs.
	Facet []string `json:"facet,omitempty"`
}

func (c *Control) sql(w http.ResponseWriter, r *http.Request) {
	var req QueryRequest
	ref, ok := c.find(w, r, &req, &req.Class, &req.Object)
	if !ok {
		return
	}
	if req.Limit <= 0 {
		req.Limit = defaultRows
	}
	var res *QueryResult
	var err error
	ask := func(paths []string) (err error) {
		res, err = query(paths[0], req.SQL, req.Params, min(req.Limit, maxRows), c.clock(), c.opts.Machine, c.opts.Entropy)
		return err
	}
	switch {
	case req.Bookmark != "":
		err = c.states(r, ref, req.Facet, []string{req.Bookmark}, ask)
	case len(req.Facet) > 0:
		var file string
		if file, err = ref.FacetFile(req.Facet); err == nil {
			err = ask([]string{file})
		}
	default:
		err = ask([]string{ref.File()})
	}
	if err != nil {
		failWith(w, err)
		return
	}
	reply(w, http.StatusOK, res)
}

// StoredFacets is the answer of POST /v1/facets.
type StoredFacets struct {
	Facets []StoredFacet `json:"facets"`
}

// StoredFacet is a facet that has a database, with those below it, whether it runs or not.
type StoredFacet struct {
	Name   string        `json:"name"`
	Bytes  int64         `json:"bytes"` // of the database's file
	Facets []StoredFacet `json:"facets,omitempty"`
}

func storedFacets(list []pool.StoredFacet) []StoredFacet {
	out := []StoredFacet{}
	for _, f := range list {
		out = append(out, StoredFacet{f.Name, f.Bytes, storedFacets(f.Facets)})
	}
	return out
}

func (c *Control) storedFacets(w http.ResponseWriter, r *http.Request) {
	var req ObjectRequest
	ref, ok := c.find(w, r, &req, &req.Class, &req.Object)
	if !ok {
		return
	}
	list, err := ref.Facets()
	if err != nil {
		failWith(w, err)
		return
	}
	reply(w, http.StatusOK, StoredFacets{storedFacets(list)})
}

// ExportRequest is the body of POST /v1/export.
type ExportRequest struct {
	Class  string `json:"class"`
	Object string `json:"object"`
}

// export answers with a consistent copy of the object's database.
func (c *Control) export(w http.ResponseWriter, r *http.Request) {
	var req ExportRequest
	ref, ok := c.find(w, r, &req, &req.Class, &req.Object)
	if !ok {
		return
	}
	dir, err := os.MkdirTemp("", "minido-export-")
	if err != nil {
		failWith(w, err)
		return
	}
	defer os.RemoveAll(dir) // what is left behind lies in the system's temporary directory
	path := filepath.Join(dir, "export.sqlite")
	if err := c.backup(ref.File(), path); err != nil {
		failWith(w, err)
		return
	}
	f, err := os.Open(path) // not live: the copy, which is closed
	if err != nil {
		failWith(w, err)
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", "application/vnd.sqlite3")
	if info, err := f.Stat(); err == nil {
		w.Header().Set("Content-Length", fmt.Sprint(info.Size()))
	}
	_, _ = io.Copy(w, f) // a client that is gone needs no answer
}

func (c *Control) backup(from, to string) error {
	conn, err := sqlite.Open(sqlite.Options{Path: from, ReadOnly: true, Now: c.clock().Now, Rand: c.opts.Entropy})
	if err != nil {
		return fmt.Errorf("control: export: %w", err)
	}
	conn.SetBusyTimeout(time.Second)
	return errors.Join(conn.BackupTo(to), conn.Close())
}
