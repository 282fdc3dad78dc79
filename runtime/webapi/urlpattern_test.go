package webapi

import "testing"

// URL Pattern, section 2.1 (create a component, "matches a special scheme"): a
// protocol that matches no special scheme makes the pathname opaque, the empty
// one too; each answer was also given by workerd.
func TestURLPatternOpaquePathname(t *testing.T) {
	w := newFetchWorld(t)
	w.run(`globalThis.path = (protocol, pathname) => new URLPattern({ protocol, pathname }).pathname`)
	w.tries([][2]string{
		{`[path("", "/a{/:b}+"), path("foo", "/a{/:b}+"), path("http{s}?", "/a{/:b}+"), path("*", "/a{/:b}+"), path("(foo|http)", "/a{/:b}+")]`,
			`["/a{/:b}+","/a{/:b}+","/a/:b+","/a/:b+","/a/:b+"]`},
		{`new URLPattern({ pathname: "/a{/:b}+" }).pathname`, `/a/:b+`},
	})
}
