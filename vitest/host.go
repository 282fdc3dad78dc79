package vitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/server"
	"minido.dev/minido/runtime/webapi/caches"
	"minido.dev/minido/runtime/world"
)

// hostName is where the suite's code reaches this process.
const hostName = "minido.test"

// question is what the suite's code asks for.
type question struct {
	op   string
	args arguments
	done func(value any, err error)
}

// arguments are those of all questions together.
type arguments struct {
	// Running has an object that is not in memory be an error.
	Running                                                       bool
	Count, Timers, Timeout                                        int
	ID, Verb, Sockets, Binding, Path, Text, Point, Duration, Name string
}

// host answers a suite. It belongs to its world's goroutine; what it does to the
// world it does between two steps, in run.
type host struct {
	run   *fileRun
	queue []question
	// emptied are the objects that reset has emptied, by class: the plugin still lists them.
	emptied map[string][]string
}

// handle implements netx.Handler.
func (h *host) handle(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	reply := func(value any, err error) {
		answer := map[string]any{"value": value}
		if err != nil {
			answer = map[string]any{"error": err.Error()}
		}
		text, err := json.Marshal(answer)
		if err != nil {
			done(nil, err)
			return
		}
		done(&event.Response{Status: 200, StatusText: "OK", Header: event.Header{{Name: "Content-Type", Value: "application/json"}}, Body: event.Bytes(text)}, nil)
	}
	event.ReadAll(req.Body, 0, func(body []byte, err error) {
		var q question
		u, uerr := url.Parse(req.URL)
		if err = errors.Join(err, uerr); err == nil {
			q.op, q.done = strings.TrimPrefix(u.Path, "/"), reply
			err = json.Unmarshal(body, &q.args)
		}
		if err != nil {
			reply(nil, err)
			return
		}
		h.queue = append(h.queue, q)
	})
	return func(error) {}
}

// answer takes the next question.
func (h *host) answer() {
	q := h.queue[0]
	h.queue = h.queue[1:]
	value, err := h.do(q)
	q.done(value, err)
}

func (h *host) do(q question) (any, error) {
	a, w := q.args, h.run.world
	switch q.op {
	case "read":
		text, err := os.ReadFile(a.Path)
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
		return string(text), err
	case "read-snapshots":
		return readSnapshots(a.Path)
	case "write":
		if err := h.inProject(a.Path); err != nil {
			return nil, err
		}
		if err := os.MkdirAll(filepath.Dir(a.Path), 0o755); err != nil {
			return nil, err
		}
		return nil, os.WriteFile(a.Path, []byte(a.Text), 0o644)
	case "remove":
		if err := h.inProject(a.Path); err != nil {
			return nil, err
		}
		return nil, os.Remove(a.Path)
	case "has-object":
		_, err := h.find(a.ID)
		return err == nil, nil
	case "ids":
		return h.ids(a.Binding)
	case "act":
		return nil, h.act(a)
	case "act-all":
		return nil, h.actAll(a.Verb, a.Sockets)
	case "power-loss":
		return nil, h.losePower()
	case "storage-push":
		return nil, h.pushStorage()
	case "storage-pop":
		return nil, h.popStorage()
	case "alarms":
		return h.alarms()
	case "reset":
		return h.secrets(), h.reset()
	case "advance":
		d, err := time.ParseDuration(a.Duration)
		if err != nil || d < 0 {
			return nil, fmt.Errorf("clock.advance: %q is no duration; write milliseconds, or a text such as \"30m\"", a.Duration)
		}
		w.Sim.Pass(nil) // it jumps, whatever the mode
		defer h.run.setClock(h.run.real)
		return nil, w.Advance(d)
	case "kill-at":
		return nil, h.killAt(a.Point)
	case "effects":
		return labels(h.run.points), nil
	case "history":
		return append([]observed{}, h.run.history...), nil
	case "clock":
		h.run.setClock(a.Verb == "real")
		return nil, nil
	case "model-reply":
		return nil, h.run.model.script(a.Text)
	case "model-words":
		return nil, h.run.model.count(a.Count)
	case "model-requests":
		return h.run.model.requests(), nil
	case "seed":
		return h.run.seed, nil
	case "test-begins":
		return nil, h.run.begins(a.Name, a.Timers, a.Timeout)
	case "test-ends":
		return h.run.ends(a.Name, a.Timers), nil
	}
	return nil, fmt.Errorf("vitest: the suite asked for %q", q.op)
}

