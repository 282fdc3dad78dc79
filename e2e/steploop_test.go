package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// loopBooks is what a session of the step loop has in its database.
type loopBooks struct {
	Session *struct {
		Status      string
		Version     int
		Error       string
		ResumeCount int `json:"resume_count"`
		ToldParent  int `json:"told_parent"`
	}
	Transitions []struct {
		Version int
		From    string `json:"from_status"`
		To      string `json:"to_status"`
	}
	Runs []struct {
		N       int
		Mode    string
		Outcome *struct{ Kind, Reason, Answer string }
	}
	Steps []struct {
		N            int
		Text, Status string
		Calls        []struct{ ID, Tool string }
	}
	Results  []struct{ Call, Result string }
	Attempts []struct {
		Call string
		N    int
	}
	Pending        []struct{ Call, Kind string }
	Output, Staged []struct {
		Step  int
		Chunk string
	}
	Running bool
}

// lost is how many runs ended with the death of their process.
func (b loopBooks) lost() (n int) {
	for _, r := range b.Runs {
		if r.Outcome != nil && r.Outcome.Kind == "lost" {
			n++
		}
	}
	return n
}

func (b loopBooks) ended() bool {
	return b.Session != nil && (b.Session.Status == "completed" || b.Session.Status == "failed")
}

// post sends JSON and reads JSON.
func post(t *testing.T, url string, body, into any) {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Post(url, "application/json", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("POST %s: %s", url, response.Status)
	}
	if into != nil {
		if err := json.NewDecoder(response.Body).Decode(into); err != nil {
			t.Fatal(err)
		}
	}
}

type loop struct {
	l    *lives
	name string
}

func (s loop) url(verb string) string { return s.l.server.url + "/sessions/" + s.name + "/" + verb }

func (s loop) books() (b loopBooks) {
	s.l.t.Helper()
	get(s.l.t, strings.TrimSuffix(s.url(""), "/"), &b)
	return b
}

type claim struct {
	OK             bool
	NewVersion     int
	CurrentStatus  string
	CurrentVersion int
	Error          string
}

func (s loop) do(verb string, body any) (c claim) {
	s.l.t.Helper()
	post(s.l.t, s.url(verb), body, &c)
	return c
}

func (s loop) submit(call string, result any) (taken bool) {
	s.l.t.Helper()
	post(s.l.t, s.url("submit"), map[string]any{"call": call, "result": result}, &taken)
	return taken
}

// answer does what a client does for a session that waits: takes pictures, and
// agrees.
func (s loop) answer(b loopBooks) {
	for _, p := range b.Pending {
		switch p.Kind {
		case "client":
			s.submit(p.Call, map[string]any{"value": "a picture"})
		case "approval":
			s.submit(p.Call, map[string]any{"value": true})
		}
	}
}

const errandAnswer = `"found map"; "a picture"; 5; "paid 7"; "\"found walk east\""; "\"found walk west\""`

// check holds the loop's invariants against a completed session.
func (s loop) check(answer string) {
	t := s.l.t
	t.Helper()
	b := s.books()
	if b.Session.Status != "completed" || len(b.Runs) == 0 || b.Runs[len(b.Runs)-1].Outcome == nil || b.Runs[len(b.Runs)-1].Outcome.Answer != answer {
		t.Errorf("it ended as %+v %+v", b.Session, b.Runs)
	}
	status := ""
	for i, c := range b.Transitions { // versions only grow; each change starts where the one before ended
		if c.Version != i+1 || c.From != status {
			t.Errorf("transitions %+v", b.Transitions)
		}
		status = c.To
	}
	if status != b.Session.Status || b.Session.Version != len(b.Transitions) {
		t.Errorf("%+v after %+v", b.Session, b.Transitions)
	}
	for _, r := range b.Runs {
		if r.Outcome == nil {
			t.Errorf("run %d has no end: %+v", r.N, b.Runs)
		}
	}
	if len(b.Runs) != b.Session.ResumeCount+1 || b.Running {
		t.Errorf("%d runs, %d resumes", len(b.Runs), b.Session.ResumeCount)
	}
	results := map[string]bool{}
	for _, r := range b.Results {
		results[r.Call] = true
	}
	var said, want []string
	for i, step := range b.Steps { // no step is skipped, none is said twice
		if step.N != i+1 || step.Status != "done" {
			t.Errorf("step %+v", step)
		}
		for _, c := range step.Calls {
			if !results[c.ID] && c.Tool != "__finish__" {
				t.Errorf("%s has no result", c.ID)
			}
		}
		for _, word := range strings.Fields(step.Text) {
			want = append(want, fmt.Sprint(step.N, word))
		}
	}
	for _, chunk := range b.Output {
		said = append(said, fmt.Sprint(chunk.Step, chunk.Chunk))
	}
	if !slices.Equal(said, want) || len(b.Staged) != 0 || len(b.Pending) != 0 {
		t.Errorf("put out %q, want %q; staged %v, pending %v", said, want, b.Staged, b.Pending)
	}
	for _, a := range b.Attempts { // a tool runs again only where a run was lost
		if a.N > 1+b.lost() {
			t.Errorf("%s ran %d times, %d runs were lost", a.Call, a.N, b.lost())
		}
	}
}

