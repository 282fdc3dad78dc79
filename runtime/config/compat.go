package config

import (
	"fmt"
	"strconv"
	"strings"

	"minido.dev/minido/runtime/compat"
)

// LatestCompatibilityDate is the newest date that minido knows.
const LatestCompatibilityDate = compat.LatestDate

// DefaultCompatibilityDate counts when a project names none; wrangler 4.164
// uses the same.
const DefaultCompatibilityDate = "2026-11-17"

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
		f, enables, known := compat.Lookup(name)
		row := f.Row()
		switch {
		case asked[name] != nil:
			rep.errorAt(n, "remove one of the two", "the compatibility flag %q is here twice", name)
		case !known:
			rep.warnAt(n, didYouMean(name, compatNames()), "unknown compatibility flag %q; it has no effect", name)
		case enables && row.Disable != "" && asked[row.Disable] != nil, !enables && asked[row.Name] != nil:
			rep.errorAt(n, "keep the one you mean", "the compatibility flags %q and %q contradict each other", row.Name, row.Disable)
		}
		asked[name] = n
		flags = append(flags, name)
	}
	return date, flags
}

func compatNames() []string {
	var names []string
	for _, f := range compat.Flags() {
		row := f.Row()
		names = append(names, row.Name)
		if row.Disable != "" {
			names = append(names, row.Disable)
		}
	}
	return names
}

// Compat reports whether a compatibility flag is on. Safe for concurrent use.
func (p *Project) Compat(flag compat.Flag) bool { return p.CompatSet().On(flag) }

// CompatSet is the date and the flags that decide what Compat says.
func (p *Project) CompatSet() compat.Set {
	return compat.Set{Date: p.CompatibilityDate, Asked: p.CompatibilityFlags}
}

// checkUnheeded warns about flags that the project names, that minido does not act
// on and that are otherwise than minido behaves.
func checkUnheeded(rep *report, sel *selection, p *Project) {
	named, _ := p.CompatSet().Unheeded()
	for _, f := range named {
		row, behaves := f.Row(), "on"
		if row.State == compat.NeverOn {
			behaves = "off"
		}
		for _, n := range sel.field("compatibility_flags").elements() {
			if n.str() == row.Name || n.str() == row.Disable {
				rep.warnAt(n, "", "minido does not act on the compatibility flag %q: it behaves as if %q were %s", n.text, row.Name, behaves)
			}
		}
	}
}
