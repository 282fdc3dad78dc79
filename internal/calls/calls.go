// Package calls generates a worker that calls the whole API of a worker with unusual
// arguments: functions, constructors, methods, getters and setters of the web
// platform, of node: modules, of ECMAScript and of bindings, at random from a seed.
// Two runtimes are compared by what each call gives. Each call is written out in the
// source, since texts of errors show it. Only tests import this package.
package calls

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"minido.dev/minido/internal/entropy"
)

//go:embed js/worker.js
var worker string

//go:embed data/arguments.txt
var argumentLines string

//go:embed data/receivers.txt
var receiverLines string

// Where a call is made, which decides what it may name.
const (
	Plain  = "plain"  // of the web platform, of modules, of the language
	Bound  = "bound"  // in a handler: env and ctx
	Object = "object" // in a Durable Object: state
)

// Places are where calls are made, each at a path of the worker.
var Places = []string{Plain, Bound, Object}

// Member is one thing that can be called. The worker of Surface lists them.
type Member struct {
	Place string // Plain, Bound or Object
	Of    string // the receiver's name, "" for what needs none
	Name  string // as source: a property's name, "[Symbol.iterator]" or a path such as "util.format"
	Kind  string // "call", "new", "get" or "set"
}

// Case is one call.
type Case struct {
	Place  string
	Source string // the call, as the worker has it
}

// Program is a worker and its calls. A request for /PLACE?from=N&to=M answers with a
// line of JSON for each of these calls of a place: [source, outcome].
type Program struct {
	Source string
	Cases  map[string][]Case // by place
}

// receiver is what members are called on: an expression that makes it.
type receiver struct{ place, name, source string }

// Surface is a worker that answers /surface with the members of the API as a runtime has them:
// a JSON list of Member. Names that Skipped matches are left out.
func Surface() string { return assemble(nil) }

// Draw makes n calls of members, each of a member that others have not had yet while
// there are such.
func Draw(seed uint64, members []Member, n int) Program {
	d := &dice{entropy.NewSeeded(seed)}
	order := make([]Member, len(members))
	for i, at := range d.shuffled(len(members)) {
		order[i] = members[at]
	}
	seen := map[Case]bool{}
	p := Program{Cases: map[string][]Case{}}
	sources := map[string]string{}
	for _, r := range receivers() {
		sources[r.place+" "+r.name] = r.source
	}
	for i := range n {
		m := order[i%len(order)]
		c := Case{m.Place, d.call(m, sources[m.Place+" "+m.Of])}
		if !seen[c] {
			seen[c] = true
			p.Cases[m.Place] = append(p.Cases[m.Place], c)
		}
	}
	p.Source = assemble(p.Cases)
	return p
}

// call writes a call of a member.
func (d *dice) call(m Member, receiver string) string {
	at := "." + m.Name
	if strings.HasPrefix(m.Name, "[") {
		at = m.Name
	}
	switch {
	case m.Of == "" && m.Kind == "new":
		return "new " + m.Name + d.arguments(m.Place)
	case m.Of == "" && m.Kind == "call":
		return m.Name + d.arguments(m.Place)
	case m.Of == "":
		return m.Name
	case m.Kind == "get":
		return "{ const o = " + receiver + "; return o" + at + " }"
	case m.Kind == "set":
		return "{ const o = " + receiver + "; o" + at + " = " + d.argument(m.Place) + "; return o" + at + " }"
	}
	return "{ const o = " + receiver + "; return o" + at + d.arguments(m.Place) + " }"
}

// arguments are none to three, in parentheses.
func (d *dice) arguments(place string) string {
	given := make([]string, [...]int{0, 1, 1, 1, 2, 2, 2, 3}[d.n(8)])
	for i := range given {
		given[i] = d.argument(place)
	}
	return "(" + strings.Join(given, ", ") + ")"
}

// argument is one of all, of those for bindings as often as of the others.
func (d *dice) argument(place string) string {
	general, bindings := sections(argumentLines)
	if place != Plain && d.n(2) == 0 {
		return bindings[d.n(len(bindings))]
	}
	return general[d.n(len(general))]
}

// sections are the lines of a file before and after the line "-- bindings".
func sections(text string) (general, bindings []string) {
	before, after, _ := strings.Cut(text, "-- bindings\n")
	return lines(before), lines(after)
}

// lines are those of text that are neither empty nor comments.
func lines(text string) (kept []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && !strings.HasPrefix(line, "//") {
			kept = append(kept, line)
		}
	}
	return kept
}

// receivers are the lines "PLACE NAME SOURCE" of data/receivers.txt.
func receivers() (all []receiver) {
	for _, line := range lines(receiverLines) {
		place, rest, _ := strings.Cut(line, " ")
		name, source, ok := strings.Cut(rest, " ")
		if !ok {
			panic(fmt.Sprintf("calls: data/receivers.txt: %q", line))
		}
		all = append(all, receiver{place, name, source})
	}
	return all
}

// assemble puts the receivers and the calls into the worker.
func assemble(cases map[string][]Case) string {
	var made strings.Builder
	made.WriteString("const receivers = {\n")
	for _, place := range Places {
		fmt.Fprintf(&made, "%s: [\n", place)
		for _, r := range receivers() {
			if r.place == place {
				fmt.Fprintf(&made, "[%s, (env, ctx, state) => %s],\n", quoted(r.name), r.source)
			}
		}
		made.WriteString("],\n")
	}
	made.WriteString("};\nconst cases = {\n")
	for _, place := range Places {
		fmt.Fprintf(&made, "%s: [\n", place)
		for _, c := range cases[place] {
			body := c.Source
			if !strings.HasPrefix(body, "{ const o = ") {
				body = "{ return " + body + " }"
			}
			fmt.Fprintf(&made, "[%s, (env, ctx, state) => %s],\n", quoted(c.Source), body)
		}
		made.WriteString("],\n")
	}
	made.WriteString("};\n")
	return strings.Replace(worker, "/* RECEIVERS AND CASES */\n", made.String(), 1)
}

func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// dice makes the choices. Confined to its call.
type dice struct{ random *entropy.Seeded }

func (d *dice) n(n int) int { return int(d.random.Uint64() % uint64(n)) }

// shuffled are the numbers below n in some order.
func (d *dice) shuffled(n int) []int {
	order := make([]int, n)
	for i := range order {
		j := d.n(i + 1)
		order[i], order[j] = order[j], i
	}
	return order
}
