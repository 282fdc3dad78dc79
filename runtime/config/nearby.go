package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// nearby are where the wrangler files of a repository's other workers lie, seen from
// the folder of one of them: beside it, below it, and in other folders of a monorepo.
var nearby = []string{"../*", "*", "../../*/*"}

// maxNearby bounds how many files FindWorker reads.
const maxNearby = 200

// FindWorker looks in the folders around dir for the wrangler file of the worker that
// is named name, or of one whose environment is; "" if there is none. It reads names
// alone: the file may have errors.
func FindWorker(dir, name string) string {
	if name == "" {
		return ""
	}
	read := 0
	for _, around := range nearby {
		for _, base := range configNames {
			files, err := filepath.Glob(filepath.Join(dir, around, base))
			if err != nil {
				return "" // the folder's name is a pattern
			}
			for _, file := range files {
				if slices.Contains(strings.Split(filepath.ToSlash(file), "/"), "node_modules") {
					continue
				}
				if read++; read > maxNearby {
					return ""
				}
				if slices.Contains(namesIn(file), name) {
					return file
				}
			}
		}
	}
	return ""
}

// namesIn are the names of the worker of a wrangler file, in all its environments.
func namesIn(file string) []string {
	text, err := readBounded(file)
	if err != nil {
		return nil // not a file that can be advised
	}
	src, rep := newSource(file, text), newReport()
	parse := parseJSONC
	if strings.EqualFold(filepath.Ext(file), ".toml") {
		parse = parseTOML
	}
	top := parse(src, rep)
	if top == nil || top.kind != kindObject {
		return nil
	}
	own := top.get("name").str()
	names := []string{own}
	if environments := top.get("env"); environments != nil {
		for _, m := range environments.members {
			if named := m.get("name").str(); named != "" {
				names = append(names, named)
			} else {
				names = append(names, own+"-"+m.key)
			}
		}
	}
	return names
}

// viteConfigs are the names of Vite's configuration.
var viteConfigs = []string{"vite.config.ts", "vite.config.js", "vite.config.mts", "vite.config.mjs", "vite.config.cts", "vite.config.cjs"}

// isVite reports whether dir is the root of a Vite project.
func isVite(dir string) bool {
	return slices.ContainsFunc(viteConfigs, func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	})
}

// viteOutputs are where `vite build` puts the pages of a project: that of a project
// with Cloudflare's plugin, and the default of build.outDir.
var viteOutputs = []string{"dist/client", "dist"}

// viteOutput is the folder below dir with what `vite build` has made, "" if it has not
// run.
func viteOutput(dir string) string {
	for _, out := range viteOutputs {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(out), "index.html")); err == nil {
			return out
		}
	}
	return ""
}
