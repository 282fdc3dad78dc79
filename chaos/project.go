package chaos

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"minido.dev/minido/runtime/config"
)

// FindConfig is the project's wrangler file, by its absolute path.
//
// # Errors
//
// *UsageError, with the diagnostics of a configuration that is wrong.
func FindConfig(project, env string, vars []string) (string, error) {
	p, err := LoadProject(project, env, vars)
	if err != nil {
		return "", err
	}
	return p.ConfigFile, nil
}

// LoadProject reads a project's configuration.
//
// # Errors
//
// *UsageError, with the diagnostics of a configuration that is wrong.
func LoadProject(path, env string, vars []string) (*config.Project, error) {
	options := config.Options{Env: env, Vars: vars, Environ: os.Environ()}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usage("there is no project at %s.", path)
	case err != nil:
		return nil, usage("the project at %s: %v", path, err)
	case info.IsDir():
		options.Dir = path
	default:
		options.ConfigPath = path
	}
	project, _, err := config.Load(options)
	var bad *config.ConfigError
	if errors.As(err, &bad) {
		return nil, usage("%s", strings.TrimRight(bad.Render(false), "\n"))
	}
	if err != nil {
		return nil, usage("the project at %s: %v", path, err)
	}
	if project.ConfigFile == "" {
		return nil, usage("%s has no wrangler.jsonc, wrangler.json or wrangler.toml.", path)
	}
	return project, nil
}
