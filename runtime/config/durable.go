package config

import (
	"fmt"
	"slices"
	"strings"
)

// Storage is the storage backend that config declares for a Durable Object
// class.
type Storage string

// The backends.
const (
	// StorageSQLite is declared by new_sqlite_classes or "storage": "sqlite".
	StorageSQLite Storage = "sqlite"
	// StorageLegacyKV is declared by new_classes or "storage": "legacy-kv":
	// such a class has no ctx.storage.sql.
	StorageLegacyKV Storage = "legacy-kv"
	// StorageUndeclared is a class that is bound but declared nowhere; wrangler
	// warns and treats it as legacy-kv.
	StorageUndeclared Storage = "undeclared"
)

// DurableObjectBinding is a Durable Object namespace on env. Immutable.
type DurableObjectBinding struct {
	// Name is the property of env.
	Name string
	// ClassName is the class that the script exports.
	ClassName string
	// ScriptName is the worker that exports it: this one's name, or another's
	// (with its environment, "<script>-<environment>").
	ScriptName string
	// Local says that the class lives in this worker.
	Local bool
	// UniqueKey is UniqueKey(ScriptName, ClassName).
	UniqueKey string
	// Where points at the name, ClassWhere at the class name.
	Where, ClassWhere Position
}

// DurableObjectClass is a Durable Object class that lives in this worker.
// Immutable.
type DurableObjectClass struct {
	ClassName string
	// UniqueKey names the namespace on disk and seeds its object ids.
	UniqueKey string
	Storage   Storage
	// Bound says that a namespace on env refers to it.
	Bound bool
	// Container is the name of the container that exports attaches to it.
	Container string
	// Where points at the declaration: the exports entry, the item of a
	// migration or, for an undeclared class, the binding's class name.
	Where Position
}

// SQLite reports whether objects of the class have ctx.storage.sql.
func (c DurableObjectClass) SQLite() bool { return c.Storage == StorageSQLite }

// Migration is one entry of migrations. Immutable.
type Migration struct {
	Tag                                string
	NewClasses, NewSQLiteClasses       []string
	DeletedClasses                     []string
	RenamedClasses, TransferredClasses []ClassMove
	Where                              Position
}

// ClassMove is one entry of renamed_classes or transferred_classes.
type ClassMove struct {
	From, To   string
	FromScript string // transferred_classes only
}

// Export is one entry of the exports section. Immutable.
type Export struct {
	Name string
	// Type is "durable-object", "worker" or "workflow".
	Type string
	// State is "created" (the default), "deleted", "renamed", "transferred" or
	// "expecting-transfer"; "" unless Type is "durable-object".
	State string
	// Storage is set for live Durable Object classes.
	Storage Storage
	// Params are all fields of the entry. Read-only.
	Params map[string]any
	Where  Position
}

// live reports whether the entry stands for a class that exists.
func (e Export) live() bool {
	return e.Type == "durable-object" && (e.State == "created" || e.State == "expecting-transfer")
}

// classState is a class while migrations are applied.
type classState struct {
	name    string
	storage Storage
	where   Position
}

// decodeDurableObjects fills in everything about Durable Objects.
func decodeDurableObjects(rep *report, sel *selection, p *Project) {
	p.Exports = decodeExports(rep, sel)
	migrations := sel.field("migrations")
	declared := applyMigrations(rep, migrations)
	p.Migrations = decodeMigrations(migrations)
	if len(p.Migrations) > 0 && slices.ContainsFunc(p.Exports, func(e Export) bool { return e.Type == "durable-object" }) {
		rep.errorAt(sel.field("exports"), "declare Durable Object classes in one of the two places",
			`"migrations" and "exports" exclude each other`)
	}
	containers := map[string]string{}
	for _, e := range p.Exports {
		if e.live() {
			declared = append(declared, classState{e.Name, e.Storage, e.Where})
			containers[e.Name], _ = e.Params["container"].(string)
		}
	}
	p.DurableObjects = decodeNamespaces(rep, sel, p.Name)
	p.Classes = resolveClasses(rep, sel, p, declared, containers)
}