// readSnapshots reads a snapshot file, which is a script, and evaluates it; nil if
// there is none.
func readSnapshots(path string) (any, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "<<<<<<< ") || strings.HasPrefix(line, ">>>>>>> ") {
			return nil, fmt.Errorf("the snapshots in %s have conflict markers of git, the first in line %d: resolve them, or delete the file and run the tests again to write it anew", path, i+1)
		}
	}
	vm := goja.New()
	exports := vm.NewObject()
	if err := vm.Set("exports", exports); err != nil {
		return nil, err
	}
	if _, err := vm.RunScript(path, string(text)); err != nil {
		return nil, fmt.Errorf("the snapshots in %s cannot be read: %w", path, err)
	}
	data := map[string]string{}
	for _, key := range exports.Keys() {
		data[key] = exports.Get(key).String()
	}
	return map[string]any{"text": string(text), "data": data}, nil
}

// inProject refuses files that are no business of a suite's snapshots.
func (h *host) inProject(path string) error {
	rel, err := filepath.Rel(h.run.project.settings.root, path)
	if err != nil || strings.HasPrefix(rel, "..") {
		return fmt.Errorf("a snapshot outside of the project is not written: %s", path)
	}
	return nil
}

func labels(points []killpoint.Point) []string {
	out := []string{}
	for _, p := range points {
		out = append(out, p.Label())
	}
	return out
}

// objects lists the objects of the project's own worker, of the classes that it declares: those
// that a binding is made of, such as the instances of a workflow, are none of a suite's.
func (h *host) objects() ([]pool.ObjectInfo, error) {
	all, err := h.run.world.Server.Look()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return slices.DeleteFunc(all[0].Objects, func(o pool.ObjectInfo) bool {
		_, ours := h.run.project.worker.Class(o.Class)
		return !ours
	}), nil
}

// find finds an object by its id. One that was never entered has no class yet:
// it is looked for in each.
func (h *host) find(id string) (pool.Ref, error) {
	for _, c := range h.run.project.worker.Classes {
		ref, err := h.run.world.Server.Worker("").Address(c.ClassName, id)
		if err == nil && strings.HasSuffix(ref.File(), id+".sqlite") {
			return ref, nil
		}
	}
	return pool.Ref{}, errors.New("Durable Object test helpers can only be used with stubs pointing to objects defined within the same worker.") //lint:ignore ST1005 the text is the plugin's
}

