package chaos

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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

// locate reads the project and finds the agent that o.On names.
func locate(o Options) (target, error) {
	options := config.Options{Env: o.Env, Vars: o.Vars, Environ: os.Environ()}
	info, err := os.Stat(o.Project)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return target{}, usage("there is no project at %s.", o.Project)
	case err != nil:
		return target{}, usage("the project at %s: %v", o.Project, err)
	case info.IsDir():
		options.Dir = o.Project
	default:
		options.ConfigPath = o.Project
	}
	project, _, err := config.Load(options)
	var bad *config.ConfigError
	if errors.As(err, &bad) {
		return target{}, usage("%s", strings.TrimRight(bad.Render(o.Color), "\n"))
	}
	if err != nil {
		return target{}, usage("the project at %s: %v", o.Project, err)
	}
	if project.ConfigFile == "" {
		return target{}, usage("%s has no wrangler.jsonc, wrangler.json or wrangler.toml.", o.Project)
	}
	agent, name, _ := strings.Cut(o.On, "/")
	var known []string
	for _, b := range project.DurableObjects {
		kebab := kebabCase(b.Name)
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

// kebabCase turns a binding's name into its part of the URL, as the agents SDK
// does (agents 0.32, src/utils.ts): ResearchAgent and RESEARCH_AGENT are both
// research-agent.
func kebabCase(s string) string {
	if s == strings.ToUpper(s) && s != strings.ToLower(s) {
		return strings.ReplaceAll(strings.ToLower(s), "_", "-")
	}
	var b strings.Builder
	for _, r := range s {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	out := strings.TrimPrefix(b.String(), "-")
	return strings.TrimSuffix(strings.ReplaceAll(out, "_", "-"), "-")
}
