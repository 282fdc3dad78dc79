package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"minido.dev/minido/internal/lazyregexp"
)

// build makes the test binary of each package, with all mutants in it. It leaves out
// those that the compiler refuses, and answers with its complaint about each.
func (r *runner) build(mutants []numbered) (refused map[int]string, err error) {
	refused = map[int]string{}
	for {
		schemas, err := r.overlay(mutants)
		if err != nil {
			return nil, err
		}
		out, err := r.compile("build")
		if err == nil {
			break
		}
		complaints := complaintsOf(string(out), schemas)
		if len(complaints) == 0 {
			return nil, fmt.Errorf("building the mutants: %w\n%s", err, out)
		}
		for id, text := range complaints { // order-independent: into another map
			refused[id] = text
		}
		mutants = slices.DeleteFunc(mutants, func(m numbered) bool { return refused[m.id] != "" })
	}
	for _, pkg := range packages {
		if out, err := r.compile("test", "-c", "-vet=off", "-o", r.binary(pkg), pkg); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", pkg, err, out)
		}
	}
	return refused, nil
}

// binary is the test binary of a package.
func (r *runner) binary(pkg string) string { return filepath.Join(r.dir, filepath.Base(pkg)+".test") }

// compile runs go build or go test with the overlay; the compiler tells of all errors of
// the packages with mutants.
func (r *runner) compile(command string, args ...string) ([]byte, error) {
	all := []string{command, "-overlay", filepath.Join(r.dir, "overlay.json")}
	folders := targetFolders()
	for _, folder := range folders {
		all = append(all, "-gcflags=./"+folder+"=-e")
	}
	if all = append(all, args...); command == "build" {
		for _, folder := range folders {
			all = append(all, "./"+folder)
		}
	}
	cmd := exec.Command("go", all...)
	cmd.Dir = r.top
	return cmd.CombinedOutput()
}

// targetFolders are the packages of the targets.
func targetFolders() (folders []string) {
	for _, t := range targets {
		if folder := path.Dir(t.file); !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	return folders
}

// overlayName is that of the file that stands for one, in r.dir.
func overlayName(file string) string { return strings.ReplaceAll(file, "/", "_") }

// overlay writes the files of the targets with mutants in them, for go's -overlay, and
// answers with these files by their names.
func (r *runner) overlay(mutants []numbered) (map[string]schema, error) {
	byFile := map[string][]numbered{}
	for _, m := range mutants {
		byFile[m.File] = append(byFile[m.File], m)
	}
	schemas, replace := map[string]schema{}, map[string]string{}
	write := func(file, text string) error {
		at := filepath.Join(r.dir, overlayName(file))
		replace[filepath.Join(r.top, file)] = at
		return os.WriteFile(at, []byte(text), 0o600)
	}
	for file, list := range byFile { // order-independent: each writes files of its own
		src, err := os.ReadFile(filepath.Join(r.top, file))
		if err != nil {
			return nil, err
		}
		s, err := schemaOf(file, src, list)
		if err := errors.Join(err, write(file, s.text), write(path.Join(path.Dir(file), activeFile), activeSource(s.pkg))); err != nil {
			return nil, err
		}
		schemas[overlayName(file)] = s
	}
	config, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	return schemas, os.WriteFile(filepath.Join(r.dir, "overlay.json"), config, 0o600)
}

var complaint = lazyregexp.New(`(?m)^(\S+\.go):(\d+):\d+: (.*)$`)

// complaintsOf is the compiler's first complaint about each mutant's copy; it names the
// files of the overlay.
func complaintsOf(output string, schemas map[string]schema) map[int]string {
	found := map[int]string{}
	for _, m := range complaint.FindAllStringSubmatch(output, -1) {
		line, err := strconv.Atoi(m[2])
		if err != nil {
			continue
		}
		if id := schemas[filepath.Base(m[1])].at(line); id > 0 && found[id] == "" {
			found[id] = m[3]
		}
	}
	return found
}
