package bundle

import (
	"slices"
	"strings"

	"minido.dev/minido/runtime/bundle/glob"
	"minido.dev/minido/runtime/bundle/manifest"
)

// deferrable reports whether the module at path may wait until it is first
// used.
func (o *Options) deferrable(path string, pkgs *manifest.Reader, project *manifest.Info) bool {
	if o.NoDefer {
		return false
	}
	info := pkgs.ForFile(path)
	if info.File == "" || info.File == project.File {
		return false // the project's own modules keep their order
	}
	return o.mayDefer(info.Name, info.Pure(path))
}

// mayDefer combines what a package declares with the lists.
func (o *Options) mayDefer(name string, declared bool) bool {
	verdict := declared || matchPackage(curatedDefer, name)
	for _, d := range o.Defer {
		if pattern, out := strings.CutPrefix(d, "!"); matchPackage([]string{pattern}, name) {
			verdict = !out
		}
	}
	return verdict
}

func matchPackage(list []string, name string) bool {
	return name != "" && slices.ContainsFunc(list, func(p string) bool { return p == name || glob.Match(p, name) })
}
