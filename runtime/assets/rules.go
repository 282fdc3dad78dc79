package assets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"

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
	static   map[string]redirectRule
	dynamic  []redirectRule
	headers  []headerRule
	ignored  func(name string) bool
	problems []string
	found    []string // what files of rules have, for people
}

type redirectRule struct {
	match  *regexp.Regexp // nil for a static rule
	to     string
	status int
}

type headerRule struct {
	match *regexp.Regexp
	host  bool // the pattern has a host
	set   []event.Field
	unset []string
}

func readRules(root *os.Root, html string) *ruleSet {
	r := &ruleSet{static: map[string]redirectRule{}}
	read := func(name string) []string {
		data, err := root.ReadFile(name)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				r.problems = append(r.problems, name+": "+err.Error())
			}
			return nil
		}
		return strings.Split(string(data), "\n")
	}
	if lines := read("_redirects"); lines != nil {
		r.parseRedirects(lines, html)
		r.count(len(r.static)+len(r.dynamic), "redirect")
	}
	if lines := read("_headers"); lines != nil {
		r.parseHeaders(lines)
		r.count(len(r.headers), "header")
	}
	r.ignored = ignoreMatcher(append([]string{"/.assetsignore", "/_redirects", "/_headers"}, read(".assetsignore")...))
	return r
}

// count says how many rules of a kind there are, as wrangler does (workers-shared:
// utils/configuration/constructConfiguration.ts).
func (r *ruleSet) count(n int, kind string) {
	plural := "s"
	if n == 1 {
		plural = ""
	}
	r.found = append(r.found, fmt.Sprintf("✨ Parsed %d valid %s rule%s.", n, kind, plural))
}

func (r *ruleSet) problem(file string, line int, format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf("%s:%d: %s", file, line+1, fmt.Sprintf(format, args...)))
}

var trailingComment = regexp.MustCompile(`\s+#.*$`)

func (r *ruleSet) parseRedirects(lines []string, html string) {
	const file = "_redirects"
	seen := map[string]bool{}
	staticAllowed := true // static rules come before the first dynamic one
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(trailingComment.ReplaceAllString(line, ""))
		switch {
		case len(line) > maxRuleLine:
			r.problem(file, i, "the line has more than %d characters", maxRuleLine)
			continue
		case len(fields) != 2 && len(fields) != 3:
			r.problem(file, i, "expected a path, a destination and perhaps a status; got %d words", len(fields))
			continue
		}
		rule, from, err := parseRedirect(fields, html)
		if err == nil && seen[from] {
			err = fmt.Errorf("there is a rule for %s already", from)
		}
		static := staticAllowed && !strings.Contains(from, "*") && !placeholder.MatchString(from)
		switch {
		case err != nil:
		case static && len(r.static) >= maxStaticRedirects:
			err = fmt.Errorf("more than %d static rules", maxStaticRedirects)
		case !static && len(r.dynamic) >= maxDynamicRedirects:
			err = fmt.Errorf("more than %d dynamic rules", maxDynamicRedirects)
		case !static:
			staticAllowed = false
			rule.match, err = compileRule(from)
		}
		if err != nil {
			r.problem(file, i, "%v", err)
			continue
		}
		seen[from] = true
		if static {
			r.static[from] = rule
		} else {
			r.dynamic = append(r.dynamic, rule)
		}
	}
}

var toIndex = regexp.MustCompile(`/index(\.html)?$`)

