package coverage

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"minido.dev/minido/runtime/bundle/counting"
)

// Thresholds are coverage.thresholds: the least percentage of each kind, or as a negative
// number how many may be uncovered; "100", "perFile", "autoUpdate"; other keys are globs
// of files with thresholds of their own.
type Thresholds map[string]json.RawMessage

// thresholdSet are the thresholds of some files.
type thresholdSet struct {
	name  string // as messages have it
	files glob   // nil: all
	least map[string]float64
}

// sets reads the thresholds. The error names what is not understood.
func (t Thresholds) sets() (all []thresholdSet, err error) {
	global := thresholdSet{name: "global"}
	if global.least, err = leastOf(t); err != nil {
		return nil, err
	}
	all = append(all, global)
	if t.is("autoUpdate") {
		return nil, fmt.Errorf("coverage.thresholds.autoUpdate (the configuration is not written to)")
	}
	for _, key := range slices.Sorted(maps.Keys(t)) {
		if key == "100" || key == "perFile" || key == "autoUpdate" || slices.Contains(kinds, key) {
			continue
		}
		var own Thresholds
		if err := json.Unmarshal(t[key], &own); err != nil {
			return nil, fmt.Errorf("coverage.thresholds.%s", key)
		}
		set := thresholdSet{name: fmt.Sprintf("%q", key)}
		if set.least, err = leastOf(own); err != nil {
			return nil, err
		}
		if set.files, err = compile(key, false); err != nil {
			return nil, err
		}
		all = append(all, set)
	}
	return all, nil
}

// is reports whether an option is on.
func (t Thresholds) is(key string) bool {
	text := string(t[key])
	return text != "" && text != "false" && text != "null"
}

func leastOf(t Thresholds) (map[string]float64, error) {
	least := map[string]float64{}
	for _, kind := range kinds {
		if t.is("100") {
			least[kind] = 100
			continue
		}
		text := t[kind]
		if len(text) == 0 || string(text) == "null" {
			continue
		}
		var n float64
		if err := json.Unmarshal(text, &n); err != nil {
			return nil, fmt.Errorf("coverage.thresholds.%s: %s is no number", kind, text)
		}
		least[kind] = n
	}
	return least, nil
}

// Missed are vitest's messages about thresholds that were not reached. dir is the
// directory that files are named from.
func (r *Result) Missed(dir string) (messages []string, err error) {
	sets, err := r.Options.Thresholds.sets()
	if err != nil {
		return nil, err
	}
	perFile := r.Options.Thresholds.is("perFile")
	for _, set := range sets {
		files, err := r.matching(set.files)
		if err != nil {
			return nil, err
		}
		groups := [][]*counting.File{files}
		if perFile {
			groups = slices.Collect(slices.Chunk(files, 1))
		}
		for _, group := range groups {
			suffix := ""
			if perFile {
				name, err := filepath.Rel(dir, group[0].Path)
				if err != nil {
					return nil, fmt.Errorf("coverage: %w", err)
				}
				suffix = " for " + filepath.ToSlash(name)
			}
			for _, text := range set.missed(sum(group)) {
				messages = append(messages, text+suffix)
			}
		}
	}
	return messages, nil
}

// matching are the files of a glob of paths relative to the root.
func (r *Result) matching(g glob) (files []*counting.File, err error) {
	for _, f := range r.Files {
		name, err := filepath.Rel(r.Root, f.Path)
		if err != nil {
			return nil, fmt.Errorf("coverage: %w", err)
		}
		if g == nil || g.MatchString(filepath.ToSlash(name)) {
			files = append(files, f)
		}
	}
	return files, nil
}

func (t *thresholdSet) missed(s summary) (messages []string) {
	for _, kind := range kinds {
		least, set := t.least[kind]
		m := s[kind]
		switch {
		case !set:
		case least >= 0 && m.percent() < least:
			messages = append(messages, fmt.Sprintf("ERROR: Coverage for %s (%s%%) does not meet %s threshold (%s%%)", kind, m.text(), t.name, number(least)))
		case least < 0 && float64(m.total-m.covered) > -least:
			messages = append(messages, fmt.Sprintf("ERROR: Uncovered %s (%d) exceed %s threshold (%s)", kind, m.total-m.covered, t.name, number(-least)))
		}
	}
	return messages
}
