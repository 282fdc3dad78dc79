package kv

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/binding/miniflare"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
)

// sites are the namespaces of Workers Sites: the files of a folder, which are read
// where they are (miniflare: plugins/kv/sites.ts, workers/kv/sites.worker.ts).
type sites struct {
	driver.Stateless
	session *driver.Session
}

// NewSite makes the driver of Workers Sites.
func NewSite(s *driver.Session) driver.Driver { return sites{session: s} }

// Make implements driver.Driver.
func (d sites) Make(a *cfapi.API, _ driver.Worker, b config.Binding) goja.Value {
	n := &shared{SiteOf(b), miniflare.NewQueue(d.session.Scheduler)}
	p := &api{API: a, open: func() (*shared, error) { return n, nil }}
	return p.define()
}

// Site is the folder of a Workers Site. Safe for concurrent use.
type Site struct {
	folder string
	wanted func(path string) bool // reports whether a path is the site's
}

// SiteOf is the folder that the section site names.
func SiteOf(b config.Binding) *Site {
	return &Site{folder: b.Param("bucket"), wanted: wanted(texts(b.Params["include"]), texts(b.Params["exclude"]))}
}

func texts(v any) (all []string) {
	list, _ := v.([]any)
	for _, one := range list {
		if s, ok := one.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// sitePrefix begins the keys of a manifest: what they name is not cached.
const sitePrefix = "$__MINIFLARE_SITES__$/"

// siteKey is the key of a file: its path as encodeURIComponent writes it.
func siteKey(file string) string {
	var b strings.Builder
	b.WriteString(sitePrefix)
	for _, c := range []byte(file) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.!~*'()", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// Manifest is the key of each file, by its path below the folder.
//
// # Errors
//
// The folder cannot be read.
func (s *Site) Manifest() (map[string]string, error) {
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	manifest := make(map[string]string, len(files))
	for _, file := range files {
		manifest[file] = siteKey(file)
	}
	return manifest, nil
}

// files are the paths below the folder that the site serves, in lexical order.
func (s *Site) files() (files []string, err error) {
	err = filepath.WalkDir(s.folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		below, err := filepath.Rel(s.folder, path)
		if below = filepath.ToSlash(below); err == nil && s.wanted(below) {
			files = append(files, below)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("site.bucket: %w", err)
	}
	return files, nil
}

// wanted tells which paths are a site's: include decides if it is given, else exclude.
func wanted(include, exclude []string) func(path string) bool {
	if len(include) > 0 {
		return matcher(include)
	}
	excluded := matcher(exclude)
	return func(path string) bool { return !excluded(path) }
}

// matcher reports whether a path contains what one of the globs matches, and nothing that
// one of those with a "!" matches.
func matcher(globs []string) func(string) bool {
	var yes, no []*regexp.Regexp
	for _, g := range globs {
		if rest, not := strings.CutPrefix(g, "!"); not {
			no = append(no, regexp.MustCompile(globPattern(rest)))
		} else {
			yes = append(yes, regexp.MustCompile(globPattern(g)))
		}
	}
	return func(path string) bool {
		matches := func(r *regexp.Regexp) bool { return r.MatchString(path) }
		return !slices.ContainsFunc(no, matches) && slices.ContainsFunc(yes, matches)
	}
}

// globPattern is a glob as a regular expression without anchors: `**` between slashes is
// any folders, any other run of stars is a part of a name, everything else is literal.
func globPattern(glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		if glob[i] != '*' {
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
			continue
		}
		start := i
		for i+1 < len(glob) && glob[i+1] == '*' {
			i++
		}
		if i > start && (start == 0 || glob[start-1] == '/') && (i+1 == len(glob) || glob[i+1] == '/') {
			b.WriteString(`(?:[^/]*(?:/|$))*`)
			i++
			continue
		}
		b.WriteString(`[^/]*`)
	}
	return b.String()
}

// Now implements backend. Nothing of a site expires.
func (s *Site) Now() int64 { return 0 }

// GetCached implements backend: a file may change at any time.
func (s *Site) GetCached(string) (*Value, bool, error) { return nil, false, nil }

// Get implements backend.
func (s *Site) Get(key string) (*Value, error) {
	name := key
	if encoded, ok := strings.CutPrefix(key, sitePrefix); ok {
		var err error
		if name, err = url.PathUnescape(encoded); err != nil {
			return nil, refusal(500, "URI malformed")
		}
	}
	if !fs.ValidPath(name) || !s.wanted(name) || slices.ContainsFunc(strings.Split(name, "/"), hidden) {
		return nil, nil
	}
	root, err := os.OpenRoot(s.folder)
	if err != nil {
		return nil, fmt.Errorf("site.bucket: %w", err)
	}
	defer root.Close()
	info, err := root.Stat(filepath.FromSlash(name))
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("site.bucket: %w", err)
	}
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil // no such file, or one that leads out of the folder
	}
	data, err := root.ReadFile(filepath.FromSlash(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("site.bucket: %w", err)
	}
	return &Value{Entry: Entry{Key: key}, Data: data}, nil
}

// hidden reports whether workerd's service of a disk leaves a name out.
func hidden(name string) bool { return strings.HasPrefix(name, ".") }

// GetAll implements backend.
func (s *Site) GetAll([]string) ([]*Value, error) { return nil, readOnly("post") }

// Put implements backend.
func (s *Site) Put(Entry, []byte) error { return readOnly("put") }

// Delete implements backend.
func (s *Site) Delete(string) error { return readOnly("delete") }

func readOnly(method string) error {
	return refusal(405, "Cannot %s() with Workers Sites namespace", method)
}

// List implements backend.
func (s *Site) List(prefix, cursor string, limit int) (page Page, err error) {
	files, err := s.files()
	if err != nil {
		return page, err
	}
	after := decodeCursor(cursor)
	for _, file := range files {
		if key := siteKey(file); strings.HasPrefix(key, prefix) && key > after && !slices.ContainsFunc(strings.Split(file, "/"), hidden) {
			page.Entries = append(page.Entries, Entry{Key: key})
		}
	}
	slices.SortFunc(page.Entries, func(a, b Entry) int { return cmp.Compare(a.Key, b.Key) })
	if len(page.Entries) > limit {
		page.Entries = page.Entries[:limit]
		page.Cursor = base64.StdEncoding.EncodeToString([]byte(page.Entries[limit-1].Key))
	}
	return page, nil
}
