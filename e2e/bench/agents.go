package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"minido.dev/minido/chaos/agentrpc"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/upstream"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/sched"
)

// chatWords is how many text deltas a turn has, toolWords how many follow a
// tool's result.
const (
	chatWords   = 2000
	toolWords   = 100
	toolTurns   = 10
	checkpoints = 200
	fibers      = 5 // one after the other
	mcpCalls    = 200
	agentLimit  = 60 * time.Second // of one measurement
	agentRuns   = 3                // measurements of a row, on one server
)

// startProvider starts a model that says as many words as the user asked for
// ("say 20 words"), as fast as it is read. It runs in this process, so that its
// time counts for no server.
func startProvider(s sched.Scheduler) (*upstream.Server, error) {
	return upstream.Start(upstream.Options{Scheduler: s, Script: func(c upstream.Conversation) upstream.Reply {
		words := 1
		for _, t := range c.Turns {
			if _, err := fmt.Sscanf(t.Text, "say %d words", &words); t.Role == "user" && err != nil {
				words = 1
			}
		}
		return upstream.Words(words)(c)
	}})
}

// agentWork is one measurement: it gives how many operations there were.
type agentWork func(ctx context.Context, b *bench, url string, run int) (operations int, note string, err error)

// agentRow measures the CPU time that the server spends for each operation of
// work, which depends less than the time on what else the machine does. The
// first run is not counted. Profiles, if they are asked for, go into a directory of that
// name.
func agentRow(name string, work agentWork) func(context.Context, *bench, *target) (cell, error) {
	return func(ctx context.Context, b *bench, t *target) (c cell, err error) {
		if b.agents == nil {
			return cell{}, errors.New("the npm packages of e2e/bench/workers/agents are not installed: run make bench")
		}
		s, _, err := b.startAndAsk(ctx, t, b.fresh(b.agents), "/", 404)
		if err != nil {
			return cell{}, err
		}
		defer func() { err = errors.Join(err, s.close()) }()
		ctx, cancel := wait.WithLimit(ctx, b.clock, agentLimit*(agentRuns+1))
		defer cancel()
		var costs, walls []float64
		var note string
		for run := range agentRuns + 1 {
			if run == 1 {
				if err := s.startProfiles(ctx); err != nil {
					return cell{}, err
				}
			}
			before, err := groupUsage(s.child.Pid())
			if err != nil {
				return cell{}, err
			}
			begin := b.clock.Now()
			operations, told, err := work(ctx, b, s.url, run)
			if err != nil {
				return cell{}, fmt.Errorf("%w; the server wrote:\n%s", err, s.child.Output())
			}
			took := b.clock.Now().Sub(begin)
			after, err := groupUsage(s.child.Pid())
			if err != nil {
				return cell{}, err
			}
			if run > 0 {
				costs = append(costs, float64((after.cpu-before.cpu).Microseconds())/float64(operations))
				walls = append(walls, ms(took))
			}
			note = told
			if run == agentRuns {
				note += fmt.Sprintf("; RSS %.0f MB, peak %.0f", megabytes(after.rss), megabytes(after.peak))
			}
		}
		if err := b.takeProfiles(ctx, s, name); err != nil {
			return cell{}, err
		}
		c = spread(costs)
		c.Note = fmt.Sprintf("wall %.0f ms; %s", spread(walls).Value, strings.TrimPrefix(note, "; "))
		return c, nil
	}
}

// chatTurns is so many clients at once, each with an agent of its own and one
// turn of chatWords text deltas.
func chatTurns(clients int) agentWork {
	return func(ctx context.Context, b *bench, url string, run int) (int, string, error) {
		frames, err := b.converse(ctx, url, clients, run, []string{fmt.Sprintf("say %d words", chatWords)}, chatWords)
		return clients * chatWords, fmt.Sprintf("%d frames", frames), err
	}
}

// toolCalls is one client with toolTurns turns; in each the model calls a tool
// and then says toolWords words.
func toolCalls(ctx context.Context, b *bench, url string, run int) (int, string, error) {
	ask := fmt.Sprintf("say %d words\nuse add {\"a\": 2, \"b\": 3}", toolWords)
	turns := make([]string, toolTurns)
	for i := range turns {
		turns[i] = ask
	}
	frames, err := b.converse(ctx, url, 1, run, turns, toolWords)
	return toolTurns, fmt.Sprintf("%d frames", frames), err
}

// converse runs conversations side by side; each answer must have so many words.
func (b *bench) converse(ctx context.Context, url string, clients, run int, turns []string, words int) (frames int, err error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for n := range clients {
		all.Add(1)
		b.sched.Go("chat", func() {
			defer all.Done()
			got, one := b.conversation(ctx, url, fmt.Sprintf("chat-%d-%d", run, n), turns, words)
			mu.Lock()
			defer mu.Unlock()
			frames, err = frames+got, errors.Join(err, one)
		})
	}
	all.Wait()
	return frames, err
}

func (b *bench) conversation(ctx context.Context, url, name string, turns []string, words int) (frames int, err error) {
	client, err := agentrpc.Dial(ctx, agentrpc.Options{URL: url, Agent: "bench-chat", Name: name, Who: name,
		History: history.NewRecorder(b.clock, nil), Scheduler: b.sched, Dial: agentrpc.DialTCP})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	for _, turn := range turns {
		answer, err := client.Chat(ctx, turn)
		if err != nil {
			return frames, err
		}
		frames += len(answer.Chunks)
		if got := len(strings.Fields(answer.Text)); got != words {
			return frames, fmt.Errorf("the answer has %d words, not %d: %.200s", got, words, answer.Text)
		}
	}
	return frames, nil
}

// fiberCheckpoints is an agent's fibers with checkpoints stashes each.
func fiberCheckpoints(ctx context.Context, b *bench, url string, run int) (int, string, error) {
	name := fmt.Sprintf("fiber-%d", run)
	client, err := agentrpc.Dial(ctx, agentrpc.Options{URL: url, Agent: "bench-fiber", Name: name, Who: name,
		History: history.NewRecorder(b.clock, nil), Scheduler: b.sched, Dial: agentrpc.DialTCP})
	if err != nil {
		return 0, "", err
	}
	defer client.Close()
	for range fibers {
		result, err := client.Call(ctx, "checkpoints", json.RawMessage(fmt.Sprintf("[%d]", checkpoints)))
		if err != nil {
			return 0, "", err
		}
		if string(result) != strconv.Itoa(checkpoints) {
			return 0, "", fmt.Errorf("checkpoints(%d) answered %s", checkpoints, result)
		}
	}
	return fibers * checkpoints, "", nil
}

// mcpSession is mcpCalls calls of a tool over the Model Context Protocol's
// streamable HTTP, each a request.
func mcpSession(ctx context.Context, b *bench, url string, _ int) (int, string, error) {
	for n := range mcpCalls {
		call := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"add","arguments":{"a":%d,"b":1}}}`, n, n)
		body, err := postMCP(ctx, url+"/mcp", call)
		if err != nil {
			return 0, "", err
		}
		if want := fmt.Sprintf(`"text":"%d"`, n+1); !strings.Contains(body, want) {
			return 0, "", fmt.Errorf("the tool answered %.300s, which lacks %s", body, want)
		}
	}
	return mcpCalls, "", nil
}

var mcpClient = &http.Client{}

func postMCP(ctx context.Context, url, call string) (body string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader([]byte(call)))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("MCP-Protocol-Version", "2025-06-18")
	resp, err := mcpClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %.300s", resp.StatusCode, data)
	}
	return string(data), err
}
