package url

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	whatwg "github.com/nlnwa/whatwg-url/url"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// urlPattern is a URLPattern (URL Pattern standard). Immutable.
type urlPattern struct {
	components map[string]*patternComponent
}

// patternComponent is one component, compiled.
type patternComponent struct {
	text      string // the pattern as the attribute shows it
	names     []string
	regexp    *goja.Object
	hasRegExp bool // one that the user wrote
}

var patternComponents = []string{"protocol", "username", "password", "hostname", "port", "pathname", "search", "hash"}

// patternInitMembers are the members of URLPatternInit.
var patternInitMembers = append(slices.Clone(patternComponents), "baseURL")

// specialPorts are the special schemes with their default ports.
var specialPorts = map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21", "file": ""}

// errRelative is why a string cannot be a pattern by itself. Texts of errors are those
// before the flag urlpattern_standard, which had the early draft of URLPattern replaced:
// since then none is told.
var errRelative = syntaxError("a relative pattern must have a base URL.")

// syntaxError is an error of the draft in a pattern.
func syntaxError(format string, args ...any) error {
	return fmt.Errorf("Syntax error in URL Pattern: "+format, args...)
}

// original reports whether patterns are those of the draft.
func (p *Classes) original() bool { return !p.Enabled(compat.UrlpatternStandard) }

// newURLPattern is the constructor: (input, baseURL, options) or (input, options).
func (p *Classes) newURLPattern(call goja.ConstructorCall) *urlPattern {
	input, base, options := call.Argument(0), call.Argument(1), call.Argument(2)
	if _, isOptions := base.(*goja.Object); isOptions || goja.IsNull(base) && len(call.Arguments) == 2 {
		base, options = goja.Undefined(), base
	}
	ignoreCase := webidl.Get(options, "ignoreCase").ToBoolean()
	var init map[string]string
	var err error
	if _, isInit := input.(*goja.Object); !isInit && !webidl.IsMissing(input) {
		init, err = parsePatternString(p.USV(input), p.original(), func(protocol string) (bool, error) {
			if p.original() {
				return false, nil
			}
			c, err := p.compileComponent("protocol", protocol, false, ignoreCase)
			if err != nil {
				return false, err
			}
			return p.matchesSpecial(c), nil
		})
		if _, hasProtocol := init["protocol"]; err == nil && !hasProtocol && webidl.IsUndefined(base) {
			err = errRelative
		}
		if err == nil && !webidl.IsUndefined(base) {
			init["baseURL"] = p.USV(base)
		}
	} else {
		init = p.patternInit(input)
		if !webidl.IsUndefined(base) && !p.original() {
			err = errors.New("a base URL with an object")
		}
	}
	if err == nil {
		init, err = processPatternInit(init, true, p.original())
	}
	var pattern *urlPattern
	if err == nil {
		pattern, err = p.compilePattern(init, ignoreCase)
	}
	switch {
	case err != nil && p.original():
		p.Engine.Throw("TypeError", "%s", err)
	case err != nil:
		p.Engine.Throw("TypeError", "Failed to construct URLPattern")
	}
	return pattern
}

func (p *Classes) compilePattern(init map[string]string, ignoreCase bool) (*urlPattern, error) {
	for _, name := range patternComponents {
		if _, ok := init[name]; !ok {
			init[name] = "*"
		}
	}
	if port, special := specialPorts[init["protocol"]]; special && init["port"] == port && !p.original() {
		init["port"] = ""
	}
	out := &urlPattern{components: map[string]*patternComponent{}}
	for _, name := range patternComponents {
		opaque := false
		if name == "pathname" {
			protocol := out.components["protocol"]
			opaque = protocol.text != "*" && !p.matchesSpecial(protocol)
		}
		c, err := p.compileComponent(name, init[name], opaque, ignoreCase && (p.original() || name == "pathname" || name == "search" || name == "hash"))
		if err != nil {
			return nil, err
		}
		out.components[name] = c
	}
	return out, nil
}

