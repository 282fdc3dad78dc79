package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func fiberSystems() []system {
	managed := slices.Concat(researchMoments(), deliveryMoments(), scoutMoments())
	return []system{
		{"Fibers, npm agents 0.32.0", "fibers", beginTool("fibers"), managed},
		{"Fibers, npm agents 0.21.0", "fibers-0.21", beginTool("fibers-0.21"), managed},
		{"Fibers, npm agents 0.11.1", "fibers-0.11", beginTool("fibers-0.11"), researchMoments()},
	}
}

// beginTool begins a fixture whose work asks a tool.
func beginTool(name string) func(t *testing.T, start func(*testing.T, ...string) server) *stageSet {
	return func(t *testing.T, start func(*testing.T, ...string) server) *stageSet {
		o := newTool(t)
		return &stageSet{lives: beginOn(t, start, name, nil, "KEEP_ALIVE_MS:700", "TOOL_URL:"+o.url), tool: o}
	}
}

// at makes the next call with a label, below the object's own name, a place to
// stand at, does something that leads there, and waits.
func (o *subject) at(label string, do func()) {
	o.t.Helper()
	wait := o.arm(o.name + "/" + label)
	do()
	wait()
}

// arm makes the next call with a label a place to stand at; the result waits
// until the object stands there.
func (o *subject) arm(label string) (wait func()) {
	g := o.tool.hold(label)
	o.gates = append(o.gates, held{g.release, g.left})
	return func() {
		o.t.Helper()
		g.wait(o.t, o.name+" stands at "+label)
	}
}

// by is a client's call to the object.
func (o *subject) by(agent, method string, args ...any) func() {
	return func() {
		o.t.Helper()
		call(o.t, o.dial(agent+"/"+o.name), nil, method, args...)
	}
}

var researchSteps = []string{"search", "read", "compare", "draft", "review"}

// researchAt starts a job and stands in its nth step.
func researchAt(n int) func(o *subject) {
	return func(o *subject) { o.at("job-1/"+researchSteps[n-1], o.by("research-agent", "startResearch", "tides")) }
}

// recovering stands at a label to which the object's recovery leads.
func recovering(label string) func(o *subject) func() {
	return func(o *subject) func() { return o.arm(o.name + "/" + label) }
}

func researchMoments() []moment {
	const class = "ResearchAgent"
	moments := []moment{{name: "at rest, before its first fiber", class: class,
		stand: func(o *subject) { o.by("research-agent", "inspect")() },
		check: func(o *subject) {
			o.by("research-agent", "startResearch", "tides")()
			o.checkResearch(map[string][]int{"job-1": nil})
		}}}
	for n := range researchSteps {
		moments = append(moments, moment{name: fmt.Sprintf("in step %d of a fiber", n+1), class: class,
			stand: researchAt(n + 1), check: func(o *subject) { o.checkResearch(map[string][]int{"job-1": {n}}) }})
	}
	return append(moments,
		moment{name: "two fibers at once, in steps 2 and 4", class: class,
			stand: func(o *subject) {
				o.at("job-1/read", func() { o.at("job-2/draft", o.by("research-agent", "startPair", "tides")) })
			},
			check: func(o *subject) { o.checkResearch(map[string][]int{"job-1": {1}, "job-2": {3}}) }},
		moment{name: "in `keepAliveWhile`", class: class,
			stand: func(o *subject) {
				c := o.dial("research-agent/" + o.name)
				o.at("warm", func() { o.background(func(ctx context.Context) { _, _ = c.Call(ctx, "warmUp", []byte("[1]")) }) }) // cut, it has no answer
			},
			check: func(o *subject) { o.comesToRest("research-agent") }},
		moment{name: "at rest, after its fiber", class: class,
			stand: func(o *subject) {
				o.by("research-agent", "startResearch", "tides")()
				untilCall(o.t, o.dial("research-agent/"+o.name), "isDone", func(done bool) bool { return done })
			},
			check: func(o *subject) { o.checkResearch(map[string][]int{"job-1": nil}) }},
		moment{name: "in the recovery hook", class: class,
			stand: researchAt(3), again: recovering("hook"), check: func(o *subject) { o.checkJobs(map[string][]int{"job-1": {2}}) }},
		moment{name: "in a recovered fiber's first step", class: class,
			stand: researchAt(3), again: recovering("job-1/compare"), check: func(o *subject) { o.checkResearch(map[string][]int{"job-1": {2, 2}}) }},
		moment{name: "in a recovered fiber after a checkpoint of its own", class: class,
			stand: researchAt(2), again: recovering("job-1/draft"), check: func(o *subject) { o.checkResearch(map[string][]int{"job-1": {1, 3}}) }},
	)
}

type researchBooks struct {
	Jobs []struct {
		ID, Status, Topic, Answer  string
		Completions, Interruptions int
	}
	Interruptions []struct{ Name, Snapshot string }
	Runs          []any
	NextAlarm     *float64
}

// comesToRest waits until no fiber and no alarm is left.
func (o *subject) comesToRest(agent string) researchBooks {
	o.t.Helper()
	c := o.dial(agent + "/" + o.name)
	return untilCall(o.t, c, "inspect", func(b researchBooks) bool {
		running := slices.ContainsFunc(b.Jobs, func(j struct {
			ID, Status, Topic, Answer  string
			Completions, Interruptions int
		}) bool {
			return j.Status == "running"
		})
		return !running && len(b.Runs) == 0 && b.NextAlarm == nil
	})
}

