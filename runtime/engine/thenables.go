package engine

import "minido.dev/minido/internal/insides"

// thenables has the then() of a thenable called in the frame of the code that awaits
// it or resolves a promise with it, as V8 does: goja calls it in a job that it tells
// nobody of. Loop-confined.
type thenables struct {
	engine *Engine
	ways   *insides.Thenables
	queue  *[]func()
	last   []func() // the queue at the last look, with all of its room
	seen   int      // how many jobs it had
	frame  *Frame   // of the code that has run since then
}

func (t *thenables) init(e *Engine) {
	t.engine, t.ways = e, insides.TheThenables()
	if t.ways.Known {
		t.queue = t.ways.Queue(e.vm)
	}
}

// next claims what the code before it has queued; f is the frame of the code that
// follows.
func (t *thenables) next(f *Frame) {
	t.claim()
	t.frame = f
}

// start begins a turn in a frame; nothing is queued yet.
func (t *thenables) start(f *Frame) { t.frame, t.last, t.seen = f, nil, 0 }

// claim gives the frame of the code that ran to what it has queued.
func (t *thenables) claim() {
	if t.queue == nil {
		return
	}
	jobs := *t.queue
	if cap(jobs) == 0 || cap(t.last) == 0 || &jobs[:1][0] != &t.last[0] {
		// The jobs of the last queue have begun: one was added after the last look, if
		// a function of the last job returned a thenable.
		if t.seen < len(t.last) {
			t.give(t.last[t.seen:][:1])
		}
		t.last, t.seen = jobs[:cap(jobs)], 0
	}
	if len(jobs) < t.seen {
		t.seen = 0
	}
	t.give(jobs[t.seen:])
	t.seen = len(jobs)
}

// give gives the frame to those of the jobs that call a then().
func (t *thenables) give(jobs []func()) {
	for i, job := range jobs {
		if job != nil && t.ways.Calls(job) {
			jobs[i] = t.in(t.frame, job)
		}
	}
}

// in is a job that runs in a frame.
func (t *thenables) in(f *Frame, job func()) func() {
	return func() {
		frames := tracker{t.engine}
		frames.Resumed(f)
		defer frames.Exited()
		job()
	}
}
