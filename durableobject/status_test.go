package durableobject

import (
	"reflect"
	"testing"

	"minido.dev/minido/runtime/event"
)

// A facet that has ended is not among those that run, nor is one that starts.
func TestRunningFacets(t *testing.T) {
	child := func(class string, inner ...*facet) *Object {
		o := &Object{opts: Options{Class: class}}
		o.facets = facetTree{o, map[string]*facet{}}
		for _, f := range inner {
			o.facets.byName[f.name] = f
		}
		return o
	}
	parent := child("P",
		&facet{name: "runs", object: child("A", &facet{name: "inner", object: child("B")})},
		&facet{name: "starts", starting: true},
		&facet{name: "failed", object: child("C"), broken: &event.Error{Message: "aborted"}})
	want := []FacetStatus{{Name: "runs", Class: "A", Facets: []FacetStatus{{Name: "inner", Class: "B"}}}}
	if got := parent.facets.running(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
