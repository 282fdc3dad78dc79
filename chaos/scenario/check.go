package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/internal/killpoint"
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

// Check runs the scenario's own checks on a case's evidence. A check that throws, or
// that waits for something that never comes, is a violation of its case: what it
// found wrong is wrong there.
//
// # Errors
//
// Those of the harness alone.
func (s *Scenario) Check(facts check.Evidence) (found []check.Violation, marks []check.Mark, err error) {
	e, err := s.newEngine()
	if err != nil {
		return nil, nil, fmt.Errorf("scenario: %s: %w", s.File, err)
	}
	run, ok := goja.AssertFunction(e.prelude.Get("check"))
	if !ok {
		return nil, nil, errors.New("scenario: the prelude has no check")
	}
	events, err := json.Marshal(append([]history.Event{}, facts.Events...)) // none is [], not null
	if err != nil {
		return nil, nil, fmt.Errorf("scenario: %w", err)
	}
	given := map[string]any{"history": string(events), "deaths": len(facts.Deaths),
		"query": func(class, name, sql, args string) string { return e.query(facts, class, name, sql, args) }}
	violated := func(text string) {
		found = append(found, check.Violation{Checker: "scenario", Invariant: s.Name, Text: text})
	}
	settled := false
	_, err = run(goja.Undefined(), e.definition, e.vm.ToValue(given), e.vm.ToValue(violated),
		e.vm.ToValue(func(name string, met bool) { marks = append(marks, check.Mark{Name: name, Met: met}) }),
		e.vm.ToValue(func() { settled = true }),
		e.vm.ToValue(func(reason goja.Value) {
			settled = true
			violated("check threw " + explain(reason))
		}))
	if err != nil {
		return nil, nil, fmt.Errorf("scenario: %s: %w", s.File, err)
	}
	if !settled {
		violated("check waits for something that never comes")
	}
	return found, marks, nil
}

// query runs SQL on an object's file as it was at rest, and returns the rows as
// JSON. What is wrong is thrown, as an Error.
func (e *engine) query(facts check.Evidence, class, name, sql, args string) string {
	rows, err := e.rows(facts, class, name, sql, args)
	var text []byte
	if err == nil {
		text, err = json.Marshal(rows)
	}
	if err != nil {
		thrown, newErr := e.vm.New(e.vm.Get("Error"), e.vm.ToValue(fmt.Sprintf("db(%q, %q): %v", class, name, err)))
		if newErr != nil {
			panic(newErr)
		}
		panic(thrown)
	}
	return string(text)
}

func (e *engine) rows(facts check.Evidence, class, name, sql, args string) (rows []evidence.Row, err error) {
	project, err := e.scenario.project()
	if err != nil {
		return nil, err
	}
	var known []string
	for _, b := range project.DurableObjects {
		if b.ClassName != class && b.Name != class {
			known = append(known, b.ClassName)
			continue
		}
		ids := objectid.NewNamespace(b.UniqueKey)
		db, err := evidence.Open(filepath.Join(facts.Rest.Dir, "v3", "do", b.UniqueKey, ids.FromName(name).String()+".sqlite"))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no such object at rest; %s", objectsThere(facts, b.UniqueKey, b.ClassName))
		}
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		var values []any
		if err := json.Unmarshal([]byte(args), &values); err != nil {
			return nil, fmt.Errorf("the values of the query: %w", err)
		}
		rows, err := db.Query(sql, values...)
		if rows == nil {
			rows = []evidence.Row{}
		}
		return rows, err
	}
	if len(known) == 0 {
		return nil, errors.New("the project binds no Durable Object class")
	}
	return nil, fmt.Errorf("the project binds no class or binding of that name; it binds %s", strings.Join(known, ", "))
}

// maxListed bounds how many objects an error names.
const maxListed = 10

// objectsThere says which objects of a class have files at rest. Names are on disk as
// hashes alone; the history has those of the objects that did something.
func objectsThere(facts check.Evidence, key, class string) string {
	ids, names := objectid.NewNamespace(key), map[string]string{}
	for _, ev := range facts.Events {
		if at, err := killpoint.ParseLabel(ev.Text); ev.Kind == history.Point && err == nil {
			if name, is := strings.CutPrefix(at.Object, class+"/"); is {
				names[ids.FromName(name).String()] = name
			}
		}
	}
	var there []string
	more := 0
	for _, o := range facts.Rest.Objects {
		if o.Namespace != key {
			continue
		}
		if len(there) == maxListed {
			more++
			continue
		}
		name, known := names[o.ID]
		if !known {
			there = append(there, "the id "+o.ID)
			continue
		}
		there = append(there, strconv.Quote(name))
	}
	switch {
	case len(there) == 0:
		return "no object of class " + class + " was stored"
	case more > 0:
		there = append(there, fmt.Sprintf("%d more", more))
	}
	return "of class " + class + " there are " + strings.Join(there, ", ")
}
