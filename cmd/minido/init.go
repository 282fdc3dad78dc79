package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/starter"
	"minido.dev/minido/vitest/bundled"
)

type initCommand struct {
	Dir string `arg:"" optional:"" default:"." help:"The project's directory; it is created if it does not exist."`

	Env      string `short:"e" placeholder:"NAME" help:"Environment of the wrangler file."`
	Template string `enum:"durable-object,agent" default:"durable-object" help:"The template of a new project. durable-object: a job that works in alarms, without packages. agent: an agent with npm agents, which npm installs."`
	CI       string `name:"ci" enum:"auto,github,gitlab,none" default:"auto" help:"CI file to write: github, gitlab, none, or auto (the one that the project uses, else GitHub)."`
}

// Help implements kong's HelpProvider.
func (initCommand) Help() string {
	return `Writes a new project if there is no wrangler file; in a project, a first scenario, first tests and a CI file.
It asks nothing, and never changes an existing file.`
}

// Run implements kong's command interface.
func (c *initCommand) Run() error { return c.run(os.Stdout) }

func (c *initCommand) run(out io.Writer) error {
	made, err := starter.Write(starter.Options{Dir: c.Dir, Env: c.Env, Template: c.Template, CI: c.CI})
	if chaos.IsUsage(err) {
		return &exitError{exitUsage, fmt.Errorf("minido: %w", err)}
	}
	if err != nil {
		return err
	}
	// A project that lies above the directory is named in full.
	dir := made.Dir
	if named, err := filepath.Abs(c.Dir); err == nil && named == made.Dir {
		dir = c.Dir
	}
	text := ""
	for _, f := range made.Files {
		did := "wrote"
		if f.Kept {
			did = "kept "
		}
		text += did + " " + filepath.Join(dir, filepath.FromSlash(f.Path)) + "\n"
	}
	text += "\nNow:\n\n"
	if dir != "." {
		text += "  cd " + chaos.Quote(dir) + "\n"
	}
	if made.Packages {
		text += "  npm install\n"
	}
	program := cmp.Or(os.Getenv("MINIDO_COMMAND"), "minido") // set by the launcher of the npm package
	install := ""
	if !made.Packages || made.TestPackages != "npm install" {
		install = made.TestPackages
	}
	steps := [][2]string{{program + " dev", "run it"}, {program + " chaos enumerate .", "kill it wherever it can be killed"}, {program + " test", "run its tests"}}
	switch {
	case install == "":
	case bundled.Available():
		steps = append(steps, [2]string{install, "the types of the tests, for your editor"})
	default:
		steps = slices.Insert(steps, 2, [2]string{install, "what the tests need"})
	}
	width := 0
	for _, s := range steps {
		width = max(width, len(s[0]))
	}
	for _, s := range steps {
		text += fmt.Sprintf("  %-*s   # %s\n", width, s[0], s[1])
	}
	_, err = io.WriteString(out, text)
	return err
}
