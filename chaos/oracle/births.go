package oracle

import (
	"slices"
	"strings"
)

// Births are the newborn objects of a run without faults, which passes points and comes to
// rest as clean; at gives its state at one of the points.
func Births(points []string, clean State, at func(point string) (State, error)) (all []State, err error) {
	for i, constructed := range points {
		of, first := strings.CutSuffix(constructed, "start#1")
		object, committed := strings.CutPrefix(strings.TrimSuffix(of, ")/"), "commit:after(")
		if !first || !committed {
			continue
		}
		s, err := at(constructed)
		if err != nil {
			return nil, err
		}
		newborn := s.Newborn(object)
		if next := slices.IndexFunc(points[i+1:], func(l string) bool { return strings.HasPrefix(l, of) }); next >= 0 && clean.Newborn(object).agent() {
			if s, err = at(points[i+1+next]); err != nil {
				return nil, err
			}
			newborn.started = s.Newborn(object).tables
		}
		all = append(all, newborn)
	}
	return all, nil
}
