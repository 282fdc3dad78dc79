// Package place finds the place in a worker's source at which a fault struck, from the
// effect points that a life has passed. All of it is safe for concurrent use.
package place

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/lazyregexp"
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
var siteEnd = lazyregexp.New(`\(([^()]+):(\d+):(\d+)\)$`)

// Framed adds to places the source at them. Names of files are those of the project in dir.
func Framed(dir string, places []Place) []Place {
	for i, p := range places {
		places[i].Frame = frame(dir, p.Sites[0])
	}
	return places
}

// frame is the source at a site.
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

// PointOf is the index of the point of a fault, -1 if it was not passed.
func PointOf(f fault.Fault, points []process.Point) int {
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

// At says what the source did at the nth point, and what was committed last before it.
func At(points []process.Point, n int) (out []Place) {
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
