package check

import "minido.dev/minido/chaos/fibers"

// fiberChecker holds each agent's files against package fibers' invariants.
type fiberChecker struct{}

func (fiberChecker) Name() string { return "fibers" }

func (fiberChecker) Doc() Doc {
	return Doc{"`cf_agents_runs`, `cf_agents_fibers`; the agent's own tables `*_interruptions (fiber, snapshot)` and `*_jobs (id, status, completions)`", []Invariant{
		{fibers.HookOnce, "the recovery hook runs once for each fiber that a death interrupted"},
		{fibers.HookSnapshot, "the recovery hook gets the last snapshot that `stash()` stored"},
		{fibers.NoOrphan, "at rest, no fiber is left running in the SDK's tables"},
		{fibers.AlarmWhileRunning, "while a fiber runs, an alarm is set that would bring the agent back"},
		{fibers.EndsOnce, "every job ends, and none is completed twice"},
		{fibers.NothingForgotten, "entries that were written before a death exist after it"},
	}}
}

func (fiberChecker) Applies(e Evidence) bool {
	for _, s := range append(append([]Snapshot{}, e.Deaths...), e.Rest) {
		for _, o := range s.Objects {
			if hasFibers(o.Fibers) {
				return true
			}
		}
	}
	return false
}

func hasFibers(s fibers.State) bool {
	for _, d := range s.Databases {
		if d.HasHooks || len(d.Runs) > 0 || len(d.Managed) > 0 || len(d.Jobs) > 0 {
			return true
		}
	}
	return false
}

func (c fiberChecker) Check(e Evidence) []Violation {
	var out []Violation
	ends := len(e.ends())
	for _, o := range objectsOf(e) {
		var deaths []fibers.State
		for _, d := range e.Deaths {
			at, _ := d.find(o)
			deaths = append(deaths, at.Fibers)
		}
		rest, _ := e.Rest.find(o)
		for _, v := range fibers.Check(deaths, rest.Fibers, ends) {
			out = append(out, Violation{c.Name(), v.Invariant, o.Label() + ": " + v.Text})
		}
	}
	return out
}
