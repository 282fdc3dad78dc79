package e2e

import (
	"slices"
	"testing"
)

func sessionSystem() system {
	return system{"SessionDO, operations that cost money", "session", beginSessionSet, slices.Concat(turnMoments(), queueMoments())}
}

// beginSessionSet starts a session's server with a sandbox and a world outside,
// both of which can be made to wait.
func beginSessionSet(t *testing.T, start func(*testing.T, ...string) server) *stageSet {
	box, o := startSandbox(t), newTool(t)
	vars := []string{"WATCH_MS:150", "SPILL_BYTES:45", "SANDBOX:" + box.behind(o), "SINK:" + o.url, "TOOL_URL:" + o.url}
	return &stageSet{lives: beginOn(t, start, "session", nil, vars...), tool: o, box: box, ownCalls: true}
}

func (o *subject) session() agentSession { return agentSession{o.lives, o.name} }

// working says something to a session, with a client that listens, and stands at
// a label of its turn.
func working(label, text string) func(o *subject) {
	return func(o *subject) {
		o.listen()
		o.at(label, func() { o.session().say(text) })
	}
}

func (o *subject) listen() {
	o.t.Helper()
	o.heard = &listener{path: "/sessions/" + o.name + "/ws"}
	o.heard.dial(o.lives)
}

// turnMoments cut a turn that has a model, commands in a sandbox, a payment and a
// webhook. It ends; nothing has happened twice, and what is in doubt is said.
func turnMoments() []moment {
	const class = "SessionDO"
	none := func(*subject) []string { return nil }
	hook := func(o *subject) []string {
		if o.blows == 0 {
			return nil
		}
		return []string{"hook"}
	}
	// A worker that is reset goes on with what it has begun: its command and that of
	// the next instance meet in the sandbox.
	exec := func(o *subject) []string {
		b := o.session().books()
		if o.fault == "reset" && b.op(1) == "ambiguous" {
			return []string{"exec"}
		}
		return nil
	}
	cut := func(doubts func(o *subject) []string) func(o *subject) {
		return func(o *subject) {
			o.heard.dial(o.lives)
			b := o.session().untilRest(1)
			checkSession(o, b, doubts(o))
			if n := b.count("session.status_rescheduled"); n != o.blows {
				o.t.Errorf("%d reschedules after %d blows", n, o.blows)
			}
			o.heard.check(o.t)
		}
	}
	moments := []moment{
		{name: "at rest, before its first message", class: class,
			stand: func(o *subject) { o.session().books() },
			check: func(o *subject) {
				o.blows = 0
				o.listen()
				o.session().say("work")
				cut(none)(o)
			}},
		{name: "at rest, after its turn", class: class,
			stand: func(o *subject) {
				o.listen()
				o.session().say("work")
				o.session().untilRest(1)
			},
			check: func(o *subject) {
				o.blows = 0
				cut(none)(o)
			}},
		{name: "when a second command has run", class: class,
			stand: func(o *subject) {
				working("pay-7/1.2", "work")(o)
				payment := *o
				o.gates = nil
				wait := o.arm(o.name + "/exec/done")
				payment.release()
				wait()
			}, check: cut(none)},
		{name: "in a recovered turn, after words of its own", class: class, stand: working("word/1.0/3", "work"), again: recovering("word/1.0/6"), check: cut(none)},
		{name: "twice in the same payment", class: class, stand: working("pay-7/1.2", "work"), again: recovering("pay-7/1.2"), check: cut(none)},
	}
	for _, m := range []struct {
		name, label string
		doubts      func(o *subject) []string
	}{
		{"when the model is asked", "llm/1.0", none},
		{"before the answer's first word", "word/1.0/0", none},
		{"in the middle of an answer", "word/1.0/4", none},
		{"before a command reaches the sandbox", "exec", exec},
		{"when a command has run, and its result is under way", "exec/done", none},
		{"in a payment", "pay-7/1.2", none},
		{"in a webhook", "hook-shipped/1.4", hook},
		{"in the last answer", "word/1.5/1", none},
		{"when the workspace is saved", "backup/done", none},
	} {
		moments = append(moments, moment{name: m.name, class: class, stand: working(m.label, "work"), check: cut(m.doubts)})
	}
	return moments
}

// queueMoments are about turns that wait, or that nobody has asked for.
func queueMoments() []moment {
	const class = "SessionDO"
	return []moment{
		{name: "with a second message that waits", class: class,
			stand: func(o *subject) {
				working("word/1.0/2", "hello")(o)
				o.session().say("hello again")
			},
			check: func(o *subject) {
				if b := o.session().untilRest(2); b.count("agent.message") != 4 || b.count("session.status_rescheduled") != o.blows {
					o.t.Errorf("after %d blows: %+v", o.blows, b)
				}
				o.heard.check(o.t)
			}},
		{name: "in a turn that a schedule began", class: class,
			stand: func(o *subject) {
				o.listen()
				o.at("pay-7/1.1", func() {
					post(o.t, o.session().url()+"/schedule", map[string]any{"ms": 1, "text": "paid"}, nil)
				})
			},
			check: func(o *subject) {
				b := o.session().untilRest(1)
				if b.count("user.message") != 1 || b.count("agent.message") != 2 || b.op(1) != "completed" || len(b.Schedules) != 0 {
					o.t.Errorf("after %d blows: %+v", o.blows, b)
				}
				o.tool.checkEffects(o.t, o.name)
				o.heard.check(o.t)
			}},
	}
}
