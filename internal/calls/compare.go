package calls

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"minido.dev/minido/internal/lazyregexp"
)

//go:embed data/known.txt
var knownLines string

// Difference is calls of which the two runtimes say different things in the same way.
type Difference struct {
	Calls []Differing // in the order of the worker
}

// Differing is one such call.
type Differing struct{ Call, Want, Got string }

// Known is a difference that there is a reason for: of calls whose source, whose
// outcome in the reference and whose outcome here match.
type Known struct {
	Why             string
	call, want, got *regexp.Regexp
}

// Differences are the calls whose outcomes differ, without those that are known, in
// groups of the same form, the largest first. Names, numbers and times that no two runs
// have in common are no difference. excused counts the calls that each known difference
// excused.
func Differences(calls []Case, want, got map[string]string, known []Known) (groups []Difference, excused map[string]int) {
	excused = map[string]int{}
	at := map[string]int{}
	for _, c := range calls {
		w, g := want[c.Source], got[c.Source]
		if Same(w, g) {
			continue
		}
		if i := slices.IndexFunc(known, func(k Known) bool {
			return k.call.MatchString(c.Source) && k.want.MatchString(w) && k.got.MatchString(g)
		}); i >= 0 {
			excused[known[i].Why]++
			continue
		}
		form := formOf(w) + "\n" + formOf(g)
		i, ok := at[form]
		if !ok {
			i = len(groups)
			at[form], groups = i, append(groups, Difference{})
		}
		groups[i].Calls = append(groups[i].Calls, Differing{c.Source, w, g})
	}
	slices.SortStableFunc(groups, func(a, b Difference) int { return len(b.Calls) - len(a.Calls) })
	return groups, excused
}

// Same reports whether two outcomes are alike but for what is another in every run.
func Same(a, b string) bool { return settled(a) == settled(b) }

// changing is what is another in every run, and what stands for it.
var changing = []struct {
	of *lazyregexp.Regexp
	as string
}{
	{lazyregexp.New(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UUID"},
	{lazyregexp.New(`[0-9a-f]{32,64}`), "HEX"},
	{lazyregexp.New(`\d{4}-\d\d-\d\dT[\d:.]+Z`), "TIME"},
	{lazyregexp.New(`\b1[6-9]\d{11}\b`), "MS"},
	{lazyregexp.New(`\b(duration|sql_duration_ms|size_after|timeMs|uploadId|version):[^,}]*`), "$1:_"},
}

func settled(text string) string {
	for _, c := range changing {
		text = c.of.ReplaceAllString(text, c.as)
	}
	return text
}

var (
	inQuotes = lazyregexp.New(`"(?:[^"\\]|\\.)*"|'[^']*'`)
	digits   = lazyregexp.New(`[0-9.]*[0-9]`)
)

// formOf is an outcome without its texts and numbers.
func formOf(outcome string) string {
	form := digits.ReplaceAllString(inQuotes.ReplaceAllString(settled(outcome), "T"), "N")
	return form[:min(len(form), 110)]
}

// KnownDifferences are those of data/known.txt: blocks of lines, the first "// why", the
// others "call:", "reference:" and "minido:" with a regular expression each; one that
// is not there matches everything.
func KnownDifferences() (known []Known, err error) {
	for i, block := range strings.Split(strings.TrimSpace(knownLines), "\n\n") {
		k := Known{call: regexp.MustCompile(""), want: regexp.MustCompile(""), got: regexp.MustCompile("")}
		for line := range strings.SplitSeq(block, "\n") {
			if why, ok := strings.CutPrefix(line, "// "); ok {
				k.Why = strings.TrimSpace(k.Why + " " + why)
				continue
			}
			what, expression, _ := strings.Cut(line, ": ")
			into := map[string]**regexp.Regexp{"call": &k.call, "reference": &k.want, "minido": &k.got}[what]
			if into == nil {
				return nil, fmt.Errorf("calls: data/known.txt, block %d: %q", i+1, line)
			}
			if *into, err = regexp.Compile(expression); err != nil {
				return nil, fmt.Errorf("calls: data/known.txt, block %d: %w", i+1, err)
			}
		}
		if k.Why == "" {
			return nil, fmt.Errorf("calls: data/known.txt, block %d has no reason", i+1)
		}
		known = append(known, k)
	}
	return known, nil
}

// Report is the groups as text: of each how many calls, and the first few.
func Report(groups []Difference, each int) string {
	var sb strings.Builder
	for _, g := range groups {
		fmt.Fprintf(&sb, "== %d\n", len(g.Calls))
		for _, d := range g.Calls[:min(len(g.Calls), each)] {
			fmt.Fprintf(&sb, "   %s\n      reference: %s\n      minido:    %s\n", cut(d.Call, 300), cut(d.Want, 400), cut(d.Got, 400))
		}
	}
	return sb.String()
}

func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return text[:n] + "…"
}