func (p *Classes) compileComponent(name, text string, opaque, ignoreCase bool) (*patternComponent, error) {
	syntax := patternSyntax{}
	switch {
	case name == "hostname":
		syntax.delimiter = "."
	case name == "pathname" && !opaque:
		syntax.delimiter, syntax.prefix = "/", "/"
	}
	encode := func(s string) (string, error) { return canonicalComponent(name, s, opaque) }
	if name == "hostname" && ipv6Pattern.MatchString(text) {
		encode = canonicalIPv6
	}
	parts, err := parsePattern(text, syntax, func(s string) (string, error) {
		encoded, err := encode(s)
		if err != nil {
			return "", errors.New("Syntax error in URL Pattern") //lint:ignore ST1005 the text is workerd's
		}
		return encoded, nil
	})
	if err != nil {
		return nil, err
	}
	c := &patternComponent{text: patternText(parts, syntax)}
	for _, part := range parts {
		c.hasRegExp = c.hasRegExp || part.kind == partRegExp
	}
	var source string
	source, c.names = patternRegExp(parts, syntax)
	flags := "v"
	if p.original() {
		flags = "u"
	}
	if ignoreCase {
		flags += "i"
	}
	if thrown := p.Engine.Try(func() {
		c.regexp, err = p.VM.New(p.regexp, p.VM.ToValue(source), p.VM.ToValue(flags))
	}); thrown != nil || err != nil {
		return nil, errors.New("Invalid regular expression syntax.") //lint:ignore ST1005 the text is workerd's
	}
	return c, nil
}

// exec matches one component.
func (p *Classes) execComponent(c *patternComponent, input string) (groups []goja.Value, ok bool) {
	match, ok := p.Engine.Call(p.Engine.Primordial("RegExpPrototypeExec"), goja.Undefined(), c.regexp, p.VM.ToValue(input)).(*goja.Object)
	if !ok {
		return nil, false
	}
	for i := range c.names {
		group := match.Get(strconv.Itoa(i + 1))
		if goja.IsUndefined(group) && p.original() {
			group = p.VM.ToValue("")
		}
		groups = append(groups, group)
	}
	return groups, true
}

func (p *Classes) matchesSpecial(c *patternComponent) bool {
	for _, scheme := range []string{"http", "https", "ws", "wss", "ftp", "file"} {
		if _, ok := p.execComponent(c, scheme); ok {
			return true
		}
	}
	return false
}

// processPatternInit is "process a URLPatternInit": it inherits from the base
// and, for a URL rather than a pattern, canonicalizes. In the original draft everything is
// inherited that init does not have.
func processPatternInit(init map[string]string, pattern, original bool) (map[string]string, error) {
	out := map[string]string{}
	if base, ok := init["baseURL"]; ok {
		u, err := Parse(base, "")
		if err != nil {
			return nil, errors.New("Invalid base URL.") //lint:ignore ST1005 the text is workerd's
		}
		if original {
			inheritAll(out, u)
		} else {
			inheritPattern(out, init, u, pattern)
		}
	}
	for _, name := range patternComponents {
		value, ok := init[name]
		if !ok {
			continue
		}
		switch name {
		case "protocol":
			value = strings.TrimSuffix(value, ":")
		case "search":
			value = strings.TrimPrefix(value, "?")
		case "hash":
			value = strings.TrimPrefix(value, "#")
		case "pathname":
			if base, hasBase := init["baseURL"]; hasBase && !strings.HasPrefix(value, "/") &&
				!(pattern && (strings.HasPrefix(value, `\/`) || strings.HasPrefix(value, "{/"))) {
				if u, err := Parse(base, ""); err == nil && !u.OpaquePath() {
					dir := u.Pathname()
					value = escapePattern(dir[:strings.LastIndexByte(dir, '/')+1], pattern) + value
				}
			}
		}
		if !pattern {
			protocol, named := out["protocol"]
			_, special := specialPorts[protocol]
			canonical, err := canonicalComponent(name, value, named && !special && protocol != "")
			if err != nil {
				return nil, fmt.Errorf("Invalid URL %s component", name) //lint:ignore ST1005 the text is workerd's
			}
			if name == "port" && canonical != "" && specialPorts[protocol] == canonical {
				canonical = ""
			}
			value = canonical
		}
		out[name] = value
	}
	return out, nil
}

func escapePattern(s string, pattern bool) string {
	if !pattern {
		return s
	}
	return patternSpecial.ReplaceAllString(s, `\$0`)
}