// decodeNamespaces reads durable_objects.bindings.
func decodeNamespaces(rep *report, sel *selection, worker string) []DurableObjectBinding {
	var out []DurableObjectBinding
	for _, n := range sel.field("durable_objects").get("bindings").elements() {
		b := DurableObjectBinding{
			Name: n.get("name").str(), ClassName: n.get("class_name").str(), ScriptName: worker,
			Where: n.get("name").where(), ClassWhere: n.get("class_name").where(),
		}
		environment := n.get("environment")
		if script := n.get("script_name").str(); script != "" {
			b.ScriptName = script
			if environment.str() != "" {
				b.ScriptName += "-" + environment.text
			}
		} else if environment != nil {
			rep.errorAt(environment, `add "script_name": the worker whose environment it is`,
				`"environment" needs a "script_name" beside it`)
		}
		b.Local = b.ScriptName == worker
		b.UniqueKey = UniqueKey(b.ScriptName, b.ClassName)
		if len(b.UniqueKey) > maxSegment {
			rep.errorAt(n, "shorten the worker's name or the class name",
				"the namespace %q has more than %d bytes and cannot name a directory", b.UniqueKey, maxSegment)
		}
		out = append(out, b)
	}
	return out
}

// resolveClasses lists the classes of this worker: the bound ones in the order
// of the bindings, then the declared ones that are not bound (ctx.exports
// reaches those).
func resolveClasses(rep *report, sel *selection, p *Project, declared []classState, containers map[string]string) []DurableObjectClass {
	var out []DurableObjectClass
	add := func(c DurableObjectClass) {
		c.UniqueKey = UniqueKey(p.Name, c.ClassName)
		c.Container = containers[c.ClassName]
		for _, other := range out {
			if other.ClassName == c.ClassName {
				return
			}
			if strings.EqualFold(other.ClassName, c.ClassName) {
				rep.add(sel.at(c.Where, SeverityWarning,
					fmt.Sprintf("the classes %q and %q differ only in case", other.ClassName, c.ClassName),
					"on a file system that ignores case (macOS, Windows) they would share their storage; rename one"))
			}
		}
		out = append(out, c)
	}
	for _, b := range p.DurableObjects {
		if !b.Local || ValidateClassName(b.ClassName) != nil {
			continue
		}
		c := DurableObjectClass{ClassName: b.ClassName, Storage: StorageUndeclared, Bound: true, Where: b.ClassWhere}
		if i := slices.IndexFunc(declared, func(d classState) bool { return d.name == b.ClassName }); i >= 0 {
			c.Storage, c.Where = declared[i].storage, declared[i].where
		} else if !slices.ContainsFunc(out, func(o DurableObjectClass) bool { return o.ClassName == b.ClassName }) {
			warnUndeclared(rep, sel, b, declared)
		}
		add(c)
	}
	for _, d := range declared {
		add(DurableObjectClass{ClassName: d.name, Storage: d.storage, Where: d.where})
	}
	return out
}

// warnUndeclared warns about a bound class without a declaration; a class that
// is declared under a similar name is probably meant.
func warnUndeclared(rep *report, sel *selection, b DurableObjectBinding, declared []classState) {
	names := make([]string, 0, len(declared))
	for _, d := range declared {
		names = append(names, d.name)
	}
	hint := fmt.Sprintf("add \"exports\": {%q: {\"type\": \"durable-object\", \"storage\": \"sqlite\"}}", b.ClassName)
	if len(sel.field("migrations").elements()) > 0 {
		hint = fmt.Sprintf("add a migration with \"new_sqlite_classes\": [%q]", b.ClassName)
	}
	if near := nearest(b.ClassName, names); near != "" {
		hint = fmt.Sprintf("did you mean %q? Otherwise %s", near, hint)
	}
	rep.add(sel.at(b.ClassWhere, SeverityWarning,
		fmt.Sprintf("the Durable Object class %q is declared nowhere, so it has no SQLite storage", b.ClassName), hint))
}

func decodeMigrations(list *node) []Migration {
	var out []Migration
	for _, n := range list.elements() {
		m := Migration{
			Tag: n.get("tag").str(), Where: n.where(),
			NewClasses: n.get("new_classes").texts(), NewSQLiteClasses: n.get("new_sqlite_classes").texts(),
			DeletedClasses: n.get("deleted_classes").texts(),
		}
		for _, c := range n.get("renamed_classes").elements() {
			m.RenamedClasses = append(m.RenamedClasses, ClassMove{From: c.get("from").str(), To: c.get("to").str()})
		}
		for _, c := range n.get("transferred_classes").elements() {
			m.TransferredClasses = append(m.TransferredClasses, ClassMove{
				From: c.get("from").str(), To: c.get("to").str(), FromScript: c.get("from_script").str(),
			})
		}
		out = append(out, m)
	}
	return out
}