func parseRedirect(fields []string, html string) (rule redirectRule, from string, err error) {
	if !strings.HasPrefix(fields[0], "/") {
		if strings.Contains(fields[0], "://") {
			return rule, "", errors.New("the path must not have a host")
		}
		fields[0] = "/" + fields[0]
	}
	at, err := whatwg.Parse("https://host.invalid" + fields[0])
	if err != nil {
		return rule, "", fmt.Errorf("the path: %w", err)
	}
	from = at.Pathname()
	rule = redirectRule{to: fields[1], status: 302}
	absolute := strings.HasPrefix(rule.to, "https://")
	if !absolute && !strings.HasPrefix(rule.to, "/") {
		return rule, from, errors.New("the destination must begin with / or https://")
	}
	if len(fields) == 3 {
		rule.status, err = strconv.Atoi(fields[2])
		switch rule.status {
		case 200, 301, 302, 303, 307, 308:
		default:
			err = errors.New("not a redirect")
		}
		if err != nil {
			return rule, from, fmt.Errorf("the status must be 200, 301, 302, 303, 307 or 308, not %s", fields[2])
		}
	}
	if !absolute && toIndex.MatchString(rule.to) && (strings.HasSuffix(from, "/*") || strings.HasSuffix(from, "/") && html != "none") {
		return rule, from, errors.New("this rule would redirect to itself without end, because /index is stripped from paths")
	}
	if absolute && rule.status == 200 {
		return rule, from, errors.New("a rule with status 200 must point to a path, not to a host")
	}
	return rule, from, nil
}

var (
	ruleHost = regexp.MustCompile(`^https://+([^/]+)/?(.*)$`)
	hostPort = regexp.MustCompile(`:\d+$`)
)

func (r *ruleSet) parseHeaders(lines []string) {
	const file = "_headers"
	var rule *headerRule
	began := 0
	finish := func() {
		if rule != nil && len(rule.set)+len(rule.unset) == 0 {
			r.problem(file, began, "no headers follow this path")
		} else if rule != nil {
			r.headers = append(r.headers, *rule)
		}
		rule = nil
	}
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if len(line) > maxRuleLine {
			r.problem(file, i, "the line has more than %d characters", maxRuleLine)
			continue
		}
		if scheme, _, found := strings.Cut(line, "://"); strings.HasPrefix(line, "/") || found && !strings.ContainsAny(scheme, " \t") {
			finish()
			if len(r.headers) >= maxHeaderRules {
				r.problem(file, i, "more than %d rules; the rest is ignored", maxHeaderRules)
				return
			}
			next, err := parseHeaderPath(line)
			if err != nil {
				r.problem(file, i, "%v", err)
				continue
			}
			rule, began = next, i
			continue
		}
		if rule == nil {
			r.problem(file, i, "a path must come before its headers")
			continue
		}
		if err := rule.add(line); err != nil {
			r.problem(file, i, "%v", err)
		}
	}
	finish()
}

func parseHeaderPath(line string) (*headerRule, error) {
	host, rest := "", line
	if m := ruleHost.FindStringSubmatch(line); m != nil {
		if hostPort.MatchString(m[1]) {
			return nil, errors.New("a rule's host must not have a port")
		}
		host, rest = m[1], "/"+m[2]
	} else if !strings.HasPrefix(line, "/") {
		return nil, errors.New("a path must begin with / or https://")
	}
	at, err := whatwg.Parse("https://host.invalid" + rest)
	if err != nil {
		return nil, fmt.Errorf("the path: %w", err)
	}
	pattern := at.Pathname()
	if host != "" {
		pattern = "https://" + host + pattern
	}
	match, err := compileRule(pattern)
	return &headerRule{match: match, host: host != ""}, err
}

func (h *headerRule) add(line string) error {
	name, value, colon := strings.Cut(line, ":")
	if !colon {
		if unset, ok := strings.CutPrefix(line, "! "); ok {
			h.unset = append(h.unset, strings.TrimSpace(unset))
			return nil
		}
		return errors.New("expected \"name: value\", or \"! name\" to remove a header")
	}
	name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
	if name == "" || value == "" || strings.ContainsAny(name, " \t") {
		return errors.New("a header needs a name without spaces, and a value")
	}
	for i := range h.set {
		if h.set[i].Name == name {
			h.set[i].Value += ", " + value
			return nil
		}
	}
	h.set = append(h.set, event.Field{Name: name, Value: value})
	return nil
}

var (
	placeholder     = regexp.MustCompile(`:[A-Za-z]\w*`)
	hostPlaceholder = regexp.MustCompile(`^https://[^/]*`)
)

