// Package version identifies the version of minido. VERSION is the one place that
// holds the number; the commit and its date come from the linker (releases) or from
// what the go command records of a build.
package version

import (
	_ "embed" // VERSION
	"runtime"
	"runtime/debug"
	"strings"
)

//go:embed VERSION
var number string

// Set by the linker when a release is built; see internal/release.
var commit, date string

// Build is what is known of a binary. It is immutable.
type Build struct {
	// Version is the number, with "-dev" unless the binary is a release.
	Version string
	// Commit is the revision; "" when it is not known.
	Commit string
	// Date is when the commit was made, as RFC 3339 in UTC; "" when it is not known.
	Date string
	// Modified reports that the tree differed from the commit.
	Modified bool
	// Go is the version of the toolchain, Platform the system and the architecture.
	Go, Platform string
}

// Number is the version without a suffix.
func Number() string { return strings.TrimSpace(number) }

// Current describes this binary. It may be called from anywhere.
func Current() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = nil
	}
	return describe(commit, date, info)
}

// describe prefers what the linker was told. Without it, a module of the right
// version (go install module@version) is a release too.
func describe(commit, date string, info *debug.BuildInfo) Build {
	b := Build{Version: Number(), Commit: commit, Date: date, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if commit != "" {
		return b
	}
	if info != nil {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.time":
				b.Date = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
		if b.Commit == "" && info.Main.Version == "v"+b.Version {
			return b
		}
	}
	b.Version += "-dev"
	return b
}

// String is the line that "minido version" prints.
func (b Build) String() string {
	var parts []string
	if b.Commit != "" {
		c := "commit " + b.Commit[:min(12, len(b.Commit))]
		if b.Modified {
			c += " with changes"
		}
		parts = append(parts, c)
	}
	if b.Date != "" {
		parts = append(parts, b.Date)
	}
	return "minido " + b.Version + " (" + strings.Join(append(parts, b.Go, b.Platform), ", ") + ")"
}
