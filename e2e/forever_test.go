package e2e

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"minido.dev/minido/chaos/agentrpc"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

type foreverFiber struct {
	Status, Error          string
	RetryCount, MaxRetries int
	Result                 any
}

func field(name string, rows int) map[string]any { return map[string]any{"name": name, "rows": rows} }

// Fibers that nothing interrupts: completed, retried, failed after their
// retries, cancelled.
func TestForeverFibersWithoutDeath(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"forever", "forever-0.5"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := begin(t, name, "STEP_MS:50").dial("harvest-agent/h1")
			ids := map[string]string{}
			spawn := func(as, method string, payload any, more ...any) {
				var id string
				call(t, c, &id, "spawn", append([]any{method, payload}, more...)...)
				ids[as] = id
			}
			spawn("whole", "harvest", field("wheat", 3))
			spawn("retried", "stumble", map[string]any{"times": 2})
			spawn("failed", "stumble", map[string]any{"times": 9}, 1)
			spawn("cancelled", "harvest", field("rye", 1000))
			var cancelled bool
			call(t, c, &cancelled, "cancel", ids["cancelled"])
			if err := tryCall(c, nil, "spawn", "nothing"); err == nil || !strings.Contains(err.Error(), "is not a function") {
				t.Errorf("a method that does not exist: %v", err)
			}
			for as, want := range map[string]foreverFiber{
				"whole":     {Status: "completed", MaxRetries: 3},
				"retried":   {Status: "completed", MaxRetries: 3, RetryCount: 2},
				"failed":    {Status: "failed", MaxRetries: 1, RetryCount: 2, Error: "stumbled 2 times"},
				"cancelled": {Status: "cancelled", MaxRetries: 3},
			} {
				f := untilCall(t, c, "look", func(f foreverFiber) bool { return f.Status != "running" }, ids[as])
				if f.Result = nil; f != want || !cancelled {
					t.Errorf("%s: %+v, want %+v", as, f, want)
				}
			}
		})
	}
}

// Fibers that are cut go on from their last checkpoint, oldest first, each
// completed once; one more death than maxRetries allows ends one as failed. In
// the first generation the heartbeat's row finds them, with nobody asking; in
// the later one the test asks, since its heartbeat is 30 s.
func TestForeverFibersKilled(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"forever", "forever-0.5"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &subject{stageSet: beginTool(name)(t, dev), name: "h1"}
			c := o.dial("harvest-agent/h1")
			spawn := func(field map[string]any, more ...any) (id string) {
				o.at(field["name"].(string)+"/4", func() { call(t, c, &id, "spawn", append([]any{"harvest", field}, more...)...) })
				return id
			}
			wheat, rye, fallow, doomed := spawn(field("wheat", 30)), spawn(field("rye", 28)), spawn(field("fallow", 1000)), spawn(field("doomed", 1000), 0)
			var before []string
			call(t, c, &before, "log")
			o.crash()

			c = o.dial("harvest-agent/h1")
			if name == "forever" {
				call(t, c, nil, "check")
			}
			log := untilCall(t, c, "log", func(log []string) bool {
				return count(log, `complete harvest {"harvested":30}`) == 1 && count(log, `complete harvest {"harvested":28}`) == 1
			})
			if !slices.Equal(log[:len(before)], before) || !slices.Contains(log, "interrupted wheat, rye, fallow") {
				t.Errorf("log %q", log)
			}
			for _, f := range []struct {
				id, name string
				rows     int
			}{{wheat, "wheat", 30}, {rye, "rye", 28}} {
				var state foreverFiber
				call(t, c, &state, "look", f.id)
				if state.Status != "completed" || state.RetryCount != 1 {
					t.Errorf("%s: %+v", f.name, state)
				}
				checkRows(t, log, f.name, f.rows)
			}
			var left, failed foreverFiber
			call(t, c, &left, "look", fallow)
			call(t, c, &failed, "look", doomed)
			if left.Status != "interrupted" || failed.Status != "failed" || !strings.Contains(failed.Error, "max retries exceeded") {
				t.Errorf("not restarted: %+v; without retries: %+v", left, failed)
			}
			untilCall(t, c, "planned", func(planned []string) bool { return len(planned) == 0 })
		})
	}
}

// checkRows checks that a field's rows were harvested in order, each once.
func checkRows(t *testing.T, log []string, name string, rows int) {
	t.Helper()
	var got []string
	for _, line := range log {
		if row, ok := strings.CutPrefix(line, name+" row "); ok {
			got = append(got, row)
		}
	}
	for i, row := range got {
		if row != strconv.Itoa(i+1) {
			t.Fatalf("%s: row %d is %s", name, i+1, row)
		}
	}
	if len(got) != rows {
		t.Errorf("%s: %d rows, want %d", name, len(got), rows)
	}
}

// A chat stream is whole for a client that stays and for one that joins; cut,
// what was stored of it is kept, and nothing of it is wrong.
func TestForeverChat(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"forever", "forever-0.5"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := begin(t, name, "STEP_MS:200")
			c := chatting{lives: l}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()

			stays, joins := l.dial("story-chat/s1"), l.dial("story-chat/s1")
			threads := sched.NewThreads(clock.Real{})
			threads.Go("chat", func() {
				if answer, err := stays.Chat(ctx, "a story"); err != nil || answer.Text != words(0, chatWords) {
					t.Errorf("the client that stays: %q, %v", answer.Text, err)
				}
			})
			until(t, "the story has begun", func() bool { return c.saw(stays, `\"w3 \"`) })
			if answer, err := joins.Resume(ctx); err != nil || !answer.Done || answer.Text != words(0, chatWords) {
				t.Errorf("the client that joins: %q, %v", answer.Text, err)
			}
			if err := threads.Close(ctx); err != nil {
				t.Fatal(err)
			}

			cut := c.say("story-chat/s2", "a story", nil)
			until(t, "the story is under way", func() bool { return c.saw(cut, `\"w25 \"`) })
			l.crash()
			checkCutStory(t, c, "story-chat/s2", name == "forever")
		})
	}
}

// checkCutStory checks what a client that comes back is told of a stream that a
// death has cut. The later generation ends it and keeps the part as a message;
// the first one replays the part, and neither ends the stream nor keeps it.
func checkCutStory(t *testing.T, c chatting, agent string, ended bool) {
	t.Helper()
	client := c.dial(agent)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	threads := sched.NewThreads(clock.Real{})
	resumed := make(chan agentrpc.Answer, 1)
	threads.Go("resume", func() {
		answer, err := client.Resume(ctx)
		if (err == nil) != ended {
			t.Errorf("resume: %v", err)
		}
		resumed <- answer
	})
	if !ended {
		until(t, "the stored part is replayed", func() bool { return c.saw(client, `\"w8 \"`) })
		cancel()
	}
	answer := <-resumed
	if err := threads.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(words(0, chatWords), answer.Text) || len(answer.Text) < len(words(0, 9)) || answer.Done != ended {
		t.Errorf("resumed with %q, done %v", answer.Text, answer.Done)
	}
	var messages []chatMessage
	call(t, client, &messages, "conversation")
	if want := map[bool]string{true: answer.Text, false: ""}[ended]; answered(messages) != want {
		t.Errorf("%s; stored %q, want %q", roles(messages), answered(messages), want)
	}
}