// inheritAll takes all of the base.
func inheritAll(out map[string]string, u *whatwg.Url) {
	out["protocol"], out["username"], out["password"] = u.Scheme(), u.Username(), u.Password()
	out["hostname"], out["port"] = u.Hostname(), u.Port()
	out["pathname"], out["search"], out["hash"] = escapePattern(u.Pathname(), true), escapePattern(u.Query(), true), escapePattern(u.Fragment(), true)
}

// inheritPattern takes from the base what comes before the first component
// that init has.
func inheritPattern(out, init map[string]string, u *whatwg.Url, pattern bool) {
	lacks := func(names ...string) bool {
		for _, name := range names {
			if _, ok := init[name]; ok {
				return false
			}
		}
		return true
	}
	take := func(name, value string) { out[name] = escapePattern(value, pattern) }
	if lacks("protocol") {
		take("protocol", u.Scheme())
	}
	if !pattern && lacks("protocol", "hostname", "port", "username") {
		take("username", u.Username())
		if lacks("password") {
			take("password", u.Password())
		}
	}
	if lacks("protocol", "hostname") {
		take("hostname", u.Hostname())
	}
	if lacks("protocol", "hostname", "port") {
		take("port", u.Port())
	}
	if lacks("protocol", "hostname", "port", "pathname") {
		take("pathname", u.Pathname())
	}
	if lacks("protocol", "hostname", "port", "pathname", "search") {
		take("search", u.Query())
	}
	if lacks("protocol", "hostname", "port", "pathname", "search", "hash") {
		take("hash", u.Fragment())
	}
}

var (
	leadingDigits = lazyregexp.New(`^[0-9]+`)
	ipv6Pattern   = lazyregexp.New(`^(\[|[{\\]\[)`)
	notIPv6       = lazyregexp.New(`[^0-9a-fA-F\[\]:]`)
)

// canonicalIPv6 is "canonicalize an IPv6 hostname" (URL Pattern, section 3.1):
// a piece of a pattern is no address that could be parsed.
func canonicalIPv6(value string) (string, error) {
	if notIPv6.MatchString(value) {
		return "", fmt.Errorf("%q is no part of an IPv6 address", value)
	}
	return strings.ToLower(value), nil
}

// canonicalComponent writes fixed text as a URL would hold it (URL Pattern
// standard, section 3.1: canonicalization).
func canonicalComponent(name, value string, opaque bool) (string, error) {
	if tooLong(value) {
		return "", errTooLong
	}
	if value == "" {
		return "", nil
	}
	dummy, err := Parse("https://dummy.invalid/", "")
	if err != nil {
		return "", err
	}
	switch name {
	case "protocol":
		u, err := Parse(value+"://dummy.invalid", "")
		if err != nil {
			return "", err
		}
		return u.Scheme(), nil
	case "username":
		dummy.SetUsername(value)
		return dummy.Username(), nil
	case "password":
		dummy.SetPassword(value)
		return dummy.Password(), nil
	case "hostname":
		dummy.SetHostname(value)
		if dummy.Hostname() == "dummy.invalid" && value != "dummy.invalid" {
			return "", fmt.Errorf("%q is no host name", value)
		}
		return dummy.Hostname(), nil
	case "port":
		// What follows the digits is left, as the URL parser leaves it.
		digits := leadingDigits.FindString(strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(value))
		n, err := strconv.ParseUint(digits, 10, 16)
		if err != nil {
			return "", fmt.Errorf("%q is no port", value)
		}
		return strconv.FormatUint(n, 10), nil
	case "pathname":
		if opaque {
			u, err := Parse("data:"+value, "")
			if err != nil {
				return "", err
			}
			return u.Pathname(), nil
		}
		if strings.HasPrefix(value, "/") {
			dummy.SetPathname(value)
			return dummy.Pathname(), nil
		}
		dummy.SetPathname("/-" + value)
		return strings.TrimPrefix(dummy.Pathname(), "/-"), nil
	case "search":
		dummy.SetSearch(value)
		return dummy.Query(), nil
	}
	dummy.SetHash(value)
	return dummy.Fragment(), nil
}

// patternInit converts to a URLPatternInit; what is missing is an empty one.
func (p *Classes) patternInit(v goja.Value) map[string]string {
	init := map[string]string{}
	for _, name := range patternInitMembers {
		if member := webidl.Get(v, name); !goja.IsUndefined(member) {
			init[name] = p.USV(member)
		}
	}
	return init
}

