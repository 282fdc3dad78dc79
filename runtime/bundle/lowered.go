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

// shared are esbuild's interop helpers that load.go provides itself: they know
// about deferred namespaces, and need not be evaluated once per file.
var shared = map[string]bool{
	"__export": true, "__toESM": true, "__toCommonJS": true, "__reExport": true, "__name": true, "__copyProps": true, "__pow": true,
	"__using": true, mend.DisposeHelper: true, "__await": true, "__asyncGenerator": true, "__yieldStar": true, "__forAwait": true,
}

// plain are the aliases that esbuild's helpers stand on; kept only if a helper
// that stays in the file mentions them.
var plain = map[string]bool{
	"__create": true, "__defProp": true, "__defProps": true, "__getOwnPropDesc": true, "__getOwnPropDescs": true,
	"__getOwnPropNames": true, "__getOwnPropSymbols": true, "__getProtoOf": true, "__hasOwnProp": true, "__propIsEnum": true,
}

// splitOutput takes esbuild's output for one file apart: the helpers it
// prepends, and the file's own code after the comment with its name.
func splitOutput(out, sourcefile string) (prologue, body string) {
	marker := "// " + sourcefile + "\n"
	if strings.HasPrefix(out, marker) {
		return "", out[len(marker):]
	}
	if i := strings.Index(out, "\n"+marker); i >= 0 {
		return out[:i+1], out[i+1+len(marker):]
	}
	return "", out
}

// ownHelpers divides the prologue into the helpers that the host passes in
// (their names) and the text that must stay.
func ownHelpers(prologue string) (names []string, kept string) {
	type decl struct{ name, text string }
	var decls []decl
	for _, line := range strings.SplitAfter(prologue, "\n") {
		rest, ok := strings.CutPrefix(line, "var ")
		if name, _, found := strings.Cut(rest, " = "); ok && found {
			decls = append(decls, decl{name, line})
			continue
		}
		if len(decls) > 0 { // else: a hashbang or a directive
			decls[len(decls)-1].text += line
		}
	}
	var sb strings.Builder
	for _, d := range decls {
		switch {
		case shared[mend.Name(d.name)]:
			if mend.Name(d.name) != "__copyProps" {
				names = append(names, d.name)
			}
		case !plain[mend.Name(d.name)]:
			sb.WriteString(d.text)
		}
	}
	kept = sb.String()
	var low strings.Builder
	for _, d := range decls {
		if plain[mend.Name(d.name)] && strings.Contains(kept, d.name) {
			low.WriteString(d.text)
		}
	}
	return names, low.String() + kept
}

// wrap turns esbuild's CommonJS output into the function that load.go calls,
// and reads off what the file exports. The namespace object is the `exports`
// parameter, so that it exists before the code runs. An entry that exports nothing is a
// script in service-worker syntax: wrangler bundles it as one, so its code is sloppy.
func (l *lowered) wrap(out string, s source, mocks bool) {
	prologue, body := splitOutput(out, s.base())
	l.cut = strings.Count(out[:len(out)-len(body)], "\n")
	names, kept := ownHelpers(prologue)
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
	l.helpers = append(l.helpers, mend.Helpers(prologue, body)...)
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
	head += "function(exports,require,module"
	for _, n := range l.helpers {
		head += "," + n
	}
	head += "){"
	if !s.entry || len(l.exports) > 0 || len(l.stars) > 0 {
		head += `"use strict";`
	}
	if kept != "" {
		// One line, so that the code's second line is always the file's first.
		head += joinLines(kept)
	}
	l.code = mend.Parseable(head + "\n" + body + "\n})")
}

const importMeta = "var import_meta"

// joinLines puts helper text on one line. esbuild ends its statements with
// semicolons; only line comments have to go.
func joinLines(text string) string {
	var sb strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "//") {
			sb.WriteString(line)
			sb.WriteByte(' ')
		}
	}
	return sb.String()
}

var publishes = lazyregexp.New(`(?m)^module\.exports = __toCommonJS\d*\(([\w$]+)\);$`)

// namespaceName finds the variable that `module.exports = __toCommonJS(x)`
// publishes.
func namespaceName(body string) string {
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
