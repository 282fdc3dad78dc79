package campaign

import (
	"path/filepath"
	"slices"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/place"
	"minido.dev/minido/chaos/process"
)

// place notes where the faults of a life struck that passed these points.
func (r *caseRun) place(life fault.Plan, points []process.Point) {
	if r.explains {
		r.points = append(r.points, points)
	}
	for _, f := range life {
		n := len(points) - 1
		switch {
		case f.Upstream != nil || f.Deploy:
			continue
		case !f.IsKill():
			if n = place.PointOf(f, points); n < 0 {
				continue
			}
		}
		r.struck = append(r.struck, place.Framed(filepath.Dir(r.camp.config), place.At(points, n))...)
	}
}

// placesOf is where the faults of a case struck that r, whose points say where they come
// from, was run in place of.
func (r *caseRun) placesOf(like ranCase) (out []place.Place) {
	for life, k := range like.Kills {
		if life >= len(r.points) {
			break
		}
		points := r.points[life]
		n := slices.IndexFunc(points, func(p process.Point) bool { return p.Label == k.Point })
		out = append(out, place.Framed(filepath.Dir(r.camp.config), place.At(points, n))...)
	}
	return out
}
