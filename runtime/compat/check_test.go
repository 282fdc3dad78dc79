package compat

import "testing"

// Dates and flags are refused in workerd's words, the first reason first.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		date         string
		flags        []string
		experimental bool
		want         string
	}{
		{"2026-03-20", []string{"nodejs_compat"}, false, ""},
		{"2026-02-30", nil, false, ""},
		{"2020-01-01", []string{"global_navigator"}, false, ""},
		{"x", []string{"nothing"}, false, "Invalid compatibility date: x"},
		{"2026-3-20", nil, false, "Invalid compatibility date: 2026-3-20"},
		{"2026-13-20", nil, false, "Invalid compatibility date: 2026-13-20"},
		{"2026-03-00", nil, false, "Invalid compatibility date: 2026-03-00"},
		{"1999-01-01", nil, false, "Invalid compatibility date: 1999-01-01"},
		{"2999-01-01", nil, false, `This Worker requires compatibility date "2999-01-01", but the newest date supported by this server binary is "` + LatestDate + `".`},
		{"2026-03-20", []string{"b", "a"}, false, "No such compatibility flag: b"},
		{"2026-03-20", []string{"rpc", "rpc"}, false, "Compatibility flag specified multiple times: rpc"},
		{"2026-03-20", []string{"no_rpc", "rpc"}, false, "Compatibility flags are mutually contradictory: rpc vs no_rpc"},
		{"2026-03-20", []string{"unsafe_module"}, false, "The compatibility flag unsafe_module is experimental and may break or be removed in a future version of workerd. To use this flag, you must pass --experimental on the command line."},
		{"2026-03-20", []string{"unsafe_module"}, true, ""},
	} {
		got := ""
		if err := (Set{Date: c.date, Asked: c.flags}).Check(c.experimental); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s %v: %q, want %q", c.date, c.flags, got, c.want)
		}
	}
}
