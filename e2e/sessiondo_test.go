package e2e

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// sessionBooks is what SessionDO has in its database, and its memory.
type sessionBooks struct {
	State struct {
		Status      string
		AgentID     string   `json:"agent_id"`
		VaultIDs    []string `json:"vault_ids"`
		Turn        int
		SandboxBoot string `json:"sandbox_boot"`
	}
	Events    []sessionEvent
	Ops       []sessionOp
	Chunks    int
	Tasks     []struct{ Command, Status string }
	Schedules []struct{ Text string }
	Runs      []struct{ ID, Turn, Attempts int }
	NextAlarm *float64
	Memory    struct {
		Born              string
		Live, Broadcasted int
	}
}

type sessionEvent struct {
	Seq      int
	Type, ID string
	Spilled  bool
	Body     json.RawMessage
}

type sessionOp struct {
	ID      string `json:"op_id"`
	TurnSeq string `json:"turn_seq"`

	Kind, Args, Status, Result string
}

func (b sessionBooks) count(kind string) (n int) {
	for _, e := range b.Events {
		if e.Type == kind {
			n++
		}
	}
	return n
}

func (b sessionBooks) op(i int) string {
	if i >= len(b.Ops) {
		return ""
	}
	return b.Ops[i].Status
}

// rests says that every message has had its turn.
func (b sessionBooks) rests(turns int) bool {
	return b.State.Status == "idle" && len(b.Runs) == 0 && b.State.Turn == turns && b.Memory.Live == 0
}

type agentSession struct {
	l    *lives
	name string
}

func (s agentSession) url() string { return s.l.server.url + "/sessions/" + s.name }

func (s agentSession) books() (b sessionBooks) {
	s.l.t.Helper()
	get(s.l.t, s.url(), &b)
	return b
}

func (s agentSession) say(text string) {
	s.l.t.Helper()
	post(s.l.t, s.url()+"/message", map[string]string{"text": text}, nil)
}

func (s agentSession) untilRest(turns int) (b sessionBooks) {
	s.l.t.Helper()
	until(s.l.t, s.name+" rests", func() bool { b = s.books(); return b.rests(turns) })
	return b
}

// listener is a client that hears what the agent says, and comes back when it
// is cut.
type listener struct {
	path    string
	sockets []*roomSocket
}

func (c *listener) dial(l *lives) {
	l.t.Helper()
	s, err := dialSocket(l, c.path, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	c.sockets = append(c.sockets, s)
}

// check checks that no socket was told a message twice, and none the messages that
// one before it had been told.
func (c *listener) check(t *testing.T) {
	t.Helper()
	seen := map[string]int{}
	for i, s := range c.sockets {
		_ = s.conn.CloseNow()
		here := map[string]bool{}
		for frame := range s.frames {
			var f struct{ ID string }
			if err := json.Unmarshal([]byte(frame), &f); err != nil {
				t.Fatal(err)
			}
			if f.ID == "" {
				continue
			}
			if here[f.ID] {
				t.Errorf("told twice: %s", frame)
			}
			here[f.ID] = true
			// Two sockets that are open at the same time are both told.
			if before, told := seen[f.ID]; told && before != i-1 {
				t.Errorf("told again: %s", frame)
			}
			seen[f.ID] = i
		}
	}
}

// checkSession holds the invariants of a "work" turn against the books, the world
// outside and the sandbox. doubts are the kinds of operations that are in doubt.
func checkSession(o *subject, b sessionBooks, doubts []string) {
	t := o.t
	t.Helper()
	var kinds, doubted, results []string
	for _, op := range b.Ops {
		kinds, results = append(kinds, op.Kind), append(results, op.Result)
		switch op.Status {
		case "ambiguous":
			if doubted = append(doubted, op.Kind); op.Result != "operation "+op.ID+" may have executed; verify before retrying" {
				t.Errorf("%s is in doubt: %q", op.Kind, op.Result)
			}
		case "completed":
		default:
			t.Errorf("%s is %s", op.Kind, op.Status)
		}
	}
	if !slices.Equal(kinds, []string{"llm", "exec", "pay", "exec", "hook", "llm"}) {
		t.Fatalf("operations %q", kinds)
	}
	if !slices.Equal(doubted, doubts) || b.count("op.ambiguous") != len(doubts) {
		t.Errorf("in doubt: %q, want %q; the agent was told of %d", doubted, doubts, b.count("op.ambiguous"))
	}
	if b.op(1) == "completed" && results[1] != "one" || results[3] != "one,two" {
		t.Errorf("the commands found %q and %q", results[1], results[3])
	}
	if runs := o.box.boot(o.name).Runs; runs != 2 {
		t.Errorf("%d commands ran, want 2", runs)
	}
	if got := b.count("agent.message"); got != 2 {
		t.Errorf("%d messages of the agent", got)
	}
	if want := "done: " + strings.Join(results[1:5], "; "); results[5] != want {
		t.Errorf("the agent ends with %q, want %q", results[5], want)
	}
	if b.count("session.error") != 0 || b.NextAlarm != nil {
		t.Errorf("at rest: %d errors, alarm %v", b.count("session.error"), b.NextAlarm)
	}
	o.tool.checkEffects(t, o.name)
}

// checkEffects holds what arrived of a session's effects: what has a key always has
// the same, what has none arrived once.
func (o *tool) checkEffects(t *testing.T, session string) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for label, keys := range o.asked {
		of, effect, _ := strings.Cut(label, "/")
		switch {
		case of != session:
		case strings.HasPrefix(effect, "hook-"):
			if len(keys) != 1 || keys[0] != "" {
				t.Errorf("%s arrived with the keys %q", label, keys)
			}
		case strings.HasPrefix(effect, "pay-") || strings.HasPrefix(effect, "llm/"):
			if keys[0] == "" || len(slices.Compact(slices.Clone(keys))) != 1 {
				t.Errorf("%s arrived with the keys %q", label, keys)
			}
		}
	}
}

