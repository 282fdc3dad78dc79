package server

import (
	"errors"
	"fmt"
	"strings"

	"minido.dev/minido/runtime/assets"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/event"
)

// openAssets opens the project's assets, or closes those of an earlier one.
func (s *Server) openAssets(p *config.Project) error {
	var site *assets.Service
	if p.Assets != nil {
		var err error
		if site, err = assets.Open(*p.Assets); err != nil {
			return fmt.Errorf("assets (%s): %w", p.Assets.Where, err)
		}
		site.NavigationPlain = !p.Compat(compat.AssetsNavigationPrefersAssetServing)
		for _, remark := range site.Rules(p.Dir) {
			kind := EventNote
			if remark.Warning {
				kind = EventWarning
			}
			s.event(kind, remark.Text)
		}
	}
	s.mu.Lock()
	s.assets = site
	s.mu.Unlock()
	return nil
}

// assetsTarget is env.ASSETS.
type assetsTarget struct{ s *Server }

// Dup implements event.Capability.
func (t assetsTarget) Dup() event.Capability { return t }

// Release implements event.Capability.
func (t assetsTarget) Release() {}

// Call implements event.Capability.
func (t assetsTarget) Call(c *event.Call, done func(*event.Payload, error)) {
	name := ""
	if n := len(c.Path); n > 0 {
		name = c.Path[0]
	}
	text := fmt.Sprintf("The RPC receiver does not implement the method %q.", name)
	if strings.HasPrefix(name, "unstable_") { // methods of wrangler's own worker for assets
		text = fmt.Sprintf("%s() of the assets binding is not available in minido; use fetch().", name)
	}
	done(nil, &event.Error{Name: "TypeError", Message: text, Remote: true})
}

// Fetch implements cfapi.Target.
func (t assetsTarget) Fetch(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	t.s.mu.Lock()
	site := t.s.assets
	t.s.mu.Unlock()
	if site == nil {
		done(nil, errors.New("this worker has no assets any more"))
		return func(error) {}
	}
	done(site.Fetch(req), nil)
	return func(error) {}
}
