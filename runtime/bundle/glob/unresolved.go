package glob

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// unresolved is the pattern of an import that esbuild could not resolve in a build
// without a directory.
func unresolved(m api.Message) (pattern string, ok bool) {
	for _, kind := range []string{"import", "require"} {
		if rest, found := strings.CutPrefix(m.Text, "Could not resolve "+kind+"("); found {
			err := json.Unmarshal([]byte(strings.TrimSuffix(rest, ")")), &pattern)
			return pattern, err == nil && strings.Contains(pattern, "*")
		}
	}
	return "", false
}

// Dirs are the directories of the import patterns among the errors of an esbuild build,
// relative to the importing file: sorted, each once. Safe for concurrent use.
func Dirs(errs []api.Message) (dirs []string) {
	for _, m := range errs {
		if p, ok := unresolved(m); ok {
			fixed, _, _ := strings.Cut(p, "*")
			dirs = append(dirs, path.Dir(fixed+"x"))
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
