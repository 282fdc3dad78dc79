// Package scenario runs scenarios: TypeScript files that say what clients do and
// what must hold (*.chaos.ts, with the module minido:chaos). A scenario runs in
// an engine of the harness's own, not in the server that it drives: it survives
// the server's deaths.
package scenario

import (
	"crypto/sha256"
	_ "embed" // the prelude and the types
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/upstream"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/config"
)

//go:embed js/prelude.js
var prelude string

// Types is the declaration file of the module minido:chaos.
//
//go:embed js/minido-chaos.d.ts
var Types string

// Scenario is a loaded scenario. Each run evaluates it afresh, in an engine of its own.
// Safe for concurrent use: immutable, but for what Silent tells.
type Scenario struct {
	// File is where it was read, Name what it calls itself.
	File, Name string
	// Vars are KEY:VALUE; Recover, Timeout, Horizon, Effects, Models and Mask are as the flags
	// of the same names, zero where the scenario does not say.
	Vars    []string
	Recover chaos.Recovery
	Timeout time.Duration
	Horizon time.Duration
	Effects string
	Models  []check.Model
	Mask    []string
	// AI is the scripted model that it wants, nil for none.
	AI *upstream.Model

	digest    string
	reachable []string // names of reachable(), as the source has them
	// checked says that check() was asked, asserted that it has asserted something, in any case.
	checked, asserted atomic.Bool

	project func() (*config.Project, error) // read at the first call
	program *goja.Program
	prelude *goja.Program
	clock   clock.Clock
}

// Suffix is how the names of scenario files end.
const Suffix = ".chaos.ts"

// Find lists the scenarios of a project: files in its directory, and in its
// folders chaos and test.
func Find(project string) ([]string, error) {
	dir := project
	if info, err := os.Stat(project); err == nil && !info.IsDir() {
		dir = filepath.Dir(project)
	}
	var out []string
	for _, sub := range []string{".", "chaos", "test"} {
		found, err := filepath.Glob(filepath.Join(dir, sub, "*"+Suffix))
		if err != nil {
			return nil, fmt.Errorf("scenario: %w", err)
		}
		out = append(out, found...)
	}
	return out, nil
}

// reachable finds the places that a bundled scenario declares: one that no run comes to
// can be told only by its source.
var reachable = lazyregexp.New(`\breachable\("([^"\\]+)"\)`)

// Load reads a scenario for the project, and for an environment of its wrangler
// file, "" for none.
//
// # Errors
//
// *chaos.UsageError, with the place in the file.
func Load(file, project, env string, c clock.Clock) (*Scenario, error) {
	usage := func(format string, args ...any) error {
		return &chaos.UsageError{Text: "the scenario " + file + ": " + fmt.Sprintf(format, args...)}
	}
	code, err := bundle(file)
	if err != nil {
		return nil, usage("%v", err)
	}
	sum := sha256.Sum256([]byte(code))
	s := &Scenario{File: file, clock: c, digest: hex.EncodeToString(sum[:16])}
	for _, m := range reachable.FindAllStringSubmatch(code, -1) {
		s.reachable = append(s.reachable, m[1])
	}
	s.project = sync.OnceValues(func() (*config.Project, error) { return chaos.LoadProject(project, env, nil) })
	if s.program, err = goja.Compile(file, code, false); err != nil {
		return nil, usage("%v", err)
	}
	if s.prelude, err = goja.Compile("minido:chaos", prelude, true); err != nil {
		return nil, fmt.Errorf("scenario: the prelude: %w", err)
	}
	e, err := s.newEngine()
	if err != nil {
		return nil, usage("%v", err)
	}
	if err := s.readDefinition(e); err != nil {
		return nil, usage("%v", err)
	}
	return s, nil
}

// seeded is esbuild's namespace of seededFastCheck.
const seeded = "seeded"

// seededFastCheck is fast-check with a default for its seed, which otherwise depends on the time: a run
// is compared with others of the same clients, so all draw the same inputs.
const seededFastCheck = `import * as all from "fast-check";
export * from "fast-check";
export const configureGlobal = (parameters) => all.configureGlobal({ seed: 1, ...parameters });
configureGlobal(all.readConfigureGlobal?.());
export default { ...all, configureGlobal };
`

