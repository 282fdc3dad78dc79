// Package transcript judges whether a chat survived the faults of a run: it compares
// the conversation that an agent has stored with what its clients were told and what
// the scripted model said.
//
// Messages are read from the SDK's tables: cf_ai_chat_agent_messages (npm
// @cloudflare/ai-chat to 0.10), cf_agents_session_messages (npm agents 0.32);
// streams from cf_ai_chat_stream_metadata and cf_agents_streams.
package transcript

import (
	"encoding/json"
	"fmt"
	"strings"

	"minido.dev/minido/chaos/evidence"
)

// Part is a part of a message.
type Part struct {
	Type       string `json:"type"`
	Text       string `json:"text"`
	ToolCallID string `json:"toolCallId"`
}

// Message is one message as it is stored (AI SDK UIMessage).
type Message struct {
	ID       string `json:"id"`
	Role     string `json:"role"`
	Parts    []Part `json:"parts"`
	Metadata struct {
		Synthetic bool `json:"synthetic"`
	} `json:"metadata"`
}

// Text is what the message says.
func (m Message) Text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Type == "text" {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// Stream is an answer under way, or one that has ended.
type Stream struct {
	ID, Status string
}

// State is what an agent has stored of its chat. Immutable.
type State struct {
	// Chat says that the object is a chat agent.
	Chat     bool
	Messages []Message // in the order of the conversation
	Streams  []Stream
}

// Read reads an agent's own database.
func Read(db *evidence.DB) (s State, err error) {
	for _, table := range []struct{ name, column, order string }{
		{"cf_ai_chat_agent_messages", "message", "created_at, rowid"},
		{"cf_agents_session_messages", "content", "seq"},
	} {
		columns, err := db.Columns(table.name)
		if err != nil {
			return State{}, fmt.Errorf("transcript: %w", err)
		}
		if !columns[table.column] {
			continue
		}
		s.Chat = true
		rows, err := db.Query("SELECT " + table.column + " AS text FROM " + table.name + " ORDER BY " + table.order)
		if err != nil {
			return State{}, fmt.Errorf("transcript: %w", err)
		}
		for _, r := range rows {
			var m Message
			if err := json.Unmarshal([]byte(r.Text("text")), &m); err != nil {
				return State{}, fmt.Errorf("transcript: %s: %w", table.name, err)
			}
			s.Messages = append(s.Messages, m)
		}
	}
	return s, s.readStreams(db)
}

func (s *State) readStreams(db *evidence.DB) error {
	for _, table := range []struct{ name, id, status string }{
		{"cf_ai_chat_stream_metadata", "id", "status"}, {"cf_agents_streams", "stream_id", "state"},
	} {
		columns, err := db.Columns(table.name)
		if err != nil {
			return fmt.Errorf("transcript: %w", err)
		}
		if !columns[table.id] || !columns[table.status] {
			continue
		}
		rows, err := db.Query("SELECT " + table.id + " AS id, " + table.status + " AS status FROM " + table.name + " ORDER BY rowid")
		if err != nil {
			return fmt.Errorf("transcript: %w", err)
		}
		for _, r := range rows {
			s.Streams = append(s.Streams, Stream{r.Text("id"), r.Text("status")})
		}
	}
	return nil
}
