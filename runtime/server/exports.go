package server

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/runtime/config"
)

// need is an export of a worker that a binding of the session names. Immutable.
type need struct {
	binding string
	where   config.Position
	script  string // the worker that has to export it
	name    string
	what    string // for people: "class", "workflow class", "entrypoint"
	key     string // of the configuration that has the name
	class   bool   // an object that is no class will not do
	// object is set for a Durable Object.
	object *config.DurableObjectBinding
}

// needsOf lists what the bindings of a project need of workers, its own among them.
func needsOf(p *config.Project) (all []need) {
	for _, b := range p.DurableObjects {
		all = append(all, need{b.Name, b.ClassWhere, b.ScriptName, b.ClassName, "class", "class_name", true, &b})
	}
	for _, b := range p.Bindings {
		switch b.Kind {
		case "workflow":
			script := b.Param("script_name")
			if script == "" {
				script = p.Name
			}
			all = append(all, need{b.Name, b.Where, script, b.Param("class_name"), "workflow class", "class_name", true, nil})
		case "service":
			if name := b.Param("entrypoint"); name != "" {
				all = append(all, need{b.Name, b.Where, b.Param("service"), name, "entrypoint", "entrypoint", false, nil})
			}
		}
	}
	return all
}

// met reports whether a worker has what is needed.
func (n need) met(exports, classes []string) bool {
	if n.class {
		return slices.Contains(classes, n.name)
	}
	return slices.Contains(exports, n.name)
}

// missing is the diagnostic about an export that the file where lacks; there is
// " there" if it belongs to another worker.
func (n need) missing(where, there string, exports []string) config.Diagnostic {
	verb := "does not export"
	if slices.Contains(exports, n.name) {
		verb = "exports, but not as a class"
	}
	have := "nothing"
	if len(exports) > 0 {
		have = strings.Join(exports, ", ")
	}
	return n.diagnostic(fmt.Sprintf("the binding %s names the %s %q, which %s %s", n.binding, n.what, n.name, where, verb),
		fmt.Sprintf("it exports %s; export the %s%s, or correct %s", have, n.what, there, n.key))
}

func (n need) diagnostic(text, hint string) config.Diagnostic {
	return config.NewDiagnostic(config.SeverityError, n.where, []byte(readText(n.where.File)), text, hint)
}

// checkExports reports bindings to what a worker that was loaded does not export: its
// own, and those of the other workers of the session that name it.
func (s *Server) checkExports(p *config.Project, w *worker) error {
	var bad []config.Diagnostic
	main := p.Relative(p.Main)
	for _, m := range s.session.members {
		from, where, there := p, main, ""
		if m != s {
			from, where, there = m.Project(), fmt.Sprintf("%s of the worker %q", main, p.Name), " there"
		}
		for _, n := range needsOf(from) {
			if n.object == nil && s.opts.RunsTests {
				continue // the entry module imports test files: it need not export what main does
			}
			if n.script == p.Name && !n.met(w.exports, w.classes) {
				bad = append(bad, n.missing(where, there, w.exports))
			}
		}
	}
	return asError(bad)
}

// bindOthers prepares what a changed configuration binds to in other workers of
// the session, and reports what they do not export.
func (s *Server) bindOthers(p *config.Project) error {
	var bad []config.Diagnostic
	for _, n := range needsOf(p) {
		m := s.session.find(n.script)
		if m == nil || m == s {
			continue
		}
		w, running := m.running()
		switch other := m.Project(); {
		case !running: // it checks itself when it starts
		case n.met(w.exports, w.classes):
			if n.object == nil {
				continue
			}
			if err := m.openNamespace(place{pool.Folder, n.name, n.object.UniqueKey}); err != nil {
				return err
			}
		case other.Main == "":
			bad = append(bad, n.diagnostic(fmt.Sprintf("the binding %s names the %s %q of the worker %q, which has only assets", n.binding, n.what, n.name, other.Name),
				fmt.Sprintf("name a worker that exports the %s", n.what)))
		default:
			bad = append(bad, n.missing(fmt.Sprintf("%s of the worker %q", other.Relative(other.Main), other.Name), " there", w.exports))
		}
	}
	return asError(bad)
}

// running is the worker that answers now.
func (s *Server) running() (w *worker, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current, s.current != nil
}

func asError(bad []config.Diagnostic) error {
	if bad == nil {
		return nil
	}
	return &config.ConfigError{Diagnostics: bad}
}

func readText(path string) string {
	b, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return "" // the diagnostic then has no code frame
	}
	return string(b)
}
