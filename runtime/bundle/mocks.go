package bundle

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
	"github.com/evanw/esbuild/pkg/api"

	"minido.dev/minido/internal/lazyregexp"
)

// Module mocks: vi.mock and its kin of vitest (https://vitest.dev/api/vi.html#mock-modules).
//
// A file that calls them gets an object of its own for these calls, the helper
// mockHelper, which knows what the file's specifiers mean. Calls that vitest hoists
// move before the file's imports, and the file becomes asynchronous, so that
// factories that return promises are waited for. Its imports are evaluated where its
// code requires them, after the mocks are there.
//
// A module that some file mocks is evaluated when it is first used, and is imported
// through an object that looks at each use for a mock (mocks.js).

//go:embed mocks.js
var mocksSource string

var mocking = helperFile{compiled("mocks.js", mocksSource), []string{}}

// mockHelper is the name of the helper that stands for vitest's vi.
const mockHelper = "$mocks"

var (
	mockCalls    = lazyregexp.New(`(?:\bimport_vitest\d*\.)?\bvi\.(mock|unmock|doMock|doUnmock|importActual|importMock|hoisted|resetModules)\(`)
	mockImports  = lazyregexp.New(`(\$mocks\.\w+\()Promise\.resolve\(\)\.then\(\(\) => (?:__toESM\d*\()?require\("d/([^"]+)"\)\)?\)`)
	mockSpecs    = lazyregexp.New(`\$mocks\.(mock|doMock|unmock|doUnmock|importActual|importMock)\(["'` + "`" + `]([^"'` + "`" + `\n]+)["'` + "`" + `]`)
	hoistedCalls = []string{"mock", "unmock", "hoisted"}
)

// mocks reports whether a file may mock modules: packages do not.
func (o *Options) mocks(s source) bool {
	return o.Mocks && filepath.IsAbs(s.path) && !inNodeModules(s.path)
}

// mocks rewrites a file's calls of vi.mock and its kin.
func (l *lowered) mocks(body string) string {
	if !mockCalls.MatchString(body) {
		return body
	}
	body = mockCalls.ReplaceAllString(body, "$"+mockHelper+".$1(") // two dollars write one
	body = mockImports.ReplaceAllString(body, `$1"$2"`)
	for _, m := range mockSpecs.FindAllStringSubmatch(body, -1) {
		if ref := (importRef{dynamicImport, m[2]}); !slices.Contains(l.imports, ref) {
			l.imports = append(l.imports, ref)
		}
		if m[1] == "mock" || m[1] == "doMock" || m[1] == "importMock" {
			l.mocked = append(l.mocked, m[2])
		}
	}
	l.helpers = append(l.helpers, mockHelper)
	return body
}

// hoist moves the calls that vitest hoists before the file's imports. The lines that
// they leave are empty.
func (l *lowered) hoist(body string) string {
	program, err := goja.Parse("", body, parser.WithDisableSourceMaps)
	if err != nil || !slices.Contains(l.helpers, mockHelper) {
		return body // a syntax error is reported when the unit is compiled
	}
	type span struct{ from, to int }
	var spans []span
	for _, s := range program.Body {
		if hoisted(s) {
			from, to := int(s.Idx0())-1, int(s.Idx1())-1
			if to < len(body) && body[to] == ';' {
				to++
			}
			spans = append(spans, span{from, to})
		}
	}
	var top, rest strings.Builder
	at := 0
	for _, line := range strings.SplitAfter(body, "\n") { // vitest itself comes first
		if strings.HasPrefix(line, "var import_vitest") && strings.Contains(line, `require("i/vitest")`) {
			l.hoisted = append(l.hoisted, strings.Count(body[:strings.Index(body, line)], "\n"))
			top.WriteString(line)
		}
	}
	for _, s := range spans {
		first := strings.Count(body[:s.from], "\n")
		text := body[s.from:s.to]
		for i := range strings.Count(text, "\n") + 1 {
			l.hoisted = append(l.hoisted, first+i)
		}
		top.WriteString(text + "\n")
		rest.WriteString(body[at:s.from] + strings.Repeat("\n", strings.Count(text, "\n")))
		at = s.to
	}
	rest.WriteString(body[at:])
	l.hoisted = append(l.hoisted, 0)
	l.mocking = true
	return top.String() + "await " + mockHelper + ".settle();\n" + rest.String()
}

// hoisted reports whether a statement is a hoisted call, or declares what one returns.
func hoisted(s ast.Statement) bool {
	var e ast.Expression
	var bindings []*ast.Binding
	switch s := s.(type) {
	case *ast.ExpressionStatement:
		e = s.Expression
	case *ast.VariableStatement:
		bindings = s.List
	case *ast.LexicalDeclaration:
		bindings = s.List
	}
	if len(bindings) == 1 {
		e = bindings[0].Initializer
	}
	call, ok := e.(*ast.CallExpression)
	if !ok {
		return false
	}
	member, ok := call.Callee.(*ast.DotExpression)
	if !ok {
		return false
	}
	object, ok := member.Left.(*ast.Identifier)
	return ok && object.Name == mockHelper && slices.Contains(hoistedCalls, member.Identifier.Name.String())
}

// mockKey names what is mocked: a module by its number, or a builtin.
func (t target) mockKey() string {
	if t.builtin != "" {
		return t.builtin
	}
	return fmt.Sprintf("#%d", t.module)
}

