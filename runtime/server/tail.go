package server

import (
	"fmt"

	"minido.dev/minido/runtime/binding"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/isolate"
)

const (
	tailConsumer          binding.ID = "tail_consumer"
	streamingTailConsumer binding.ID = "streaming_tail_consumer"
)

var tailKinds = map[binding.ID]bool{tailConsumer: true, streamingTailConsumer: true}

// tails are the tail workers of a worker, those of its configuration that run in the
// session when an event ends, and the explorer's traces. Safe for concurrent use.
type tails struct {
	from                 *Server
	consumers, streaming []string // names of workers
}

var _ isolate.Tail = (*tails)(nil)

// tailsOf are the tail workers of a project.
func tailsOf(s *Server, p *config.Project) isolate.Tail {
	t := &tails{from: s}
	for _, a := range p.Attachments {
		name, _ := a.Params["service"].(string)
		switch a.Kind {
		case tailConsumer:
			t.consumers = append(t.consumers, name)
		case streamingTailConsumer:
			t.streaming = append(t.streaming, name)
		}
	}
	return t
}

// Missing are what the configuration attaches to the worker and is not there, with
// the reason: "not offered", or whose worker does not run.
func Missing(s *Server) (missing []MissingAttachment) {
	for _, a := range s.Project().Attachments {
		if !a.Offered {
			missing = append(missing, MissingAttachment{a, "not offered", ""})
			continue
		}
		if !tailKinds[a.Kind] {
			continue
		}
		if name, _ := a.Params["service"].(string); !s.session.reachable(name) {
			missing = append(missing, MissingAttachment{a, fmt.Sprintf("the worker %q, which does not run in this session or another one", name), start(s.Project(), name)})
		}
	}
	return missing
}

// MissingAttachment is one of them.
type MissingAttachment struct {
	config.Attachment
	Reason string // what follows "a tail consumer is"
	Advice string // what to do, "" where nothing can be done
}

// Wanted implements isolate.Tail.
func (t *tails) Wanted() bool {
	return t.consumers != nil || t.streaming != nil || t.from.session.traces.Wanted()
}

// Ended implements isolate.Tail. A tail worker that is its own is not told of what
// it was told: that would never end.
func (t *tails) Ended(trace *event.Trace) {
	if t.from.session.traces.Wanted() {
		t.from.session.traces.Ended(trace)
	}
	for _, name := range t.consumers {
		if trace.Event.Type == "trace" && name == trace.ScriptName {
			continue
		}
		if t.from.session.find(name) == nil {
			if err := t.from.session.tail(name, trace); err != nil {
				t.from.event(EventFailure, err.Error())
			}
			continue
		}
		t.deliver(name, func(i *isolate.Isolate) {
			i.Tail([]*event.Trace{trace}, func(error) {}) // its own console has said what it threw
		})
	}
}

// Streams implements isolate.Tail.
func (t *tails) Streams() bool { return t.streaming != nil }

// Streamed implements isolate.Tail.
func (t *tails) Streamed(e event.TailEvent) {
	for _, name := range t.streaming {
		t.deliver(name, func(i *isolate.Isolate) { i.TailStream(e) })
	}
}

// deliver finds a worker; events for one that does not run are dropped, as start-up
// has said.
func (t *tails) deliver(name string, fn func(i *isolate.Isolate)) {
	if m := t.from.session.find(name); m != nil {
		onIsolate(m, fn)
	}
}
