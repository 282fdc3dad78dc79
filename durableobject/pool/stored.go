package pool

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"minido.dev/minido/sqlstore"
)

// ErrNoFacet is of a facet that has no database.
var ErrNoFacet = errors.New("no such facet is stored")

// StoredFacet is a facet that has a database, with those below it.
type StoredFacet struct {
	Name   string
	File   string
	Bytes  int64
	Facets []StoredFacet
}

// Facets lists the facets of the object that have databases, whether they run or not, in
// the order in which they were made. Safe for concurrent use.
func (r Ref) Facets() ([]StoredFacet, error) {
	root := &facetRoot{entry: r.e, base: strings.TrimSuffix(r.File(), ".sqlite")}
	list, err := root.list()
	if err != nil {
		return nil, err
	}
	return root.stored(list, 0)
}

func (r *facetRoot) stored(list []sqlstore.Facet, parent int) (out []StoredFacet, err error) {
	for _, f := range list {
		if f.Parent != parent {
			continue
		}
		info, err := os.Stat(r.path(f.ID))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was deleted
		}
		if err != nil {
			return nil, err
		}
		below, err := r.stored(list, f.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, StoredFacet{f.Name, r.path(f.ID), info.Size(), below})
	}
	return out, nil
}

// FacetFile is the database of a facet, by the names that lead to it from the object. The
// error is ErrNoFacet where there is none. Safe for concurrent use.
func (r Ref) FacetFile(names []string) (file string, err error) {
	level, err := r.Facets()
	if err != nil {
		return "", err
	}
names:
	for _, name := range names {
		for _, f := range level {
			if f.Name == name {
				file, level = f.File, f.Facets
				continue names
			}
		}
		return "", ErrNoFacet
	}
	return file, nil
}
