package e2e

import (
	"slices"
	"strings"
	"testing"
)

func loopSystem() system {
	begin := func(t *testing.T, start func(*testing.T, ...string) server) *stageSet {
		o := newTool(t)
		return &stageSet{lives: beginOn(t, start, "steploop", nil, "STEP_MS:8", "WATCH_MS:150", "TOOL_URL:"+o.url), tool: o}
	}
	return system{"Step loop, runs that suspend and resume", "steploop", begin, slices.Concat(loopMoments(), helperMoments(), claimMoments())}
}

func (o *subject) loop() loop { return loop{o.lives, o.name} }

var errand = map[string]any{"script": "errand", "input": "walk"}

func (o *subject) execute(request map[string]any) {
	o.t.Helper()
	if c := o.loop().do("execute", request); !c.OK {
		o.t.Fatalf("execute: %+v", c)
	}
}

// waits brings an errand to where it waits for a kind of answer, having answered
// what it asked before.
func (o *subject) waits(kind string) (b loopBooks) {
	o.t.Helper()
	o.execute(errand)
	return o.waitsAgain(kind)
}

func (o *subject) waitsAgain(kind string) (b loopBooks) {
	o.t.Helper()
	s := o.loop()
	until(o.t, o.name+" waits for "+kind, func() bool {
		b = s.books()
		if b.Session.Status != "paused" {
			return false
		}
		waiting := slices.ContainsFunc(b.Pending, func(p struct{ Call, Kind string }) bool { return p.Kind == kind })
		if !waiting {
			s.answer(b)
		}
		return waiting
	})
	return b
}

// inErrand stands at a label of an errand's work, having answered what comes before.
func inErrand(label, before string) func(o *subject) {
	return func(o *subject) {
		if before == "" {
			o.at(label, func() { o.execute(errand) })
			return
		}
		b := o.waits(before)
		o.at(label, func() { o.loop().answer(b) })
	}
}

// finishes checks that a session comes to its end as if nothing had happened,
// and that so many of its runs were lost.
func (s loop) finishes(answer string, lost int) {
	s.l.t.Helper()
	until(s.l.t, s.name+" ends", func() bool {
		b := s.books()
		s.answer(b)
		return b.ended()
	})
	s.check(answer)
	if got := s.books().lost(); got != lost {
		s.l.t.Errorf("%s: %d runs were lost, want %d", s.name, got, lost)
	}
}

func loopMoments() []moment {
	const class = "Session"
	// Each blow meets a run, or none.
	running := func(o *subject) { o.loop().finishes(errandAnswer, o.blows) }
	waiting := func(o *subject) { o.loop().finishes(errandAnswer, 0) }
	return []moment{
		{name: "at rest, before it is claimed", class: class,
			stand: func(o *subject) { o.loop().books() },
			check: func(o *subject) {
				o.execute(errand)
				waiting(o)
			}},
		{name: "before the model's first word", class: class, stand: inErrand("word/1/0", ""), check: running},
		{name: "after a word that is staged", class: class, check: running,
			stand: func(o *subject) {
				inErrand("word/2/1", "")(o)
				if b := o.loop().books(); len(b.Staged) != 1 || len(b.Output) != 2 || len(b.Steps) != 1 {
					o.t.Errorf("staged %v, put out %v after %d steps", b.Staged, b.Output, len(b.Steps))
				}
			}},
		{name: "in a tool", class: class, stand: inErrand("call-1-1", ""), check: running},
		{name: "while it waits for a client", class: class, check: waiting,
			stand: func(o *subject) {
				b := o.waits("client")
				if len(b.Staged) != 0 || len(b.Output) != 5 || b.Runs[0].Outcome.Kind != "suspended_client_tool" || b.Session.Version != 2 {
					o.t.Errorf("suspended as %+v with staged %v, put out %v", b.Runs, b.Staged, b.Output)
				}
			}},
		{name: "when the client has answered", class: class, stand: inErrand("word/3/0", "client"), check: running},
		{name: "while it waits for approval", class: class, stand: func(o *subject) { o.waits("approval") }, check: waiting},
		{name: "in a tool that was approved", class: class, stand: inErrand("call-3-1", "approval"), check: running},
		{name: "in its last step", class: class, stand: inErrand("word/5/0", "approval"), check: running},
		{name: "at rest, after it has ended", class: class, stand: func(o *subject) { o.execute(errand); waiting(o) }, check: waiting},
		{name: "in a recovered run's tool", class: class, stand: inErrand("call-1-1", ""), again: recovering("call-1-1"), check: running},
		{name: "in a recovered run's words", class: class, stand: inErrand("word/2/1", ""), again: recovering("word/2/1"), check: running},
	}
}