// applyMigrations replays the migrations in order and returns the classes that
// exist at the end. Within one migration wrangler deletes, renames, then
// creates. The file does not say which storage a transferred class had in its
// old script; SQLite is taken, because it offers everything the other does.
func applyMigrations(rep *report, list *node) []classState {
	var classes []classState
	find := func(name string) int {
		return slices.IndexFunc(classes, func(c classState) bool { return c.name == name })
	}
	create := func(n *node, name string, storage Storage, verb string) {
		if find(name) >= 0 {
			rep.errorAt(n, "", "%s names the class %q, which a migration has made already", verb, name)
			return
		}
		classes = append(classes, classState{name, storage, n.where()})
	}
	missing := func(n *node, name, verb string) {
		names := make([]string, 0, len(classes))
		for _, c := range classes {
			names = append(names, c.name)
		}
		rep.errorAt(n, didYouMean(name, names), "%s names the class %q, which no earlier migration made", verb, name)
	}
	tags := map[string]*node{}
	for _, m := range list.elements() {
		if tag := m.get("tag"); tag.str() != "" {
			if first := tags[tag.text]; first != nil {
				rep.errorAt(tag, "give each migration its own tag", "the migration tag %q is used twice (first at line %d)", tag.text, first.where().Line)
			}
			tags[tag.text] = tag
		}
		for _, n := range m.get("deleted_classes").elements() {
			if i := find(n.str()); i >= 0 {
				classes = slices.Delete(classes, i, i+1)
			} else {
				missing(n, n.str(), "deleted_classes")
			}
		}
		for _, n := range m.get("renamed_classes").elements() {
			from, to := n.get("from").str(), n.get("to").str()
			if i := find(from); i >= 0 {
				classes[i] = classState{to, classes[i].storage, n.where()}
			} else {
				missing(n, from, "renamed_classes")
			}
		}
		for _, n := range m.get("new_classes").elements() {
			create(n, n.str(), StorageLegacyKV, "new_classes")
		}
		for _, n := range m.get("new_sqlite_classes").elements() {
			create(n, n.str(), StorageSQLite, "new_sqlite_classes")
		}
		for _, n := range m.get("transferred_classes").elements() {
			create(n, n.get("to").str(), StorageSQLite, "transferred_classes")
		}
	}
	return classes
}

// exportFields says which fields go with which kind of export, and which of
// them must be there.
var exportFields = map[string]struct{ allowed, required []string }{
	"created":            {[]string{"type", "state", "storage", "container"}, []string{"storage"}},
	"deleted":            {[]string{"type", "state"}, nil},
	"renamed":            {[]string{"type", "state", "renamed_to"}, []string{"renamed_to"}},
	"transferred":        {[]string{"type", "state", "transferred_to"}, []string{"transferred_to"}},
	"expecting-transfer": {[]string{"type", "state", "storage", "transfer_from", "container"}, []string{"storage", "transfer_from"}},
	"worker":             {[]string{"type", "cache"}, nil},
	"workflow":           {[]string{"type", "name", "limits", "concurrency", "schedules", "default_retention", "jurisdiction"}, []string{"name"}},
}

// decodeExports reads the exports section, the declarative successor of
// migrations (wrangler's durable-object-exports.ts).
func decodeExports(rep *report, sel *selection) []Export {
	var out []Export
	for _, n := range sel.field("exports").entries() {
		e := Export{Name: n.key, Type: n.get("type").str(), Params: params(n), Where: n.where()}
		shape := e.Type
		if e.Type == "durable-object" {
			if e.State = n.get("state").str(); e.State == "" {
				e.State = "created"
			}
			shape = e.State
		}
		if err := ValidateClassName(e.Name); err != nil && e.Name != "default" {
			rep.errorAt(n, "", "\"exports\": %s", nameProblem(err))
		}
		spec, known := exportFields[shape]
		if !known {
			continue // the schema has reported it
		}
		for _, m := range n.members {
			if !slices.Contains(spec.allowed, m.key) {
				rep.errorAt(m, "allowed: "+strings.Join(spec.allowed, ", "), "%q does not go with an export that is %q", m.key, shape)
			}
		}
		for _, name := range spec.required {
			if n.get(name).str() == "" {
				rep.errorAt(n, "", "\"exports.%s\" is %q and needs a %q", n.key, shape, name)
			}
		}
		if n.get("renamed_to").str() == n.key {
			rep.errorAt(n.get("renamed_to"), "", "the class %q cannot be renamed to itself", n.key)
		}
		if e.live() {
			e.Storage = Storage(n.get("storage").str())
		}
		out = append(out, e)
	}
	return out
}
