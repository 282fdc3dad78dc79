// Package check has the checkers of a system that was killed: functions over its
// observed history and over the SQLite files as they were at each death and at rest.
// Each answers ok, or names the invariant that does not hold with the facts that prove
// it.
package check

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/fibers"
	"minido.dev/minido/chaos/transcript"
)

// indexFile is the alarm index of a namespace.
const indexFile = "metadata.sqlite"

// Alarm is one time of an alarm; Set is false if there is none.
type Alarm struct {
	At  time.Time
	Set bool
}

// String is the time of day, in UTC.
func (a Alarm) String() string {
	if !a.Set {
		return "none"
	}
	return a.At.UTC().Format("15:04:05.000")
}

// Object is what one object's files say.
type Object struct {
	// Namespace is its unique key, the folder's name: <script>-<Class>.
	Namespace string
	ID        string
	// Fibers are its database and its facets', as an agent's.
	Fibers fibers.State
	// Chat is its conversation, if it is a chat agent; read at rest alone.
	Chat transcript.State
	// Row is the alarm in the object's own file, Index the one in the
	// namespace's index.
	Row, Index Alarm
}

// Label names the object for people.
func (o Object) Label() string { return o.Namespace + "/" + o.ID[:min(len(o.ID), 8)] }

// Snapshot is a state directory at one moment. Immutable.
type Snapshot struct {
	// Dir is where the copy of the files is; it may be gone when a case is over.
	Dir string
	// At is when.
	At      time.Time
	Objects []Object // by namespace, then id
	// Workflows are the instances of Workflows.
	Workflows []Workflow
	// Damaged names the databases that SQLite calls damaged.
	Damaged []string

	indexes map[string]map[string]Alarm // the alarm indexes of namespaces that have one, by object id
}

// ReadSnapshot reads all objects of a persist directory, or of a copy of one.
// Deep has SQLite check each database as a whole.
func ReadSnapshot(dir string, at time.Time, deep bool) (Snapshot, error) {
	s := Snapshot{Dir: dir, At: at}
	var err error
	if s.Workflows, err = readWorkflows(dir); err != nil {
		return s, err
	}
	root := filepath.Join(dir, "v3", "do")
	spaces, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("check: %w", err)
	}
	for _, space := range spaces { // by name: ReadDir sorts
		if !space.IsDir() {
			continue
		}
		if err := s.readNamespace(root, space.Name(), deep); err != nil {
			return s, fmt.Errorf("check: %s: %w", space.Name(), err)
		}
	}
	return s, nil
}

func (s *Snapshot) readNamespace(root, key string, deep bool) error {
	dir := filepath.Join(root, key)
	index, err := readIndex(filepath.Join(dir, indexFile))
	if err != nil {
		return err
	}
	if index != nil {
		if s.indexes == nil {
			s.indexes = map[string]map[string]Alarm{}
		}
		s.indexes[key] = index
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		id, found := strings.CutSuffix(e.Name(), ".sqlite")
		if !found || e.Name() == indexFile || strings.Contains(id, ".") {
			continue // the index, or a facet's: read with its object
		}
		paths, err := evidence.Databases(dir, id)
		if err != nil {
			return err
		}
		o := Object{Namespace: key, ID: id, Index: index[id]}
		if err := s.readObject(&o, paths, deep); err != nil {
			return err
		}
		s.Objects = append(s.Objects, o)
	}
	return nil
}

// readObject reads what the databases of an object say, its own first.
func (s *Snapshot) readObject(o *Object, paths []string, deep bool) (err error) {
	dbs, err := evidence.OpenAll(paths)
	defer func() { err = errors.Join(err, evidence.CloseAll(dbs)) }()
	if err != nil {
		return err
	}
	if o.Fibers, err = fibers.Read(dbs); err != nil {
		return err
	}
	if own := o.Fibers.Databases[0]; own.AlarmSet {
		o.Row = Alarm{own.Alarm, true}
	}
	if !deep {
		return nil
	}
	if o.Chat, err = transcript.Read(dbs[0]); err != nil {
		return err
	}
	for _, db := range dbs { // SQLite looks at every page
		if bad := db.Check(); bad != nil {
			s.Damaged = append(s.Damaged, db.File+": "+bad.Error())
		}
	}
	return nil
}

// readIndex reads the alarm index of a namespace, by object id; nil if it has none.
func readIndex(path string) (out map[string]Alarm, err error) {
	db, err := evidence.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	out = map[string]Alarm{}
	if made, err := db.Has("_cf_ALARM"); err != nil || !made {
		return out, err // died before the table was made
	}
	rows, err := db.Query("SELECT actor_id, scheduled_time FROM _cf_ALARM")
	for _, r := range rows {
		out[r.Text("actor_id")] = Alarm{time.Unix(0, r.Int("scheduled_time")), true}
	}
	return out, err
}

// find is the object in another snapshot; ok is false if it has no file there.
func (s Snapshot) find(o Object) (found Object, ok bool) {
	for _, x := range s.Objects {
		if x.Namespace == o.Namespace && x.ID == o.ID {
			return x, true
		}
	}
	return Object{Namespace: o.Namespace, ID: o.ID}, false
}
