package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/history"
)

func durationMs(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// Driver is the scenario's clients for a new case.
func (s *Scenario) Driver() (drive.Driver, error) {
	e, err := s.newEngine()
	if err != nil {
		return nil, fmt.Errorf("scenario: %s: %w", s.File, err)
	}
	return e, nil
}

// Check runs the scenario's own checks on a case's evidence, where its clients ran: what
// they have left in variables of the module is there. driver is nil, or not the
// scenario's, if others did the clients' work. A check that throws, or
// that waits for something that never comes, is a violation of its case: what it
// found wrong is wrong there.
//
// # Errors
//
// Those of the harness alone.
func (s *Scenario) Check(driver drive.Driver, facts check.Evidence) (found []check.Violation, marks []check.Mark, err error) {
	e, ran := driver.(*engine)
	if !ran {
		if e, err = s.newEngine(); err != nil {
			return nil, nil, fmt.Errorf("scenario: %s: %w", s.File, err)
		}
	}
	e.session = nil                                                         // the server is gone
	events, err := json.Marshal(append([]history.Event{}, facts.Events...)) // none is [], not null
	if err != nil {
		return nil, nil, fmt.Errorf("scenario: %w", err)
	}
	j := &judgement{engine: e, facts: facts}
	if err := j.invariants(); err != nil {
		return nil, nil, err
	}
	given, made := j.at(facts.Rest, true)
	defer func() { err = errors.Join(err, made.Close()) }()
	given["history"], given["deaths"], given["result"] = string(events), len(facts.Deaths), e.result()
	asserted := false
	threw, err := j.ask("check", given,
		e.vm.ToValue(func(name string, met bool) { j.marks = append(j.marks, check.Mark{Name: name, Met: met}) }),
		e.vm.ToValue(func() { asserted = true }))
	if err != nil {
		return nil, nil, err
	}
	for _, name := range s.reachable {
		j.marks = append(j.marks, check.Mark{Name: name})
	}
	if v := e.definition.Get("check"); v != nil && !goja.IsUndefined(v) {
		s.checked.Store(true)
		if asserted || threw {
			s.asserted.Store(true)
		}
	}
	return j.found, j.marks, nil
}

// judgement is what a scenario says of one case. Confined to the engine's goroutine.
type judgement struct {
	*engine
	facts check.Evidence
	found []check.Violation
	marks []check.Mark
}

func (j *judgement) violated(text string) {
	j.found = append(j.found, check.Violation{Checker: "scenario", Invariant: j.scenario.Name, Text: text})
}

// ask runs a function of the prelude, check or invariant. One that throws is a violation.
func (j *judgement) ask(name string, given map[string]any, more ...goja.Value) (threw bool, err error) {
	run, ok := goja.AssertFunction(j.prelude.Get(name))
	if !ok {
		return false, errors.New("scenario: the prelude has no " + name)
	}
	settled := false
	args := append([]goja.Value{j.definition, j.vm.ToValue(given), j.vm.ToValue(j.violated)}, more...)
	args = append(args, j.vm.ToValue(func() { settled = true }), j.vm.ToValue(func(reason goja.Value) {
		settled, threw = true, true
		j.violated(name + " threw " + explain(reason))
	}))
	if _, err := run(goja.Undefined(), args...); err != nil {
		return false, fmt.Errorf("scenario: %s: %w", j.scenario.File, err)
	}
	if !settled {
		j.violated(name + " waits for something that never comes")
	}
	return threw, nil
}

// invariants asks invariant() of the files at each death, and at rest. The first moment
// at which it does not hold is told.
func (j *judgement) invariants() error {
	for i, s := range append(slices.Clone(j.facts.Deaths), j.facts.Rest) {
		rest := i == len(j.facts.Deaths)
		given, made := j.at(s, rest)
		_, err := j.ask("invariant", given)
		if err := errors.Join(err, made.Close()); err != nil {
			return err
		}
		if len(j.found) == 0 {
			continue
		}
		when := "at rest"
		if !rest {
			when = fmt.Sprintf("at death %d", i+1)
		}
		for k := range j.found {
			j.found[k].Text = "invariant, " + when + ": " + j.found[k].Text
		}
		return nil
	}
	return nil
}

// Digest is a hash of the scenario and all that it imports.
func (s *Scenario) Digest() string { return s.digest }

// Silent reports whether check() was asked and has asserted nothing in any case: it
// called no expect(), always(), sometimes(), eventually() or reachable(), and did not throw.
func (s *Scenario) Silent() bool { return s.checked.Load() && !s.asserted.Load() }

// result is what drive() has returned.
func (e *engine) result() goja.Value {
	if e.returned == nil {
		return goja.Undefined()
	}
	return e.returned
}