// ids lists the objects of a namespace, which may be another worker's.
func (h *host) ids(binding string) ([]string, error) {
	bindings := h.run.project.worker.DurableObjects
	i := slices.IndexFunc(bindings, func(b config.DurableObjectBinding) bool { return b.Name == binding })
	if i < 0 {
		return nil, fmt.Errorf("the binding %s is no Durable Object namespace of this worker", binding)
	}
	b := bindings[i]
	workers, err := h.run.world.Server.Look()
	ids := []string{}
	for _, w := range workers {
		if w.Worker != b.ScriptName {
			continue
		}
		for _, o := range w.Objects {
			if o.Class == b.ClassName {
				ids = append(ids, o.ID)
			}
		}
	}
	if b.Local {
		for _, id := range h.emptied[b.ClassName] {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids, err
}

// verb is the action of a name; evictions close sockets or leave them.
func verb(name, sockets string) (pool.Action, error) {
	switch name {
	case "crash":
		return pool.Action{Verb: pool.Crash}, nil
	case "abort":
		return pool.Action{Verb: pool.Abort, Reason: "Application called abortAllDurableObjects()."}, nil
	case "evict":
		switch sockets {
		case "hibernate":
			return pool.Action{Verb: pool.Hibernate}, nil
		case "close":
			return pool.Action{Verb: pool.Evict, CloseSockets: true}, nil
		}
		//lint:ignore ST1005 the text is workerd's
		return pool.Action{}, errors.New(`options.webSockets must be "hibernate" or "close".`)
	}
	return pool.Action{}, fmt.Errorf("unknown fault %q", name)
}

// act does something to an object, once what it is doing is over, for at most
// patience.
func (h *host) act(a arguments) error {
	action, err := verb(a.Verb, a.Sockets)
	if err != nil {
		return err
	}
	ref, err := h.find(a.ID)
	if err != nil {
		return err
	}
	err = h.perform(ref, action)
	var refused *pool.RefusedError
	switch {
	case errors.As(err, &refused) && a.Running:
		return errReferenced
	case errors.Is(err, pool.ErrNotRunning) && a.Running:
		return errNotRunning
	case errors.Is(err, pool.ErrNotRunning):
		return nil
	}
	return err
}

// patience is how long, in virtual time, an eviction waits for an object that is busy,
// as in workerd, and look the longest pause until it looks again.
const (
	patience = 30 * time.Second
	look     = 16 * time.Millisecond
)

var (
	//lint:ignore ST1005 the text is workerd's
	errReferenced = errors.New("Timed out waiting to evict Durable Object: it still has active references.")
	//lint:ignore ST1005 the text is workerd's
	errNotRunning = errors.New("Cannot evict Durable Object: it is not currently running.")
)

func (h *host) perform(ref pool.Ref, action pool.Action) error {
	w := h.run.world
	deadline := w.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, look) {
		err := h.run.wait(func(done func(error)) { ref.Act(action, done) })
		var refused *pool.RefusedError
		switch {
		case errors.As(err, &refused) && w.Now().Before(deadline):
			if err := w.Advance(pause); err != nil {
				return err
			}
		case err != nil:
			return fmt.Errorf("%s %s: %w", action.Verb, ref.Label(), err)
		default:
			h.run.note("fault", fmt.Sprintf("%s %s", action.Verb, ref.Label()))
			return nil
		}
	}
}

func (h *host) actAll(name, sockets string) error {
	action, err := verb(name, sockets)
	if err != nil {
		return err
	}
	all, err := h.objects()
	if err != nil {
		return err
	}
	for _, o := range all {
		if o.Live == nil && o.Sockets == 0 {
			continue
		}
		ref, err := h.run.world.Server.Find(o.Class, o.ID)
		if err == nil {
			err = h.perform(ref, action)
		}
		var refused *pool.RefusedError
		if errors.As(err, &refused) {
			return errReferenced
		}
		if err != nil && !errors.Is(err, pool.ErrNotRunning) {
			return err
		}
	}
	return nil
}

// losePower takes from all objects what they have in memory, and from their files
// what was not synced.
func (h *host) losePower() error {
	err := h.run.wait(func(done func(error)) { h.run.world.Server.ActOnIsolate(pool.Action{Verb: pool.LosePower}, done) })
	h.run.note("fault", "power lost")
	return err
}

// pushStorage keeps what is stored now, for popStorage. Objects leave memory.
func (h *host) pushStorage() error {
	return h.run.wait(func(done func(error)) {
		server.CopyStorage(h.run.world.Server, func(c *server.Storage, err error) {
			if err == nil {
				h.run.stored = append(h.run.stored, c)
			}
			done(err)
		})
	})
}

// popStorage undoes what was written since pushStorage.
func (h *host) popStorage() error {
	last := len(h.run.stored) - 1
	if last < 0 {
		return errors.New("vitest: there is no storage to go back to")
	}
	c := h.run.stored[last]
	h.run.stored = h.run.stored[:last]
	return h.run.wait(c.PutBack)
}

// alarms lists the objects that have one, by class and id.
func (h *host) alarms() ([][2]string, error) {
	all, err := h.objects()
	list := [][2]string{}
	for _, o := range all {
		if o.Alarm != nil {
			list = append(list, [2]string{o.Class, o.ID})
		}
	}
	return list, err
}

// secrets are the names of the bindings to stores of secrets.
func (h *host) secrets() []string {
	names := []string{}
	for _, b := range h.run.project.worker.Listed() {
		if b.Kind == "secrets_store_secret" {
			names = append(names, b.Name)
		}
	}
	return names
}

// reset ends all objects and empties their storage, and all caches. The objects' alarms are gone by then.
func (h *host) reset() error {
	all, err := h.objects()
	if err == nil {
		err = os.RemoveAll(caches.Folder(h.run.world.Server.PersistDir()))
	}
	if err != nil {
		return err
	}
	for _, o := range all {
		ref, err := h.run.world.Server.Find(o.Class, o.ID)
		if errors.Is(err, pool.ErrNoObject) {
			continue
		}
		if err != nil {
			return err
		}
		if err := h.perform(ref, pool.Action{Verb: pool.Abort, Reason: "Application called deleteAllDurableObjects()."}); err != nil && !errors.Is(err, pool.ErrNotRunning) {
			return err
		}
		if h.emptied == nil {
			h.emptied = map[string][]string{}
		}
		h.emptied[o.Class] = append(h.emptied[o.Class], o.ID)
		files, err := filepath.Glob(ref.File() + "*") // with its log and what is kept beside it
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// killAt lets all objects die at an effect point.
func (h *host) killAt(label string) error {
	p, err := killpoint.ParseLabel(label)
	if err != nil {
		return err
	}
	if p.Object == "" {
		return fmt.Errorf("killAt(%q): name an object, for example commit:after(Room/r)", label)
	}
	h.run.kill = p
	return arm(h.run.world, p.Object, label)
}

// arm lets an object ("Class/name") crash at a point.
func arm(w *world.World, object, label string) error {
	class, name, _ := strings.Cut(object, "/")
	ref, err := w.Server.Address(class, name)
	if err != nil {
		return err
	}
	return ref.ArmCrash(label)
}
