package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"minido.dev/minido/runtime/binding"
	"minido.dev/minido/runtime/config"
)

// stateFlags say which project's state a command works on. A running server may
// use it at the same time.
type stateFlags struct {
	Config    string `short:"c" placeholder:"FILE" help:"The wrangler file. Default: found in this directory or one above it."`
	Env       string `short:"e" placeholder:"NAME" help:"Environment of the wrangler file."`
	PersistTo string `placeholder:"DIR" help:"Directory of the state. Default: .wrangler/state beside the wrangler file."`
	Local     bool   `help:"Accepted for compatibility with wrangler; minido has only local state."`
}

// project reads the wrangler file.
func (f *stateFlags) project() (*config.Project, error) {
	p, _, err := config.Load(config.Options{ConfigPath: f.Config, Env: f.Env, Environ: os.Environ()})
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	return p, nil
}

// dir is where bindings of a kind have their state.
func (f *stateFlags) dir(p *config.Project, kind binding.ID) string {
	root := f.PersistTo
	if root == "" {
		root = filepath.Join(p.Dir, ".wrangler", "state")
	}
	return filepath.Join(root, "v3", binding.Lookup(kind).State)
}

// find is the binding of a kind that name names, or whose parameter is name.
func find(p *config.Project, kind binding.ID, name, parameter string) (config.Binding, error) {
	var known []string
	for _, b := range p.Env() {
		if b.Kind != kind {
			continue
		}
		if b.Name == name || parameter != "" && b.Param(parameter) == name {
			return b, nil
		}
		known = append(known, b.Name)
	}
	title := binding.Lookup(kind).Title
	if len(known) == 0 {
		return config.Binding{}, &exitError{exitUsage, fmt.Errorf("the project has no %s", title)}
	}
	return config.Binding{}, &exitError{exitUsage, fmt.Errorf("the project has no %s %q; it has %s", title, name, strings.Join(known, ", "))}
}

// closing joins the error of a Close to that of a command.
func closing(err *error, close func() error) { *err = errors.Join(*err, close()) }
