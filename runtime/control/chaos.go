package control

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
)

// Harness runs chaos campaigns on the server's project, one at a time, each on state of
// its own and never on that of the running server. Safe for concurrent use.
type Harness interface {
	// Chaos says what can be started, and how the last campaign does. Of its cases those
	// with a number above after are listed.
	Chaos(after int) (Chaos, error)
	// Start starts a campaign and returns at once.
	//
	// Errors: *InputError for a request that makes no sense, *pool.RefusedError while
	// another campaign runs or where none can.
	Start(CampaignRequest) error
	// Stop asks the campaign to end, and does not wait for it. Without one it does nothing.
	Stop()
	// Case is a case of the last campaign with its timeline.
	//
	// Errors: *InputError if there is none of that number.
	Case(n int) (CaseDetail, error)
	// Walk replays a case of the last campaign in a simulation and looks at it at each
	// event.
	//
	// Errors: *InputError if there is none of that number, *pool.RefusedError while another
	// walk is in progress, and for a case that no simulation can replay.
	Walk(context.Context, WalkRequest) (Walk, error)
	// Close ends the campaign with all of its processes, and waits for that.
	Close(context.Context) error
}

// Chaos is GET /v1/chaos.
type Chaos struct {
	// Unavailable says why no campaign can be started here.
	Unavailable string `json:"unavailable,omitempty"`
	// Scenarios are the project's *.chaos.ts, relative to its directory.
	Scenarios []string `json:"scenarios"`
	// Faults are what enumerate can do at each point.
	Faults []string `json:"faults"`
	// Campaign is the one that runs or ran last.
	Campaign *Campaign `json:"campaign"`
}

// CampaignRequest is the body of POST /v1/chaos/start. What is absent or 0 is as in
// `minido chaos`.
type CampaignRequest struct {
	Verb     string `json:"verb"`               // enumerate, random, run, replay or shrink
	Scenario string `json:"scenario,omitempty"` // one of Chaos.Scenarios
	// What clients do where no scenario says it, in the notation of the flags.
	Call  []string `json:"call,omitempty"`
	Chat  []string `json:"chat,omitempty"`
	Fetch []string `json:"fetch,omitempty"`
	// Effects is the variable that is set to the URL of a sink of effects; MockAI starts a
	// scripted model.
	Effects string `json:"effects,omitempty"`
	MockAI  bool   `json:"mock_ai,omitempty"`

	Mode      string `json:"mode,omitempty"`      // process or sim
	Fault     string `json:"fault,omitempty"`     // enumerate: what happens at each point
	Plan      string `json:"plan,omitempty"`      // replay, shrink
	KillAt    string `json:"kill_at,omitempty"`   // run: the effect point of the kill
	Pace      string `json:"pace,omitempty"`      // how long clients wait before each step
	Seed      uint64 `json:"seed,omitempty"`      // random, and the order of events in a simulation
	Depth     int    `json:"depth,omitempty"`     // enumerate: 2 kills the recoveries, too
	Schedules int    `json:"schedules,omitempty"` // enumerate: orders of messages, in a simulation
	Max       int    `json:"max,omitempty"`       // enumerate: at most so many points
	Runs      int    `json:"runs,omitempty"`      // random, replay
	Jobs      int    `json:"jobs,omitempty"`      // how many runs at a time
}

// Campaign is one that runs, or has ended.
type Campaign struct {
	Number  int             `json:"number"` // counts from 1 since the server started
	Request CampaignRequest `json:"request"`
	Command string          `json:"command"` // does the same in a terminal, in the project's directory
	// State is running, stopping, passed, failed (something was found), missed (nothing was
	// found, but a fault or a mark was missed), stopped, or broken (it could not be run, and
	// Error says why).
	State string `json:"state"`
	Phase string `json:"phase"` // what goes on
	// Done is how many cases have ended, Planned how many there are to run as far as is
	// known, Failed with how many something is wrong, Kills how many servers were killed.
	Done    int `json:"done"`
	Planned int `json:"planned"`
	Failed  int `json:"failed"`
	Kills   int `json:"kills"`
	// Cases are those with which something is wrong; of run and replay all. Unlisted is
	// how many more there are, in report.json alone.
	Cases    []CampaignCase `json:"cases"`
	Unlisted int            `json:"unlisted"`
	// Notes are what a reader should know of a campaign that has ended.
	Notes     []string `json:"notes"`
	StartedMs int64    `json:"started_ms"`
	EndedMs   int64    `json:"ended_ms,omitempty"`
	Code      int      `json:"code"` // the exit code
	Error     string   `json:"error,omitempty"`
	Dir       string   `json:"dir,omitempty"` // its evidence
}

