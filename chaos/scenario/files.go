package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/config"
)

// files are the stores of a project at one moment, as check() and invariant() ask them.
// Confined to the engine's goroutine: what is wrong is thrown there, as an Error.
type files struct {
	*engine
	snapshot check.Snapshot
	events   []history.Event
	// rest is false at a death: what is not there may still come, and is empty.
	rest bool
	// copies are those of the moment's databases that were asked last.
	copies *copies
}

// maxCopies bounds how many databases are kept open.
const maxCopies = 8

// copies are private copies of databases at one moment, by their files. A copy is made
// for the first of the many questions that a check asks of one. Close deletes them.
type copies struct {
	of    map[string]*evidence.DB
	order []string // of, the oldest first
}

func (c *copies) open(file string) (*evidence.DB, error) {
	if db := c.of[file]; db != nil {
		return db, nil
	}
	db, err := evidence.Open(file)
	if err != nil {
		return nil, err
	}
	if c.of == nil {
		c.of = map[string]*evidence.DB{}
	}
	c.of[file], c.order = db, append(c.order, file)
	if len(c.order) > maxCopies {
		return db, c.forget(c.order[0])
	}
	return db, nil
}

// forget has the next question find the file as it was left.
func (c *copies) forget(file string) error {
	db := c.of[file]
	delete(c.of, file)
	c.order = slices.DeleteFunc(c.order, func(f string) bool { return f == file })
	return db.Close()
}

func (c *copies) Close() (err error) {
	for len(c.order) > 0 {
		err = errors.Join(err, c.forget(c.order[0]))
	}
	return err
}

// at is what the prelude asks of a moment's files. Close the copies that it makes.
func (j *judgement) at(s check.Snapshot, rest bool) (asked map[string]any, made *copies) {
	f := files{j.engine, s, j.facts.Events, rest, &copies{}}
	return map[string]any{"exists": f.exists, "objects": f.objects, "query": f.query, "d1": f.d1, "value": f.value, "list": f.list}, f.copies
}

// thrown returns v as JSON, or throws err as an Error of what was asked.
func (f files) thrown(asked string, v any, err error) string {
	var text []byte
	if err == nil {
		text, err = json.Marshal(v)
	}
	if err != nil {
		thrown, newErr := f.vm.New(f.vm.Get("Error"), f.vm.ToValue(asked+": "+err.Error()))
		if newErr != nil {
			panic(newErr)
		}
		panic(thrown)
	}
	return string(text)
}

// query runs SQL on an object's file, and returns the rows as JSON.
func (f files) query(class, name, sql, args string) string {
	b, err := f.binding(class)
	var rows []evidence.Row
	if err == nil {
		rows, err = f.rows(f.objectFile(b, name), sql, args)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("there is no such object at rest; %s", f.objectsThere(b.UniqueKey, b.ClassName))
		}
	}
	return f.thrown(fmt.Sprintf("db(%q, %q)", class, name), rows, err)
}

// exists reports whether an object has a file.
func (f files) exists(class, name string) bool {
	b, err := f.binding(class)
	if err == nil {
		_, err = os.Stat(f.objectFile(b, name))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	f.thrown(fmt.Sprintf("db(%q, %q)", class, name), nil, err)
	return true
}

// objects lists those of a class that have files, as JSON.
func (f files) objects(class string) string {
	type object struct {
		ID   string `json:"id"`
		Name string `json:"name,omitempty"`
	}
	all := []object{}
	b, err := f.binding(class)
	if err == nil {
		names := namesOf(f.events, b.UniqueKey, b.ClassName)
		for _, o := range f.snapshot.Objects {
			if o.Namespace == b.UniqueKey {
				all = append(all, object{o.ID, names[o.ID]})
			}
		}
	}
	return f.thrown(fmt.Sprintf("objects(%q)", class), all, err)
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

// objectFile is where an object's database is, by its name or its id.
func (f files) objectFile(b config.DurableObjectBinding, name string) string {
	ids := objectid.NewNamespace(b.UniqueKey)
	id, err := ids.Parse(name)
	if err != nil {
		id = ids.FromName(name)
	}
	return filepath.Join(f.snapshot.Dir, "v3", "do", b.UniqueKey, id.String()+".sqlite")
}

// rows asks a database, with values that are JSON. At a death, a file or a table that is
// not there has none.
func (f files) rows(file, sql, args string) (rows []evidence.Row, err error) {
	db, err := f.copies.open(file)
	if errors.Is(err, fs.ErrNotExist) && !f.rest {
		return []evidence.Row{}, nil
	}
	if err != nil {
		return nil, err
	}
	var values []any
	if err := json.Unmarshal([]byte(args), &values); err != nil {
		return nil, fmt.Errorf("the values of the query: %w", err)
	}
	rows, err = db.Query(sql, values...)
	if db.Changed() {
		err = errors.Join(err, f.copies.forget(file))
	}
	if err != nil && !f.rest && strings.Contains(err.Error(), "no such table") {
		return []evidence.Row{}, nil
	}
	return append([]evidence.Row{}, rows...), err // none is [], not null
}

// maxListed bounds how many objects an error names.
const maxListed = 10

// namesOf are the names of a class's objects, by id. Names are on disk as hashes alone;
// the history has those of the objects that did something.
func namesOf(events []history.Event, key, class string) map[string]string {
	ids, names := objectid.NewNamespace(key), map[string]string{}
	for _, ev := range events {
		if at, err := killpoint.ParseLabel(ev.Text); ev.Kind == history.Point && err == nil {
			if name, is := strings.CutPrefix(at.Object, class+"/"); is {
				names[ids.FromName(name).String()] = name
			}
		}
	}
	return names
}

// objectsThere says which objects of a class have files at rest.
func (f files) objectsThere(key, class string) string {
	names := namesOf(f.events, key, class)
	var there []string
	more := 0
	for _, o := range f.snapshot.Objects {
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
