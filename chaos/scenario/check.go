package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	"minido.dev/minido/runtime/config"
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
	e.session = nil // the server is gone
	run, ok := goja.AssertFunction(e.prelude.Get("check"))
	if !ok {
		return nil, nil, errors.New("scenario: the prelude has no check")
	}
	events, err := json.Marshal(append([]history.Event{}, facts.Events...)) // none is [], not null
	if err != nil {
		return nil, nil, fmt.Errorf("scenario: %w", err)
	}
	given := map[string]any{"history": string(events), "deaths": len(facts.Deaths), "result": e.result(),
		"exists":  func(class, name string) bool { return e.exists(facts, class, name) },
		"objects": func(class string) string { return e.objects(facts, class) },
		"query":   func(class, name, sql, args string) string { return e.query(facts, class, name, sql, args) }}
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

// thrown throws err, unless it is nil, as an Error of what was asked.
func (e *engine) thrown(asked string, err error) {
	if err == nil {
		return
	}
	thrown, newErr := e.vm.New(e.vm.Get("Error"), e.vm.ToValue(asked+": "+err.Error()))
	if newErr != nil {
		panic(newErr)
	}
	panic(thrown)
}

// query runs SQL on an object's file as it was at rest, and returns the rows as
// JSON. What is wrong is thrown, as an Error.
func (e *engine) query(facts check.Evidence, class, name, sql, args string) string {
	rows, err := e.rows(facts, class, name, sql, args)
	var text []byte
	if err == nil {
		text, err = json.Marshal(rows)
	}
	e.thrown(fmt.Sprintf("db(%q, %q)", class, name), err)
	return string(text)
}

// exists reports whether an object has a file at rest.
func (e *engine) exists(facts check.Evidence, class, name string) bool {
	b, err := e.binding(class)
	if err == nil {
		_, err = os.Stat(objectFile(facts, b, name))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	e.thrown(fmt.Sprintf("db(%q, %q)", class, name), err)
	return true
}

// objects lists those of a class that have files at rest, as JSON.
func (e *engine) objects(facts check.Evidence, class string) string {
	type object struct {
		ID   string `json:"id"`
		Name string `json:"name,omitempty"`
	}
	b, err := e.binding(class)
	e.thrown(fmt.Sprintf("objects(%q)", class), err)
	names, all := namesOf(facts, b.UniqueKey, b.ClassName), []object{}
	for _, o := range facts.Rest.Objects {
		if o.Namespace == b.UniqueKey {
			all = append(all, object{o.ID, names[o.ID]})
		}
	}
	text, err := json.Marshal(all)
	e.thrown(fmt.Sprintf("objects(%q)", class), err)
	return string(text)
}

// binding is the one of a class, or of that name.
func (e *engine) binding(class string) (config.DurableObjectBinding, error) {
	project, err := e.scenario.project()
	if err != nil {
		return config.DurableObjectBinding{}, err
	}
	var known []string
	for _, b := range project.DurableObjects {
		if b.ClassName == class || b.Name == class {
			return b, nil
		}
		known = append(known, b.ClassName)
	}
	if len(known) == 0 {
		return config.DurableObjectBinding{}, errors.New("the project binds no Durable Object class")
	}
	return config.DurableObjectBinding{}, fmt.Errorf("the project binds no class or binding of that name; it binds %s", strings.Join(known, ", "))
}

// objectFile is where an object's database is at rest, by its name or its id.
func objectFile(facts check.Evidence, b config.DurableObjectBinding, name string) string {
	ids := objectid.NewNamespace(b.UniqueKey)
	id, err := ids.Parse(name)
	if err != nil {
		id = ids.FromName(name)
	}
	return filepath.Join(facts.Rest.Dir, "v3", "do", b.UniqueKey, id.String()+".sqlite")
}

func (e *engine) rows(facts check.Evidence, class, name, sql, args string) (rows []evidence.Row, err error) {
	b, err := e.binding(class)
	if err != nil {
		return nil, err
	}
	db, err := evidence.Open(objectFile(facts, b, name))
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
	rows, err = db.Query(sql, values...)
	if rows == nil {
		rows = []evidence.Row{}
	}
	return rows, err
}

// maxListed bounds how many objects an error names.
const maxListed = 10

// namesOf are the names of a class's objects, by id. Names are on disk as hashes alone;
// the history has those of the objects that did something.
func namesOf(facts check.Evidence, key, class string) map[string]string {
	ids, names := objectid.NewNamespace(key), map[string]string{}
	for _, ev := range facts.Events {
		if at, err := killpoint.ParseLabel(ev.Text); ev.Kind == history.Point && err == nil {
			if name, is := strings.CutPrefix(at.Object, class+"/"); is {
				names[ids.FromName(name).String()] = name
			}
		}
	}
	return names
}

// objectsThere says which objects of a class have files at rest.
func objectsThere(facts check.Evidence, key, class string) string {
	names := namesOf(facts, key, class)
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

// result is what drive() has returned.
func (e *engine) result() goja.Value {
	if e.returned == nil {
		return goja.Undefined()
	}
	return e.returned
}
