// Package assets serves a worker's static assets: a directory, its `_headers`,
// `_redirects` and `.assetsignore`, and the rules of html_handling,
// not_found_handling and run_worker_first. It knows nothing of JavaScript, nor of
// the network.
package assets

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/event"
)

// MaxAssetBytes is the largest file that can be an asset, as on upload.
const MaxAssetBytes = 25 << 20

// Service serves a directory as wrangler dev and production do (workers-sdk,
// packages/workers-shared: asset-worker/src/handler.ts and
// router-worker/src/worker.ts): html_handling, not_found_handling, ETags,
// `_headers`, `_redirects` and `.assetsignore`. Files are looked up as they
// are at the time of the request, so a rebuild shows at once.
//
// No path leads out of the directory, symbolic links included. An ETag is a
// hash of the content, so that equal files give equal histories. Safe for
// concurrent use.
type Service struct {
	// NavigationPlain switches off that browser navigations
	// (Sec-Fetch-Mode: navigate) get the not-found handling before the worker
	// is asked: compatibility flag assets_navigation_has_no_effect, or a
	// compatibility date before 2025-04-01. It is set before the first request.
	NavigationPlain bool

	c config.Assets

	mu    sync.Mutex // guards everything below
	rules *ruleSet
	seen  string // identity of the rule files that rules come from
	etags map[string]etagEntry
}

type etagEntry struct {
	size     int64
	modified time.Time
	etag     string
}

// Open prepares the directory that c names; it must exist.
func Open(c config.Assets) (*Service, error) {
	if c.HTMLHandling == "" {
		c.HTMLHandling = "auto-trailing-slash"
	}
	info, err := os.Stat(c.Directory)
	if err != nil {
		return nil, fmt.Errorf("assets: the directory: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("assets: directory %s is not a directory", c.Directory)
	}
	if b := strings.Trim(c.BasePath, "/"); b != "" {
		return nil, fmt.Errorf("assets: base_path %q is not supported: put the files into a folder %q of the assets directory instead", c.BasePath, b)
	}
	return &Service{c: c, etags: map[string]etagEntry{}}, nil
}

// Rules tells people how many rules `_headers` and `_redirects` have, and which of
// their lines are ignored, and why. Files are named from the folder base.
func (a *Service) Rules(base string) (said []Remark) {
	root, err := os.OpenRoot(a.c.Directory)
	if err != nil {
		return []Remark{{Text: err.Error(), Warning: true}}
	}
	defer root.Close()
	dir, err := filepath.Rel(base, a.c.Directory)
	if err != nil {
		dir = a.c.Directory
	}
	for _, m := range a.currentRules(root).remarks {
		said = append(said, m.say(filepath.ToSlash(dir))...)
	}
	return said
}

// WorkerFirst reports whether a request for path goes to the worker without a
// look at the assets.
func (a *Service) WorkerFirst(path string) bool {
	return !matchesGlob(a.c.AssetsFirst, path) && (a.c.RunWorkerFirst || matchesGlob(a.c.WorkerFirst, path))
}

// Serve is what stands in front of a worker: found is false if the request is
// the worker's. The not-found handling answers here only for navigations, for
// paths that run_worker_first excludes with "!", and wherever run_worker_first
// has rules. Ask WorkerFirst before.
func (a *Service) Serve(req *event.Request) (resp *event.Response, found bool) {
	notFound := "none"
	if len(a.c.WorkerFirst)+len(a.c.AssetsFirst) > 0 || !a.NavigationPlain && req.Header.Get("Sec-Fetch-Mode") == "navigate" {
		notFound = a.c.NotFoundHandling
	}
	resp, found = a.respond(req, notFound)
	if !found {
		if u, err := whatwg.Parse(req.URL); err == nil && matchesGlob(a.c.AssetsFirst, u.Pathname()) {
			return a.Fetch(req), true
		}
		return nil, false
	}
	return resp, true
}

// Fetch is env.ASSETS.fetch, and what serves a project that has no worker:
// always a response, with the not-found handling of the configuration.
func (a *Service) Fetch(req *event.Request) *event.Response {
	resp, _ := a.respond(req, a.c.NotFoundHandling)
	return resp
}

// respond answers a request; found is false if nothing is there for it, and
// resp is then the 404 for it.
func (a *Service) respond(req *event.Request, notFound string) (resp *event.Response, found bool) {
	u, err := whatwg.Parse(req.URL)
	if err != nil {
		return failed(fmt.Errorf("the URL %q: %w", req.URL, err)), true
	}
	root, err := os.OpenRoot(a.c.Directory)
	if err != nil {
		return failed(err), true
	}
	defer root.Close()
	rules := a.currentRules(root)
	l := &lookup{root: root, ignored: rules.ignored, html: a.c.HTMLHandling, notFound: notFound}
	resp, found = a.answer(req, u, rules, l)
	rules.decorate(u, resp)
	return resp, found
}

func (a *Service) answer(req *event.Request, u *whatwg.Url, rules *ruleSet, l *lookup) (*event.Response, bool) {
	pathname, proxied := u.Pathname(), false
	if r, ok := rules.redirect(u); ok {
		if r.status != 200 {
			return moved(r.status, r.to), true
		}
		pathname, proxied = r.to, true
	}
	decoded := decodePath(pathname)
	in, ok := l.intent(decoded, true)
	if !ok {
		return &event.Response{Status: 404, StatusText: "Not Found"}, proxied
	}
	if req.Method != "GET" && req.Method != "HEAD" {
		return &event.Response{Status: 405, StatusText: "Method Not Allowed"}, true
	}
	destination := decoded
	if in.redirect != "" {
		destination = in.redirect
	}
	if encoded := encodePath(destination); in.redirect != "" || encoded != pathname {
		return moved(307, encoded+u.Search()), true
	}
	return a.file(req, l.root, in), true
}

// file answers with a file's content.
func (a *Service) file(req *event.Request, root *os.Root, in intent) *event.Response {
	name := strings.TrimPrefix(in.file, "/")
	info, err := root.Stat(name)
	if err != nil {
		return failed(err)
	}
	if info.Size() > MaxAssetBytes {
		return failed(fmt.Errorf("%s has %d bytes; an asset may have %d", name, info.Size(), MaxAssetBytes))
	}
	data, err := root.ReadFile(name)
	if err != nil {
		return failed(err)
	}
	etag := a.etag(name, info, data)
	header := event.Header{{Name: "ETag", Value: `"` + etag + `"`}}
	if kind := contentType(name); kind != "" {
		header = append(header, event.Field{Name: "Content-Type", Value: kind})
	}
	if !req.Header.Has("Authorization") && !req.Header.Has("Range") {
		header = append(header, event.Field{Name: "Cache-Control", Value: "public, max-age=0, must-revalidate"})
	}
	header = append(header, event.Field{Name: "CF-Cache-Status", Value: "HIT"})
	resp := &event.Response{Status: 200, StatusText: "OK", Header: header}
	if in.missing {
		resp.Status, resp.StatusText = 404, "Not Found"
	}
	switch match := req.Header.Get("If-None-Match"); {
	case match == `"`+etag+`"`, match == `W/"`+etag+`"`:
		resp.Status, resp.StatusText = 304, "Not Modified"
	case req.Method == "HEAD":
		resp.Header = append(resp.Header, event.Field{Name: "Content-Length", Value: fmt.Sprint(len(data))})
	default:
		resp.Body = event.Bytes(data)
	}
	return resp
}

// etag hashes data, or remembers that it has.
func (a *Service) etag(name string, info fs.FileInfo, data []byte) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e, ok := a.etags[name]; ok && e.size == info.Size() && e.modified.Equal(info.ModTime()) {
		return e.etag
	}
	sum := sha256.Sum256(data)
	e := etagEntry{info.Size(), info.ModTime(), hex.EncodeToString(sum[:16])}
	if len(a.etags) >= 4096 {
		clear(a.etags)
	}
	a.etags[name] = e
	return e.etag
}

