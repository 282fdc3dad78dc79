package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"minido.dev/minido/runtime/binding"
)

// Binding is one named thing that config puts on env. Immutable after Load.
type Binding struct {
	Kind binding.ID
	// Name is the property of env.
	Name string
	// Section is where the file has it, without the environment:
	// "kv_namespaces[0]", "ai", "queues.producers[1]".
	Section string
	// Where points at the name in the file, or at the entry when it has no
	// name of its own.
	Where Position
	// Params are all the fields of the entry, the name included: nil, bool,
	// float64, string, []any and map[string]any. Treat them as read-only.
	Params map[string]any
	// Props is the member props, as JSON with its members in the order of the file;
	// nil if there is none.
	Props json.RawMessage
	// Var is the variable or secret that stands on env; nil for anything else.
	Var *Var
}

// Param returns a string parameter, "" if it is missing or not a string.
func (b Binding) Param(name string) string {
	s, _ := b.Params[name].(string)
	return s
}

// Detail is what start-up shows of a binding beside its name and kind.
func (b Binding) Detail() string {
	if b.Var != nil {
		return b.Var.Display()
	}
	if k := binding.Lookup(b.Kind); k != nil {
		for _, name := range k.Detail {
			if text := b.Param(name); text != "" {
				return text
			}
		}
	}
	return ""
}

// Env is everything that stands on env, in the order of its properties: variables
// first, objects before texts, then bindings as miniflare's plugins put them there.
func (p *Project) Env() []Binding {
	var objects, texts []Binding
	for _, v := range p.variables() {
		if _, text := v.Var.Text(); text {
			texts = append(texts, v)
		} else {
			objects = append(objects, v)
		}
	}
	bindings := slices.Clone(p.Bindings)
	slices.SortStableFunc(bindings, func(a, b Binding) int { return binding.CompareMade(a.Kind, b.Kind) })
	return slices.Concat(objects, texts, bindings)
}

// Listed is everything that stands on env, as start-up lists it: bindings by kind,
// then variables.
func (p *Project) Listed() []Binding { return slices.Concat(p.Bindings, p.variables()) }

func (p *Project) variables() []Binding {
	out := make([]Binding, len(p.Vars))
	for i := range p.Vars {
		out[i] = Binding{Kind: "vars", Name: p.Vars[i].Name, Section: "vars." + p.Vars[i].Name, Where: p.Vars[i].Where, Var: &p.Vars[i]}
	}
	return out
}

// Attachment is something that config attaches to the worker without putting
// it on env: a queue consumer, a tail worker, a container. Immutable after Load.
type Attachment struct {
	// Section is where the file has it, without the environment:
	// "queues.consumers[0]", "containers[0]".
	Section string
	// Kind is the kind of binding whose section has it; "" if none has.
	Kind binding.ID
	// Offered is false for what the worker runs without.
	Offered bool
	// Title is what it is, for people: "queue consumer".
	Title string
	// Where points at the entry.
	Where Position
	// Params are the fields of the entry, as in Binding. Read-only.
	Params map[string]any
}

// decodeBindings lists what the selected environment puts on env, and what it
// attaches beside it.
func decodeBindings(rep *report, sel *selection) (bindings []Binding, attachments []Attachment) {
	for _, k := range binding.Kinds() {
		top := sel.field(k.Key)
		if k.Bindings != nil {
			n, section := member(top, k.Key, k.Bindings.At)
			bindings = append(bindings, decodeKind(rep, sel, k, n, section)...)
		}
		for _, a := range k.Attachments {
			list, section := member(top, k.Key, a.At)
			attachments = append(attachments, decodeAttachments(list, section, k.ID, a)...)
		}
	}
	events, section := member(sel.field("triggers"), "triggers", "events")
	attachments = append(attachments, decodeAttachments(events, section, "", binding.Attachment{Title: "event trigger"})...)
	return bindings, attachments
}

