package campaign

import (
	"context"
	"slices"
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
