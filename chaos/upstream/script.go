package upstream

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Turn is one message of a conversation.
type Turn struct {
	// Role is user, assistant, system or tool.
	Role string
	// Text is the message's text; parts that are no text are left out.
	Text string
}

// Conversation is what a model is asked.
type Conversation struct {
	Model string
	Turns []Turn
	// Tools are the names of the tools on offer.
	Tools []string
}

// Call is a tool that the model wants to be called.
type Call struct {
	Name string
	// Arguments is a JSON object.
	Arguments json.RawMessage
}

// Reply is what the model says: it thinks, if Reasoning is set, and then either
// calls a tool or speaks.
type Reply struct {
	Reasoning []string
	Tool      *Call
	Text      []string
}

// Script is a model: what it says to a conversation. It is called on any
// goroutine, one call at a time, and must depend on the conversation alone.
type Script func(Conversation) Reply

// Model is what a provider says, and how fast. Immutable.
type Model struct {
	// Words is how many words an answer has, Pace the time before each.
	Words int
	Pace  time.Duration
}

// DefaultModel answers with forty words, one each 5 ms.
func DefaultModel() *Model { return &Model{Words: 40, Pace: 5 * time.Millisecond} }

// Words is a model that counts: w0 to w(n-1), a piece each. It can be cut and
// asked to go on: if the conversation ends with words of its own, or with a
// user's message that begins with "Continue", it goes on where they end.
//
// A user's message decides the rest: with "think" in it the model reasons
// first, and with "use NAME" in it, where NAME is a tool on offer, it calls that
// tool, with the rest of the line as the arguments, before it counts.
func Words(n int) Script {
	return func(c Conversation) Reply {
		var r Reply
		asked, spoken, answered := state(c)
		if name, arguments := wantsTool(c, asked); name != "" && !answered {
			r.Tool = &Call{Name: name, Arguments: arguments}
		}
		if strings.Contains(asked, "think") && spoken == 0 && !answered {
			r.Reasoning = []string{"Let ", "me ", "think. "}
		}
		if r.Tool == nil {
			for i := spoken; i < n; i++ {
				r.Text = append(r.Text, fmt.Sprintf("w%d ", i))
			}
		}
		return r
	}
}

// state is the last thing that a user asked, how many words of the answer are
// there, and whether a tool has answered since.
func state(c Conversation) (asked string, spoken int, answered bool) {
	for _, t := range c.Turns {
		switch t.Role {
		case "user":
			if strings.HasPrefix(t.Text, "Continue") {
				continue // the answer goes on
			}
			asked, spoken, answered = t.Text, 0, false
		case "assistant":
			spoken += len(strings.Fields(t.Text))
		case "tool":
			answered = true
		}
	}
	return asked, spoken, answered
}

func wantsTool(c Conversation, asked string) (name string, arguments json.RawMessage) {
	for _, tool := range c.Tools {
		_, rest, found := strings.Cut(asked, "use "+tool)
		if !found {
			continue
		}
		rest = strings.TrimSpace(rest)
		if !json.Valid([]byte(rest)) {
			rest = "{}"
		}
		return tool, json.RawMessage(rest)
	}
	return "", nil
}