// CampaignCase is a case of a campaign.
type CampaignCase struct {
	Number  int    `json:"number"` // counts from 1
	Outcome string `json:"outcome"`
	Plan    string `json:"plan"`
	Pace    string `json:"pace,omitempty"`
	Seed    uint64 `json:"seed,omitempty"` // of the order of events, in a simulation
	Cause   string `json:"cause"`          // what is wrong, so that the symptoms of one bug have the same
}

// CaseDetail is GET /v1/chaos/case.
type CaseDetail struct {
	Case       CampaignCase `json:"case"`
	Text       string       `json:"text,omitempty"`
	Violations []string     `json:"violations"`
	Kills      []string     `json:"kills"`             // the points of its deaths
	Replay     string       `json:"replay"`            // the command that runs it again
	Confirm    string       `json:"confirm,omitempty"` // runs a simulated one with real processes
	SameAs     string       `json:"same_as,omitempty"` // the plan that was run in its place
	Dir        string       `json:"dir,omitempty"`     // its evidence
	// Log is the end of what its servers wrote, up to 32 KB.
	Log string `json:"log,omitempty"`
	// Timeline is what happened; LeftOut is how many moments in its middle are not listed.
	Timeline []CaseMoment `json:"timeline"`
	LeftOut  int          `json:"left_out"`
}

// Moment is a line of a timeline.
type CaseMoment struct {
	AtUs   int64  `json:"at_us"` // since the case began
	Lane   string `json:"lane"`  // client, an object, effects, model; "" is across all
	Text   string `json:"text"`
	Times  int    `json:"times"`  // how often, one after another
	Border bool   `json:"border"` // a death, or the start of the next life
}

// WalkRequest is the body of POST /v1/chaos/walk.
type WalkRequest struct {
	Case int `json:"case"` // its number
	// SQL is asked of an object at each event: "Class/name SELECT ...".
	SQL string `json:"sql,omitempty"`
}

// Walk is its answer: the moments of a replay between which something happens.
type Walk struct {
	Moments []WalkMoment `json:"moments"`
	// Truncated says that it went on: the first 1,000 moments and 4 MB are listed.
	Truncated bool `json:"truncated"`
}

// WalkMoment is how a system is behind some events, as lines of text.
type WalkMoment struct {
	Events  []string `json:"events"`
	Objects []string `json:"objects"` // what they do
	Timers  []string `json:"timers"`  // and alarms
	Waiting []string `json:"waiting"` // who waits for what
	Rows    []string `json:"rows"`    // of the SQL
}

func (c *Control) walkChaos(w http.ResponseWriter, r *http.Request) {
	var req WalkRequest
	if !read(w, r, &req) {
		return
	}
	h := c.harness(w)
	if h == nil {
		return
	}
	walk, err := h.Walk(r.Context(), req)
	if err != nil {
		failWith(w, err)
		return
	}
	reply(w, http.StatusOK, walk)
}

// harness is what runs campaigns; nil, and an answer, where nothing does.
func (c *Control) harness(w http.ResponseWriter) Harness {
	if c.opts.Harness == nil {
		fail(w, http.StatusNotFound, "not_found", "this server runs no chaos campaigns")
	}
	return c.opts.Harness
}

// number is a parameter of the query that counts, 0 if it is absent.
func number(w http.ResponseWriter, r *http.Request, name string) (n int, ok bool) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, true
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		fail(w, http.StatusBadRequest, "bad_request", fmt.Sprintf("%s: %q is no number from 0 on", name, text))
		return 0, false
	}
	return n, true
}

func (c *Control) chaos(w http.ResponseWriter, r *http.Request) {
	if after, ok := number(w, r, "after"); ok {
		if h := c.harness(w); h != nil {
			replyChaos(w, h, after)
		}
	}
}

// replyChaos answers with the state of campaigns.
func replyChaos(w http.ResponseWriter, h Harness, after int) {
	state, err := h.Chaos(after)
	if err != nil {
		failWith(w, err)
		return
	}
	reply(w, http.StatusOK, state)
}

func (c *Control) startChaos(w http.ResponseWriter, r *http.Request) {
	var req CampaignRequest
	if !read(w, r, &req) {
		return
	}
	h := c.harness(w)
	if h == nil {
		return
	}
	if err := h.Start(req); err != nil {
		failWith(w, err)
		return
	}
	replyChaos(w, h, 0)
}

func (c *Control) stopChaos(w http.ResponseWriter, r *http.Request) {
	if !read(w, r, &struct{}{}) {
		return
	}
	if h := c.harness(w); h != nil {
		h.Stop()
		replyChaos(w, h, 0)
	}
}

func (c *Control) chaosCase(w http.ResponseWriter, r *http.Request) {
	n, ok := number(w, r, "n")
	if !ok {
		return
	}
	h := c.harness(w)
	if h == nil {
		return
	}
	detail, err := h.Case(n)
	if err != nil {
		failWith(w, err)
		return
	}
	reply(w, http.StatusOK, detail)
}
