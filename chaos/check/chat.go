package check

import "minido.dev/minido/chaos/transcript"

// chatChecker holds each chat agent's conversation against what its clients and
// the model saw.
type chatChecker struct{}

func (chatChecker) Name() string { return "chat" }

func (chatChecker) Applies(e Evidence) bool {
	for _, o := range e.Rest.Objects {
		if o.Chat.Chat {
			return true
		}
	}
	return false
}

func (c chatChecker) Check(e Evidence) []Violation {
	var chats []transcript.State
	for _, o := range e.Rest.Objects {
		if o.Chat.Chat {
			chats = append(chats, o.Chat)
		}
	}
	var out []Violation
	for _, v := range transcript.Check(e.Events, chats) {
		out = append(out, Violation{c.Name(), v.Invariant, v.Text})
	}
	return out
}