// The id of an operation is the same for each attempt at it, and for each order in
// which its arguments are written; where it stands in its turn makes another.
func TestSessionOperationIDs(t *testing.T) {
	t.Parallel()
	o := &subject{stageSet: beginSessionSet(t, dev), name: "s"}
	o.session().say("paid")
	o.session().untilRest(1)
	o.session().say("work")
	var payments []sessionOp
	for _, op := range o.session().untilRest(2).Ops {
		if op.Kind == "pay" {
			payments = append(payments, op)
		}
	}
	if len(payments) != 2 || payments[0].Args != `{"amount":7,"to":"ann"}` || payments[1].Args != payments[0].Args {
		t.Fatalf("payments %+v", payments)
	}
	for i, turnSeq := range []string{"1.1", "2.2"} {
		text, err := json.Marshal([]string{"pay", payments[i].Args, turnSeq})
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("%x", sha256.Sum256(text)); payments[i].TurnSeq != turnSeq || payments[i].ID != want {
			t.Errorf("payment %+v, want the id %s", payments[i], want)
		}
	}
}

// Five recoveries are tried; the sixth ends the turn with an error, and the
// session takes the next message. A turn that ends its own object, and one whose
// server is killed six times.
func TestSessionGivesUp(t *testing.T) {
	t.Parallel()
	checkGivenUp := func(o *subject) {
		o.t.Helper()
		s := o.session()
		// While the session ends itself, questions to it are cut.
		until(o.t, "the session gives up", func() bool {
			status, body, err := tryAsk("GET", s.url())
			return err == nil && status == 200 && strings.Contains(body, `"session.error"`)
		})
		b := s.untilRest(1)
		if n := b.count("session.status_rescheduled"); n != 5 || b.count("session.error") != 1 {
			o.t.Errorf("%d recoveries, %d errors", n, b.count("session.error"))
		}
		s.say("hello")
		if b = s.untilRest(2); b.count("session.error") != 1 || b.Ops[len(b.Ops)-1].Result != "done: " {
			o.t.Errorf("after it: %+v", b.Ops)
		}
	}
	t.Run("by itself", func(t *testing.T) {
		o := &subject{stageSet: beginSessionSet(t, dev), name: "s"}
		o.session().say("wedge")
		checkGivenUp(o)
	})
	t.Run("SIGKILL", func(t *testing.T) {
		o := &subject{stageSet: beginSessionSet(t, dev), name: "s"}
		o.at("word/1.0/0", func() { o.session().say("hello") })
		for kills := 1; ; kills++ {
			wait := o.arm("s/word/1.0/0") // the same word, in the next life
			o.crash()
			if kills == 6 {
				break
			}
			wait()
		}
		checkGivenUp(o)
	})
}

