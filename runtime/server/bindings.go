package server

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/gateway"
)

// BindingState is one line of the table of bindings that start-up prints.
type BindingState struct {
	Name, Kind, Detail string
	// Ready is false for a binding whose first use throws.
	Ready bool
	Where string // file:line:column, "" for variables from flags
}

// Bindings describes env for people, in the order of the configuration.
func (s *Server) Bindings() []BindingState {
	p := s.Project()
	var out []BindingState
	for _, b := range p.Bindings {
		st := BindingState{Name: b.Name, Kind: b.Kind.Title(), Where: b.Where.String(), Ready: s.offers(p, b)}
		switch b.Kind {
		case config.KindDurableObject:
			st.Detail = b.Param("class_name")
		case config.KindAssets:
			st.Detail = p.Relative(p.Assets.Directory)
		case config.KindService:
			st.Detail = b.Param("service")
		}
		out = append(out, st)
	}
	for _, v := range p.Vars {
		out = append(out, BindingState{Name: v.Name, Kind: "Variable", Detail: v.Display(), Ready: true})
	}
	return out
}

// offers says whether a binding works.
func (s *Server) offers(p *config.Project, b config.Binding) bool {
	switch b.Kind {
	case config.KindAssets, config.KindVersionMetadata:
		return true
	case config.KindService:
		return b.Param("service") == p.Name
	case config.KindDurableObject:
		for _, d := range p.DurableObjects {
			if d.Name == b.Name {
				return d.Local
			}
		}
	}
	return false
}

// bindings makes env for an isolate.
func (s *Server) bindings(p *config.Project, w *worker) []cfapi.Binding {
	var out []cfapi.Binding
	for _, v := range p.Vars {
		out = append(out, cfapi.Binding{Name: v.Name, Make: func(a *cfapi.API) goja.Value { return a.ParseJSON(string(v.Value)) }})
	}
	for _, b := range p.Bindings {
		out = append(out, cfapi.Binding{Name: b.Name, Make: s.maker(p, b, w)})
	}
	return out
}

func (s *Server) maker(p *config.Project, b config.Binding, w *worker) func(a *cfapi.API) goja.Value {
	if !s.offers(p, b) {
		return func(a *cfapi.API) goja.Value {
			return a.Missing(b.Kind.Title(), b.Name, b.Where.String(), advice(b))
		}
	}
	switch b.Kind {
	case config.KindAssets:
		return func(a *cfapi.API) goja.Value { return a.Service(assetsTarget{s}) }
	case config.KindService:
		entry := b.Param("entrypoint")
		if entry == "" {
			entry = "default"
		}
		return func(a *cfapi.API) goja.Value { return a.Service(w.iso.Entrypoint(entry, nil)) }
	case config.KindVersionMetadata:
		return func(a *cfapi.API) goja.Value {
			return a.ParseJSON(`{"id":"00000000-0000-0000-0000-000000000000","tag":"","timestamp":"0"}`)
		}
	}
	var space cfapi.Namespace
	for _, d := range p.DurableObjects {
		if d.Name == b.Name {
			space = s.spaces[d.UniqueKey]
		}
	}
	return func(a *cfapi.API) goja.Value { return a.Namespace(space) }
}

// advice says what to do about a binding that minido does not have.
func advice(b config.Binding) string {
	switch b.Kind {
	case config.KindDurableObject:
		return fmt.Sprintf("Its class lives in another worker (%s); running several workers together is not built yet. Move the class into this worker, or stub the calls in tests.", b.Param("script_name"))
	case config.KindService:
		return fmt.Sprintf("The worker %q is not running; running several workers together is not built yet. Guard the call, or bind to this worker itself.", b.Param("service"))
	case config.KindAI:
		return "Call a model over HTTP with fetch() instead, for example a local mock server named in a variable."
	case config.KindKVNamespace, config.KindR2Bucket, config.KindD1:
		return "Keep the data in a Durable Object's storage, or guard the code that uses the binding."
	}
	return "Guard the code that uses the binding, or run it with wrangler dev."
}

// openAssets opens the project's assets, or closes those of an earlier one.
func (s *Server) openAssets(p *config.Project) error {
	var assets *gateway.Assets
	if p.Assets != nil {
		var err error
		if assets, err = gateway.OpenAssets(*p.Assets); err != nil {
			return fmt.Errorf("assets (%s): %w", p.Assets.Where, err)
		}
		assets.NavigationPlain = !p.Compat("assets_navigation_prefers_asset_serving")
		for _, problem := range assets.Problems() {
			s.event(EventWarning, problem)
		}
	}
	s.mu.Lock()
	s.assets = assets
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
	done(nil, &event.Error{Name: "TypeError", Message: "The assets binding has only fetch(); JS RPC to it is not available in minido."})
}

// Fetch implements cfapi.Target.
func (t assetsTarget) Fetch(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	t.s.mu.Lock()
	assets := t.s.assets
	t.s.mu.Unlock()
	if assets == nil {
		done(nil, errors.New("this worker has no assets any more"))
		return func(error) {}
	}
	done(assets.Fetch(req), nil)
	return func(error) {}
}

func pathOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return u.EscapedPath()
}