// member is the value of a member of a section, and its path; the section itself
// for "".
func member(n *node, section, name string) (*node, string) {
	if name == "" {
		return n, section
	}
	return n.get(name), section + "." + name
}

func decodeAttachments(list *node, section string, kind binding.ID, a binding.Attachment) (out []Attachment) {
	for i, entry := range list.elements() {
		out = append(out, Attachment{
			Section: fmt.Sprintf("%s[%d]", section, i), Kind: kind, Title: a.Title, Where: entry.where(), Params: params(entry),
			Offered: a.Offered,
		})
	}
	return out
}

// decodeKind reads the bindings of one kind: an array of objects, one object, or
// an object that has files by the names of their bindings.
func decodeKind(rep *report, sel *selection, k *binding.Kind, n *node, section string) (out []Binding) {
	if k.Bindings.Fixed != "" {
		if n == nil || n.kind != kindObject {
			return nil
		}
		b := Binding{Kind: k.ID, Name: k.Bindings.Fixed, Section: section, Where: n.where(), Params: params(n)}
		if folder := n.get(k.Bindings.Folder); folder.str() != "" {
			b.Params[k.Bindings.Folder] = sel.abs(folder.str())
		}
		return []Binding{b}
	}
	if k.Bindings.Name == "" {
		for _, m := range n.entries() {
			out = append(out, Binding{
				Kind: k.ID, Name: m.key, Section: section + "." + m.key, Where: m.where(),
				Params: map[string]any{"path": sel.abs(m.str())},
			})
		}
		return out
	}
	add := func(section string, entry *node) {
		name := entry.get(k.Bindings.Name)
		if name.str() == "" {
			return
		}
		b := Binding{Kind: k.ID, Name: name.text, Section: section, Where: name.where(), Params: params(entry)}
		if props := entry.get("props"); props != nil {
			b.Props = props.json()
		}
		if named := binding.Lookup(binding.ID(entry.get("type").str())); k.ID == unsafeKind && named != nil && named.Unsafe {
			b.Kind = named.ID
			(&checker{rep: rep}).check(section, entry, declaredUnsafe(named))
		}
		out = append(out, b)
	}
	if n != nil && n.kind == kindObject {
		add(section, n)
	}
	for i, entry := range n.elements() {
		add(fmt.Sprintf("%s[%d]", section, i), entry)
	}
	return out
}

// unsafeKind is the section whose entries name their kind themselves.
const unsafeKind = "unsafe"

// declaredUnsafe is the schema of a kind's entry among unsafe.bindings.
func declaredUnsafe(k *binding.Kind) *schema {
	entry := *compile(k.Schema.Items)
	entry.fields = maps.Clone(entry.fields)
	entry.fields["type"] = field{schema: aString, required: true}
	return &entry
}

// params returns the members of an entry as plain values; empty for anything
// but an object.
func params(entry *node) map[string]any {
	if entry == nil || entry.kind != kindObject {
		return map[string]any{}
	}
	return entry.value().(map[string]any)
}

// checkUniqueNames reports two things on env with one name. wrangler refuses
// them, because the worker could see only one.
func checkUniqueNames(rep *report, sel *selection, bindings []Binding) {
	taken := map[string]Binding{}
	claim := func(b Binding) {
		first, dup := taken[b.Name]
		if !dup {
			taken[b.Name] = b
			return
		}
		rep.add(sel.at(b.Where, SeverityError,
			fmt.Sprintf("env.%s is taken: %s has it as %s", b.Name, first.Where, first.Kind.Title()),
			"give the two bindings different names"))
	}
	for _, m := range sel.field("vars").entries() {
		claim(Binding{Kind: "environment variable", Name: m.key, Where: m.where()})
	}
	for _, b := range bindings {
		claim(b)
	}
	for _, s := range sel.field("secrets").get("required").elements() {
		if s.kind == kindString {
			claim(Binding{Kind: "secret", Name: s.text, Where: s.where()})
		}
	}
}
