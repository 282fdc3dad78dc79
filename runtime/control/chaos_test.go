package control

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"minido.dev/minido/durableobject/pool"
)

// campaigns is a Harness that notes what it is asked.
type campaigns struct {
	started []CampaignRequest
	stopped int
	after   int
	refuse  error
}

func (c *campaigns) Chaos(after int) (Chaos, error) {
	c.after = after
	return Chaos{Scenarios: []string{"a.chaos.ts"}, Faults: []string{"kill"}, Campaign: &Campaign{Number: len(c.started)}}, c.refuse
}

func (c *campaigns) Start(r CampaignRequest) error {
	if c.refuse == nil {
		c.started = append(c.started, r)
	}
	return c.refuse
}
func (c *campaigns) Stop() { c.stopped++ }
func (c *campaigns) Walk(_ context.Context, r WalkRequest) (Walk, error) {
	return Walk{Moments: []WalkMoment{{Events: []string{r.SQL}}}}, c.refuse
}
func (c *campaigns) Close(context.Context) error { return nil }

func (c *campaigns) Case(n int) (CaseDetail, error) {
	if n != 1 {
		return CaseDetail{}, &InputError{"there is no such case"}
	}
	return CaseDetail{Replay: "minido chaos replay", Timeline: []CaseMoment{{AtUs: 5, Lane: "client"}}}, nil
}

// Campaigns are started, watched and stopped through the API, with its guards; errors of
// the harness have their statuses.
func TestChaosEndpoints(t *testing.T) {
	h := &campaigns{}
	c, _, client := startWith(t, h)
	status := func(method, path, body, token string) int {
		t.Helper()
		req, err := http.NewRequest(method, c.URL()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode
	}
	for _, path := range []string{"/v1/chaos/start", "/v1/chaos/stop", "/v1/chaos/walk"} {
		if got := status("POST", path, `{}`, "wrong"); got != 401 {
			t.Errorf("%s without the token: status %d", path, got)
		}
	}
	if len(h.started) != 0 || h.stopped != 0 {
		t.Errorf("refused requests have reached the harness: %+v", h)
	}
	var state Chaos
	if err := client.Post(context.Background(), "/v1/chaos/start", CampaignRequest{Verb: "enumerate", Scenario: "a.chaos.ts", Max: 3}, &state); err != nil {
		t.Fatal(err)
	}
	if len(h.started) != 1 || h.started[0].Max != 3 || h.started[0].Scenario != "a.chaos.ts" || state.Campaign.Number != 1 {
		t.Errorf("%+v, %+v", h.started, state)
	}
	if err := client.Get(context.Background(), "/v1/chaos?after=7", &state); err != nil || h.after != 7 {
		t.Errorf("%v, after %d", err, h.after)
	}
	var detail CaseDetail
	if err := client.Get(context.Background(), "/v1/chaos/case?n=1", &detail); err != nil || len(detail.Timeline) != 1 {
		t.Errorf("%v, %+v", err, detail)
	}
	var walk Walk
	if err := client.Post(context.Background(), "/v1/chaos/walk", WalkRequest{Case: 1, SQL: "Room/a SELECT 1"}, &walk); err != nil || walk.Moments[0].Events[0] != "Room/a SELECT 1" {
		t.Errorf("%v, %+v", err, walk)
	}
	if got := status("POST", "/v1/chaos/stop", `{}`, c.Token()); got != 200 || h.stopped != 1 {
		t.Errorf("stop: status %d, %d times", got, h.stopped)
	}
	for path, want := range map[string]int{"/v1/chaos/case?n=2": 400, "/v1/chaos/case?n=x": 400, "/v1/chaos?after=-1": 400} {
		if got := status("GET", path, "", c.Token()); got != want {
			t.Errorf("%s: status %d, want %d", path, got, want)
		}
	}
	for _, refused := range []struct {
		err  error
		want int
	}{{&pool.RefusedError{Reason: "one runs"}, 409}, {&InputError{"no"}, 400}, {errors.New("broken"), 409}} {
		h.refuse = refused.err
		if got := status("POST", "/v1/chaos/start", `{"verb":"run"}`, c.Token()); got != refused.want {
			t.Errorf("%v: status %d", refused.err, got)
		}
	}
	if got := status("POST", "/v1/chaos/start", `{"flag":"run"}`, c.Token()); got != 400 {
		t.Errorf("a member that is not known: status %d", got)
	}
}

// A server without a harness says so.
func TestNoChaos(t *testing.T) {
	_, _, client := start(t)
	err := client.Post(context.Background(), "/v1/chaos/start", CampaignRequest{Verb: "run"}, &Chaos{})
	if err == nil || !strings.Contains(err.Error(), "runs no chaos campaigns") {
		t.Errorf("%v", err)
	}
}
