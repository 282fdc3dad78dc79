package check

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"minido.dev/minido/chaos/history"
)

// Model declares that calls behave as those of one register or counter.
type Model struct {
	// Kind is "register" or "counter".
	Kind string
	// Write is the call that writes its argument, or that adds it (1 without one)
	// and returns the sum; Read the call that returns the value. A call is named
	// by its method, or as "METHOD /path" of a request.
	Write, Read string
}

// String is the model's text form.
func (m Model) String() string { return m.Kind + "(" + m.Write + "," + m.Read + ")" }

// ParseModel reads counter(increment,get) or register(put,get).
func ParseModel(text string) (Model, error) {
	kind, rest, _ := strings.Cut(text, "(")
	write, read, both := strings.Cut(strings.TrimSuffix(rest, ")"), ",")
	if (kind != "register" && kind != "counter") || !both || write == "" || read == "" {
		return Model{}, fmt.Errorf("%q is no model: write counter(increment,get) or register(put,get) with the names of two calls", text)
	}
	return Model{Kind: kind, Write: strings.TrimSpace(write), Read: strings.TrimSpace(read)}, nil
}

// linearChecker holds the calls of each declared model against it: there must be
// one order of all calls that agrees with what they returned and with their
// times. A call whose answer was lost may have happened at any time since, or
// never (porcupine).
type linearChecker struct{}

// linearLimit bounds the search; what takes longer is not judged a violation.
const linearLimit = 5 * time.Second

func (linearChecker) Name() string { return "linearizable" }

func (linearChecker) Doc() Doc {
	return Doc{"calls that `--model 'counter(add,get)'` or `'register(put,get)'` declares", []Invariant{
		{"counter", "one order of all calls explains their answers; a call whose answer was lost may or may not have happened"},
		{"register", "one order of all reads and writes explains their answers; a call whose answer was lost may or may not have happened"},
	}}
}

func (linearChecker) Applies(e Evidence) bool { return len(e.Models) > 0 }

func (c linearChecker) Check(e Evidence) []Violation {
	var out []Violation
	for _, m := range e.Models {
		byObject, objects := operations(m, e.Events)
		for _, object := range objects {
			ops := byObject[object]
			if porcupine.CheckOperationsTimeout(m.porcupine(), ops, linearLimit) == porcupine.Illegal {
				out = append(out, Violation{c.Name(), m.Kind, fmt.Sprintf("%s%s: no order of these calls explains their answers: %s", m, object, describeOps(ops))})
			}
		}
	}
	return out
}

// call is the input of an operation, answer its output.
type call struct {
	read bool
	arg  string
}

type answer struct {
	known bool
	value string
}

// operations are the model's calls, by object, in order.
func operations(m Model, events []history.Event) (byObject map[string][]porcupine.Operation, objects []string) {
	byObject = map[string][]porcupine.Operation{}
	where, begun := map[string]string{}, map[string]history.Event{}
	clients := map[string]int{}
	add := func(e history.Event, until int64, out answer) {
		begin := begun[e.Op]
		delete(begun, e.Op)
		in := call{read: begin.Text == m.Read, arg: firstArg(begin.Data)}
		if in.read && !out.known {
			return // it tells nothing
		}
		object := where[begin.Who]
		if byObject[object] == nil {
			objects = append(objects, object)
		}
		// Each operation is a client of its own: a lost one overlaps its successors.
		clients[object]++
		byObject[object] = append(byObject[object], porcupine.Operation{ClientId: clients[object], Input: in, Call: int64(begin.N), Output: out, Return: until})
	}
	var order []string
	for _, e := range events {
		switch e.Kind {
		case history.Connect:
			where[e.Who] = " of " + e.Text
		case history.Call:
			if e.Text == m.Write || e.Text == m.Read {
				begun[e.Op] = e
				order = append(order, e.Op)
			}
		case history.Return:
			if _, ours := begun[e.Op]; ours {
				add(e, int64(e.N), answer{true, strings.TrimSpace(string(e.Data))})
			}
		}
	}
	for _, op := range order { // lost, refused or never answered
		if e, open := begun[op]; open {
			add(e, math.MaxInt64, answer{})
		}
	}
	return byObject, objects
}

func firstArg(data json.RawMessage) string {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil {
		if len(list) == 0 {
			return ""
		}
		return string(list[0])
	}
	return string(data)
}

// porcupine is the model as the library's. The state is the value as JSON text.
func (m Model) porcupine() porcupine.Model {
	initial := "null"
	if m.Kind == "counter" {
		initial = "0"
	}
	return porcupine.Model{
		Init: func() any { return initial },
		Step: func(state, input, output any) (bool, any) {
			value, in, out := state.(string), input.(call), output.(answer)
			if in.read {
				return sameValue(out.value, value), value
			}
			if m.Kind == "register" {
				return true, in.arg
			}
			next := add(value, in.arg)
			return !out.known || sameValue(out.value, next), next
		},
	}
}

func sameValue(a, b string) bool {
	return a == b || a == "" && b == "null" || a == "null" && b == ""
}

// add is the sum of two JSON numbers; an argument of "" is 1.
func add(a, b string) string {
	if b == "" {
		b = "1"
	}
	var x, y float64
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return "NaN" // no call can have returned it
	}
	sum, err := json.Marshal(x + y)
	if err != nil {
		return "NaN"
	}
	return string(sum)
}

func describeOps(ops []porcupine.Operation) string {
	var parts []string
	for _, op := range ops {
		in, out := op.Input.(call), op.Output.(answer)
		text := "write(" + in.arg + ")"
		if in.read {
			text = "read()"
		}
		if out.known {
			text += " = " + out.value
		} else {
			text += " = lost"
		}
		parts = append(parts, text)
	}
	const most = 12
	if len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("and %d more", len(parts)-most))
	}
	return strings.Join(parts, ", ")
}
