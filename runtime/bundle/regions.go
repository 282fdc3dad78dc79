package bundle

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"minido.dev/minido/runtime/bundle/toplevel"
)

// deferredRegions are the regions whose modules may wait, by the rules that
// hold for installed packages. Their package.json is looked for above the
// bundle; without it only the curated packages qualify.
func (o *Options) deferredRegions(entry, text string, pkgs *packages) []string {
	if o.NoDefer || len(text) < splitMin {
		return nil
	}
	var list []string
	verdicts := map[string]*pkgInfo{}
	for _, r := range toplevel.Regions(text) {
		name, file, ok := regionPackage(r.Path)
		if !ok {
			continue
		}
		info, known := verdicts[name]
		if !known {
			info = findPackage(filepath.Dir(entry), name, pkgs)
			verdicts[name] = info
		}
		may := matchPackage(bundledDefer, name) || info.file != "" && info.pure(filepath.Join(info.dir, filepath.FromSlash(file)))
		if o.mayDefer(name, may) && !slices.Contains(list, r.Path) {
			list = append(list, r.Path)
		}
	}
	return list
}

// bundledDefer are packages that declare the absence of side effects in a
// package.json that a prebuilt bundle may not have at hand.
var bundledDefer = []string{"zod"}

func findPackage(dir, name string, pkgs *packages) *pkgInfo {
	for {
		file := filepath.Join(dir, "node_modules", filepath.FromSlash(name), "package.json")
		if _, err := os.Stat(file); err == nil {
			return pkgs.forFile(file)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return &pkgInfo{}
		}
		dir = parent
	}
}

// regionPackage is the package of a region's file, and the path inside it.
func regionPackage(path string) (name, file string, ok bool) {
	const dir = "node_modules/"
	i := strings.LastIndex(path, dir)
	if i < 0 {
		return "", "", false
	}
	rest := path[i+len(dir):]
	parts := strings.SplitN(rest, "/", 3)
	name = parts[0]
	if strings.HasPrefix(name, "@") && len(parts) == 3 {
		name += "/" + parts[1]
	}
	return name, strings.TrimPrefix(rest, name+"/"), len(rest) > len(name)+1
}
