package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"sync"
	"time"

	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/runtime/binding/kv"
	"minido.dev/minido/runtime/bundle"
	"minido.dev/minido/runtime/bundle/builtins"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/isolate"
)

// bundling bundles a server's project, again with what the last time found out.
// Safe for concurrent use.
type bundling struct {
	opts   *Options
	closed func() bool // the server is
	warn   func(text string)

	mu      sync.Mutex      // guards everything below; taken before the server's
	bundler *bundle.Bundler // nil before the first build, and with Options.Bundles
	key     string          // what it bundles
	last    *bundle.Bundle  // that it made
	timer   clock.Timer     // remembers what last has evaluated; nil if none runs
	wait    time.Duration   // the next timer's; 0 is rememberAfter
	mute    bool            // it could not be written
}

// rememberAfter is for how long modules that come into use are gathered before they are
// remembered: a start evaluates many, one after the other. All of them are written each time,
// so the next ones are gathered for twice as long, up to rememberAtMost.
const (
	rememberAfter  = 100 * time.Millisecond
	rememberAtMost = time.Minute
)

// make bundles the project, or takes what Options.Bundles has.
func (b *bundling) make(p *config.Project) (*bundle.Bundle, error) {
	if b.opts.Bundles != nil {
		o, err := b.opts.bundle(p)
		if err != nil {
			return nil, err
		}
		return b.opts.Bundles.get(o)
	}
	bundler, err := b.bundlerOf(p)
	if err != nil {
		return nil, err
	}
	made, err := bundler.Build()
	if err == nil {
		b.mu.Lock()
		b.last = made
		b.mu.Unlock()
	}
	return made, err
}

// used has what was evaluated remembered, soon. It does not wait.
func (b *bundling) used() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer == nil && !b.mute && !b.closed() {
		wait := max(b.wait, rememberAfter)
		b.timer = b.opts.machine().AfterFunc(wait, func() { b.opts.Scheduler.Go("remember modules", b.remember) })
		b.wait = min(2*wait, rememberAtMost)
	}
}

func (b *bundling) remember() {
	b.mu.Lock()
	last, wanted := b.last, b.timer != nil
	b.timer = nil
	b.mu.Unlock()
	if last == nil || !wanted {
		return
	}
	if err := errors.Join(last.Remember(true), last.KeepPrograms()); err != nil { // costs time at the next start, no more
		b.mu.Lock()
		b.mute = true
		b.mu.Unlock()
		b.warn("bundle cache: " + err.Error())
	}
}

// bundlerOf is the bundler of the project: the last one, unless the configuration
// says otherwise what is bundled.
func (b *bundling) bundlerOf(p *config.Project) (*bundle.Bundler, error) {
	o, err := b.opts.bundle(p)
	if err != nil {
		return nil, err
	}
	if b.opts.Remember {
		o.Used = b.used
	}
	key := bundleKey(o) + fmt.Sprint(p.CompatibilityDate, p.CompatibilityFlags) // they choose the builtins
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed():
		return nil, pool.ErrClosed // close would not see a new one
	case b.bundler == nil || b.key != key:
		if b.bundler != nil {
			b.bundler.Close() // reloads come one at a time: it does nothing now
		}
		b.bundler, b.key = bundle.New(o), key
	}
	return b.bundler, nil
}

// inputs are the files on which the last bundle depended.
func (b *bundling) inputs() []string {
	b.mu.Lock()
	bundler := b.bundler
	b.mu.Unlock()
	if bundler == nil {
		return nil
	}
	return bundler.Inputs()
}

// close ends the bundler of a server that is closed.
func (b *bundling) close() {
	b.mu.Lock()
	bundler := b.bundler
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	b.mu.Unlock()
	if bundler != nil {
		bundler.Close()
	}
}

// bundle is how a project is bundled.
func (o *Options) bundle(p *config.Project) (bundle.Options, error) {
	b := bundle.Options{
		Dir: p.Dir, Entry: p.Main, TSConfig: p.TSConfig, NoBundle: p.NoBundle, NoDefer: o.NoDefer,
		JSXFactory: p.JSXFactory, JSXFragment: p.JSXFragment, CacheDir: o.CacheDir,
		Alias: map[string]string{}, Define: map[string]string{},
		Builtins: isolate.HasBuiltin(p.Compat),
	}
	if o.Scheduler != nil {
		b.Spawn = o.Scheduler.Go
	}
	if !o.RunsTests { // a test file may replace a module by one that has other names
		b.Exports = cfapi.ModuleNames
	}
	if p.Compat(compat.NodejsCompatV2) {
		b.Virtual = builtins.Shims()
	}
	if p.FindAdditionalModules {
		b.Additional = p.BaseDir
	}
	for _, kv := range p.Alias {
		b.Alias[kv.Key] = kv.Value
	}
	for _, kv := range p.Define {
		b.Define[kv.Key] = kv.Value
	}
	for _, r := range p.Rules {
		if r.Default {
			continue
		}
		// Default rules that still stand in the project are those that a rule of
		// their type lets through.
		through := slices.ContainsFunc(p.Rules, func(d config.Rule) bool { return d.Default && d.Type == r.Type })
		b.Rules = append(b.Rules, bundle.Rule{Type: bundle.ModuleType(r.Type), Globs: r.Globs, Fallthrough: through})
	}
	if site := siteOf(p); site != nil {
		manifest, err := site.Manifest()
		if err != nil {
			return b, err
		}
		source, err := json.Marshal(manifest)
		if err != nil {
			return b, fmt.Errorf("the manifest of the site: %w", err)
		}
		b.Virtual = maps.Clone(b.Virtual)
		if b.Virtual == nil {
			b.Virtual = map[string]string{}
		}
		b.Virtual[siteManifest] = "export default JSON.stringify(" + string(source) + ");"
	}
	if o.Amend != nil {
		o.Amend(&b)
	}
	return b, nil
}

// siteManifest is the module, in service-worker syntax the global, that names the files of
// a Workers Site.
const siteManifest = "__STATIC_CONTENT_MANIFEST"

// siteOf is the project's Workers Site, nil if it has none.
func siteOf(p *config.Project) *kv.Site {
	for _, b := range p.Bindings {
		if b.Kind == "site" {
			return kv.SiteOf(b)
		}
	}
	return nil
}

// globals are those that a worker in service-worker syntax has beside env's bindings.
func globals(p *config.Project) (map[string]string, error) {
	site := siteOf(p)
	if site == nil {
		return nil, nil
	}
	manifest, err := site.Manifest()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(manifest)
	return map[string]string{siteManifest: string(text)}, err
}

// customBuild runs build.command as wrangler does, through the shell.
func (o *Options) customBuild(ctx context.Context, build config.Build) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", build.Command)
	cmd.Dir, cmd.Env = build.Cwd, processEnviron()
	cmd.Stdout, cmd.Stderr = o.BuildOutput, o.BuildOutput
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the custom build %q (%s) failed: %w", build.Command, build.Where, err)
	}
	return nil
}