// absentKey names a module that need not exist, since a file mocks it: by its specifier,
// or by the path that a relative one means.
func absentKey(dir, spec string) string {
	if strings.HasPrefix(spec, ".") {
		return filepath.ToSlash(filepath.Join(dir, spec))
	}
	return spec
}

// mockedKeys are the keys of all that the files of a scan mock.
func (b *Bundler) mockedKeys(s *scan) map[string]bool {
	keys := map[string]bool{}
	if !b.opts.Mocks {
		return keys
	}
	for _, u := range s.seen { // order-independent: a set
		if u.low != nil && filepath.IsAbs(u.path) {
			for _, spec := range u.low.mocked {
				keys[absentKey(filepath.Dir(u.path), spec)] = true
			}
		}
	}
	return keys
}

// onlyMocked are those that a build could not resolve and that some file mocks, or asks for
// while it runs: in vitest such an import() alone fails.
func (b *Bundler) onlyMocked(s *scan, r api.BuildResult) map[string]bool {
	absent, mocked := map[string]bool{}, b.mockedKeys(s)
	if !b.opts.Mocks {
		return absent
	}
	for _, e := range r.Errors {
		if e.Location == nil {
			continue
		}
		u, line := s.seen[e.Location.File], e.Location.Line-1
		if u == nil || u.low == nil || line < 0 || line >= len(u.low.imports) {
			continue
		}
		ref := u.low.imports[line]
		if key := absentKey(filepath.Dir(u.path), ref.Spec); (mocked[key] || ref.Kind == dynamicImport) && !inNodeModules(u.path) {
			absent[key] = true
		}
	}
	return absent
}

// mockable marks what the files mock.
func (l *linker) mockable(out *Bundle) {
	for _, m := range l.modules {
		if m.low == nil {
			continue
		}
		for _, spec := range m.low.mocked {
			switch t := m.deps[importRef{dynamicImport, spec}.tagged()]; {
			case t.builtin != "":
				out.mockedBuiltins = append(out.mockedBuiltins, t.builtin)
			case t.module >= 0:
				l.modules[t.module].mockable = true
			}
		}
	}
}

// installMocks evaluates mocks.js.
func (in *instance) installMocks() error {
	obj, err := mocking.install(in, in.vm.ToValue(in.actual), in.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		in.spaces[call.Argument(0).ToObject(in.vm)] = true
		return call.Argument(0)
	}), in.vm.ToValue(func(goja.FunctionCall) goja.Value {
		in.forget()
		return goja.Undefined()
	}))
	if err != nil {
		return err
	}
	in.forwards, _ = goja.AssertFunction(obj.Get("forward"))
	in.mocksOf, _ = goja.AssertFunction(obj.Get("of"))
	return nil
}

// mocksHelper is vi.mock and its kin for one file.
func (in *instance) mocksHelper(r *record) goja.Value {
	resolve := func(call goja.FunctionCall) goja.Value {
		spec := call.Argument(0).String()
		t, known := r.deps[importRef{dynamicImport, spec}.tagged()]
		if !known || t.builtin == "" && t.module < 0 {
			panic(in.failure(r, fmt.Sprintf("a mock of %q: minido mocks modules that are imported by a literal name", spec)))
		}
		return in.vm.ToValue(t.mockKey())
	}
	v, err := in.mocksOf(goja.Undefined(), in.vm.ToValue(resolve))
	if err != nil {
		in.throw(err)
	}
	return v
}

// actual is the module of a key as if there were no mocks, as a namespace; a promise
// of it while the module waits.
func (in *instance) actual(call goja.FunctionCall) goja.Value {
	key := call.Argument(0).String()
	var id int
	if _, err := fmt.Sscanf(key, "#%d", &id); err != nil {
		return in.builtin(nil, importRef{importStatement, key}, key)
	}
	r := in.records[id]
	if r.waits && r.state != stateDone {
		return in.vm.ToValue(in.evaluateAsync(r))
	}
	if err := in.evaluate(r); err != nil {
		in.throw(err)
	}
	v := in.exports(r)
	if o, ok := v.(*goja.Object); ok && in.spaces[o] {
		return o
	}
	wrap, _ := goja.AssertFunction(in.helpers["__toESM"])
	ns, err := wrap(goja.Undefined(), v)
	if err != nil {
		in.throw(err)
	}
	in.spaces[ns.ToObject(in.vm)] = true
	return ns
}

// testRunner are the packages that a reset of modules leaves alone, as vitest does.
var testRunner = lazyregexp.New(`/node_modules/(vitest|@vitest/[^/]+|chai)/`)

// forget has modules that were evaluated be evaluated again when they are imported next.
// What has imported them keeps what it has.
func (in *instance) forget() {
	for i, r := range in.records {
		if r.id == in.b.entry || (r.state != stateDone && r.state != stateFailed) || !filepath.IsAbs(r.path) || testRunner.MatchString(filepath.ToSlash(r.path)) {
			continue
		}
		in.records[i] = &record{module: r.module}
	}
}

// forward is what importers of something that may be mocked get.
func (in *instance) forward(t target, ref importRef) goja.Value {
	v, err := in.forwards(goja.Undefined(), in.vm.ToValue(t.mockKey()), in.vm.ToValue(ref.Kind == dynamicImport))
	if err != nil {
		in.throw(err)
	}
	return v
}
