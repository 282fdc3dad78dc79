package result

import (
	"errors"
	"fmt"
	"slices"
)

// Merge puts the reports of shards together: one report, with the code of the
// worst. A mark counts as met if it was in one of them; a warning stays if all have it.
//
// # Errors
//
// Reports of different commands or projects, and the same shard twice.
func Merge(all []Report) (Report, error) {
	if len(all) == 0 {
		return Report{}, errors.New("campaign: nothing to merge")
	}
	first := all[0]
	out := Report{Verb: first.Verb, Project: first.Project, Points: first.Points, Seed: first.Seed, Cases: []Case{}}
	var kept Shelf
	shards := map[string]bool{}
	unmet, warnings := first.Unmet, first.Warnings
	worst := 0
	for _, r := range all {
		switch {
		case r.Verb != first.Verb || r.Project != first.Project || r.Seed != first.Seed:
			return Report{}, fmt.Errorf("campaign: a report of %s %s does not go together with one of %s %s", first.Verb, first.Project, r.Verb, r.Project)
		case r.Shard != "" && shards[r.Shard]:
			return Report{}, fmt.Errorf("campaign: shard %s is there twice", r.Shard)
		}
		shards[r.Shard] = true
		out.Points = max(out.Points, r.Points)
		out.Visited += r.Visited
		out.Skipped += r.Skipped
		out.Schedules += r.Schedules
		out.Kills += r.Kills
		out.Same += r.Same
		out.PlayedBack += r.PlayedBack
		out.Refused += r.Refused
		out.Unreached += r.Unreached
		out.Ms = max(out.Ms, r.Ms)
		out.Missed = append(out.Missed, r.Missed...)
		out.Left += r.Left
		out.Enough = max(out.Enough, r.Enough)
		out.Resumed += r.Resumed
		for _, c := range r.Cases {
			kept.Put(&out, c)
		}
		out.fold(r.Folded)
		unmet = slices.DeleteFunc(slices.Clone(unmet), func(name string) bool { return !slices.Contains(r.Unmet, name) })
		warnings = slices.DeleteFunc(slices.Clone(warnings), func(w string) bool { return !slices.Contains(r.Warnings, w) })
		if r.Code != 0 && r.Failures() == 0 && len(r.Missed)+len(r.Unmet) == 0 {
			worst = max(worst, r.Code) // it ended early: its cases do not say so
		}
	}
	out.Unmet, out.Warnings = unmet, warnings
	out.Conclude()
	if out.Code == 0 {
		out.Code = worst
	}
	return out, nil
}
