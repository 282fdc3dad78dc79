package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

func foreverSystems() []system {
	return []system{
		{"Forever, npm agents 0.9.0 with ai-chat 0.3.2", "forever", beginTool("forever"), slices.Concat(harvestMoments(false), storyMoments(true))},
		{"Forever, npm agents 0.5.0 with ai-chat 0.1.2", "forever-0.5", beginTool("forever-0.5"), slices.Concat(harvestMoments(true), storyMoments(false))},
	}
}

const fieldRows = 4

// harvesting spawns a fiber, and stands in a row of its field.
func harvesting(row int, name string) func(o *subject) {
	return func(o *subject) {
		o.at(fmt.Sprintf("%s/%d", name, row), func() {
			c := o.dial("harvest-agent/" + o.name)
			call(o.t, c, &o.fiber, "spawn", "harvest", field(name, fieldRows))
		})
	}
}

// The first generation's heartbeat is a row of cf_agents_schedules.
func harvestMoments(first bool) []moment {
	const class = "HarvestAgent"
	harvested := func(fields ...string) func(o *subject) {
		return func(o *subject) { o.checkHarvest(fields...) }
	}
	moments := []moment{{name: "at rest, before its first fiber", class: class,
		stand: func(o *subject) { o.by("harvest-agent", "log")() },
		check: func(o *subject) {
			o.blows = 0
			o.by("harvest-agent", "spawn", "harvest", field("wheat", fieldRows))()
			o.checkHarvest("wheat")
		}}}
	for row := 1; row <= fieldRows; row++ {
		moments = append(moments, moment{name: fmt.Sprintf("in row %d of a fiber", row), class: class, stand: harvesting(row, "wheat"), check: harvested("wheat")})
	}
	// The heartbeat would find what was cut after 30 s, or 10: the test looks at once.
	recovering := func(label string) func(o *subject) func() {
		return func(o *subject) func() {
			wait := o.arm(o.name + "/" + label)
			return func() {
				c := o.dial("harvest-agent/" + o.name)
				o.background(func(ctx context.Context) { _, _ = c.Call(ctx, "check", []byte("[]")) }) // it is cut
				wait()
			}
		}
	}
	cancelledBug := ""
	if first {
		cancelledBug = "the heartbeat of a cancelled fiber that was cut beats for ever"
	}
	return append(moments,
		moment{name: "two fibers at once, in rows 1 and 3", class: class,
			stand: func(o *subject) {
				o.at("rye/1", func() {
					harvesting(3, "wheat")(o)
					o.by("harvest-agent", "spawn", "harvest", field("rye", fieldRows))()
				})
			}, check: harvested("wheat", "rye")},
		moment{name: "after a fiber was cancelled", class: class,
			stand: func(o *subject) {
				harvesting(2, "wheat")(o)
				call(o.t, o.dial("harvest-agent/"+o.name), nil, "cancel", o.fiber)
			},
			check: func(o *subject) {
				c := o.dial("harvest-agent/" + o.name)
				call(o.t, c, nil, "check")
				left := 0 // heartbeats
				if first && o.blows > 0 {
					left = 1
				}
				untilCall(o.t, c, "planned", func(planned []string) bool { return len(planned) == left })
				var f foreverFiber
				if o.blows == 0 { // what was cancelled is not stopped: its method ends, and completes it
					untilCall(o.t, c, "look", func(f foreverFiber) bool { return f.Status == "completed" }, o.fiber)
					return
				}
				call(o.t, c, &f, "look", o.fiber)
				if f.Status != "cancelled" {
					o.t.Errorf("a cancelled fiber is %+v", f)
				}
				var log []string
				call(o.t, c, &log, "log")
				if slices.ContainsFunc(log, func(line string) bool {
					return strings.HasPrefix(line, "complete") || strings.HasPrefix(line, "recovered")
				}) {
					o.t.Errorf("a cancelled fiber went on: %q", log)
				}
			}, bug: cancelledBug},
		moment{name: "at rest, after its fiber", class: class,
			stand: func(o *subject) {
				o.by("harvest-agent", "spawn", "harvest", field("wheat", fieldRows))()
				untilCall(o.t, o.dial("harvest-agent/"+o.name), "log", func(log []string) bool { return count(log, completed) == 1 })
			},
			check: func(o *subject) {
				o.blows = 0
				o.checkHarvest("wheat")
			}},
		moment{name: "in the recovery hook", class: class, stand: harvesting(3, "wheat"), again: recovering("hook"), check: func(o *subject) {
			c := o.dial("harvest-agent/" + o.name)
			call(o.t, c, nil, "check")
			var f foreverFiber
			call(o.t, c, &f, "look", o.fiber)
			if f.Status != "interrupted" || f.RetryCount != 1 {
				o.t.Errorf("%+v; does the package restart it now?", f)
			}
		}, bug: "a fiber that is cut in the recovery hook stays `interrupted`: it is not looked at again"},
		moment{name: "in a restarted fiber's first row", class: class, stand: harvesting(3, "wheat"), again: recovering("wheat/3"), check: harvested("wheat")},
		moment{name: "in a restarted fiber after a checkpoint of its own", class: class, stand: harvesting(2, "wheat"), again: recovering("wheat/4"), check: harvested("wheat")},
	)
}

var completed = fmt.Sprintf(`complete harvest {"harvested":%d}`, fieldRows)

// checkHarvest looks for interrupted fibers and checks that each ended once,
// with its rows in order.
func (o *subject) checkHarvest(fields ...string) {
	o.t.Helper()
	c := o.dial("harvest-agent/" + o.name)
	if o.blows > 0 {
		call(o.t, c, nil, "check")
	}
	log := untilCall(o.t, c, "log", func(log []string) bool { return count(log, completed) >= len(fields) })
	untilCall(o.t, c, "planned", func(planned []string) bool { return len(planned) == 0 })
	if n := count(log, completed); n != len(fields) {
		o.t.Errorf("%d completions, want %d: %q", n, len(fields), log)
	}
	for _, f := range fields {
		checkRows(o.t, log, f, fieldRows)
	}
}

// storyMoments cut a chat's answer. These generations do not go on by
// themselves; the later one keeps what was stored and ends the stream.
func storyMoments(ends bool) []moment {
	bug := ""
	if !ends {
		bug = "a stream that was cut is replayed to a client that comes back, and neither ended nor kept"
	}
	var moments []moment
	for _, word := range []int{20, 30} {
		moments = append(moments, moment{name: fmt.Sprintf("after %d words of a story", word), class: "StoryChat", bug: bug,
			stand: func(o *subject) {
				client := o.dial("story-chat/" + o.name)
				o.at(fmt.Sprintf("word/%d", word), func() {
					o.background(func(ctx context.Context) { _, _ = client.Chat(ctx, "a story") }) // it is cut
				})
			},
			check: func(o *subject) {
				if o.blows == 0 {
					messages := untilCall(o.t, o.dial("story-chat/"+o.name), "conversation", func(m []chatMessage) bool { return answered(m) != "" })
					if answered(messages) != words(0, chatWords) {
						o.t.Errorf("the story is %q", answered(messages))
					}
					return
				}
				checkCutStory(o.t, o.conversing(), "story-chat/"+o.name, ends)
			}})
	}
	return moments
}
