package kv_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"minido.dev/minido/runtime/binding/kv"
	"minido.dev/minido/runtime/config"
)

// Globs of a site match anywhere in a path, as miniflare's (glob-to-regexp without anchors):
// include decides if it is there, a "!" takes back.
func TestSiteGlobs(t *testing.T) {
	paths := []string{"a.html", "a.map", "css/a.css", "css/deep/b.css", "css/deep/b.css.map", "draft/a.html"}
	files := fstest.MapFS{}
	for _, path := range paths {
		files[path] = &fstest.MapFile{}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		include, exclude []any
		want             []string
	}{
		{nil, nil, paths},
		{nil, []any{"*.map"}, []string{"a.html", "css/a.css", "css/deep/b.css", "draft/a.html"}},
		{[]any{"css/*.css"}, []any{"**"}, []string{"css/a.css"}},
		{[]any{"css/**/*.css"}, nil, []string{"css/a.css", "css/deep/b.css", "css/deep/b.css.map"}},
		{[]any{"**/*.html", "!draft"}, nil, []string{"a.html"}},
		{[]any{"?.html"}, nil, nil},
	} {
		site := kv.SiteOf(config.Binding{Params: map[string]any{"bucket": dir, "include": c.include, "exclude": c.exclude}})
		manifest, err := site.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(maps.Keys(manifest)); !slices.Equal(got, c.want) {
			t.Errorf("include %q, exclude %q: %q, want %q", c.include, c.exclude, got, c.want)
		}
		for _, path := range paths {
			v, err := site.Get(path)
			if err != nil || (v != nil) != slices.Contains(c.want, path) {
				t.Errorf("include %q, exclude %q: %s is %v, %v", c.include, c.exclude, path, v, err)
			}
		}
	}
}

// No key leads out of the folder, by dots or by a link, nor to what workerd's disk hides.
func TestSiteStaysInItsFolder(t *testing.T) {
	const prefix = "$__MINIFLARE_SITES__$/" // of miniflare's keys
	dir := t.TempDir()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	if err := os.CopyFS(dir, fstest.MapFS{"secret": file("s"), "public/a.txt": file("a"), "public/.hidden": file("h"), "public/sub/b.txt": file("b")}); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "public")
	if err := os.Symlink(filepath.Join(dir, "secret"), filepath.Join(folder, "link")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	site := kv.SiteOf(config.Binding{Params: map[string]any{"bucket": folder}})
	for key, want := range map[string]string{
		"a.txt": "a", prefix + "a.txt": "a", prefix + "sub%2Fb.txt": "b", "sub/b.txt": "b",
		"../secret": "", prefix + "..%2Fsecret": "", "link": "", ".hidden": "", "sub": "", "none": "", "sub/../a.txt": "",
	} {
		got := ""
		v, err := site.Get(key)
		if v != nil {
			got = string(v.Data)
		}
		if err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", key, got, err, want)
		}
	}
	if _, err := site.Get(prefix + "%zz"); err == nil {
		t.Error("a key that cannot be decoded has a value")
	}
}