// What survives, row by row of the page's table: SIGKILL of the server, and then of
// the sandbox.
func TestSessionWhatSurvives(t *testing.T) {
	t.Parallel()
	o := &subject{stageSet: beginSessionSet(t, dev), name: "s"}
	s, box := o.session(), o.box
	s.say("work " + strings.Repeat("long ", 30))
	s.untilRest(1)
	post(t, s.url()+"/schedule", map[string]any{"ms": 3_600_000, "text": "later"}, nil)
	s.say("background")
	s.untilRest(2)
	o.at("word/3.0/5", func() { s.say("work again") })
	before := s.books()
	wait := o.arm("s/word/3.0/5")
	o.crash()
	wait() // nobody has asked: its alarm has found the turn

	b := s.books()
	sameEvents := func(x, y sessionEvent) bool { return x.Seq == y.Seq && string(x.Body) == string(y.Body) }
	messages := 0
	for _, e := range b.Events {
		if e.ID != "" {
			messages++
		}
	}
	checks := []struct {
		surface string
		ok      bool
	}{
		{"this.state", b.State.Status == "running" && b.State.Turn == 3 && b.State.AgentID == "agent-s" && slices.Equal(b.State.VaultIDs, []string{"vault-1"})},
		{"conversation history, in SQL and in R2", slices.EqualFunc(b.Events[:len(before.Events)], before.Events, sameEvents) && b.Events[0].Spilled && !b.Events[len(before.Events)-1].Spilled},
		{"partial stream chunks", b.Chunks == before.Chunks && o.tool.calls("s/word/3.0/4") == 1},
		{"background tasks", len(b.Tasks) == 1 && b.Tasks[0].Status == "running"},
		{"schedules", len(b.Schedules) == 1 && b.Schedules[0].Text == "later" && b.NextAlarm != nil},
		{"active fibers", len(b.Runs) == 1 && b.Runs[0].Turn == 3 && b.Runs[0].Attempts == 1 && b.count("session.status_rescheduled") == 1},
		{"caches in memory are gone, and derived again", b.Memory.Born != before.Memory.Born && b.Memory.Live == 1 && b.Memory.Broadcasted == messages && messages > 0},
	}
	for _, c := range checks {
		if !c.ok {
			t.Errorf("%s: %+v, before it %+v", c.surface, b, before)
		}
	}
	o.release()
	b = s.untilRest(3)
	o.tool.checkEffects(t, "s") // a model's request that was cut is not billed under another key

	old := box.boot("s")
	if len(old.Tmp) == 0 {
		t.Error("the sandbox's /tmp is empty before its death")
	}
	box.crash()
	if now := box.boot("s"); now.Boot == old.Boot || len(now.Tmp) != 0 || now.Runs != 0 {
		t.Errorf("the new sandbox has %+v", now)
	}
	s.say("work once more")
	b = s.untilRest(4)
	if now := box.boot("s"); b.State.SandboxBoot != now.Boot {
		t.Errorf("the sandbox is %s, the session has %s", now.Boot, b.State.SandboxBoot)
	}
	lastExec := ""
	for _, op := range b.Ops {
		if op.Kind == "exec" {
			lastExec = op.Result
		}
	}
	if lastExec != "one,two,one,two,one,two" { // restored from R2: what three turns have written
		t.Errorf("the workspace has %q", lastExec)
	}
	if b.Tasks[0].Status != "lost" {
		t.Errorf("a process of the old sandbox is %s", b.Tasks[0].Status)
	}
}

// A sandbox that dies with a command in it: nobody can say whether it has
// happened, so it is not run again, and the agent is told.
func TestSessionSandboxDies(t *testing.T) {
	t.Parallel()
	o := &subject{stageSet: beginSessionSet(t, dev), name: "s"}
	s, box := o.session(), o.box
	s.say("slow")
	until(t, "the command runs", func() bool { return box.boot("s").Runs == 1 })
	box.crash()
	b := s.untilRest(1)
	if b.op(1) != "ambiguous" || b.count("op.ambiguous") != 1 || box.boot("s").Runs != 0 {
		t.Errorf("the command is %s, %d runs in the new sandbox", b.op(1), box.boot("s").Runs)
	}
}
