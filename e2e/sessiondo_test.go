package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// sessionBooks is what SessionDO has in its database, and its memory.
type sessionBooks struct {
	State struct {
		Status, AgentID string
		VaultIDs        []string `json:"vault_ids"`
		Turn            int
		SandboxBoot     string `json:"sandbox_boot"`
	}
	Events []struct {
		Seq      int
		Type, ID string
		Spilled  bool
		Body     json.RawMessage
	}
	Ops       []struct{ Kind, Status, Result string }
	Chunks    int
	Tasks     []struct{ Command, Status string }
	Schedules []struct{ Text string }
	Runs      []struct{ ID, Turn, Attempts int }
	NextAlarm *float64
	Live      int
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
	return b.State.Status == "idle" && len(b.Runs) == 0 && b.State.Turn == turns && b.Live == 0
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

// beginSession starts a life with a sandbox and a world outside.
func beginSession(t *testing.T) (*lives, *sandbox, *outside) {
	box, world := startSandbox(t), startOutside(t)
	return begin(t, "session", "STEP_MS:5", "WATCH_MS:150", "SPILL_BYTES:45", "SANDBOX:"+box.url, "SINK:"+world.server.URL), box, world
}

// sessionMoments are what a turn has come to; each stays true.
var sessionMoments = []struct {
	name string
	come func(b sessionBooks) bool
}{
	{"the message is stored", func(b sessionBooks) bool { return len(b.Events) > 0 }},
	{"the model is asked", func(b sessionBooks) bool { return len(b.Ops) > 0 }},
	{"the first word", func(b sessionBooks) bool { return b.Chunks > 0 }},
	{"in the middle of the answer", func(b sessionBooks) bool { return b.Chunks > 4 }},
	{"the answer is whole", func(b sessionBooks) bool { return b.op(0) == "completed" }},
	{"a command is begun", func(b sessionBooks) bool { return b.op(1) != "" }},
	{"the command has ended", func(b sessionBooks) bool { return b.op(1) == "completed" || b.op(1) == "ambiguous" }},
	{"a payment is begun", func(b sessionBooks) bool { return b.op(2) != "" }},
	{"the payment is made", func(b sessionBooks) bool { return b.op(2) == "completed" }},
	{"the second command", func(b sessionBooks) bool { return b.op(3) != "" }},
	{"a webhook is begun", func(b sessionBooks) bool { return b.op(4) != "" }},
	{"the webhook is done", func(b sessionBooks) bool { return b.op(4) == "completed" || b.op(4) == "ambiguous" }},
	{"the summary has begun", func(b sessionBooks) bool { return b.Chunks > 10 }},
	{"the turn has ended", func(b sessionBooks) bool { return b.rests(1) }},
}

// A turn with a model, commands in a sandbox, a payment and a webhook is hit at
// each moment. It ends, nothing has happened twice, and what is in doubt is said.
func TestSessionIsHit(t *testing.T) {
	begin := func(t *testing.T) *lives {
		l, _, world := beginSession(t)
		l.world = world
		return l
	}
	eachBlow(t, begin, len(sessionMoments), func(l *lives, b blow, moment int, name string) {
		s, struck := agentSession{l, name}, false
		told := &listener{l: l, path: "/sessions/" + name + "/ws"}
		told.dial()
		s.say("work")
		var end sessionBooks
		until(l.t, "the end of the turn", func() bool {
			end = s.books()
			if !struck && sessionMoments[moment].come(end) {
				l.strike(b, "SessionDO", name)
				struck = true
				told.dial()
				return false
			}
			return end.rests(1)
		})
		if !struck {
			l.t.Fatalf("it ended before: %s", sessionMoments[moment].name)
		}
		checkSession(l.t, end, l.world.check(l.t, name))
		told.check()
	})
}

// listener is a client that hears what the agent says, and comes back when it
// is cut.
type listener struct {
	l       *lives
	path    string
	sockets []*roomSocket
}

func (c *listener) dial() {
	c.l.t.Helper()
	s, err := dialSocket(c.l, c.path, nil)
	if err != nil {
		c.l.t.Fatal(err)
	}
	c.sockets = append(c.sockets, s)
}

// check checks that no socket was told a message twice, and none the messages that
// one before it had been told.
func (c *listener) check() {
	c.l.t.Helper()
	seen := map[string]int{}
	for i, s := range c.sockets {
		_ = s.conn.CloseNow()
		here := map[string]bool{}
		for frame := range s.frames {
			var f struct{ ID string }
			if err := json.Unmarshal([]byte(frame), &f); err != nil {
				c.l.t.Fatal(err)
			}
			if f.ID == "" {
				continue
			}
			if here[f.ID] {
				c.l.t.Errorf("told twice: %s", frame)
			}
			here[f.ID] = true
			// Two sockets that are open at the same time are both told.
			if before, told := seen[f.ID]; told && before != i-1 {
				c.l.t.Errorf("told again: %s", frame)
			}
			seen[f.ID] = i
		}
	}
}

// checkSession holds the invariants of a "work" turn against the books.
func checkSession(t *testing.T, b sessionBooks, hooks int) {
	t.Helper()
	var kinds []string
	doubts := 0
	for _, op := range b.Ops {
		kinds = append(kinds, op.Kind)
		switch op.Status {
		case "ambiguous":
			doubts++
			if op.Kind != "hook" && op.Kind != "exec" || !strings.Contains(op.Result, "may have executed; verify before retrying") {
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
	if hooks == 0 && b.op(4) != "ambiguous" {
		t.Error("the webhook that is said to be done was not")
	}
	if b.op(1) == "completed" && b.Ops[1].Result != "one" || b.op(3) == "completed" && b.Ops[3].Result != "one,two" && b.op(1) == "completed" {
		t.Errorf("the commands found %q and %q", b.Ops[1].Result, b.Ops[3].Result)
	}
	if got := b.count("op.ambiguous"); got != doubts {
		t.Errorf("%d operations are in doubt, the agent was told of %d", doubts, got)
	}
	if got := b.count("agent.message"); got != 2 {
		t.Errorf("%d messages of the agent", got)
	}
	last := b.Ops[5].Result
	if want := "done: " + strings.Join([]string{b.Ops[1].Result, b.Ops[2].Result, b.Ops[3].Result, b.Ops[4].Result}, "; "); last != want {
		t.Errorf("the agent ends with %q, want %q", last, want)
	}
	if b.count("session.error") != 0 || b.NextAlarm != nil {
		t.Errorf("at rest: %d errors, alarm %v", b.count("session.error"), b.NextAlarm)
	}
}

// Five recoveries are tried; the sixth ends the turn with an error, and the
// session takes the next message.
func TestSessionGivesUp(t *testing.T) {
	l, _, _ := beginSession(t)
	s := agentSession{l, "s"}
	s.say("wedge")
	// While the session ends itself, questions to it are cut.
	until(t, "the session gives up", func() bool {
		status, body, err := tryAsk("GET", s.url())
		return err == nil && status == 200 && strings.Contains(body, `"session.error"`)
	})
	b := s.untilRest(1)
	if n := b.count("session.status_rescheduled"); n != 5 || b.count("session.error") != 1 {
		t.Errorf("%d recoveries, %d errors", n, b.count("session.error"))
	}
	s.say("hello")
	if b = s.untilRest(2); b.count("session.error") != 1 || b.Ops[len(b.Ops)-1].Result != "done: " {
		t.Errorf("after it: %+v", b.Ops)
	}
}

// What survives, row by row of the page's table: SIGKILL of the server, and then of
// the sandbox.
func TestSessionWhatSurvives(t *testing.T) {
	l, box, world := beginSession(t)
	s := agentSession{l, "s"}
	s.say("work " + strings.Repeat("long ", 30))
	before := s.untilRest(1)
	post(t, s.url()+"/schedule", map[string]any{"ms": 3_600_000, "text": "later"}, nil)
	s.say("background")
	before = s.untilRest(2)
	s.say("work again")
	until(t, "an answer is under way", func() bool { b := s.books(); return b.Chunks > before.Chunks+2 })
	l.kill()
	l.server = dev(t, l.flags...)

	b := s.untilRest(3)
	checks := []struct {
		surface string
		ok      bool
	}{
		{"state", b.State.Turn == 3 && slices.Equal(b.State.VaultIDs, []string{"vault-1"})},
		{"events in SQL and R2", slices.EqualFunc(b.Events[:len(before.Events)], before.Events, func(x, y struct {
			Seq      int
			Type, ID string
			Spilled  bool
			Body     json.RawMessage
		}) bool {
			return x.Seq == y.Seq && string(x.Body) == string(y.Body)
		}) && b.Events[0].Spilled},
		{"partial stream chunks", b.Chunks > before.Chunks+10},
		{"background tasks", len(b.Tasks) == 1 && b.Tasks[0].Status == "running"},
		{"schedules", len(b.Schedules) == 1 && b.NextAlarm != nil},
		{"active fibers", b.count("session.status_rescheduled") == 1},
		{"caches in memory are derived again", b.State.SandboxBoot == box.boot().Boot},
	}
	for _, c := range checks {
		if !c.ok {
			t.Errorf("%s: %+v", c.surface, b)
		}
	}
	// A model's request that was cut is not billed under another key.
	world.check(t, "s")

	old := box.boot()
	if len(old.Tmp) == 0 {
		t.Error("the sandbox's /tmp is empty before its death")
	}
	box.crash()
	s.say("work once more")
	b = s.untilRest(4)
	if now := box.boot(); now.Boot == old.Boot || b.State.SandboxBoot != now.Boot {
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
	l, box, _ := beginSession(t)
	s := agentSession{l, "s"}
	s.say("slow")
	until(t, "the command runs", func() bool { return box.boot().Runs == 1 })
	box.crash()
	b := s.untilRest(1)
	if b.op(1) != "ambiguous" || b.count("op.ambiguous") != 1 || box.boot().Runs != 0 {
		t.Errorf("the command is %s, %d runs in the new sandbox", b.op(1), box.boot().Runs)
	}
}
