package streams

import (
	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
)

// iterator is an asynchronous iterator of a ReadableStream (Web IDL, section
// 3.7.10; Streams, section 4.2.5). Loop-confined.
type iterator struct {
	p        *Streams
	r        *reader
	keep     bool             // its end does not cancel the stream
	ongoing  *engine.Deferred // nil: nothing is
	behind   bool             // what is ongoing has waited for something
	single   bool             // of a stream of the platform's own, which has no such promises
	finished bool
}

// values is ReadableStream's values().
func (s *readable) values(choice goja.Value) goja.Value {
	p := s.p
	keep := argument(p.options(choice, 1, "ReadableStream", "values", "ValuesOptions"), "preventCancel").ToBoolean()
	it := &iterator{p: p, r: s.acquire(false), keep: keep, single: s.single}
	obj := p.VM.CreateObject(p.iteratorPrototype())
	p.Engine.Attach(obj, it)
	return obj
}

func (p *Streams) iteratorPrototype() *goja.Object {
	if p.iterators != nil {
		return p.iterators
	}
	proto := p.VM.CreateObject(p.Engine.Primordial("AsyncIteratorPrototype"))
	method := func(name string, fn func(*iterator, goja.Value) *engine.Deferred) {
		p.Engine.DefineFunc(proto, engine.Func{Name: name, Fn: func(call goja.FunctionCall) goja.Value {
			it, ok := p.Engine.Attached(call.This).(*iterator)
			if !ok {
				p.Engine.Throw("TypeError", "%s", engine.IllegalInvocation)
			}
			return fn(it, call.Argument(0)).Object()
		}})
	}
	method("next", func(it *iterator, _ goja.Value) *engine.Deferred { return it.next() })
	method("return", (*iterator).end)
	if p.Enabled(compat.SetTostringTag) {
		proto.DefineDataPropertySymbol(goja.SymToStringTag, p.VM.ToValue("ReadableStreamAsyncIterator"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	p.iterators = proto
	return proto
}

// Where JavaScript is the source, workerd's iterator settles a promise of its own behind
// several others (jsg/iterator.h, AsyncGenerator). Code that writes between two reads sees
// how many jobs that takes: so many more than it takes here.
const (
	jobsOfResult  = 6 // a value, or the end; one less behind an earlier call
	jobsOfFailure = 2
	jobsOfCancel  = 6 // return() that cancels the stream
	jobsOfReturn  = 3 // return() that keeps it
)

// later calls fn behind so many jobs, at once for a stream of the platform's own.
func (it *iterator) later(jobs int, fn func()) {
	if it.single {
		jobs = 0
	}
	it.p.Engine.Promises.After(jobs, fn)
}

// after runs steps once what is going on has ended, at once if nothing is.
func (it *iterator) after(steps func() *engine.Deferred) *engine.Deferred {
	if it.ongoing == nil {
		it.behind = false
		it.ongoing = steps()
		return it.ongoing
	}
	follow := func(_ goja.Value, next *engine.Deferred) {
		it.behind = true
		next.Follow(steps())
	}
	it.ongoing = it.ongoing.Chain(follow, follow)
	return it.ongoing
}

func (it *iterator) next() *engine.Deferred { return it.after(it.step) }

// step is "get the next iteration result" (Web IDL, section 3.7.10.2).
func (it *iterator) step() *engine.Deferred {
	p := it.p
	if it.finished {
		done := p.Engine.Promises.New()
		it.later(jobsOfResult, func() { done.Resolve(p.iterationResult(goja.Undefined(), true)) })
		return done
	}
	read := &iteratorRead{it: it, frame: p.Engine.Frame()}
	read.Init(p.Engine)
	it.r.read(read)
	return &read.Deferred
}

// end is "return": it cancels the stream, unless it is to be kept.
func (it *iterator) end(value goja.Value) *engine.Deferred {
	p := it.p
	ended := it.after(func() *engine.Deferred {
		if it.finished {
			return p.void
		}
		it.finished = true
		result := p.void
		if !it.keep {
			result = it.r.cancel(value)
		}
		it.r.release()
		return result
	})
	jobs := jobsOfCancel
	if it.keep {
		jobs = jobsOfReturn
	}
	return ended.Chain(func(_ goja.Value, next *engine.Deferred) {
		it.later(jobs, func() { next.Resolve(p.iterationResult(value, true)) })
	}, nil)
}

// iteratorRead is one read of an iterator, and the promise that next() gives.
type iteratorRead struct {
	engine.Deferred
	it    *iterator
	frame *engine.Frame // in which next() was called
}

func (r *iteratorRead) chunk(v goja.Value) { r.after(r.jobs(), r.give, v) }

func (r *iteratorRead) close(goja.Value) {
	r.it.r.release()
	r.after(r.jobs(), r.end, nil)
}

// fail keeps the stream locked: each read that follows fails too, as in workerd.
func (r *iteratorRead) fail(reason goja.Value) { r.after(jobsOfFailure, r.refuse, reason) }

func (r *iteratorRead) jobs() int {
	if r.it.behind {
		return jobsOfResult - 1
	}
	return jobsOfResult
}

// after settles the promise, so many jobs later than one of the platform's own stream, which
// follows the read's.
func (r *iteratorRead) after(jobs int, settle func(goja.Value), v goja.Value) {
	if r.it.single {
		jobs = 0
	}
	r.it.p.Engine.Promises.AfterIn(r.frame, 1+jobs, settle, v)
}

func (r *iteratorRead) give(v goja.Value) {
	r.it.ongoing = nil
	r.Resolve(r.it.p.iterationResult(v, false))
}

func (r *iteratorRead) end(goja.Value) {
	r.it.ongoing, r.it.finished = nil, true
	r.Resolve(r.it.p.iterationResult(goja.Undefined(), true))
}

func (r *iteratorRead) refuse(reason goja.Value) {
	r.it.ongoing = nil
	r.Reject(reason)
}

// iterationResult is an IteratorResult, its members in workerd's order.
func (p *idl) iterationResult(v goja.Value, done bool) *goja.Object {
	p.learnNames()
	return p.pair(insides.Member{Name: p.names.done, Value: p.VM.ToValue(done)}, insides.Member{Name: p.names.value, Value: v})
}
