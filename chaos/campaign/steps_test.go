package campaign

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// A death between two steps of the clients cuts no answer: what was acknowledged and was in
// memory alone is missed then, and what was not synced after a loss of power. At no other point of
// these workers does a death show it.
func TestDeathsBetweenSteps(t *testing.T) {
	batch := func(keep string) string {
		return `early = [];
			async fetch(request) {
			  this.early.push(new URL(request.url).pathname);
			  ` + keep + `
			  if (this.early.length >= 2) await this.ctx.storage.put("batch", this.early);
			  return new Response("taken");
			}`
	}
	for _, c := range []struct {
		name, source string
		want         []string
	}{
		{"in memory", batch(""), []string{"kill@step#2", "power@step#2"}},
		{"stored", batch(`await this.ctx.storage.put("early", this.early = [...new Set([...(await this.ctx.storage.get("early") ?? []), ...this.early])]);`), nil},
		{"unconfirmed", `async fetch(request) {
			  await this.ctx.storage.put(new URL(request.url).pathname, 1, { allowUnconfirmed: true });
			  return new Response("stored");
			}`, []string{"power@step#2"}},
	} {
		o := toldOptions(t, c.source, "POST /a", "POST /b")
		o.OnePace = true
		r, err := Enumerate(context.Background(), o, 1)
		if err != nil {
			t.Fatal(err)
		}
		var failed []string
		for _, f := range r.Failed() {
			failed = append(failed, f.Name)
		}
		if !slices.Equal(failed, c.want) {
			t.Errorf("%s: %v fail, want %v", c.name, failed, c.want)
		}
		if r.Visited != r.Points {
			t.Errorf("%s: visited %d of %d points", c.name, r.Visited, r.Points)
		}
	}
}

// Clients that wait visit no deaths between steps, and power is lost only behind a step
// that has written something: any other would find what these do.
func TestDeathsBetweenStepsAreFew(t *testing.T) {
	o := toldOptions(t, `async fetch(request) {
			  if (request.method === "POST") await this.ctx.storage.put("n", 1);
			  return new Response(String(await this.ctx.storage.get("n")));
			}`, "POST /a", "GET /b", "GET /c", "POST /d", "GET /e")
	r, err := Enumerate(context.Background(), o, 1)
	if err != nil {
		t.Fatal(err)
	}
	var between []string
	paced := 0
	for _, c := range r.Cases {
		if c.Pace != "" {
			paced++
		}
		if strings.Contains(c.Name, "@step#") {
			between = append(between, c.Title())
		}
	}
	want := []string{"kill@step#2", "kill@step#3", "kill@step#4", "kill@step#5", "power@step#2", "power@step#5"}
	if !slices.Equal(between, want) || paced == 0 {
		t.Errorf("%v and %d of clients that wait, want %v", between, paced, want)
	}
}
