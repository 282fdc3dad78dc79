package minidotest

import (
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/runtime/binding/queue"
	"minido.dev/minido/runtime/server"
)

// Act does something to an object, by its class and name, and steps the world
// until it is done.
func (w *World) Act(class, object string, a pool.Action) error {
	w.t.Helper()
	ref, err := w.Server.Find(class, object)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.settled(func(done func(error)) { ref.Act(a, done) })
}

// ActOnIsolate does something to the server's isolate, and steps the world until
// it is done.
func (w *World) ActOnIsolate(a pool.Action) error {
	w.t.Helper()
	return w.settled(func(done func(error)) { w.Server.ActOnIsolate(a, done) })
}

// settled steps the world until act has called what it is given.
func (w *World) settled(act func(done func(error))) error {
	w.t.Helper()
	var result error
	done := false
	act(func(err error) { result, done = err, true })
	if err := w.Until(func() bool { return done }); err != nil {
		w.t.Fatal(err)
	}
	return result
}

// Evict takes an object out of memory, whatever it is doing.
func (w *World) Evict(class, object string) error {
	return w.Act(class, object, pool.Action{Verb: pool.Evict, Force: true})
}

// Objects describes the objects of all workers, the primary's first.
func (w *World) Objects() (list []pool.ObjectInfo, err error) {
	w.t.Helper()
	err = w.settled(func(done func(error)) {
		w.Server.Objects(func(workers []server.WorkerObjects, err error) {
			for _, worker := range workers {
				list = append(list, worker.Objects...)
			}
			done(err)
		})
	})
	return list, err
}

// AskQueue asks the broker of a queue as the control API does, and steps the world
// until it has answered.
func (w *World) AskQueue(name string, ask queue.Ask) (answer string, err error) {
	over := false
	server.AskQueue(w.Server, name, ask, func(b []byte, e error) { answer, err, over = string(b), e, true })
	if e := w.Until(func() bool { return over }); e != nil {
		return "", e
	}
	return answer, err
}
