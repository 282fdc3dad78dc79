package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/durableobject/objectid"
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

// Check runs the scenario's own checks on a case's evidence.
//
// # Errors
//
// What the check itself threw; a violated expectation is no error.
func (s *Scenario) Check(facts check.Evidence) (found []check.Violation, marks []check.Mark, err error) {
	e, err := s.newEngine()
	if err != nil {
		return nil, nil, fmt.Errorf("scenario: %s: %w", s.File, err)
	}
	run, ok := goja.AssertFunction(e.prelude.Get("check"))
	if !ok {
		return nil, nil, errors.New("scenario: the prelude has no check")
	}
	events, err := json.Marshal(facts.Events)
	if err != nil {
		return nil, nil, fmt.Errorf("scenario: %w", err)
	}
	given := map[string]any{"history": string(events), "deaths": len(facts.Deaths),
		"query": func(class, name, sql, args string) string { return e.query(facts.Rest.Dir, class, name, sql, args) }}
	settled, failure := false, error(nil)
	_, err = run(goja.Undefined(), e.definition, e.vm.ToValue(given),
		e.vm.ToValue(func(text string) {
			found = append(found, check.Violation{Checker: "scenario", Invariant: s.Name, Text: text})
		}),
		e.vm.ToValue(func(name string, met bool) { marks = append(marks, check.Mark{Name: name, Met: met}) }),
		e.vm.ToValue(func() { settled = true }),
		e.vm.ToValue(func(reason goja.Value) {
			settled, failure = true, fmt.Errorf("scenario: %s: check() threw %s", s.File, stackOf(reason))
		}))
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("scenario: %s: %w", s.File, err)
	case failure != nil:
		return nil, nil, failure
	case !settled:
		return nil, nil, fmt.Errorf("scenario: %s: check() waits for something that never comes", s.File)
	}
	return found, marks, nil
}

// query runs SQL on an object's file as it was at rest, and returns the rows as
// JSON. What is wrong is thrown.
func (e *engine) query(dir, class, name, sql, args string) string {
	rows, err := e.rows(dir, class, name, sql, args)
	if err != nil {
		panic(e.vm.NewGoError(err))
	}
	text, err := json.Marshal(rows)
	if err != nil {
		panic(e.vm.NewGoError(err))
	}
	return string(text)
}

func (e *engine) rows(dir, class, name, sql, args string) (rows []evidence.Row, err error) {
	project, err := chaos.LoadProject(e.scenario.project, "", nil)
	if err != nil {
		return nil, err
	}
	for _, b := range project.DurableObjects {
		if b.ClassName != class && b.Name != class {
			continue
		}
		id := objectid.NewNamespace(b.UniqueKey).FromName(name).String()
		db, err := evidence.Open(filepath.Join(dir, "v3", "do", b.UniqueKey, id+".sqlite"))
		if err != nil {
			return nil, fmt.Errorf("db(%q, %q): %w", class, name, err)
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		var values []any
		if err := json.Unmarshal([]byte(args), &values); err != nil {
			return nil, fmt.Errorf("db(%q, %q): %w", class, name, err)
		}
		rows, err := db.Query(sql, values...)
		if rows == nil {
			rows = []evidence.Row{}
		}
		return rows, err
	}
	return nil, fmt.Errorf("db(%q, %q): the project binds no class or binding of that name", class, name)
}