// currentRules are the rules of the directory's own files, read again when one
// of them has changed.
func (a *Service) currentRules(root *os.Root) *ruleSet {
	seen := ""
	for _, name := range []string{"_headers", "_redirects", ".assetsignore"} {
		if info, err := root.Stat(name); err == nil {
			seen += fmt.Sprint(name, info.Size(), info.ModTime().UnixNano(), ";")
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.rules == nil || a.seen != seen {
		a.rules, a.seen = readRules(root, a.c.HTMLHandling), seen
	}
	return a.rules
}

func moved(status int, to string) *event.Response {
	text := map[int]string{301: "Moved Permanently", 302: "Found", 303: "See Other", 307: "Temporary Redirect", 308: "Permanent Redirect"}
	return &event.Response{Status: status, StatusText: text[status], Header: event.Header{{Name: "Location", Value: to}}}
}

func failed(err error) *event.Response {
	return &event.Response{Status: 500, StatusText: "Internal Server Error",
		Header: event.Header{{Name: "Content-Type", Value: "text/plain; charset=utf-8"}},
		Body:   event.Bytes([]byte("Serving assets: " + err.Error() + "\n"))}
}

// lookup finds files for one request.
type lookup struct {
	root     *os.Root
	ignored  func(name string) bool
	html     string
	notFound string
}

// exists reports whether p, an absolute decoded path, is an asset. A path that
// is not in its simplest form never is.
func (l *lookup) exists(p string) bool {
	if !strings.HasPrefix(p, "/") || path.Clean(p) != p || p == "/" || strings.ContainsAny(p, "\\\x00") {
		return false
	}
	name := p[1:]
	if l.ignored(name) {
		return false
	}
	// It fails also for a link that leads out of the directory and for a name
	// that the system cannot have: these are no assets either.
	info, err := l.root.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
