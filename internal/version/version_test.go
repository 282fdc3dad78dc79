package version

import (
	"regexp"
	"runtime"
	"runtime/debug"
	"testing"
)

// A release names its commit; other builds say "-dev" and what the go command recorded.
func TestDescribe(t *testing.T) {
	vcs := &debug.BuildInfo{Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.time", Value: "2026-11-23T00:00:00Z"}, {Key: "vcs.modified", Value: "true"}}}
	tail := runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH + ")"
	for _, c := range []struct {
		name, commit, date string
		info               *debug.BuildInfo
		want               string
	}{
		{"linker", "fedcba9876543210", "2026-01-02T03:04:05Z", vcs, "minido " + Number() + " (commit fedcba987654, 2026-01-02T03:04:05Z, " + tail},
		{"checkout", "", "", vcs, "minido " + Number() + "-dev (commit 0123456789ab with changes, 2026-11-23T00:00:00Z, " + tail},
		{"go install", "", "", &debug.BuildInfo{Main: debug.Module{Version: "v" + Number()}}, "minido " + Number() + " (" + tail},
		{"nothing known", "", "", nil, "minido " + Number() + "-dev (" + tail},
	} {
		if got := describe(c.commit, c.date, c.info).String(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
	if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(Number()) {
		t.Errorf("VERSION holds %q", Number())
	}
}