// noScheme is what texts are read against that are no URL: nothing is special in it.
const noScheme = "x://"

// urlParts are the components of a string or of an init that is to be matched,
// and the arguments as the result shows them: converted.
func (p *Classes) urlParts(input, base goja.Value) (parts map[string]string, inputs []any, err error) {
	if _, ok := input.(*goja.Object); ok || webidl.IsMissing(input) {
		init, shown := p.patternInit(input), p.VM.NewObject()
		for _, name := range patternInitMembers {
			if text, given := init[name]; given {
				p.DefinePlain(shown, name, text)
			} else if !p.original() {
				p.DefinePlain(shown, name, goja.Undefined())
			}
		}
		switch {
		case webidl.IsUndefined(base):
		case p.original():
			p.Engine.Throw("TypeError", "A baseURL is not allowed when input is an object.")
		default:
			p.Engine.Throw("TypeError", "A base URL cannot be given together with an object.")
		}
		if parts, err = processPatternInit(init, false, p.original()); err != nil && p.original() {
			p.Engine.Throw("TypeError", "%s", err)
		}
		return parts, []any{shown}, err
	}
	text, baseText := p.USV(input), ""
	inputs = []any{text}
	if !webidl.IsUndefined(base) {
		baseText = p.USV(base)
		inputs = append(inputs, baseText)
	}
	u, err := Parse(text, baseText)
	scheme := ""
	switch {
	case err == nil:
		scheme = u.Scheme()
	case webidl.IsUndefined(base) && !p.original():
		// As workerd: a text that is no URL has no scheme, and a path, a search or a hash.
		u, err = Parse(text, noScheme)
	}
	if err != nil {
		return nil, nil, err
	}
	parts = map[string]string{"protocol": scheme, "username": u.Username(), "password": u.Password(), "hostname": u.Hostname(),
		"port": u.Port(), "pathname": u.Pathname(), "search": u.Query(), "hash": u.Fragment()}
	return parts, inputs, nil
}

func (p *Classes) execPattern(pattern *urlPattern, call goja.FunctionCall) goja.Value {
	parts, inputs, err := p.urlParts(call.Argument(0), call.Argument(1))
	if err != nil {
		return goja.Null()
	}
	result := p.Record("inputs", p.VM.NewArray(inputs...))
	for _, name := range patternComponents {
		c := pattern.components[name]
		values, ok := p.execComponent(c, parts[name])
		if !ok {
			return goja.Null()
		}
		groups := p.VM.NewObject()
		for i, group := range c.names {
			groups.Set(group, values[i])
		}
		result.Set(name, p.Record("input", parts[name], "groups", groups))
	}
	return result
}

func (p *Classes) urlPatternClass() *goja.Object {
	def := engine.ClassDef[*urlPattern]{
		Name: "URLPattern", New: p.newURLPattern,
		Methods: []engine.Method[*urlPattern]{
			{Name: "exec", Fn: func(pattern *urlPattern, call goja.FunctionCall) goja.Value { return p.execPattern(pattern, call) }},
			{Name: "test", Fn: func(pattern *urlPattern, call goja.FunctionCall) goja.Value {
				return p.VM.ToValue(!goja.IsNull(p.execPattern(pattern, call)))
			}},
		},
	}
	for _, name := range patternComponents {
		def.Accessors = append(def.Accessors, webidl.Reader(name, func(pattern *urlPattern) goja.Value {
			return p.VM.ToValue(pattern.components[name].text)
		}))
	}
	if p.original() {
		return engine.DefineClass(p.Engine, def).Ctor
	}
	def.Accessors = append(def.Accessors, webidl.Reader("hasRegExpGroups", func(pattern *urlPattern) goja.Value {
		for _, name := range patternComponents {
			if pattern.components[name].hasRegExp {
				return p.VM.ToValue(true)
			}
		}
		return p.VM.ToValue(false)
	}))
	return engine.DefineClass(p.Engine, def).Ctor
}

// installURLPattern defines URLPattern, whose groups are matched by expressions
// that the constructor regexp makes.
func (p *Classes) InstallPattern(regexp *goja.Object) {
	p.regexp = regexp
	p.LazyClass("URLPattern", p.urlPatternClass)
}
