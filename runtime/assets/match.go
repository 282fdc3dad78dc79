package assets

import (
	"fmt"
	"regexp"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/event"
)

var (
	placeholder      = lazyregexp.New(`:[A-Za-z]\w*`)
	splatPlaceholder = lazyregexp.New(`:splat\b`)
	hostPlaceholder  = lazyregexp.New(`^https://[^/]*`)
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
		return nil, fmt.Errorf("the pattern %s: %w", pattern, err)
	}
	names := map[string]bool{}
	for _, name := range re.SubexpNames() {
		if name != "" && names[name] {
			return nil, fmt.Errorf("the pattern %s has :%s twice", pattern, name)
		}
		names[name] = true
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

var (
	external = lazyregexp.New(`^(\w+://|//[^/\\\s?#])`)
	slashes  = lazyregexp.New(`[/\\]+`)
)

// target is a filled destination: what was put into a path makes it no other host's
// (workers-shared: asset-worker/src/utils/rules-engine.ts).
func target(to, filled string) string {
	if external.MatchString(to) {
		return filled
	}
	end := strings.IndexAny(filled, "?#")
	if end < 0 {
		end = len(filled)
	}
	return slashes.ReplaceAllString(filled[:end], "/") + filled[end:]
}

// redirect is the first rule for u, with its destination worked out: a path
// for status 200, otherwise a Location.
func (r *ruleSet) redirect(u *whatwg.Url) (redirectRule, bool) {
	rule, ok := r.static[u.Pathname()]
	for i := 0; !ok && i < len(r.dynamic); i++ {
		d := r.dynamic[i]
		if groups := d.match.FindStringSubmatch(u.Pathname()); groups != nil {
			rule, ok = redirectRule{to: target(d.to, fill(d.to, d.match, groups)), status: d.status}, true
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
		if h.match == nil {
			continue
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
