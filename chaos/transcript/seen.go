package transcript

import (
	"encoding/json"
	"fmt"
	"strings"

	"minido.dev/minido/chaos/history"
)

// turn is what was seen of one question: by the client that asked it, and by
// the model.
type turn struct {
	op, question string
	told         bool   // a frame of the answer has come
	text         string // what the client was told of it
	returned     bool   // to its end
	failed       bool   // the client was told that it failed
	whole        string // the longest answer that the model gives to the question
	asked        bool   // the model was asked
	broken       bool   // the plan spoils an answer of the model
}

// outside is what can be seen of all chats.
type outside struct {
	turns  []*turn
	byOp   map[string]*turn
	agents map[string]string // path by client
	found  []Violation
	ended  map[string]bool // client and request whose terminal frame has come
	resume map[string]string
}

// response is a frame of an answer.
type response struct {
	Type  string `json:"type"`
	ID    string `json:"id"`
	Body  string `json:"body"`
	Done  bool   `json:"done"`
	Error bool   `json:"error"`
}

func look(events []history.Event) *outside {
	o := &outside{byOp: map[string]*turn{}, agents: map[string]string{}, ended: map[string]bool{}, resume: map[string]string{}}
	for _, e := range events {
		switch e.Kind {
		case history.Connect:
			o.agents[e.Who] = e.Text
		case history.Call:
			o.call(e)
		case history.Return:
			if t := o.byOp[e.Op]; t != nil && e.Text == "chat" {
				t.returned = t.returned || strings.HasPrefix(e.Op, e.Who+"-")
			}
		case history.Fail:
			if t := o.byOp[e.Op]; t != nil {
				t.failed = true
			}
		case history.Receive:
			o.receive(e)
		case history.Fetch:
			o.fetch(e)
		}
	}
	return o
}

func (o *outside) call(e history.Event) {
	switch e.Text {
	case "chat":
		t := &turn{op: e.Op}
		if json.Unmarshal(e.Data, &t.question) != nil {
			return // no question of ours
		}
		o.turns, o.byOp[e.Op] = append(o.turns, t), t
	case "resume":
		// What is replayed begins at the beginning, and has an end of its own.
		o.ended[e.Who+" "+e.Op] = false
		o.resume[e.Who+" "+e.Op] = ""
	}
}

func (o *outside) receive(e history.Event) {
	var f response
	if json.Unmarshal(e.Data, &f) != nil || f.Type != "cf_agent_use_chat_response" {
		return
	}
	key := e.Who + " " + f.ID
	if o.ended[key] {
		o.found = append(o.found, Violation{TerminalOnce, fmt.Sprintf("%s got another frame of the request %s at %.0f ms, after the one that ends it: %.80s", e.Who, f.ID, e.AtMs, e.Data)})
	}
	o.ended[key] = o.ended[key] || f.Done
	text := delta(f.Body)
	if replayed, ok := o.resume[key]; ok {
		o.resume[key] = replayed + text
	} else if t := o.byOp[f.ID]; t != nil && strings.HasPrefix(f.ID, e.Who+"-") {
		t.text += text
	}
	if t := o.byOp[f.ID]; t != nil {
		t.told = true
		t.failed = t.failed || f.Error
	}
}

// delta is the text that a chunk adds.
func delta(body string) string {
	var d struct{ Type, Delta string }
	if json.Unmarshal([]byte(body), &d) != nil || d.Type != "text-delta" {
		return ""
	}
	return d.Delta
}

// fetch is a request at the model. Which turn it belongs to is known by the
// question: the last one of that text that was asked before.
func (o *outside) fetch(e history.Event) {
	var a history.Asked
	if json.Unmarshal(e.Data, &a) != nil {
		return
	}
	for i := len(o.turns) - 1; i >= 0; i-- {
		t := o.turns[i]
		if t.question != a.User && !(strings.HasPrefix(a.User, "Continue") && i == len(o.turns)-1) {
			continue
		}
		t.asked, t.broken = true, t.broken || a.Fault != ""
		if len(a.Reply) > len(t.whole) {
			t.whole = a.Reply
		}
		return
	}
}
