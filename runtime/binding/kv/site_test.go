package kv

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Globs of a site match anywhere in a path, as miniflare's (glob-to-regexp without anchors):
// include decides if it is there, a "!" takes back.
func TestSiteGlobs(t *testing.T) {
	paths := []string{"a.html", "a.map", "css/a.css", "css/deep/b.css", "css/deep/b.css.map", "draft/a.html"}
	for _, c := range []struct {
		include, exclude []string
		want             []string
	}{
		{nil, nil, paths},
		{nil, []string{"*.map"}, []string{"a.html", "css/a.css", "css/deep/b.css", "draft/a.html"}},
		{[]string{"css/*.css"}, []string{"**"}, []string{"css/a.css"}},
		{[]string{"css/**/*.css"}, nil, []string{"css/a.css", "css/deep/b.css", "css/deep/b.css.map"}},
		{[]string{"**/*.html", "!draft"}, nil, []string{"a.html"}},
		{[]string{"?.html"}, nil, nil},
	} {
		matches := wanted(c.include, c.exclude)
		var got []string
		for i := range paths {
			if matches(paths[i]) {
				got = append(got, paths[i])
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("include %q, exclude %q: %q, want %q", c.include, c.exclude, got, c.want)
		}
	}
}

// No key leads out of the folder, by dots or by a link, nor to what workerd's disk hides.
func TestSiteStaysInItsFolder(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "public")
	for name, text := range map[string]string{"secret": "s", "public/a.txt": "a", "public/.hidden": "h", "public/sub/b.txt": "b"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "secret"), filepath.Join(folder, "link")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	s := &Site{folder: folder, wanted: wanted(nil, nil)}
	for key, want := range map[string]string{
		"a.txt": "a", sitePrefix + "a.txt": "a", sitePrefix + "sub%2Fb.txt": "b", "sub/b.txt": "b",
		"../secret": "", sitePrefix + "..%2Fsecret": "", "link": "", ".hidden": "", "sub": "", "none": "", "sub/../a.txt": "",
	} {
		got := ""
		v, err := s.Get(key)
		if v != nil {
			got = string(v.Data)
		}
		if err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", key, got, err, want)
		}
	}
	if _, err := s.Get(sitePrefix + "%zz"); err == nil {
		t.Error("a key that cannot be decoded has a value")
	}
}
