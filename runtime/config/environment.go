package config

import (
	"fmt"
	"path/filepath"
	"strings"
)

// selection is one environment of a parsed file: which of two places each key
// is read from. Immutable after selectEnvironment.
type selection struct {
	src *source // nil without a config file
	dir string  // what relative paths in the file are relative to; absolute
	top *node   // the root of the file; nil without one
	env *node   // the env.<name> object; nil when none was chosen, or none is there
	// name is the chosen environment, "" for the top level.
	name string
	// frozen says that a build tool has chosen the environment already: the
	// top level is what it chose.
	frozen bool
}

// field returns the value that counts for a key. A named environment overrides
// what it inherits and does not see what it does not.
func (s *selection) field(key string) *node {
	if s.env == nil {
		return present(s.top.get(key))
	}
	if own := present(s.env.get(key)); own != nil && !wranglerFile().fileOnly[key] {
		return own
	}
	if wranglerFile().notInherited[key] {
		return nil
	}
	return present(s.top.get(key))
}

// present turns a null into "not there".
func present(n *node) *node {
	if n == nil || n.kind == kindNull {
		return nil
	}
	return n
}

// abs resolves a path of the file; "" stays "".
func (s *selection) abs(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.dir, filepath.FromSlash(path))
}

// at makes a diagnostic at a position of the file.
func (s *selection) at(where Position, severity Severity, message, hint string) Diagnostic {
	return Diagnostic{
		File: where.File, Line: where.Line, Column: where.Column,
		Severity: severity, Message: message, Hint: hint, src: s.src,
	}
}

// checkFile checks a whole file and, where one is chosen, its environment.
// Environments that are not chosen are not looked into, as in wrangler: a
// mistake in one must not stop the others.
func checkFile(rep *report, root *node, envName string) *node {
	c := &checker{rep: rep, elsewhere: explainKey}
	c.check("", root, wranglerFile().file)
	if envName == "" {
		return nil
	}
	envs := root.get("env")
	env := envs.get(envName)
	if env != nil {
		if env.kind == kindObject {
			c.check("env."+envName, env, wranglerFile().environment)
		}
		return env
	}
	var names []string
	for _, m := range envs.entries() {
		names = append(names, m.key)
	}
	hint := fmt.Sprintf("add %q to \"env\", or leave --env away", envName)
	if len(names) == 0 {
		rep.add(NewDiagnostic(SeverityWarning, Position{File: root.src.file}, nil,
			fmt.Sprintf("no environment %q: the file configures none; the top level is used", envName), hint))
		return nil
	}
	if near := nearest(envName, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	rep.errorAt(envs, hint, "no environment %q; the file has %s", envName, quotedAnd(names))
	return nil
}

// explainKey says where a key belongs that is known, but not here.
func explainKey(path, key string) string {
	if hint, ok := removedKeys[key]; ok && (path == "" || isEnvironmentPath(path)) {
		return hint
	}
	if isEnvironmentPath(path) {
		if wranglerFile().fileOnly[key] {
			return fmt.Sprintf("%q can only stand at the top level", key)
		}
	}
	return ""
}

func isEnvironmentPath(path string) bool {
	rest, ok := strings.CutPrefix(path, "env.")
	return ok && rest != "" && !strings.ContainsAny(rest, "[") && len(strings.SplitN(path, ".", 3)) == 2
}

// warnNotInherited warns about what a named environment silently loses.
func warnNotInherited(rep *report, sel *selection) {
	if sel.env == nil {
		return
	}
	for _, m := range sel.top.entries() {
		if !wranglerFile().notInherited[m.key] {
			continue
		}
		own := sel.env.get(m.key)
		if own == nil {
			rep.warnAt(m, fmt.Sprintf("repeat it in \"env.%s\" if the environment needs it", sel.name),
				"%q is at the top level but not in \"env.%s\", which does not inherit it", m.key, sel.name)
			continue
		}
		if m.key != "vars" && m.key != "define" {
			continue
		}
		var missing []string
		for _, v := range m.entries() {
			if own.get(v.key) == nil {
				missing = append(missing, v.key)
			}
		}
		if len(missing) > 0 {
			rep.warnAt(own, fmt.Sprintf("%q is not inherited: repeat what the environment needs", m.key),
				"\"env.%s.%s\" lacks %s of the top level", sel.name, m.key, quotedAnd(missing))
		}
	}
}

// quotedAnd renders a list for a sentence: "a", "b" and "c".
func quotedAnd(values []string) string {
	return strings.Replace(quoted(values), " or ", " and ", 1)
}
