package e2e

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/chaos/agentrpc"
)

// chatGenerations are those of which a cut answer's parts are kept.
var chatGenerations = []string{"chat", "chat-0.10"}

// standingAt asks something, and stands before a piece of the answer whose word
// before it the client has seen.
func (o *subject) standingAt(piece int, word, text string, body map[string]any) *agentrpc.Client {
	o.t.Helper()
	hold := o.provider.Hold(piece)
	o.t.Cleanup(hold.Release)
	o.gates = append(o.gates, held{release: hold.Release})
	client := o.ask(text, body)
	o.standsAt(hold.Reached())
	o.hasSeen(client, word)
	return client
}

func (o *subject) hasSeen(client *agentrpc.Client, word string) {
	o.t.Helper()
	until(o.t, o.name+" has seen "+word, func() bool { return o.conversing().saw(client, `\"`+word+` \"`) })
}

// What the hook is told of a cut answer, and what is kept of it: reasoning and a
// tool's result are parts of their own before the text, each there once; what
// onChatMessage stashed is recoveryData, and nothing where nothing was stashed.
func TestChatPartsAreRecovered(t *testing.T) {
	t.Parallel()
	for _, name := range chatGenerations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := beginChatSet(name)(t, dev)
			begin := func(name string) *subject { return &subject{stageSet: set, name: name, fault: "SIGKILL"} }
			thought, tooled, stored := begin("thought"), begin("tooled"), begin("stored")
			thought.standingAt(3+15, "w14", "think", map[string]any{"provider": "anthropic"})
			stored.standingAt(15, "w14", "hello", map[string]any{"provider": "openai"})
			var client *agentrpc.Client
			tooled.at("weather", func() { client = tooled.ask(`use weather {"city":"Rome"}`, nil) })
			hold := set.provider.Hold(15) // of what the model says to the tool's result
			t.Cleanup(hold.Release)
			tooled.release()
			tooled.standsAt(hold.Reached())
			tooled.hasSeen(client, "w14")
			set.crash()
			for _, o := range []*subject{thought, tooled, stored} {
				o.release()
			}
			hold.Release()

			for _, c := range []struct {
				o                            *subject
				roles, told, data, kept, say string
			}{
				{thought, "user assistant user assistant", "reasoning text", "", "reasoning text", "Let me think. "},
				{tooled, "user assistant", "tool-weather text", "", "tool-weather text", ""},
				{stored, "user assistant", "text", `{"responseId":"`, "text", ""},
			} {
				c.o.blows = 1
				c.o.checkWhole(c.roles)
				var books chatBooks
				call(t, c.o.dial("support-chat/"+c.o.name), &books, "inspect")
				if r := books.Recoveries[0]; kindsOf(r.Kinds) != c.told || !strings.HasPrefix(r.Data, c.data) || c.data == "" && r.Data != "" {
					t.Errorf("%s: the hook was told %+v", c.o.name, r)
				}
				var messages []chatMessage
				call(t, c.o.dial("support-chat/"+c.o.name), &messages, "conversation")
				kinds, thoughts := "", ""
				for _, p := range messages[1].Parts {
					if kinds += p.Type + " "; p.Type == "reasoning" {
						thoughts += p.Text
					}
				}
				if kindsOf(kinds) != c.kept || thoughts != c.say {
					t.Errorf("%s: kept %s, thoughts %q", c.o.name, kinds, thoughts)
				}
			}
		})
	}
}

// A client that leaves in the middle of an answer does not end it: who comes
// instead is told all of it, and so is who stays.
func TestChatClientsLeaveAndJoin(t *testing.T) {
	t.Parallel()
	for _, name := range chatGenerations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &subject{stageSet: beginChatSet(name)(t, dev), name: "a"}
			stays := o.dial("support-chat/a")
			leaves := o.standingAt(15, "w14", "hello", nil)
			o.hasSeen(stays, "w14")
			leaves.Close()
			joins := o.dial("support-chat/a")
			joined := make(chan agentrpc.Answer, 1)
			o.background(func(ctx context.Context) {
				answer, err := joins.Resume(ctx)
				if err != nil && !errors.Is(err, context.Canceled) {
					o.t.Errorf("resume: %v", err)
				}
				joined <- answer
			})
			o.hasSeen(joins, "w14")
			o.release()
			if answer := <-joined; !answer.Done || answer.Text != words(0, chatWords) {
				t.Errorf("the client that joined was told %q, done %v", answer.Text, answer.Done)
			}
			o.hasSeen(stays, "w39")
			o.checkWhole("user assistant")
		})
	}
}

// kindsOf are the kinds of parts in their order, without those that mark steps,
// neighbours of one kind as one.
func kindsOf(text string) string {
	kinds := slices.DeleteFunc(strings.Fields(text), func(kind string) bool { return kind == "step-start" })
	return strings.Join(slices.Compact(kinds), " ")
}
