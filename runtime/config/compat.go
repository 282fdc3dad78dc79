package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// LatestCompatibilityDate is the newest date whose behaviour the flag table
// knows: the "supportedCompatibilityDate" of workerd 1.20261117. A worker that
// asks for a later one gets this one, with a warning, as under miniflare.
const LatestCompatibilityDate = "2026-11-24"

// DefaultCompatibilityDate counts when a project names none; wrangler 4.164
// uses the same.
const DefaultCompatibilityDate = "2026-11-17"

// compatFlag is one row of workerd's compatibility flag table.
type compatFlag struct {
	enable, disable string // the names that switch it on and off; disable may be ""
	date            string // on by default from this compatibility date; "" for never
	impliedBy       string // on when one of these (comma-separated enable names) is on ...
	impliedDate     string // ... and the compatibility date is this or later
	experimental    bool   // workerd wants --experimental, which its dev tools pass
}

// CompatFlagState is one compatibility flag as it applies to a project.
type CompatFlagState struct {
	Name string // the enabling name
	On   bool
	// Why says what decided: "flag", "date", "implied" or "default".
	Why string
	// Experimental flags can change without notice; production refuses them.
	Experimental bool
}

// compatSet is a resolved set of flags. Immutable after resolveCompat.
type compatSet struct {
	date  string
	asked []string // compatibility_flags
}

// validCompatDate reports whether s is a date as workerd takes it: YYYY-MM-DD,
// month 1-12, day 1-31, year not 0. It does not know the lengths of months,
// because workerd does not.
func validCompatDate(s string) bool {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return false
	}
	digits := s[:4] + s[5:7] + s[8:]
	if strings.Trim(digits, "0123456789") != "" {
		return false
	}
	year, _ := strconv.Atoi(s[:4]) // digits only, as checked above
	month, _ := strconv.Atoi(s[5:7])
	day, _ := strconv.Atoi(s[8:])
	return year > 0 && month >= 1 && month <= 12 && day >= 1 && day <= 31
}

// compatibilityDate is the schema of the key of that name.
var compatibilityDate = (&schema{types: tString}).with(func(c *checker, path string, n *node) {
	if validCompatDate(n.text) {
		return
	}
	hint := fmt.Sprintf("for example %q", DefaultCompatibilityDate)
	plain := strings.NewReplacer("–", "-", "—", "-", "/", "-", ".", "-").Replace(strings.TrimSpace(n.text))
	if i := strings.IndexAny(plain, "T "); i > 0 {
		plain = plain[:i]
	}
	if parts := strings.Split(plain, "-"); len(parts) == 3 && len(parts[1]) <= 2 && len(parts[2]) <= 2 {
		plain = fmt.Sprintf("%s-%02s-%02s", parts[0], parts[1], parts[2])
	}
	if validCompatDate(plain) {
		hint = fmt.Sprintf("write %q", plain)
	}
	c.rep.errorAt(n, hint, "%q must be a date of the form YYYY-MM-DD, but is %s", path, n.brief())
})

// compatIndex finds rows of compatFlags by either name. Immutable.
var compatIndex = func() map[string]int {
	index := make(map[string]int, 2*len(compatFlags))
	for i, f := range compatFlags {
		index[f.enable] = i
		if f.disable != "" {
			index[f.disable] = i
		}
	}
	return index
}()

// lookupCompat finds a row by either of its names.
func lookupCompat(name string) (flag compatFlag, enables, found bool) {
	i, found := compatIndex[name]
	if !found {
		return compatFlag{}, false, false
	}
	return compatFlags[i], compatFlags[i].enable == name, true
}

// on decides one flag; depth guards against a cycle in the table.
func (s compatSet) on(f compatFlag, depth int) (bool, string) {
	switch {
	case f.disable != "" && slices.Contains(s.asked, f.disable):
		return false, "flag"
	case slices.Contains(s.asked, f.enable):
		return true, "flag"
	case f.date != "" && s.date >= f.date:
		return true, "date"
	}
	if f.impliedBy != "" && s.date >= f.impliedDate && depth < 8 {
		for _, name := range strings.Split(f.impliedBy, ",") {
			if by, enables, ok := lookupCompat(name); ok && enables {
				if yes, _ := s.on(by, depth+1); yes {
					return true, "implied"
				}
			}
		}
	}
	return false, "default"
}

// resolveCompat reads date and flags of the selection, reporting what workerd
// would refuse. A flag that the table does not know warns: it may be newer
// than the table.
func resolveCompat(rep *report, sel *selection) (date string, flags []string) {
	date = sel.field("compatibility_date").str()
	switch {
	case sel.top != nil && sel.field("compatibility_date") == nil:
		rep.add(NewDiagnostic(SeverityWarning, Position{File: sel.src.file}, nil,
			"no compatibility_date; "+DefaultCompatibilityDate+" is used",
			"add it, so that a later minido behaves the same: \"compatibility_date\": \""+DefaultCompatibilityDate+"\""))
		date = DefaultCompatibilityDate
	case !validCompatDate(date): // a bare worker has none, and the schema has reported a bad one
		date = DefaultCompatibilityDate
	case date > LatestCompatibilityDate:
		rep.warnAt(sel.field("compatibility_date"), "",
			"compatibility_date %q is later than %s, the latest that minido knows; %s is used",
			date, LatestCompatibilityDate, LatestCompatibilityDate)
		date = LatestCompatibilityDate
	}
	asked := map[string]*node{}
	for _, n := range sel.field("compatibility_flags").elements() {
		name := n.str()
		if name == "" {
			continue
		}
		f, enables, known := lookupCompat(name)
		switch {
		case asked[name] != nil:
			rep.errorAt(n, "remove one of the two", "the compatibility flag %q is here twice", name)
		case !known:
			rep.warnAt(n, didYouMean(name, compatNames()), "unknown compatibility flag %q; it has no effect", name)
		case enables && f.disable != "" && asked[f.disable] != nil, !enables && asked[f.enable] != nil:
			rep.errorAt(n, "keep the one you mean", "the compatibility flags %q and %q contradict each other", f.enable, f.disable)
		}
		asked[name] = n
		flags = append(flags, name)
	}
	return date, flags
}

func compatNames() []string {
	var names []string
	for _, f := range compatFlags {
		names = append(names, f.enable)
		if f.disable != "" {
			names = append(names, f.disable)
		}
	}
	return names
}

// Compat reports whether a compatibility flag is on: named in
// compatibility_flags, on by default at the project's compatibility date, or
// implied by another flag that is on. Both names of a flag work; the disabling
// one gives the opposite answer. A flag that the table does not know is on
// exactly if compatibility_flags names it. Safe for concurrent use. Source:
// workerd's compatibility-date.capnp and compileCompatibilityFlags.
func (p *Project) Compat(flag string) bool {
	f, enables, found := lookupCompat(flag)
	if !found {
		return slices.Contains(p.CompatibilityFlags, flag)
	}
	on, _ := p.compatSet().on(f, 0)
	return on == enables
}

// CompatStates lists every flag of the table and what decided it, in the
// table's order. For start-up logs and tests.
func (p *Project) CompatStates() []CompatFlagState {
	set := p.compatSet()
	out := make([]CompatFlagState, 0, len(compatFlags))
	for _, f := range compatFlags {
		on, why := set.on(f, 0)
		out = append(out, CompatFlagState{Name: f.enable, On: on, Why: why, Experimental: f.experimental})
	}
	return out
}

func (p *Project) compatSet() compatSet {
	return compatSet{date: p.CompatibilityDate, asked: p.CompatibilityFlags}
}
