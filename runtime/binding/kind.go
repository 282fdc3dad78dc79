// Package binding is the registry of the kinds of bindings on env. Each kind of
// binding has a folder below this one, and in it kind.json: what the wrangler file may
// say of it, where its state is, what start-up prints, what to do where it is absent,
// and what docs/compatibility.md says. The config reader, the table that start-up
// prints, env and the documentation are derived from these files.
//
// A kind that minido offers has its code in the same folder: a driver
// (runtime/binding/driver), named in runtime/binding/drivers. This package is
// data alone, so that the config reader can use it.
package binding

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"sync"
)

// ID names a kind in the words of Cloudflare's upload API ("kv_namespace",
// "durable_object_namespace").
type ID string

// Title is the kind as people write it: "KV namespace". For an unknown kind it
// is the ID itself.
func (id ID) Title() string {
	if k := Lookup(id); k != nil {
		return k.Title
	}
	return string(id)
}

// Kind is what a kind.json says. Immutable.
type Kind struct {
	ID    ID     `json:"kind"`
	Title string `json:"title"`
	// Key is the top-level key of the wrangler file, Schema what may stand there
	// (wrangler's config-schema.json). A binding always has the member that names
	// it.
	Key    string  `json:"key"`
	Schema *Schema `json:"schema"`
	Scope  Scope   `json:"scope"`
	// Bindings says where below Key the bindings are; nil if the key puts nothing
	// on env by itself.
	Bindings *Place `json:"bindings"`
	// Attachments are the lists below Key whose entries are not on env.
	Attachments []Attachment `json:"attachments"`
	Order       Order        `json:"order"`
	// Detail are the members of a binding that start-up shows: the first that is a
	// text with anything in it.
	Detail []string `json:"detail"`
	// State is the kind's folder below <persist>/v3, "" if it keeps nothing there.
	State string `json:"state"`
	// Unsafe kinds can also be declared in unsafe.bindings, with the ID as "type".
	Unsafe bool `json:"unsafe"`
	// Advice says what to do where the kind is not offered; "" is the common one.
	Advice string `json:"advice"`
	Docs   Docs   `json:"docs"`
}

// Scope says where in a wrangler file a key may stand.
type Scope string

// The scopes.
const (
	// ScopeEnvironment is for keys of the top level and of each environment, which
	// an environment does not take from the top level.
	ScopeEnvironment Scope = ""
	// ScopeInherited is ScopeEnvironment for keys that an environment takes from
	// the top level.
	ScopeInherited Scope = "inherited"
	// ScopeFile is for keys of the top level alone.
	ScopeFile Scope = "file"
)

// Place says where the bindings of a kind are.
type Place struct {
	// At is the member of the key's object that holds them; "" is the key itself.
	At string `json:"at"`
	// Name is the member that names a binding; "" where bindings are the members of
	// an object, by name.
	Name string `json:"name"`
	// Fixed is the name of the one binding that the key's object makes, and Folder the
	// member that names a folder.
	Fixed  string `json:"fixed"`
	Folder string `json:"folder"`
}

// Attachment is a list of entries beside env.
type Attachment struct {
	At      string `json:"at"`
	Title   string `json:"title"`
	Offered bool   `json:"offered"` // its entries work
}

// Order says where a kind stands among the others. Both count from 1; kinds
// without a number come last.
type Order struct {
	// Listed orders the table of start-up and of docs/compatibility.md.
	Listed int `json:"listed"`
	// Made orders the properties of env, as miniflare's plugins do.
	Made int `json:"made"`
}

// Docs is what docs/compatibility.md says of the kind: a row, and a line below
// the table.
type Docs struct {
	State State  `json:"state"`
	Notes string `json:"notes"` // what is missing or different, in Markdown
}

// State says how much of a kind is there.
type State string

// The states.
const (
	Full    State = "full"
	Partial State = "partial"
	Absent  State = "absent"
	// Remote is for services of an account that have no local form, in wrangler
	// neither: they answer as there.
	Remote State = "remote"
)

// CommonAdvice is for kinds without advice of their own.
const CommonAdvice = "Guard the code that uses the binding, or run it with wrangler dev."

// RemoteAdvice is that of kinds which wrangler has no local form of either.
const RemoteAdvice = "It has no local form: guard the code that uses the binding, or run it with wrangler dev and an account."

//go:embed */kind.json
var files embed.FS

// load reads the kinds once. What is wrong with them is found by the tests.
var load = sync.OnceValue(func() []*Kind {
	paths, err := fs.Glob(files, "*/kind.json")
	if err != nil {
		panic("binding: " + err.Error())
	}
	var kinds []*Kind
	for _, path := range paths {
		text, err := files.ReadFile(path)
		if err != nil {
			panic("binding: " + err.Error())
		}
		k, err := parse(text)
		if err != nil {
			panic(fmt.Sprintf("binding: %s: %v", path, err))
		}
		kinds = append(kinds, k)
	}
	slices.SortStableFunc(kinds, func(a, b *Kind) int { return compareOrder(a.Order.Listed, b.Order.Listed) })
	return kinds
})

func parse(text []byte) (*Kind, error) {
	k := &Kind{Advice: CommonAdvice}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(k); err != nil {
		return nil, err
	}
	if k.Docs.State == Remote && k.Advice == CommonAdvice {
		k.Advice = RemoteAdvice
	}
	return k, nil
}

func compareOrder(a, b int) int {
	last := func(n int) int {
		if n == 0 {
			return int(^uint(0) >> 1)
		}
		return n
	}
	return cmp.Compare(last(a), last(b))
}

// Kinds are all kinds, in the order in which start-up lists them. Read-only; safe
// for concurrent use.
func Kinds() []*Kind { return load() }

// Lookup finds a kind; nil if there is none of that name. Safe for concurrent use.
func Lookup(id ID) *Kind {
	for _, k := range load() {
		if k.ID == id {
			return k
		}
	}
	return nil
}

// CompareMade orders two kinds as the properties of env.
func CompareMade(a, b ID) int {
	made := func(id ID) int {
		if k := Lookup(id); k != nil {
			return k.Order.Made
		}
		return 0
	}
	return compareOrder(made(a), made(b))
}
