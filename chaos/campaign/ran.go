package campaign

import (
	"minido.dev/minido/chaos/cut"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/chaos/sim"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/world"
)

// ranCase is a case that was run, with what only the campaign needs of it.
type ranCase struct {
	result.Case
	// points are the labels of the last life's points, questions how many there
	// were beside them that came of a question asked again (killpoint.Question).
	points    []string
	questions int
	// asked and effects are how many requests came to the model and to the sink.
	asked, effects int
	// number is that of a plan that was drawn, from 1; 0 for others.
	number int
	// pairs are what it has reached (corpus).
	pairs []uint64
	// passed are the labels of the points of each life, steps how many the clients sent.
	passed [][]string
	steps  int
	// wrote says of each step whether something was written behind it and before the next
	// one; it is shorter or longer than steps where that is not known.
	wrote []bool
	// calls are how many requests and calls the clients sent, chats whether one of them
	// followed a chat.
	calls int
	chats bool
	// achieved is what became of them.
	achieved cut.Steps
	// living says that a restless case had nothing left but alarms, timers and sockets.
	living bool
	// lines are those of a simulation's log.
	lines []string
	// states belong to points, nil if they were not taken; like are the results of
	// the plans that this case stands for.
	states []sim.State
	like   []ranCase
	// trace is of the last life; nil if it was not taken.
	trace []sim.Passed
	// recording is of the last life, nil if there is none that can be played back.
	recording *world.Recording
}

// began is a case of which nothing is known yet but its name.
func began(name string) ranCase {
	return ranCase{Case: result.Case{Name: name, Outcome: result.Passed, Kills: []result.Kill{}}}
}

// pass takes a point of the last life: what came of a question that was asked
// again is counted alone, since the next run need not have it.
// It reports whether the point is one of points.
func (c *ranCase) pass(label string) bool {
	if at, err := killpoint.ParseLabel(label); err == nil && at.Cause == killpoint.Question {
		c.questions++
		return false
	}
	c.points = append(c.points, label)
	return true
}
