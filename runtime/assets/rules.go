package assets

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/event"
)

// The limits of the rule files (workers-sdk, workers-shared/utils/configuration).
const (
	maxRuleLine         = 2000
	maxHeaderRules      = 100
	maxStaticRedirects  = 2000
	maxDynamicRedirects = 100
)

// ruleSet is what `_headers`, `_redirects` and `.assetsignore` say.
// Immutable after readRules.
type ruleSet struct {
	static  map[string]redirectRule
	dynamic []redirectRule
	headers []headerRule
	ignored func(name string) bool
	remarks []remark
}

// remark is what there is to say of a file of rules: how many it has and which lines
// are none, or, with a text, how it could be better.
type remark struct {
	kind, file string // "redirect", "_redirects"
	valid      int
	bad        []badRule
	text       string
}

// badRule is a line of `_redirects` or `_headers` that is ignored.
type badRule struct {
	text string // the line, "" where it is not shown
	line int    // its number, 0 where none is said
	why  string
}

type redirectRule struct {
	match  *regexp.Regexp // nil for a static rule
	to     string
	status int
}

type headerRule struct {
	path  string
	match *regexp.Regexp // nil matches nothing
	host  bool           // the pattern has a host
	set   []event.Field
	unset []string
}

func readRules(root *os.Root, html string) *ruleSet {
	r := &ruleSet{static: map[string]redirectRule{}}
	read := func(name string) []string {
		data, err := root.ReadFile(name)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				r.remarks = append(r.remarks, remark{file: name, bad: []badRule{{why: err.Error()}}})
			}
			return nil
		}
		return strings.Split(string(data), "\n")
	}
	if lines := read("_redirects"); lines != nil {
		r.parseRedirects(lines, html)
	}
	if lines := read("_headers"); lines != nil {
		r.parseHeaders(lines)
	}
	r.ignored = ignoreMatcher(append([]string{"/.assetsignore", "/_redirects", "/_headers"}, read(".assetsignore")...))
	return r
}

// Remark is a line for people about `_headers` and `_redirects`.
type Remark struct {
	Text    string
	Warning bool // lines of the file are ignored
}

// say is the remark in wrangler's words (workers-shared:
// utils/configuration/constructConfiguration.ts); dir is the name of the directory.
func (m remark) say(dir string) (said []Remark) {
	file := path.Join(dir, m.file)
	switch {
	case m.text != "":
		return []Remark{{Text: m.text}}
	case m.kind == "":
		return []Remark{{Text: file + ": " + m.bad[0].why, Warning: true}}
	}
	said = append(said, Remark{Text: fmt.Sprintf("✨ Parsed %d valid %s %s.", m.valid, m.kind, rules(m.valid))})
	if len(m.bad) == 0 {
		return said
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Found %d invalid %s %s:", len(m.bad), m.kind, rules(len(m.bad)))
	for _, line := range m.bad {
		fmt.Fprintf(&b, "\n▶︎ %s", line.why)
		switch {
		case line.text == "":
		case line.line == 0:
			fmt.Fprintf(&b, "\n    at %s | %s\n", file, line.text)
		default:
			fmt.Fprintf(&b, "\n    at %s:%d | %s\n", file, line.line, line.text)
		}
	}
	return append(said, Remark{Text: strings.TrimRight(b.String(), "\n"), Warning: true})
}

func rules(n int) string {
	if n == 1 {
		return "rule"
	}
	return "rules"
}

var trailingComment = lazyregexp.New(`\s+#.*$`)

// parseRedirects reads the lines of `_redirects` (workers-shared:
// utils/configuration/parseRedirects.ts).
func (r *ruleSet) parseRedirects(lines []string, html string) {
	valid, bad, hints := 0, []badRule(nil), []remark(nil)
	seen := map[string]bool{}
	statics, dynamics := 0, 0
	staticAllowed := true // static rules come before the first dynamic one
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if tooLong(line) {
			bad = append(bad, ignoredLine(i))
			continue
		}
		fields := strings.Fields(trailingComment.ReplaceAllString(line, ""))
		rule, from, why := redirectRule{}, "", ""
		if len(fields) < 2 || len(fields) > 3 {
			why = fmt.Sprintf("Expected exactly 2 or 3 whitespace-separated tokens. Got %d.", len(fields))
		} else {
			from, why = redirectFrom(fields[0])
		}
		if why != "" {
			bad = append(bad, badRule{line, i + 1, why})
			continue
		}
		static := staticAllowed && !isDynamic(from)
		staticAllowed = static
		if static {
			if statics++; statics > maxStaticRedirects {
				bad = append(bad, badRule{why: fmt.Sprintf("Maximum number of static rules supported is %d. Skipping line.", maxStaticRedirects)})
				continue
			}
		} else if dynamics++; dynamics > maxDynamicRedirects {
			bad = append(bad, badRule{why: fmt.Sprintf("Maximum number of dynamic rules supported is %d. Skipping remaining %d lines of file.",
				maxDynamicRedirects, len(lines)-i)})
			break
		}
		rule, why = redirectTo(from, fields[1:], html)
		if why == "" && seen[from] {
			why = fmt.Sprintf("Ignoring duplicate rule for path %s.", from)
		}
		if why == "" {
			seen[from] = true
			if rule.status == 200 && isAbsolute(rule.to) {
				why = "Proxy (200) redirects can only point to relative paths. Got " + rule.to
			}
		}
		if why != "" {
			bad = append(bad, badRule{line, i + 1, why})
			continue
		}
		valid++
		r.addRedirect(from, rule, static)
		if !static && !isDynamic(from) {
			hints = append(hints, remark{text: fmt.Sprintf("The redirect rule %s → %d %s could be made more performant by bringing it above any lines with splats or placeholders.",
				from, rule.status, rule.to)})
		}
	}
	r.remarks = append(append(r.remarks, remark{kind: "redirect", file: "_redirects", valid: valid, bad: bad}), hints...)
}

