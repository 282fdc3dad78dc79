package bundle

import (
	"crypto/sha256"
	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/bundle/mend"
	"regexp"
	"strings"
)

// format says how a unit's text becomes a module.
type format byte

const (
	formatESM  format = iota + 1 // code fills a namespace through __export
	formatCJS                    // code assigns module.exports
	formatJSON                   // text is JSON, parsed on first use
	formatText                   // text is the default export
	formatData                   // text is the bytes of the default export
	formatWasm                   // text is the bytes of the module that is the default export
)

// importKind is how a file names another one. It is part of the specifier that
// the lowered code passes to require: `i/./x.js`.
type importKind byte

const (
	importStatement importKind = 'i' // import, export from
	requireCall     importKind = 'r' // require()
	dynamicImport   importKind = 'd' // import()
	requireResolve  importKind = 'm' // require.resolve()
)

// importRef is one edge out of a file, by its text.
type importRef struct {
	Kind importKind
	Spec string
}

// tagged is the specifier as the lowered code spells it.
func (r importRef) tagged() string { return string(r.Kind) + "/" + r.Spec }

func parseTagged(s string) (importRef, bool) {
	if len(s) < 2 || s[1] != '/' {
		return importRef{}, false
	}
	switch k := importKind(s[0]); k {
	case importStatement, requireCall, dynamicImport, requireResolve:
		return importRef{k, s[2:]}, true
	}
	return importRef{}, false
}

// lowered is what one file's content becomes, independent of where the file
// lies and of what its imports resolve to. Immutable.
type lowered struct {
	key     [sha256.Size]byte
	format  format
	async   bool        // awaits at the top level
	code    string      // the function for goja; "" for formats without code
	cut     int         // lines of esbuild's output that precede the code's second line
	helpers []string    // names of the function's parameters after exports, require, module
	imports []importRef // in source order, each once
	exports []string    // the names the file itself exports (formatESM)
	stars   []string    // specifiers of `export * from`
	parts   []part      // modules taken out of a prebuilt bundle
	globs   []string    // directories that patterns of imports look into; such a result is not kept
	mocked  []string    // specifiers of modules that it mocks
	mocking bool        // it is asynchronous, since it waits for mocks before its imports
	hoisted []int       // lines of the code after the first that are moved up: their lines in esbuild's output after the cut
	soft    []importRef // imports that may fail to resolve: inside try, or with catch
}

// wrap turns esbuild's CommonJS output into the function that load.go calls,
// and reads off what the file exports. The namespace object is the `exports`
// parameter, so that it exists before the code runs. An entry that exports nothing is a
// script in service-worker syntax: wrangler bundles it as one, so its code is sloppy.
// common says that the code is CommonJS; other code has no module and no exports.
func (l *lowered) wrap(out string, s source, common, mocks bool) {
	prologue, body := mend.SplitOutput(out, s.base())
	l.cut = strings.Count(out[:len(out)-len(body)], "\n")
	names, kept := mend.OwnHelpers(prologue)
	l.helpers = names
	if l.async {
		body = strings.Replace(body, "var "+mend.AsyncUnit+"_exports = {};", "var "+mend.AsyncUnit+"_exports = exports;", 1)
		l.exports = exportBlock(body, mend.AsyncUnit+"_exports")
		if strings.Contains(body, "("+mend.AsyncUnit+"_exports, ") && strings.Contains(body, "__reExport") {
			l.stars = append(l.stars, "") // unknown until it runs
		}
	} else if ns := namespaceName(body); ns != "" {
		body = strings.Replace(body, "var "+ns+" = {};", "var "+ns+" = exports;", 1)
		l.exports = exportBlock(body, ns)
		l.stars = starSpecs(body, ns)
	}
	if strings.Contains(body, importMeta+" = {};") {
		body = strings.Replace(body, importMeta+" = {};", importMeta+" = $meta;", 1)
		l.helpers = append(l.helpers, "$meta")
	}
	if lowered := lowerComputed(body); lowered != body {
		body = lowered
		l.helpers = append(l.helpers, computedImport)
	}
	l.helpers = append(l.helpers, mend.Helpers(prologue, body)...)
	parameters := mend.CommonJS
	if !common && !mocks {
		body, parameters = mend.WithoutCommonJS(body)
	}
	head := "("
	if mocks {
		for _, name := range []string{"__dirname", "__filename"} { // vitest has them in every file
			if strings.Contains(body, name) && !regexp.MustCompile(`\b(var|let|const|function|class) `+name+`\b`).MatchString(body) {
				l.helpers = append(l.helpers, name)
			}
		}
		if body = l.mocks(body); !l.async {
			body = l.hoist(body)
		}
	}
	if l.mocking {
		head += "async "
	}
	head += "function(" + parameters
	for _, n := range l.helpers {
		head += "," + n
	}
	head += "){"
	if !s.entry || len(l.exports) > 0 || len(l.stars) > 0 {
		head += `"use strict";`
	}
	if kept != "" {
		// One line, so that the code's second line is always the file's first.
		head += mend.JoinLines(kept)
	}
	l.code = mend.Parseable(head + "\n" + body + "\n})")
}

const importMeta = "var import_meta"

// computedImport is the helper that import() of what is no literal calls: a call of require()
// finds less.
const computedImport = "$import"

var (
	importCalls = lazyregexp.New(`Promise\.resolve\(\)\.then\(\(\) => (?:__toESM\d*\()?require\(`) // as esbuild prints them
	literalEnd  = lazyregexp.New(`^"(?:[^"\\]|\\.)*"\)`)
)

// lowerComputed has import() whose specifier is computed when the code runs call that helper.
func lowerComputed(body string) string {
	var sb strings.Builder
	from := 0
	for _, at := range importCalls.FindAllStringIndex(body, -1) {
		if literalEnd.MatchString(body[at[1]:]) {
			continue
		}
		sb.WriteString(strings.TrimSuffix(body[from:at[1]], "require(") + computedImport + "(")
		from = at[1]
	}
	return sb.String() + body[from:]
}

var publishes = lazyregexp.New(`(?m)^module\.exports = __toCommonJS\d*\(([\w$]+)\);$`)

// namespaceName finds the variable that `module.exports = __toCommonJS(x)`
// publishes.
func namespaceName(body string) string {
	if !strings.Contains(body, "module.exports = __toCommonJS") { // which costs less
		return ""
	}
	if m := publishes.FindStringSubmatch(body); m != nil {
		return m[1]
	}
	return ""
}

// exportBlock reads the names in `__export(ns, { name: () => ..., });`.
func exportBlock(body, ns string) []string {
	_, rest, ok := strings.Cut(body, "("+ns+", {\n") // __export, or __export2 after a second lowering
	if !ok {
		return nil
	}
	var names []string
	for line := range strings.SplitSeq(rest, "\n") {
		if line == "});" {
			break
		}
		name, _, found := strings.Cut(strings.TrimSpace(line), ": () => ")
		if !found {
			continue
		}
		names = append(names, unquoteJS(name))
	}
	return names
}

// starSpecs finds the modules of `export * from`.
func starSpecs(body, ns string) []string {
	var specs []string
	mark := "__reExport(" + ns + ", require(\"i/"
	for rest := body; ; {
		_, after, ok := strings.Cut(rest, mark)
		if !ok {
			return specs
		}
		spec, tail, ok := strings.Cut(after, "\")")
		if !ok {
			return specs
		}
		specs = append(specs, unquoteJS(`"`+spec+`"`))
		rest = tail
	}
}