// helperMoments are those of an errand's sub-agents, and of a session that waits
// for them.
func helperMoments() []moment {
	const class, east, west = "Session", ".call-4-1", ".call-4-2"
	// The lead waits for its sub-agents, of which one has ended unless both are at work.
	leadWaits := func(o *subject, both bool) {
		until(o.t, o.name+" waits for its sub-agents", func() bool {
			b := o.loop().books()
			return b.Session.Status == "paused" && len(b.Steps) == 4 && (both || len(b.Results) == 5)
		})
	}
	// Both sub-agents stand at a label, unless one is to end; the lead waits.
	helpers := func(label string, both bool) func(o *subject) {
		return func(o *subject) {
			b := o.waits("approval")
			waits := []func(){o.arm(o.name + east + "/" + label)}
			if both {
				waits = append(waits, o.arm(o.name+west+"/"+label))
			}
			o.loop().answer(b)
			for _, wait := range waits {
				wait()
			}
			leadWaits(o, both)
		}
	}
	check := func(o *subject) {
		o.loop().finishes(errandAnswer, 0)
		helper := loop{o.lives, o.name + east}
		until(o.t, "the sub-agent has told its lead", func() bool { return helper.books().Session.ToldParent == 1 })
		helper.finishes(`"found walk east"`, o.blows)
	}
	lead := func(o *subject) { o.loop().finishes(errandAnswer, 0) }
	again := func(o *subject) func() {
		stands := o.arm(o.name + east + "/call-1-1")
		return func() {
			stands()
			leadWaits(o, false) // the other one has ended: a lead that goes on just then would lose a run, too
		}
	}
	return []moment{
		{name: "while it waits for two sub-agents", class: class, stand: helpers("word/1/0", true), check: lead},
		{name: "while it waits for one of two sub-agents", class: class, stand: helpers("call-1-1", false), check: lead},
		{name: "a sub-agent before its first word", class: class, below: east, stand: helpers("word/1/0", true), check: check},
		{name: "a sub-agent in its tool", class: class, below: east, stand: helpers("call-1-1", true), check: check},
		{name: "a sub-agent's recovered run", class: class, below: east, stand: helpers("call-1-1", true), again: again, check: check},
	}
}

// claimMoments are about claims that are given back, and what else outlives a run.
func claimMoments() []moment {
	const class = "Session"
	timedOut := strings.NewReplacer(`"a picture"`, "call-2-1 timed out", `"paid 7"`, "call-3-1 timed out").Replace(errandAnswer)
	return []moment{
		{name: "asked to stop, in a tool", class: class,
			stand: func(o *subject) {
				inErrand("call-1-1", "")(o)
				post(o.t, o.loop().url("interrupt"), nil, nil)
			},
			check: func(o *subject) {
				s := o.loop()
				until(o.t, o.name+" is interrupted", func() bool { return s.books().Session.Status == "interrupted" })
				if c := s.do("resume", nil); !c.OK {
					o.t.Errorf("resume: %+v", c)
				}
				s.finishes(errandAnswer, o.blows)
			}},
		{name: "while a deadline passes", class: class,
			stand: func(o *subject) {
				o.execute(map[string]any{"script": "errand", "input": "walk", "deadlineMs": 300})
				until(o.t, o.name+" waits", func() bool { return len(o.loop().books().Transitions) > 1 })
			},
			check: func(o *subject) { // nobody answers
				s := o.loop()
				until(o.t, o.name+" ends", func() bool { return s.books().ended() })
				s.check(timedOut)
			}},
		{name: "when its run has failed", class: class,
			stand: func(o *subject) {
				o.execute(map[string]any{"script": "fragile", "input": "x"})
				until(o.t, o.name+" fails", func() bool { return o.loop().books().ended() })
			},
			check: func(o *subject) {
				s := o.loop()
				if b := s.books(); b.Session.Status != "failed" || b.Session.Error != "the model is overloaded" || len(b.Steps) != 1 {
					o.t.Errorf("a run that has failed is %+v", b)
				}
				s.do("retry", nil)
				until(o.t, o.name+" ends", func() bool { return s.books().Session.Status == "completed" })
				s.check("8; 10")
			}},
		{name: "when its start has failed", class: class,
			stand: func(o *subject) { o.loop().do("execute", map[string]any{"script": "nonsense", "input": "x"}) },
			check: func(o *subject) {
				const text = "there is no script nonsense"
				if c := o.loop().do("retry", nil); c.OK || c.CurrentStatus != "failed" || c.CurrentVersion != 4 || c.Error != text {
					o.t.Errorf("retry: %+v", c)
				}
				if b := o.loop().books(); len(b.Runs) != 0 || b.Session.Status != "failed" || b.Session.Error != text {
					o.t.Errorf("a start that fails leaves %+v", b)
				}
			}},
	}
}
