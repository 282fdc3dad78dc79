// Package drive performs client steps on a server: calls of agents' methods, chat
// turns, HTTP requests. What was asked and answered goes into a history; an answer
// that a kill has cut is unknown, not failed.
package drive

import (
	"encoding/json"
	"fmt"
	"strings"

	"minido.dev/minido/chaos/agentrpc"
)

// Kind says what a step does.
type Kind string

// The kinds of steps, named as the flags that make them.
const (
	Call  Kind = "call"
	Chat  Kind = "chat"
	Fetch Kind = "fetch"
	// Resume asks a chat agent for the answer that is under way and follows it to
	// its end. It has no text form: only scenarios do it.
	Resume Kind = "resume"
)

// Step is one thing that a client does. Immutable.
type Step struct {
	Kind Kind
	// Class and Name are the agent of a call or chat turn.
	Class, Name string
	// Method is the agent's method, or the request's.
	Method string
	// Args is a JSON array.
	Args json.RawMessage
	// Text is the message of a chat turn, or the body of a request.
	Text string
	// Body are further fields of a chat request, which the agent gets as
	// options.body; a JSON object, or nothing.
	Body json.RawMessage
	// Path is the request's path and query.
	Path string
	// Again says that it is a question that was asked before in this life: its
	// effect points count apart.
	Again bool
	// Until says that the client sends it again until it has an answer.
	Until bool
}

// String is the step's text form, which its parser reads.
func (s Step) String() string {
	switch s.Kind {
	case Call:
		return s.Class + "/" + s.Name + "." + s.Method + "(" + strings.TrimSuffix(strings.TrimPrefix(string(s.Args), "["), "]") + ")"
	case Chat:
		return s.Class + "/" + s.Name + ": " + s.Text
	}
	text := s.Method + " " + s.Path
	if s.Text != "" {
		text += " " + s.Text
	}
	return text
}

// Flag is the step as words of a command line.
func (s Step) Flag() []string { return []string{"--" + string(s.Kind), s.String()} }

// Parse reads a step of that kind.
func Parse(kind Kind, text string) (Step, error) {
	switch kind {
	case Call:
		return parseCall(text)
	case Chat:
		return parseChat(text)
	case Fetch:
		return parseFetch(text)
	}
	return Step{}, fmt.Errorf("a step cannot be a %q", kind)
}

func parseCall(text string) (Step, error) {
	bad := func(why string) (Step, error) {
		return Step{}, fmt.Errorf(`--call %q: %s; write Class/name.method(arguments), for example 'ResearchAgent/r1.startResearch("tides")'`, text, why)
	}
	head, args := text, ""
	if open := strings.IndexByte(text, '('); open >= 0 {
		if !strings.HasSuffix(text, ")") {
			return bad("a parenthesis is not closed")
		}
		head, args = text[:open], text[open+1:len(text)-1]
	}
	class, rest, found := strings.Cut(head, "/")
	dot := strings.LastIndexByte(rest, '.')
	if !found || class == "" || dot <= 0 || dot == len(rest)-1 {
		return bad("it names no method of an agent")
	}
	list := json.RawMessage("[" + args + "]")
	var parsed []json.RawMessage
	if err := json.Unmarshal(list, &parsed); err != nil {
		return bad("the arguments are not JSON values")
	}
	return Step{Kind: Call, Class: class, Name: rest[:dot], Method: rest[dot+1:], Args: list}, nil
}

func parseChat(text string) (Step, error) {
	object, message, found := strings.Cut(text, ":")
	class, name, both := strings.Cut(object, "/")
	if !found || !both || class == "" || name == "" {
		return Step{}, fmt.Errorf("--chat %q: write Class/name: message, for example 'ChatAgent/c1: hello'", text)
	}
	return Step{Kind: Chat, Class: class, Name: name, Text: strings.TrimPrefix(message, " ")}, nil
}

func parseFetch(text string) (Step, error) {
	method, rest, found := strings.Cut(text, " ")
	if !found && strings.HasPrefix(text, "/") {
		method, rest = "GET", text
	}
	path, body, _ := strings.Cut(rest, " ")
	if method == "" || method != strings.ToUpper(method) || !strings.HasPrefix(path, "/") {
		return Step{}, fmt.Errorf("--fetch %q: write METHOD /path [body], for example 'POST /notes {\"text\":\"hi\"}'", text)
	}
	return Step{Kind: Fetch, Method: method, Path: path, Text: body}, nil
}

// Agent is the class as it stands in an agent's URL.
func (s Step) Agent() string { return agentrpc.Kebab(s.Class) }
