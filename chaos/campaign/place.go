package campaign

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/config"
)

// Place is where in the source of the worker a fault struck.
type Place struct {
	// Point is the label of the effect point, What what the source did there: "not
	// committed", "committed last", "not sent" or "sent".
	Point string `json:"point"`
	What  string `json:"what"`
	// Sites are statements and places, "INSERT INTO t … at add (src/worker.ts:12:7)".
	Sites []string `json:"sites"`
	// Frame are the lines of source around the first of them; "" where its file cannot be
	// read.
	Frame string `json:"frame,omitempty"`
}

// String is the place on a line.
func (p Place) String() string {
	return p.What + ": " + strings.Join(p.Sites, "; ")
}

// siteEnd is where a site lies.
var siteEnd = regexp.MustCompile(`\(([^()]+):(\d+):(\d+)\)$`)

// frame is the source at a site. Names of files are those of the project in dir.
func frame(dir, site string) string {
	m := siteEnd.FindStringSubmatch(site)
	if m == nil {
		return ""
	}
	file := m[1]
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	source, err := os.ReadFile(file)
	line, lineErr := strconv.Atoi(m[2])
	column, columnErr := strconv.Atoi(m[3])
	if err != nil || lineErr != nil || columnErr != nil {
		return "" // a bundle's module, or one that is gone: the site says its name
	}
	return config.CodeFrame(source, line, column)
}

// What a place can say.
const (
	notCommitted  = "not committed"
	committedLast = "committed last"
	notSent       = "not sent"
	sent          = "sent"
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
			if n = pointOf(f, points); n < 0 {
				continue
			}
		}
		r.struck = append(r.struck, r.framed(placesAt(points, n))...)
	}
}

// framed adds the source to places.
func (r *caseRun) framed(places []Place) []Place {
	for i, p := range places {
		places[i].Frame = frame(filepath.Dir(r.camp.config), p.Sites[0])
	}
	return places
}

// placesOf is where the faults of a case struck that r, whose points say where they come
// from, was run in place of.
func (r *caseRun) placesOf(like Case) (out []Place) {
	for life, k := range like.Kills {
		if life >= len(r.points) {
			break
		}
		points := r.points[life]
		n := slices.IndexFunc(points, func(p process.Point) bool { return p.Label == k.Point })
		out = append(out, r.framed(placesAt(points, n))...)
	}
	return out
}

// pointOf is the index of the point of a fault, -1 if it was not passed.
func pointOf(f fault.Fault, points []process.Point) int {
	target, err := killpoint.ParseTarget(f.Point)
	if err != nil {
		return -1
	}
	for i, p := range points {
		at, err := killpoint.ParseLabel(p.Label)
		if at.Number = p.N; err == nil && target(at) {
			return i
		}
	}
	return -1
}

// placesAt says what the source did at the nth point, and what was committed last before it.
func placesAt(points []process.Point, n int) (out []Place) {
	for i := n; i >= 0; i-- {
		p := points[i]
		at, err := killpoint.ParseLabel(p.Label)
		if err != nil || p.Site == "" {
			continue
		}
		what := ""
		switch commit := at.Kind == killpoint.Commit; {
		case commit && at.Side == killpoint.After:
			what = committedLast
		case i < n:
			continue
		case commit:
			what = notCommitted
		case at.Side == killpoint.Before:
			what = notSent
		default:
			what = sent
		}
		out = append(out, Place{Point: p.Label, What: what, Sites: strings.Split(p.Site, "\n")})
		if what == committedLast {
			break
		}
	}
	return out
}