// bundle makes one script of a scenario and what it imports. Its exports end up
// in the variable __scenario.
func bundle(file string) (string, error) {
	virtual := api.Plugin{Name: "minido:chaos", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: "^minido:chaos$"}, func(api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: "minido:chaos", Namespace: "minido"}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "minido"}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
			text := "export const { scenario, agent, sometimes, always, eventually, reachable, LostError, RefusedError } = globalThis.__minidoChaos;"
			return api.OnLoadResult{Contents: &text}, nil
		})
		b.OnResolve(api.OnResolveOptions{Filter: "^fast-check$"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			if a.Namespace == seeded {
				return api.OnResolveResult{}, nil // the package itself
			}
			return api.OnResolveResult{Path: "fast-check", Namespace: seeded, PluginData: a.ResolveDir}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: seeded}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			dir, _ := a.PluginData.(string)
			text := seededFastCheck
			return api.OnLoadResult{Contents: &text, ResolveDir: dir}, nil
		})
	}}
	r := api.Build(api.BuildOptions{EntryPoints: []string{file}, Bundle: true, Format: api.FormatIIFE, GlobalName: "__scenario",
		Target: api.ES2017, Platform: api.PlatformNeutral, Plugins: []api.Plugin{virtual}, Outdir: filepath.Dir(file), Sourcemap: api.SourceMapInline, LogLevel: api.LogLevelSilent, Charset: api.CharsetUTF8})
	if len(r.Errors) > 0 {
		text := api.FormatMessages(r.Errors, api.FormatMessagesOptions{})
		return "", errors.New(strings.TrimSpace(strings.Join(text, "")))
	}
	return string(r.OutputFiles[0].Contents), nil
}

// readDefinition takes what the scenario says about itself.
func (s *Scenario) readDefinition(e *engine) error {
	d := e.definition
	text := func(name string) string {
		v := d.Get(name)
		if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
			return ""
		}
		return v.String()
	}
	s.Name, s.Effects, s.Recover = text("name"), text("effects"), chaos.Recovery(text("recover"))
	if t := text("timeout"); t != "" {
		var err error
		if s.Timeout, err = parseDuration(t); err != nil {
			return err
		}
	}
	if rest, ok := d.Get("rest").(*goja.Object); ok {
		h := rest.Get("horizon")
		if h == nil || goja.IsUndefined(h) {
			return errors.New("rest: write { horizon: \"2m\" }")
		}
		var err error
		if s.Horizon, err = parseDuration(h.String()); err != nil {
			return fmt.Errorf("rest: %w", err)
		}
	}
	if err := s.readModel(d.Get("ai")); err != nil {
		return err
	}
	if vars, ok := d.Get("vars").(*goja.Object); ok {
		for _, k := range vars.Keys() {
			s.Vars = append(s.Vars, k+":"+vars.Get(k).String())
		}
	}
	if models, ok := d.Get("models").(*goja.Object); ok {
		for _, k := range models.Keys() {
			m, err := check.ParseModel(models.Get(k).String())
			if err != nil {
				return fmt.Errorf("models: %w", err)
			}
			s.Models = append(s.Models, m)
		}
	}
	if mask, ok := d.Get("mask").(*goja.Object); ok {
		for _, k := range mask.Keys() {
			s.Mask = append(s.Mask, mask.Get(k).String())
		}
	}
	return nil
}

// readModel takes the member ai: true, or an object.
func (s *Scenario) readModel(v goja.Value) error {
	if v == nil || !v.ToBoolean() {
		return nil
	}
	s.AI = upstream.DefaultModel()
	o, ok := v.(*goja.Object)
	if !ok {
		return nil
	}
	if words := o.Get("words"); words != nil {
		s.AI.Words = int(words.ToInteger())
	}
	if pace := o.Get("pace"); pace != nil {
		var err error
		if s.AI.Pace, err = parseDuration(pace.String()); err != nil {
			return fmt.Errorf("ai.pace: %w", err)
		}
	}
	if s.AI.Words < 0 || s.AI.Pace < 0 {
		return errors.New("ai: words and pace must not be negative")
	}
	return nil
}

// parseDuration reads milliseconds or Go's form of a duration.
func parseDuration(text string) (time.Duration, error) {
	if d, err := time.ParseDuration(text + "ms"); err == nil {
		return d, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no duration; write milliseconds, or a text such as \"2s\"", text)
	}
	return d, nil
}

// Flag is the scenario as words of a command line.
func (s *Scenario) Flag() []string { return []string{"--scenario", s.File} }