// Of many that resume at once, one wins; the others learn what they met. A
// version that is not the present one is refused.
func TestStepLoopClaims(t *testing.T) {
	t.Parallel()
	l := begin(t, "steploop", "STEP_MS:5")
	s := loop{l, "s"}
	s.do("execute", map[string]any{"script": "errand", "input": "walk"})
	// On a slow machine the first run may have come to where it waits.
	if c := s.do("execute", map[string]any{"script": "sums", "input": "x"}); c.OK ||
		!(c.CurrentStatus == "active" && c.CurrentVersion == 1) && !(c.CurrentStatus == "paused" && c.CurrentVersion == 2) {
		t.Errorf("a second claim: %+v", c)
	}
	var waiting loopBooks
	until(t, "it waits", func() bool { waiting = s.books(); return waiting.Session.Status == "paused" })
	if c := s.do("resume", map[string]any{"expectedVersion": 1}); c.OK || c.CurrentVersion != 2 || c.CurrentStatus != "paused" {
		t.Errorf("a stale version: %+v", c)
	}
	var wg sync.WaitGroup
	claims := make([]claim, 8)
	for i := range claims {
		wg.Go(func() { claims[i] = s.do("resume", map[string]any{"expectedVersion": 2}) })
	}
	wg.Wait()
	won := 0
	for _, c := range claims {
		if c.OK {
			won++
		} else if c.CurrentVersion < 3 {
			t.Errorf("%+v", c)
		}
	}
	if won != 1 {
		t.Errorf("%d of %d resumes won: %+v", won, len(claims), claims)
	}
	until(t, "the end", func() bool { b := s.books(); s.answer(b); return b.ended() })
	s.check(errandAnswer)
}

// How a loop stops: the model, maxSteps, stopWhen, an interrupt, a deadline, a
// refusal, a failure; and what a failed start leaves.
func TestStepLoopEnds(t *testing.T) {
	t.Parallel()
	l := begin(t, "steploop", "STEP_MS:5")
	run := func(name string, request map[string]any) loopBooks {
		s := loop{l, name}
		s.do("execute", request)
		var b loopBooks
		until(t, name, func() bool { b = s.books(); return b.Session.Status != "active" })
		return b
	}
	outcome := func(b loopBooks) string { o := b.Runs[len(b.Runs)-1].Outcome; return o.Kind + " " + o.Reason }
	for name, c := range map[string]struct {
		request map[string]any
		want    string
		steps   int
	}{
		"finish":    {map[string]any{"script": "sums", "input": "x"}, "completed finish", 3},
		"answer":    {map[string]any{"script": "answer", "input": "x"}, "completed answer", 1},
		"max steps": {map[string]any{"script": "endless", "input": "x", "maxSteps": 4}, "completed maxSteps", 4},
		"stop when": {map[string]any{"script": "endless", "input": "x", "stopWhen": "add"}, "completed stopWhen", 1},
	} {
		b := run(strings.ReplaceAll(name, " ", "-"), c.request)
		if outcome(b) != c.want || len(b.Steps) != c.steps {
			t.Errorf("%s: %s after %d steps", name, outcome(b), len(b.Steps))
		}
	}
	// A flag that was set while nobody looked ends the next run at its first step, once.
	s := loop{l, "interrupted"}
	run(s.name, map[string]any{"script": "errand", "input": "walk"})
	post(t, s.url("interrupt"), nil, nil)
	s.do("resume", nil)
	until(t, "the interrupt", func() bool { return s.books().Session.Status == "interrupted" })
	s.do("resume", nil)
	until(t, "the end", func() bool { b := s.books(); s.answer(b); return b.ended() })
	s.check(errandAnswer)
	// A client that does nothing, and one that refuses.
	s = loop{l, "late"}
	s.do("execute", map[string]any{"script": "errand", "input": "walk", "deadlineMs": 1})
	until(t, "the end", func() bool { return s.books().ended() })
	s.check(strings.NewReplacer(`"a picture"`, "call-2-1 timed out", `"paid 7"`, "call-3-1 timed out").Replace(errandAnswer))
	s = loop{l, "denied"}
	s.do("execute", map[string]any{"script": "errand", "input": "walk"})
	until(t, "the end", func() bool {
		b := s.books()
		for _, p := range b.Pending {
			if p.Kind == "approval" {
				s.submit(p.Call, map[string]any{"value": false})
			} else if p.Kind == "client" {
				s.submit(p.Call, map[string]any{"error": "no camera"})
			}
		}
		return b.ended()
	})
	s.check(strings.NewReplacer(`"a picture"`, "no camera", `"paid 7"`, "denied").Replace(errandAnswer))
	// A run that fails is tried again from where it failed.
	s = loop{l, "fragile"}
	if b := run(s.name, map[string]any{"script": "fragile", "input": "x"}); b.Session.Status != "failed" || b.Session.Error != "the model is overloaded" || len(b.Steps) != 1 {
		t.Errorf("a model that fails: %+v", b)
	}
	s.do("retry", nil)
	until(t, "the end", func() bool { b := s.books(); return b.Session.Status == "completed" })
	s.check("8; 10")
	// A start that fails gives its claim back, with the reason.
	s = loop{l, "unknown"}
	for version := 2; version <= 4; version += 2 {
		c := s.do(map[int]string{2: "execute", 4: "retry"}[version], map[string]any{"script": "nonsense", "input": "x"})
		if c.OK || c.CurrentStatus != "failed" || c.CurrentVersion != version || c.Error != "there is no script nonsense" {
			t.Errorf("a start that fails: %+v", c)
		}
	}
	if b := s.books(); len(b.Runs) != 0 || b.Session.Error != "there is no script nonsense" {
		t.Errorf("a start that fails leaves %+v", b)
	}
}
