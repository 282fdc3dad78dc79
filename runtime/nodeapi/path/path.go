package path

import (
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
)

// flavour is one of the two kinds of path of node:path. Methods get strings
// and are pure.
type flavour interface {
	sep() string
	delimiter() string
	normalize(p string) string
	join(parts []string) string
	resolve(cwd string, parts []string) string
	isAbsolute(p string) bool
	relative(cwd, from, to string) string
	toNamespaced(cwd, p string) string
	parse(p string) pathParts
	isSep(c byte) bool
}

// pathParts is what path.parse gives.
type pathParts struct{ root, dir, base, ext, name string }

// workingDirectory is what relative paths are resolved against; unlike
// process.cwd(), which is /bundle, workerd's node:path takes the root.
const workingDirectory = "/"

// makePath makes node:path (nodejs.org/api/path.html): the posix flavour, with
// both as properties.
func makePath(base *node.Modules) goja.Value {
	m := &module{Modules: base}

	posix, win := m.pathObject(posixPath{}), m.pathObject(win32Path{})
	for _, o := range []*goja.Object{posix, win} {
		m.Define(o, "posix", posix)
		m.Define(o, "win32", win)
	}
	return posix
}

func (m *module) pathObject(f flavour) *goja.Object {
	e, str := m.Engine, func(s string) goja.Value { return m.VM.ToValue(s) }
	one := func(name string, fn func(p string) goja.Value) engine.Func {
		return engine.Func{Name: name, Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			return fn(m.Text(c.Argument(0), "path"))
		}}
	}
	texts := func(c goja.FunctionCall, name string) []string {
		parts := make([]string, len(c.Arguments))
		for i, a := range c.Arguments {
			parts[i] = m.Text(a, strings.Replace(name, "%d", strconv.Itoa(i), 1))
		}
		return parts
	}
	o := e.Native(
		one("normalize", func(p string) goja.Value { return str(f.normalize(p)) }),
		one("isAbsolute", func(p string) goja.Value { return m.VM.ToValue(f.isAbsolute(p)) }),
		one("dirname", func(p string) goja.Value { return str(dirname(f, p)) }),
		one("extname", func(p string) goja.Value { return str(f.parse(p).ext) }),
		one("parse", func(p string) goja.Value { return m.pathParsed(f.parse(p)) }),
		engine.Func{Name: "join", Fn: func(c goja.FunctionCall) goja.Value { return str(f.join(texts(c, "path"))) }},
		engine.Func{Name: "resolve", Fn: func(c goja.FunctionCall) goja.Value {
			return str(f.resolve(workingDirectory, texts(c, "paths[%d]")))
		}},
		engine.Func{Name: "relative", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			return str(f.relative(workingDirectory, m.Text(c.Argument(0), "from"), m.Text(c.Argument(1), "to")))
		}},
		engine.Func{Name: "basename", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			suffix := ""
			if v := c.Argument(1); !node.Absent(v) {
				suffix = m.Text(v, "ext")
			}
			return str(basename(f, m.Text(c.Argument(0), "path"), suffix))
		}},
		engine.Func{Name: "format", Length: 1, Fn: func(c goja.FunctionCall) goja.Value { return str(m.pathFormat(f, c.Argument(0))) }},
		engine.Func{Name: "matchesGlob", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			return m.VM.ToValue(m.matchesGlob(m.Text(c.Argument(0), "path"), m.Text(c.Argument(1), "pattern"), f))
		}},
		engine.Func{Name: "toNamespacedPath", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			if !node.IsString(c.Argument(0)) {
				return c.Argument(0)
			}
			return str(f.toNamespaced(workingDirectory, c.Argument(0).String()))
		}},
	)
	m.Define(o, "sep", str(f.sep()))
	m.Define(o, "delimiter", str(f.delimiter()))
	return o
}

func (m *module) pathParsed(p pathParts) goja.Value {
	o := m.VM.NewObject()
	for _, kv := range [][2]string{{"root", p.root}, {"dir", p.dir}, {"base", p.base}, {"ext", p.ext}, {"name", p.name}} {
		m.Define(o, kv[0], m.VM.ToValue(kv[1]))
	}
	return o
}

func (m *module) pathFormat(f flavour, v goja.Value) string {
	o, ok := v.(*goja.Object)
	if !ok {
		m.ThrowArgType("pathObject", "of type object", v)
	}
	get := func(name string) string {
		if v := o.Get(name); v != nil && v.ToBoolean() {
			return v.String()
		}
		return ""
	}
	base, dir, root := get("base"), get("dir"), get("root")
	if base == "" {
		ext := get("ext")
		if ext != "" && !strings.HasPrefix(ext, ".") {
			ext = "." + ext
		}
		base = get("name") + ext
	}
	switch dir {
	case "":
		return root + base
	case root:
		return dir + base
	}
	return dir + f.sep() + base
}

