package symptom

import (
	"testing"

	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/durableobject/objectid"
)

// People read what a finding means, and the names of objects that the run knows.
func TestReadable(t *testing.T) {
	short := func(name string) string { return objectid.NewNamespace("shop-Cart").FromName(name).String()[:8] }
	v := check.Violation{Checker: Differential, Invariant: "missing", Text: "at rest shop-Cart/" + short("ann") + " items lacks id=1; shop-Cart/" + short("bob") + " items has id=2"}
	events := []history.Event{{Kind: history.Point, Text: "commit:before(Cart/ann)/rpc#1"}, {Kind: history.Point, Text: "commit:before(Part/bob)/rpc#1"}}
	names := Names([]check.Violation{v}, events)
	what, text := Readable(v, names)
	if what != "differential/missing (something that was acknowledged is not there)" || text != "at rest Cart/ann items lacks id=1; shop-Cart/"+short("bob")+" items has, and should not have, id=2" {
		t.Errorf("%s: %s", what, text)
	}
	if got := Of(v); len(got) != 2 || got[0] != "differential of shop-Cart items" {
		t.Errorf("its cause: %v", got)
	}
	other := check.Violation{Checker: "effects", Invariant: "effect-once", Text: "shop-Cart/" + short("ann") + " came twice"}
	if names := Names([]check.Violation{other}, events); names != nil {
		t.Errorf("%v", names)
	}
	if what, text := Readable(other, nil); what+": "+text != other.String() {
		t.Errorf("%s: %s", what, text)
	}
}