func tooLong(line string) bool { return len(utf16.Encode([]rune(line))) > maxRuleLine }

func ignoredLine(i int) badRule {
	return badRule{why: fmt.Sprintf("Ignoring line %d as it exceeds the maximum allowed length of %d.", i+1, maxRuleLine)}
}

func isDynamic(path string) bool { return strings.Contains(path, "*") || placeholder.MatchString(path) }

// addRedirect takes a valid rule. A pattern that makes no expression matches nothing.
func (r *ruleSet) addRedirect(from string, rule redirectRule, static bool) {
	if static {
		r.static[from] = rule
		return
	}
	var err error
	if rule.match, err = compileRule(from); err == nil {
		r.dynamic = append(r.dynamic, rule)
	}
}

var (
	toIndex  = lazyregexp.New(`/index(.html)?$`)
	ruleHost = lazyregexp.New(`^https://+([^/]+)/?(.*)$`)
	hostPort = lazyregexp.New(`:\d+$`)
)

func isAbsolute(target string) bool { return ruleHost.MatchString(target) }

const noURL = `URLs should either be relative (e.g. begin with a forward-slash), or use HTTPS (e.g. begin with "https://").`

// pathOf is a path as URLs have it, with its query and fragment if asked for.
func pathOf(token string, withSearch bool) (string, bool) {
	if !strings.HasPrefix(token, "/") {
		token = "/" + token
	}
	at, err := whatwg.Parse("relative://" + token)
	if err != nil {
		return "", false
	}
	if withSearch {
		return at.Pathname() + at.Search() + at.Hash(), true
	}
	return at.Pathname(), true
}

// The rules of a URL in either file (workers-shared: utils/configuration/validateURL.ts);
// why says what is wrong with it, or is "".
func redirectFrom(token string) (from, why string) {
	if isAbsolute(token) {
		return "", fmt.Sprintf("Only relative URLs are allowed. Skipping absolute URL %s.", token)
	}
	from, ok := pathOf(token, false)
	if !ok {
		return "", fmt.Sprintf("Error parsing URL segment %s. Skipping.", token)
	}
	return from, ""
}

func ruleURL(token string, portAllowed, withSearch bool) (at, why string) {
	host := ruleHost.FindStringSubmatch(token)
	if host == nil && !strings.HasPrefix(token, "/") {
		return "", noURL
	}
	rest := token
	if host != nil {
		if !portAllowed && hostPort.MatchString(host[1]) {
			return "", fmt.Sprintf("Specifying ports is not supported. Skipping absolute URL %s.", token)
		}
		rest = host[2]
	}
	at, ok := pathOf(rest, withSearch)
	if !ok {
		return "", fmt.Sprintf("Error parsing URL segment %s. Skipping.", token)
	}
	if host != nil {
		at = "https://" + host[1] + at
	}
	return at, ""
}

