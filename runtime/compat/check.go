package compat

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Check is how workerd refuses a compatibility date or flag, nil if it does not (workerd:
// compileCompatibilityFlags). Of several reasons it is the first that workerd finds.
// experimental says that experimental flags are allowed. The text is workerd's.
func (s Set) Check(experimental bool) error {
	if _, err := time.Parse("2006-01", s.month()); err != nil || !s.isDay() {
		return refusal("Invalid compatibility date: %s", s.Date)
	}
	if s.Date > LatestDate {
		return refusal("This Worker requires compatibility date %q, but the newest date supported by this server binary is %q.", s.Date, LatestDate)
	}
	for i, name := range s.Asked {
		if slices.Contains(s.Asked[:i], name) {
			return refusal("Compatibility flag specified multiple times: %s", name)
		}
	}
	for _, f := range Flags() {
		row := f.Row()
		if !slices.Contains(s.Asked, row.Name) {
			continue
		}
		if row.Disable != "" && slices.Contains(s.Asked, row.Disable) {
			return refusal("Compatibility flags are mutually contradictory: %s vs %s", row.Name, row.Disable)
		}
		if row.Experimental && !experimental {
			return refusal("The compatibility flag %s is experimental and may break or be removed in a future version of workerd. To use this flag, you must pass --experimental on the command line.", row.Name)
		}
	}
	for _, name := range s.Asked {
		if _, _, found := Lookup(name); !found {
			return refusal("No such compatibility flag: %s", name)
		}
	}
	return nil
}

func refusal(format string, args ...any) error { return fmt.Errorf(format, args...) }

// month is the year and month of the date, "" for what has none: workerd's years begin
// with 2.
func (s Set) month() string {
	if len(s.Date) != len("2026-01-31") || s.Date[0] != '2' || s.Date[4] != '-' || s.Date[7] != '-' || strings.Trim(s.Date, "0123456789-") != "" {
		return ""
	}
	return s.Date[:7]
}

// isDay reports whether the date has a day that some month has: workerd takes February 30.
func (s Set) isDay() bool { return s.Date[8:] >= "01" && s.Date[8:] <= "31" }
