package symptom

import (
	"strings"

	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/lazyregexp"
)

// meanings are what the findings of a comparison mean, for people who have not read
// docs/chaos.md.
var meanings = map[string]string{
	"missing":  "something that was acknowledged is not there",
	"twice":    "something is there more often than it was asked for",
	"half":     "a request that the fault has cut is neither done nor undone",
	"diverged": "something is there otherwise than without the fault",
	"orphaned": "something is left over that nothing should have left",
	"error":    "a request fails that succeeds without the fault",
	"hang":     "what comes to rest without the fault does not",
	"told":     "what is stored is right, and a client is told something else",
}

// byID is an object in the text of a comparison: its namespace and the first digits of its id.
var byID = lazyregexp.New(`([^\s/]+)/([0-9a-f]{8})\b`)

// Names are the objects that the texts of comparisons speak of by their ids, by what stands
// there, as their labels "Class/name": those that did something in the run. Nil for none.
func Names(found []check.Violation, events []history.Event) map[string]string {
	var names map[string]string
	for _, v := range found {
		if v.Checker != Differential {
			continue
		}
		for _, object := range byID.FindAllStringSubmatch(v.Text, -1) {
			if label := labelOf(object[1], object[2], events); label != "" {
				if names == nil {
					names = map[string]string{}
				}
				names[object[0]] = label
			}
		}
	}
	return names
}

// labelOf is the label of an object by its namespace and the first digits of its id, "" if no
// effect point is one of it.
func labelOf(space, digits string, events []history.Event) string {
	ids, asked := objectid.NewNamespace(space), map[string]bool{}
	for _, e := range events {
		if e.Kind != history.Point {
			continue
		}
		at, err := killpoint.ParseLabel(e.Text)
		class, name, _ := strings.Cut(at.Object, "/")
		if err != nil || asked[at.Object] || !strings.HasSuffix(space, "-"+class) {
			continue
		}
		asked[at.Object] = true
		if strings.HasPrefix(ids.FromName(name).String(), digits) {
			return at.Object
		}
	}
	return ""
}

// wrongly is which side has a row, in the text of a comparison of what is stored.
var wrongly = lazyregexp.New(`((?:^at rest |; )\S+ (?:\(key\) )?\S+ )has `)

// Readable is a violation for people: what its kind means, and its objects by the names of
// Names.
func Readable(v check.Violation, names map[string]string) (what, text string) {
	what = v.Key()
	if v.Checker == Differential && meanings[v.Invariant] != "" {
		what += " (" + meanings[v.Invariant] + ")"
	}
	text = v.Text
	if v.Checker == Differential {
		text = wrongly.ReplaceAllString(text, "${1}has, and should not have, ")
	}
	return what, byID.ReplaceAllStringFunc(text, func(object string) string {
		if label := names[object]; label != "" {
			return label
		}
		return object
	})
}