// checkResearch checks the jobs: each is completed once, with the answer of an
// uninterrupted run, and its hook was given the checkpoints that were there at
// each blow. Without blows there are none.
func (o *subject) checkResearch(cuts map[string][]int) {
	o.t.Helper()
	if o.blows > 0 { // nobody asks: the object's own alarm has to find what was cut
		for job, at := range cuts {
			if len(at) > 0 {
				step := researchSteps[at[len(at)-1]]
				until(o.t, job+" goes on by itself", func() bool { return o.tool.calls(o.name+"/"+job+"/"+step) >= 2 })
			}
		}
	}
	o.checkJobs(cuts)
}

// checkJobs is checkResearch with a client that asks at once. An alarm that was
// cut in the hook comes again, but agents 0.32 then looks for fibers 30 s later.
func (o *subject) checkJobs(cuts map[string][]int) {
	o.t.Helper()
	b := o.comesToRest("research-agent")
	if len(b.Jobs) != len(cuts) {
		o.t.Errorf("%d jobs, want %d", len(b.Jobs), len(cuts))
	}
	for _, j := range b.Jobs {
		want := cuts[j.ID]
		if o.blows == 0 {
			want = nil
		}
		var got []int
		for _, i := range b.Interruptions {
			if i.Name != "research:"+j.ID {
				continue
			}
			var snapshot struct{ Found []string }
			if i.Snapshot != "" {
				if err := json.Unmarshal([]byte(i.Snapshot), &snapshot); err != nil {
					o.t.Fatal(err)
				}
			}
			got = append(got, len(snapshot.Found))
		}
		var steps []string
		for i, s := range researchSteps {
			steps = append(steps, fmt.Sprintf("%s %s #%d", s, j.Topic, i+1))
		}
		if j.Status != "done" || j.Completions != 1 || j.Answer != strings.Join(steps, "; ") || !slices.Equal(got, want) {
			o.t.Errorf("%+v; the hook got %d checkpoints, want %d", j, got, want)
		}
	}
}

func deliveryMoments() []moment {
	const class = "DeliveryAgent"
	at := func(part int) func(o *subject) {
		return func(o *subject) {
			o.at(fmt.Sprintf("order/%d", part), o.by("delivery-agent", "accept", "order", 4, "finish"))
		}
	}
	check := func(o *subject) {
		c := o.dial("delivery-agent/" + o.name)
		untilCall(o.t, c, "look", func(f fiberStatus) bool { return f.Status == "completed" }, "order")
		var parts []string
		call(o.t, c, &parts, "parts")
		checkDelivered(o.t, parts, "order", 4)
		var again fiberStatus
		call(o.t, c, &again, "accept", "order", 4)
		if again.Accepted {
			o.t.Error("the same key was accepted twice")
		}
	}
	return []moment{
		{name: "a managed fiber before its first part", class: class, stand: at(1), check: check},
		{name: "a managed fiber after two parts", class: class, stand: at(3), check: check},
		{name: "in a managed fiber's hook", class: class, stand: at(2), again: recovering("hook"), check: checkCutInHook,
			bug: "a managed fiber that is cut in its hook stays `interrupted`: its hook does not run again"},
	}
}

// checkCutInHook pins what agents does with a managed fiber whose hook was cut:
// it was marked before, and is passed over afterwards. Nothing of it is doubled.
func checkCutInHook(o *subject) {
	c := o.dial("delivery-agent/" + o.name)
	untilCall(o.t, c, "list", func([]fiberStatus) bool {
		return len(o.rows("DeliveryAgent", "cf_agents_runs", "SELECT id FROM cf_agents_runs")) == 0
	})
	var f fiberStatus
	call(o.t, c, &f, "look", "order")
	var parts []string
	call(o.t, c, &parts, "parts")
	if f.Status != "interrupted" || len(parts) != 1 {
		o.t.Errorf("%+v with parts %q; does the package finish it now?", f, parts)
	}
}

func scoutMoments() []moment {
	// A sub-agent's name is its own, not below the lead's.
	check := func(o *subject) {
		if o.blows > 0 {
			until(o.t, "the scout goes on by itself", func() bool { return o.tool.calls("scout-"+o.name+"/mile/3") == o.blows+1 })
		}
		c := o.dial("lead-agent/" + o.name)
		want := []string{"mile 1", "mile 2", "mile 3", "mile 4"}
		if got := untilCall(o.t, c, "report", func(notes []string) bool { return len(notes) >= 4 }, "scout-"+o.name); !slices.Equal(got, want) {
			o.t.Errorf("notes %q", got)
		}
	}
	first := func(o *subject) {
		wait := o.arm("scout-" + o.name + "/mile/3")
		o.by("lead-agent", "send", "scout-"+o.name, 4)()
		wait()
	}
	return []moment{
		{name: "a sub-agent's fiber after two miles", class: "LeadAgent", stand: first, check: check},
		{name: "a sub-agent's recovered fiber", class: "LeadAgent", stand: first, again: func(o *subject) func() { return o.arm("scout-" + o.name + "/mile/3") }, check: check},
	}
}
