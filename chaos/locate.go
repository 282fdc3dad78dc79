package chaos

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"minido.dev/minido/chaos/agentrpc"
	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/runtime/config"
)

// target is the agent under test: how a client names it and where it is kept.
// Immutable.
type target struct {
	config string // the wrangler file
	agent  string // kebab-case, as in the URL
	name   string
	class  string
	key    string // of its namespace: the folder's name
	id     string
}

// object is how kill points call it.
func (t target) object() string { return t.class + "/" + t.name }

// namespaceDir is the folder of its files below a persist directory.
func (t target) namespaceDir(persist string) string {
	return filepath.Join(persist, "v3", "do", t.key)
}

// FindConfig is the project's wrangler file, by its absolute path.
//
// # Errors
//
// *UsageError, with the diagnostics of a configuration that is wrong.
func FindConfig(project, env string, vars []string) (string, error) {
	p, err := load(project, env, vars, false)
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
	return load(path, env, vars, false)
}

func load(path, env string, vars []string, color bool) (*config.Project, error) {
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
		return nil, usage("%s", strings.TrimRight(bad.Render(color), "\n"))
	}
	if err != nil {
		return nil, usage("the project at %s: %v", path, err)
	}
	if project.ConfigFile == "" {
		return nil, usage("%s has no wrangler.jsonc, wrangler.json or wrangler.toml.", path)
	}
	return project, nil
}

// locate reads the project and finds the agent that o.On names.
func locate(o Options) (target, error) {
	project, err := load(o.Project, o.Env, o.Vars, o.Color)
	if err != nil {
		return target{}, err
	}
	agent, name, _ := strings.Cut(o.On, "/")
	var known []string
	for _, b := range project.DurableObjects {
		kebab := agentrpc.Kebab(b.Name)
		if agent != kebab && agent != b.Name && agent != b.ClassName {
			known = append(known, kebab)
			continue
		}
		ns := objectid.NewNamespace(b.UniqueKey)
		return target{config: project.ConfigFile, agent: kebab, name: name, class: b.ClassName, key: b.UniqueKey, id: ns.FromName(name).String()}, nil
	}
	if len(known) == 0 {
		return target{}, usage("%s binds no Durable Object, so there is no agent %q.", project.Relative(project.ConfigFile), agent)
	}
	return target{}, usage("%s has no agent %q; it has %s.", project.Relative(project.ConfigFile), agent, strings.Join(known, ", "))
}
