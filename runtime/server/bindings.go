package server

import (
	"net/url"
	"slices"

	"github.com/dop251/goja"

	"minido.dev/minido/durableobject/objectid"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/event"
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
		case config.KindR2Bucket:
			st.Detail = bucketName(b)
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
	case config.KindAssets, config.KindVersionMetadata, config.KindR2Bucket:
		return true
	case config.KindAI:
		return s.opts.AI != ""
	case config.KindService:
		return s.running(p, b.Param("service"))
	case config.KindDurableObject:
		for _, d := range p.DurableObjects {
			if d.Name == b.Name {
				return d.Local || s.running(p, d.ScriptName)
			}
		}
	}
	return false
}

// running reports whether a worker of that name is the project itself or runs
// beside it.
func (s *Server) running(p *config.Project, script string) bool {
	return script == p.Name || s.session.find(script) != nil
}

// kindOrder is how miniflare puts bindings on env (its PLUGINS), after variables:
// objects before texts. Each kind is in the order of the configuration.
var kindOrder = []config.BindingKind{config.KindService, config.KindD1, config.KindDurableObject, config.KindKVNamespace, config.KindQueue, config.KindR2Bucket,
	config.KindHyperdrive, config.KindRateLimit, config.KindAssets, config.KindPipeline, config.KindSecretsStoreSecret, config.KindAnalyticsEngine, config.KindAI}

// bindings makes env for an isolate.
func (s *Server) bindings(p *config.Project, w *worker) []cfapi.Binding {
	var objects, texts []cfapi.Binding
	for _, v := range p.Vars {
		b := cfapi.Binding{Name: v.Name, Make: func(a *cfapi.API) goja.Value { return a.ParseJSON(string(v.Value)) }}
		if len(v.Value) > 0 && v.Value[0] == '"' {
			texts = append(texts, b)
		} else {
			objects = append(objects, b)
		}
	}
	ordered := slices.Clone(p.Bindings)
	rank := func(b config.Binding) int {
		if i := slices.Index(kindOrder, b.Kind); i >= 0 {
			return i
		}
		return len(kindOrder)
	}
	slices.SortStableFunc(ordered, func(a, b config.Binding) int { return rank(a) - rank(b) })
	out := append(objects, texts...)
	for _, b := range ordered {
		out = append(out, cfapi.Binding{Name: b.Name, Make: s.maker(p, b, w)})
	}
	return out
}

func (s *Server) maker(p *config.Project, b config.Binding, w *worker) func(a *cfapi.API) goja.Value {
	switch b.Kind {
	case config.KindAssets:
		return func(a *cfapi.API) goja.Value { return a.Service(assetsTarget{s}) }
	case config.KindService:
		return s.serviceMaker(p, b, w)
	case config.KindDurableObject:
		space := s.spaceFor(p, b)
		return func(a *cfapi.API) goja.Value { return a.Namespace(space) }
	case config.KindAI:
		if s.opts.AI != "" {
			return func(a *cfapi.API) goja.Value { return a.AI(s.opts.AI) }
		}
	case config.KindR2Bucket:
		bucket := s.session.buckets.named(s, bucketName(b))
		return func(a *cfapi.API) goja.Value { return a.Bucket(bucket) }
	case config.KindVersionMetadata:
		return func(a *cfapi.API) goja.Value {
			return a.ParseJSON(`{"id":"00000000-0000-0000-0000-000000000000","tag":"","timestamp":"0"}`)
		}
	}
	return func(a *cfapi.API) goja.Value {
		return a.Missing(b.Kind.Title(), b.Name, b.Where.String(), advice(b))
	}
}

// serviceMaker makes a service binding: to this worker, which is the generation
// that env belongs to, or to another one of the session.
func (s *Server) serviceMaker(p *config.Project, b config.Binding, w *worker) func(a *cfapi.API) goja.Value {
	entry := b.Param("entrypoint")
	if entry == "" {
		entry = defaultEntrypoint
	}
	return func(a *cfapi.API) goja.Value {
		var props *event.Payload
		if b.Props != nil {
			props = a.Pack(a.ParseJSON(string(b.Props)))
		}
		if b.Param("service") == p.Name {
			return a.Service(w.iso.Entrypoint(entry, props))
		}
		return a.Service(&service{from: s, script: b.Param("service"), entrypoint: entry, props: props})
	}
}

// spaceFor is the namespace of a durable_objects binding.
func (s *Server) spaceFor(p *config.Project, b config.Binding) cfapi.Namespace {
	for _, d := range p.DurableObjects {
		switch {
		case d.Name != b.Name:
		case d.Local:
			return s.space(d.UniqueKey)
		default:
			return &foreignSpace{from: s, bind: d, ids: objectid.NewNamespace(d.UniqueKey)}
		}
	}
	panic("a binding without its namespace: " + b.Name)
}

// advice says what to do about a binding that minido does not have.
func advice(b config.Binding) string {
	switch b.Kind {
	case config.KindAI:
		return "Start minido dev with --mock-ai, or name a provider on this machine with --ai-url."
	case config.KindKVNamespace, config.KindD1:
		return "Keep the data in a Durable Object's storage, or guard the code that uses the binding."
	}
	return "Guard the code that uses the binding, or run it with wrangler dev."
}

func pathOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return u.EscapedPath()
}