func dirname(f flavour, p string) string {
	if p == "" {
		return "."
	}
	root := f.parse(p).root
	end := len(p)
	for end > len(root) && f.isSep(p[end-1]) {
		end--
	}
	for end > len(root) && !f.isSep(p[end-1]) {
		end--
	}
	if end > len(root) {
		end-- // one separator only, as Node does
		if end == 1 && strings.HasPrefix(p, "//") && f.sep() == "/" {
			return "//"
		}
	}
	if end == 0 {
		return "."
	}
	return p[:end]
}

func basename(f flavour, p, suffix string) string {
	if p == suffix {
		return ""
	}
	base := lastPart(f, p, true)
	if suffix != "" && base != suffix && strings.HasSuffix(base, suffix) {
		return base[:len(base)-len(suffix)]
	}
	return base
}

// lastPart is what follows the last separator that is not at the end. A drive
// letter is not part of it.
func lastPart(f flavour, p string, drive bool) string {
	start := 0
	if _, win := f.(win32Path); win && drive && len(p) >= 2 && isLetter(p[0]) && p[1] == ':' {
		start = 2
	}
	end := len(p)
	for end > start && f.isSep(p[end-1]) {
		end--
	}
	i := end
	for i > start && !f.isSep(p[i-1]) {
		i--
	}
	return p[i:end]
}

// splitExt divides a base name before its last dot, unless the dot is first.
func splitExt(base string) (name, ext string) {
	i := strings.LastIndexByte(base, '.')
	if i <= 0 || base == ".." {
		return base, ""
	}
	return base[:i], base[i:]
}

// normalizeParts resolves `.` and `..`; above says whether `..` may lead out of
// the beginning.
func normalizeParts(p string, above bool, isSep func(byte) bool, sep string) string {
	var out []string
	for _, part := range strings.FieldsFunc(p, func(r rune) bool { return r < 128 && isSep(byte(r)) }) {
		switch part {
		case ".":
		case "..":
			switch {
			case len(out) > 0 && out[len(out)-1] != "..":
				out = out[:len(out)-1]
			case above:
				out = append(out, "..")
			}
		default:
			out = append(out, part)
		}
	}
	return strings.Join(out, sep)
}

// posixPath implements path.posix.
type posixPath struct{}

func (posixPath) sep() string       { return "/" }
func (posixPath) delimiter() string { return ":" }
func (posixPath) isSep(c byte) bool { return c == '/' }

func (posixPath) isAbsolute(p string) bool { return strings.HasPrefix(p, "/") }

func (f posixPath) normalize(p string) string {
	if p == "" {
		return "."
	}
	abs, trailing := p[0] == '/', p[len(p)-1] == '/'
	out := normalizeParts(p, !abs, f.isSep, "/")
	if out == "" {
		switch {
		case abs:
			return "/"
		case trailing:
			return "./"
		}
		return "."
	}
	if trailing {
		out += "/"
	}
	if abs {
		return "/" + out
	}
	return out
}

func (f posixPath) join(parts []string) string {
	return f.normalize(joinNonEmpty(parts, "/"))
}

func joinNonEmpty(parts []string, sep string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, sep)
}

func (f posixPath) resolve(cwd string, parts []string) string {
	whole := ""
	for i := len(parts) - 1; i >= -1 && !f.isAbsolute(whole); i-- {
		part := cwd
		if i >= 0 {
			part = parts[i]
		}
		if part != "" {
			whole = part + "/" + whole
		}
	}
	return "/" + normalizeParts(whole, false, f.isSep, "/")
}

func (f posixPath) relative(cwd, from, to string) string {
	if from == to {
		return ""
	}
	return relativeParts(f.resolve(cwd, []string{from}), f.resolve(cwd, []string{to}), "/", func(a, b string) bool { return a == b })
}

func relativeParts(from, to, sep string, same func(a, b string) bool) string {
	split := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return string(r) == sep })
	}
	a, b := split(from), split(to)
	n := 0
	for n < len(a) && n < len(b) && same(a[n], b[n]) {
		n++
	}
	var out []string
	for range a[n:] {
		out = append(out, "..")
	}
	return strings.Join(append(out, b[n:]...), sep)
}

func (posixPath) toNamespaced(_, p string) string { return p }

func (f posixPath) parse(p string) pathParts {
	var r pathParts
	if f.isAbsolute(p) {
		r.root = "/"
	}
	r.base = lastPart(f, p, false)
	r.name, r.ext = splitExt(r.base)
	end := len(strings.TrimRight(p, "/")) - len(r.base)
	if end > 1 {
		r.dir = p[:end-1]
	} else if r.root != "" {
		r.dir = "/"
	}
	return r
}
