package oracle

import (
	"bytes"
	"encoding/json"
	"strings"

	"minido.dev/minido/chaos/evidence"
)

// What users of the agents SDK keep in its tables: the state that setState() stores, and
// what schedule() and queue() have put off. The SDK's own bookkeeping beside them is for
// checkers that know it.
const (
	agentState    = "(state)"
	agentDeferred = "(schedules)"
)

// ofAgents read the rows of the SDK's tables, by table; nil for a row that is none of a
// user's. Versions up to 0.31 have cf_agents_schedules and cf_agents_queues, later ones jobs.
var ofAgents = map[string]struct {
	place string
	cells func(r evidence.Row) map[string]any
}{
	"cf_agents_state": {agentState, func(r evidence.Row) map[string]any {
		if r.Text("id") != "cf_state_row_id" {
			return nil
		}
		return map[string]any{"state": parsed(r.Text("state"))}
	}},
	"cf_agents_schedules": {agentDeferred, func(r evidence.Row) map[string]any {
		return map[string]any{"callback": r.Text("callback"), "payload": parsed(r.Text("payload")), "type": r.Text("type")}
	}},
	"cf_agents_queues": {agentDeferred, func(r evidence.Row) map[string]any {
		return map[string]any{"callback": r.Text("callback"), "payload": parsed(r.Text("payload")), "type": "queue"}
	}},
	"cf_agents_jobs": {agentDeferred, func(r evidence.Row) map[string]any {
		if of := r.Text("capability"); of != "scheduler" && of != "queue" {
			return nil
		}
		return map[string]any{"callback": r.Text("fn"), "payload": parsed(r.Text("payload"))}
	}},
}

// ofSDK reports whether a frame is one with which the agents SDK tells about itself, to each
// socket whenever an agent starts: who it is, and which MCP servers it knows.
func ofSDK(frame json.RawMessage) bool {
	if !bytes.Contains(frame, []byte("cf_agent_")) {
		return false
	}
	var f struct{ Type string }
	if json.Unmarshal(frame, &f) != nil {
		return false
	}
	return f.Type == "cf_agent_identity" || f.Type == "cf_agent_mcp_servers"
}

// parsed is JSON as a value, or the text itself.
func parsed(text string) any {
	var v any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&v) != nil {
		return text
	}
	return v
}

// readAgents reads a table of the SDK, if users keep something in it.
func (s State) readAgents(db *evidence.DB, at place, name string) error {
	of, known := ofAgents[name]
	if !known {
		return nil
	}
	s.agents[place{namespace: at.namespace, object: at.object}] = true
	rows, err := db.Query("SELECT * FROM " + evidence.QuoteName(name))
	var t told
	for _, r := range rows {
		cells := of.cells(r)
		if callback, _ := cells["callback"].(string); cells == nil || strings.HasPrefix(callback, "_") {
			continue // the SDK's own
		}
		row := map[string]string{}
		flatten("", cells, row, 0)
		t.rows = append(t.rows, row)
	}
	if t.rows != nil {
		s.put(at, of.place, t.table())
	}
	return err
}
