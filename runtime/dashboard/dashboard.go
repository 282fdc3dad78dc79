// Package dashboard is the pages of `minido dashboard`: a TypeScript program that runs
// in the browser and uses the control API (docs/control.md). It holds nothing of a
// server: whoever has no token sees an empty frame.
package dashboard

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/evanw/esbuild/pkg/api"
)

// Path is where the pages are on the control listener.
const Path = "/dashboard"

// policy lets a page load and ask nothing but its own origin, connect WebSockets to
// the worker, and be framed by nobody.
func policy(worker string) string {
	if worker != "" {
		worker = " ws" + strings.TrimPrefix(worker, "http")
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'" + worker + "; img-src 'self' data:; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

//go:embed app
var sources embed.FS

// Handler answers GET Path/... of a server whose worker answers at the URL, "" for
// nowhere; it compiles the program at the first request. Safe
// for concurrent use.
func Handler(worker string) http.Handler {
	policy := policy(worker)
	program := sync.OnceValues(compile)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
		switch name := strings.TrimPrefix(r.URL.Path, Path+"/"); name {
		case "app.js":
			code, err := program()
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			serve(w, r, name, code)
		case "":
			static(w, r, "index.html")
		case "style.css":
			static(w, r, name)
		default:
			http.NotFound(w, r)
		}
	})
}

func static(w http.ResponseWriter, r *http.Request, name string) {
	b, err := sources.ReadFile("app/" + name)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	serve(w, r, name, b)
}

func serve(w http.ResponseWriter, r *http.Request, name string, content []byte) {
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}

// compile bundles app/main.ts and what it imports.
func compile() ([]byte, error) {
	built := api.Build(api.BuildOptions{
		EntryPoints: []string{"main.ts"}, Bundle: true, MinifyWhitespace: true, MinifySyntax: true,
		Format: api.FormatESModule, Target: api.ES2022, Plugins: []api.Plugin{embedded()},
	})
	if len(built.Errors) > 0 {
		e := built.Errors[0]
		return nil, fmt.Errorf("dashboard: %s:%d: %s", e.Location.File, e.Location.Line, e.Text)
	}
	return built.OutputFiles[0].Contents, nil
}

// embedded has esbuild read the sources that the binary holds.
func embedded() api.Plugin {
	return api.Plugin{Name: "embedded", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: strings.TrimSuffix(path.Clean(a.Path), ".ts") + ".ts", Namespace: "app"}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "app"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			text, err := fs.ReadFile(sources, "app/"+a.Path)
			if err != nil {
				return api.OnLoadResult{}, err
			}
			content := string(text)
			return api.OnLoadResult{Contents: &content, Loader: api.LoaderTS}, nil
		})
	}}
}
