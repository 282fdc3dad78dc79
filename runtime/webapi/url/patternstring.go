package url

// The constructor string parser of the URL Pattern standard (section 2.1.4):
// it tells which part of a string is the pattern of which component.

type patternState uint8

const (
	stateInit patternState = iota
	stateProtocol
	stateAuthority
	stateUsername
	statePassword
	stateHostname
	statePort
	statePathname
	stateSearch
	stateHash
	stateDone
)

// patternStates names the component that a state collects.
var patternStates = map[patternState]string{stateProtocol: "protocol", stateUsername: "username", statePassword: "password",
	stateHostname: "hostname", statePort: "port", statePathname: "pathname", stateSearch: "search", stateHash: "hash"}

type patternStringParser struct {
	input    []rune
	tokens   []patternToken
	result   map[string]string
	start    int // the token that the component begins with
	at       int
	step     int
	group    int // depth of braces
	bracket  int // depth of IPv6 brackets
	special  bool
	original bool // before the flag urlpattern_standard
	state    patternState
	protocol func(pattern string) (special bool, err error)
}

// parsePatternString splits a pattern; protocol tells whether a protocol's
// pattern matches a special scheme. original is an early draft, in which what comes behind
// the first component is empty instead of anything.
func parsePatternString(text string, original bool, protocol func(string) (bool, error)) (map[string]string, error) {
	input := []rune(text)
	tokens, err := tokenizePattern(input, true)
	if err != nil {
		return nil, err
	}
	p := &patternStringParser{input: input, tokens: tokens, result: map[string]string{}, original: original, protocol: protocol}
	for p.at < len(p.tokens) {
		p.step = 1
		if p.tokens[p.at].kind == tokenEnd {
			if p.end() {
				break
			}
			p.at += p.step
			continue
		}
		switch {
		case p.tokens[p.at].kind == tokenOpen:
			p.group++
		case p.group > 0 && p.tokens[p.at].kind == tokenClose:
			p.group--
			fallthrough
		case p.group == 0:
			if err := p.visit(); err != nil {
				return nil, err
			}
		}
		p.at += p.step
	}
	if _, ok := p.result["hostname"]; ok {
		p.empty("port", "")
	}
	return p.result, nil
}

// end handles the last token; it reports whether all is done.
func (p *patternStringParser) end() bool {
	switch p.state {
	case stateInit:
		p.rewind()
		switch {
		case p.is("#"):
			p.change(stateHash, 1)
		case p.isSearch():
			p.change(stateSearch, 1)
			p.emptyIfOriginal("hash")
		default:
			p.change(statePathname, 0)
			p.emptyIfOriginal("search", "hash")
		}
	case stateAuthority:
		p.rewind()
		p.state = stateHostname
	default:
		p.change(stateDone, 0)
		return true
	}
	return false
}

// empty sets a component that is not there.
func (p *patternStringParser) empty(name, value string) {
	if _, ok := p.result[name]; !ok {
		p.result[name] = value
	}
}

func (p *patternStringParser) emptyIfOriginal(names ...string) {
	if p.original {
		for _, name := range names {
			p.result[name] = ""
		}
	}
}

func (p *patternStringParser) rewind() { p.at, p.step = p.start, 0 }

// isAt holds if the token is an ordinary character.
func (p *patternStringParser) isAt(i int, value string) bool {
	if i >= len(p.tokens) {
		i = len(p.tokens) - 1
	}
	t := p.tokens[i]
	return t.value == value && (t.kind == tokenChar || t.kind == tokenEscaped || t.kind == tokenInvalid)
}

func (p *patternStringParser) is(value string) bool { return p.isAt(p.at, value) }

// isSearch holds where a question mark begins the search, and is no modifier.
func (p *patternStringParser) isSearch() bool {
	if p.is("?") {
		return true
	}
	if p.tokens[p.at].value != "?" {
		return false
	}
	if p.at == 0 {
		return true
	}
	switch p.tokens[p.at-1].kind {
	case tokenName, tokenRegExp, tokenClose, tokenAsterisk:
		return false
	}
	return true
}

func (p *patternStringParser) visit() error {
	switch p.state {
	case stateInit:
		if p.is(":") {
			p.emptyIfOriginal(patternComponents[1:]...)
			p.rewind()
			p.state = stateProtocol
		}
	case stateProtocol:
		return p.visitProtocol()
	case stateAuthority:
		switch {
		case p.is("@"):
			p.rewind()
			p.state = stateUsername
		case p.is("/") || p.isSearch() || p.is("#"):
			p.rewind()
			p.state = stateHostname
		}
	case stateUsername:
		switch {
		case p.is(":"):
			p.change(statePassword, 1)
		case p.is("@"):
			p.change(stateHostname, 1)
		}
	case statePassword:
		if p.is("@") {
			p.change(stateHostname, 1)
		}
	case stateHostname:
		switch {
		case p.is("["):
			p.bracket++
		case p.is("]"):
			p.bracket--
		case p.is(":") && p.bracket == 0:
			p.change(statePort, 1)
		default:
			p.visitRest()
		}
	default:
		p.visitRest()
	}
	return nil
}

func (p *patternStringParser) visitProtocol() error {
	if !p.is(":") {
		return nil
	}
	special, err := p.protocol(p.component())
	if err != nil {
		return err
	}
	p.special = special
	switch {
	case p.isAt(p.at+1, "/") && p.isAt(p.at+2, "/"):
		p.change(stateAuthority, 3)
	case special:
		p.change(stateAuthority, 1)
	default:
		p.change(statePathname, 1)
	}
	return nil
}

// visitRest looks for the beginning of a later component.
func (p *patternStringParser) visitRest() {
	switch {
	case p.state < statePathname && p.is("/"):
		p.change(statePathname, 0)
	case p.state < stateSearch && p.isSearch():
		p.change(stateSearch, 1)
	case p.state < stateHash && p.is("#"):
		p.change(stateHash, 1)
	}
}

func (p *patternStringParser) component() string {
	return string(p.input[p.tokens[p.start].index:p.tokens[p.at].index])
}

func (p *patternStringParser) change(to patternState, skip int) {
	if name := patternStates[p.state]; name != "" {
		p.result[name] = p.component()
	}
	if p.state != stateInit && to != stateDone {
		if p.state < stateHostname && to >= statePort {
			p.empty("hostname", "")
		}
		if p.state < statePathname && to >= stateSearch {
			path := ""
			if p.special {
				path = "/"
			}
			p.empty("pathname", path)
		}
		if p.state < stateSearch && to == stateHash {
			p.empty("search", "")
		}
	}
	p.state = to
	p.at += skip
	p.start, p.step = p.at, 0
}