// compileRule turns a pattern into an expression: * is the group splat, :name
// a group up to the next slash (in a host, up to the next dot).
func compileRule(pattern string) (*regexp.Regexp, error) {
	hostEnd := len(hostPlaceholder.FindString(pattern))
	var b strings.Builder
	b.WriteString("^")
	for at := 0; at < len(pattern); {
		if pattern[at] == '*' {
			b.WriteString(`(?P<splat>.*)`)
			at++
			continue
		}
		if name := placeholder.FindString(pattern[at:]); name != "" && strings.HasPrefix(pattern[at:], name) {
			class := "[^/]+"
			if at < hostEnd {
				class = "[^/.]+"
			}
			b.WriteString("(?P<" + name[1:] + ">" + class + ")")
			at += len(name)
			continue
		}
		b.WriteString(regexp.QuoteMeta(pattern[at : at+1]))
		at++
	}
	re, err := regexp.Compile(b.String() + "$")
	if err != nil {
		return nil, errors.New("a pattern may have one * and each placeholder once")
	}
	return re, nil
}

// fill replaces :name in s by what the groups of a match hold.
func fill(s string, re *regexp.Regexp, groups []string) string {
	for i, name := range re.SubexpNames() {
		if name != "" {
			s = strings.ReplaceAll(s, ":"+name, groups[i])
		}
	}
	return s
}

// redirect is the first rule for u, with its destination worked out: a path
// for status 200, otherwise a Location.
func (r *ruleSet) redirect(u *whatwg.Url) (redirectRule, bool) {
	rule, ok := r.static[u.Pathname()]
	for i := 0; !ok && i < len(r.dynamic); i++ {
		d := r.dynamic[i]
		if groups := d.match.FindStringSubmatch(u.Pathname()); groups != nil {
			rule, ok = redirectRule{to: fill(d.to, d.match, groups), status: d.status}, true
		}
	}
	if !ok {
		return rule, false
	}
	to, err := u.Parse(rule.to)
	if err != nil {
		return rule, false
	}
	if rule.status == 200 {
		rule.to = to.Pathname()
		return rule, true
	}
	search := to.Search()
	if search == "" {
		search = u.Search()
	}
	rule.to = to.Pathname() + search + to.Hash()
	if to.Protocol() != u.Protocol() || to.Host() != u.Host() {
		rule.to = to.Protocol() + "//" + to.Host() + rule.to
	}
	return rule, true
}

// decorate applies the header rules for u: what several rules set is combined,
// what the response had is replaced.
func (r *ruleSet) decorate(u *whatwg.Url, resp *event.Response) {
	set := map[string]bool{}
	for _, h := range r.headers {
		subject := u.Pathname()
		if h.host {
			subject = "https://" + u.Hostname() + subject
		}
		groups := h.match.FindStringSubmatch(subject)
		if groups == nil {
			continue
		}
		for _, name := range h.unset {
			resp.Header = without(resp.Header, name)
		}
		for _, f := range h.set {
			if !set[f.Name] {
				set[f.Name] = true
				resp.Header = without(resp.Header, f.Name)
			}
			resp.Header = append(resp.Header, event.Field{Name: f.Name, Value: fill(f.Value, h.match, groups)})
		}
	}
}

func without(h event.Header, name string) event.Header {
	kept := h[:0]
	for _, f := range h {
		if !strings.EqualFold(f.Name, name) {
			kept = append(kept, f)
		}
	}
	return kept
}

// matchesGlob reports whether a path matches one of run_worker_first's rules,
// in which * stands for anything.
func matchesGlob(rules []string, path string) bool {
	for _, rule := range rules {
		if glob(rule, path) {
			return true
		}
	}
	return false
}

func glob(pattern, s string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == s
	}
	if !strings.HasPrefix(s, head) {
		return false
	}
	s = s[len(head):]
	for {
		part, next, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(s, part)
		}
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s, rest = s[i+len(part):], next
	}
}
