package bundle

import (
	"os"
	"path/filepath"
	"slices"

	"minido.dev/minido/runtime/bundle/manifest"
	"minido.dev/minido/runtime/bundle/toplevel"
)

// deferredRegions are the regions whose modules may wait, by the rules that
// hold for installed packages. Their package.json is looked for above the
// bundle; without it only the curated packages qualify.
func (o *Options) deferredRegions(entry, text string, pkgs *manifest.Reader) []string {
	if o.NoDefer || len(text) < splitMin {
		return nil
	}
	var list []string
	verdicts := map[string]*manifest.Info{}
	for _, r := range toplevel.Regions(text) {
		name, file, ok := toplevel.Package(r.Path)
		if !ok {
			continue
		}
		info, known := verdicts[name]
		if !known {
			info = findPackage(filepath.Dir(entry), name, pkgs)
			verdicts[name] = info
		}
		may := matchPackage(bundledDefer, name) || info.File != "" && info.Pure(filepath.Join(info.Dir, filepath.FromSlash(file)))
		if o.mayDefer(name, may) && !slices.Contains(list, r.Path) {
			list = append(list, r.Path)
		}
	}
	return list
}

// bundledDefer are packages that declare the absence of side effects in a
// package.json that a prebuilt bundle may not have at hand.
var bundledDefer = []string{"zod"}

func findPackage(dir, name string, pkgs *manifest.Reader) *manifest.Info {
	for {
		file := filepath.Join(dir, "node_modules", filepath.FromSlash(name), "package.json")
		if _, err := os.Stat(file); err == nil {
			return pkgs.ForFile(file)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return &manifest.Info{}
		}
		dir = parent
	}
}