// redirectTo reads the destination of a rule, and its status if there is one.
func redirectTo(from string, fields []string, html string) (rule redirectRule, why string) {
	rule.status = http.StatusFound
	if rule.to, why = ruleURL(fields[0], true, true); why != "" {
		return rule, why
	}
	if len(fields) == 2 {
		status, err := strconv.Atoi(fields[1])
		switch status {
		case 200, 301, 302, 303, 307, 308:
		default:
			err = strconv.ErrRange
		}
		if err != nil {
			return rule, fmt.Sprintf("Valid status codes are 200, 301, 302 (default), 303, 307, or 308. Got %s.", fields[1])
		}
		rule.status = status
	}
	if !isAbsolute(rule.to) && toIndex.MatchString(rule.to) && (strings.HasSuffix(from, "/*") || strings.HasSuffix(from, "/") && html != "none") {
		return rule, "Infinite loop detected in this rule and has been ignored. This will cause a redirect to strip `.html` or `/index` " +
			"and end up triggering this rule again. Please fix or remove this rule to silence this warning."
	}
	return rule, ""
}

// probablyPath is a line of `_headers` that begins a rule.
var probablyPath = lazyregexp.New(`^(\S+://|/)`)

// parseHeaders reads the lines of `_headers` (workers-shared:
// utils/configuration/parseHeaders.ts).
func (r *ruleSet) parseHeaders(lines []string) {
	valid, bad := 0, []badRule(nil)
	defer func() {
		r.remarks = append(r.remarks, remark{kind: "header", file: "_headers", valid: valid, bad: bad})
	}()
	var rule *headerRule
	began, skip := "", false
	finish := func(line int) {
		switch {
		case rule == nil:
		case len(rule.set)+len(rule.unset) == 0:
			bad = append(bad, badRule{began, line, "No headers specified"})
		default:
			valid++
			r.addHeaders(*rule)
		}
		rule = nil
	}
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if tooLong(line) {
			bad = append(bad, ignoredLine(i))
			continue
		}
		why := ""
		switch {
		case probablyPath.MatchString(line):
			if finish(i + 1); valid >= maxHeaderRules {
				bad = append(bad, badRule{why: fmt.Sprintf("Maximum number of rules supported is %d. Skipping remaining %d lines of file.",
					maxHeaderRules, len(lines)-i)})
				return
			}
			rule, why = headerPath(line)
			began, skip = line, why != ""
		case skip: // headers of a path that is ignored
		default:
			why = rule.add(line)
		}
		if why != "" {
			bad = append(bad, badRule{line, i + 1, why})
		}
	}
	finish(0)
}

// addHeaders takes a valid rule; a later rule for the same path replaces it.
func (r *ruleSet) addHeaders(rule headerRule) {
	for i := range r.headers {
		if r.headers[i].path == rule.path {
			r.headers[i] = rule
			return
		}
	}
	r.headers = append(r.headers, rule)
}

func headerPath(line string) (rule *headerRule, why string) {
	at, why := ruleURL(line, false, false)
	switch wildcards := strings.Count(at, "*"); {
	case why != "":
		return nil, why
	case wildcards > 1:
		return nil, fmt.Sprintf("Only one wildcard is allowed per rule. Use a named placeholder (e.g. :project) instead. Skipping %s.", at)
	case wildcards > 0 && splatPlaceholder.MatchString(at):
		return nil, fmt.Sprintf("Cannot combine a wildcard * with a :splat placeholder because wildcards are converted to :splat at runtime. Skipping %s.", at)
	}
	rule = &headerRule{path: at, host: isAbsolute(at)}
	var err error
	if rule.match, err = compileRule(at); err != nil {
		rule.match = nil // as in the asset worker, it matches nothing
	}
	return rule, ""
}

// add takes a line below a path; h is nil where there is none.
func (h *headerRule) add(line string) (why string) {
	name, value, colon := strings.Cut(line, ":")
	name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
	switch {
	case !colon && h == nil:
		return "Expected a path beginning with at least one forward-slash"
	case !colon:
		unset, ok := strings.CutPrefix(line, "! ")
		if !ok {
			return "Expected a colon-separated header pair (e.g. name: value)"
		}
		h.unset = append(h.unset, unset)
		return ""
	case strings.Contains(name, " "):
		return "Header name cannot include spaces"
	case name == "":
		return "No header name specified"
	case value == "":
		return "No header value specified"
	case h == nil:
		return fmt.Sprintf("Path should come before header (%s: %s)", name, value)
	}
	for i := range h.set {
		if h.set[i].Name == name {
			h.set[i].Value += ", " + value
			return ""
		}
	}
	h.set = append(h.set, event.Field{Name: name, Value: value})
	return ""
}
