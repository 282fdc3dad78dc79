package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
)

// row is one thing to measure on each target.
type row struct {
	name   string
	unit   string
	better direction
	goal   string // what minido is meant to reach; "" if nobody said
	floor  bool   // whether the bare server can be measured too
	alone  bool   // whether only minido can be measured
	run    func(ctx context.Context, b *bench, t *target) (cell, error)
}

// direction says which of two figures is the better one.
type direction int

const (
	lower direction = iota
	higher
)

// cell is what was measured: a median or a rate, and what goes with it.
type cell struct {
	Value float64 `json:"value"`
	Min   float64 `json:"min,omitempty"` // of the repetitions; 0 where there are none
	Max   float64 `json:"max,omitempty"`
	Note  string  `json:"note,omitempty"`
	Error string  `json:"error,omitempty"` // why there is no value
}

// result is a finished row.
type result struct {
	row
	cells []cell // one for each of bench.targets' names, in their order
}

var rows = []row{
	{"hello: start to first response", "ms", lower, "≤ 100", false, false, startRow(func(b *bench) *project { return b.hello }, "/", 200, coldCache)},
	{"hello, prebuilt: start to first response", "ms", lower, "≤ 100", false, false,
		startRow(func(b *bench) *project { return b.hello.asPrebuilt() }, "/", 200, coldCache)},
	{"agents, TypeScript, cold cache: start to first response", "ms", lower, "≤ 1,000", false, false,
		startRow(func(b *bench) *project { return b.fibers }, "/", 404, coldCache)},
	{"agents, TypeScript, warm cache: start to first response", "ms", lower, "≤ 1,000", false, false,
		startRow(func(b *bench) *project { return b.fibers }, "/", 404, warmCache)},
	{"agents, prebuilt, cold cache: start to first response", "ms", lower, "≤ 600", false, false,
		startRow(func(b *bench) *project { return b.fibers.asPrebuilt() }, "/", 404, coldCache)},
	{"agents, prebuilt, warm cache: start to first response", "ms", lower, "≤ 600", false, false,
		startRow(func(b *bench) *project { return b.fibers.asPrebuilt() }, "/", 404, warmCache)},
	{"agents, TypeScript: start to an agent's first answer", "ms", lower, "", false, false,
		startRow(func(b *bench) *project { return b.fibers }, "/agents/research-agent/first/done", 200, warmCache)},
	{"agents: restart to fiber recovered, alarm overdue", "ms", lower, "", false, false, recoveryRow(overdue)},
	{"agents: SIGKILL to fiber recovered, alarm to come", "ms", lower, "", false, false, recoveryRow(atOnce)},
	{"hello: requests, 16 connections", "1/s", higher, "≥ 12,000", true, false, loadRow((*bench).helloLoad)},
	{"hello: requests, 1 connection", "1/s", higher, "", true, false, loadRow((*bench).helloAlone)},
	{"object: calls that do nothing, 16 connections", "1/s", higher, "≥ 2,700", false, false, loadRow((*bench).noopLoad)},
	{"object: calls with one durable INSERT, 16 connections", "1/s", higher, "≥ 2,900", false, false, loadRow((*bench).insertLoad)},
	{"object: hibernatable WebSocket echoes, 16 sockets", "1/s", higher, "≥ 12,500", true, false, loadRow((*bench).socketLoad)},
	{"stub.fetch() from the worker to an object and back", "µs", lower, "≤ 154", false, false, loopRow("fetch", 100)},
	{"RPC call from the worker to an object and back", "µs", lower, "≤ 110", false, false, loopRow("rpc", 100)},
	{"a new object, until its first answer", "µs", lower, "≤ 3,100", false, false, loopRow("create", 20)},
	{"in an object: SQL point select", "µs", lower, "≤ 11", false, false, loopRow("select", 2000)},
	{"in an object: SQL insert of one row", "µs", lower, "≤ 9", false, false, loopRow("insert", 2000)},
	{"in an object: await storage.get()", "µs", lower, "≤ 10", false, false, loopRow("get", 2000)},
	{"in an object: storage.kv.get()", "µs", lower, "≤ 4", false, false, loopRow("kvget", 2000)},
	{"KV: await get() of a short text", "µs", lower, "≤ 15", false, false, bindingRow("kv", 1000)},
	{"D1: await first() of a row by its key", "µs", lower, "≤ 40", false, false, bindingRow("d1", 1000)},
	{"queue: await send() of a small object, stored", "µs", lower, "≤ 60", false, false, bindingRow("queue", 100)},
	{"queue: a message of 100 that are sent at once, stored", "µs", lower, "≤ 60", false, false, bindingRow("together", 100)},
	{"new URL() and its pathname", "µs", lower, "", false, false, loopRow("url", 500)},
	{"Headers: made of 3, append, set, get, iterated", "µs", lower, "", false, false, loopRow("headers", 500)},
	{"JSON.parse of 100 KB", "µs", lower, "≤ 3 ×", false, false, loopRow("parse", 10)},
	{"JSON.stringify to 100 KB", "µs", lower, "≤ 3 ×", false, false, loopRow("stringify", 10)},
	{"TextDecoder: 1 MB", "µs", lower, "≤ 3 ×", false, false, loopRow("decode", 10)},
	{"SHA-256 of 1 MB", "µs", lower, "≤ 3 ×", false, false, loopRow("sha256", 10)},
	{"a chunk through a ReadableStream and a TransformStream", "µs", lower, "", false, false, loopRow("chunks", 1000)},
	{"chat turn of 2,000 text deltas, 1 client: CPU of a delta", "µs", lower, "≤ 1 ×", false, false, agentRow("chat", chatTurns(1))},
	{"chat turn of 2,000 text deltas, 4 clients: CPU of a delta", "µs", lower, "≤ 1 ×", false, false, agentRow("chat-4", chatTurns(4))},
	{"chat turn with a tool call and 100 words: CPU of a turn", "µs", lower, "", false, false, agentRow("tool", toolCalls)},
	{"fiber of 200 checkpoints: CPU of a checkpoint", "µs", lower, "", false, false, agentRow("fiber", fiberCheckpoints)},
	{"MCP session of 200 tool calls: CPU of a call", "µs", lower, "", false, false, agentRow("mcp", mcpSession)},
	{"hello: resident memory, idle", "MB", lower, "≤ 45", false, false, memoryRow(func(b *bench) *project { return b.hello }, "/", 200)},
	{"agents: resident memory, idle", "MB", lower, "≤ 120", false, false, memoryRow(func(b *bench) *project { return b.fibers }, "/", 404)},
	{"agents: resident memory with one agent", "MB", lower, "", false, false,
		memoryRow(func(b *bench) *project { return b.fibers }, "/agents/research-agent/first/done", 200)},
	{"memory of an open WebSocket, hibernatable, one of 500", "kB", lower, "≤ 80", false, false, socketMemoryRow("socket", 500)},
	{"memory of an open WebSocket, not hibernatable, one of 500", "kB", lower, "≤ 80", false, false, socketMemoryRow("classic", 500)},
	{"memory of a live object, one of 1,000", "kB", lower, "≤ 48", false, false, objectRow("noop", 1000, func(b *bench) *project { return b.objects })},
	{"memory of a live object with a table, one of 300", "kB", lower, "", false, false,
		objectRow("insert", 300, func(b *bench) *project { return b.objects })},
	{"memory of a live agent, one of 100", "kB", lower, "", false, false,
		objectRow("agent", 100, func(b *bench) *project { return b.fibers })},
	{"chaos: cycles of SIGKILL and recovery, real processes", "1/min", higher, "≥ 150", false, true, cycleRow},
	{"chaos: every point of fixtures/relay, simulated", "ms", lower, "≤ 10,000", false, true, campaignRow("relay")},
	{"chaos: every point of fixtures/fibers, simulated", "ms", lower, "≤ 10,000", false, true, campaignRow("fibers")},
	{"chaos: every point of fixtures/session, simulated", "ms", lower, "≤ 10,000", false, true, campaignRow("session")},
	{"chaos: every point of fixtures/forever, simulated", "ms", lower, "≤ 10,000", false, true, campaignRow("forever")},
	{"chaos: every point of fixtures/steploop, simulated", "ms", lower, "≤ 10,000", false, true, campaignRow("steploop")},
	{"chaos: every point of fixtures/chat, simulated", "ms", lower, "≤ 2,000", false, true, campaignRow("chat")},
}

// measureRows measures row by row, so that what is compared was measured
// within the same seconds.
func (b *bench) measureRows(ctx context.Context) ([]result, error) {
	var out []result
	for _, r := range rows {
		res, any := result{row: r}, false
		for _, t := range b.targets {
			c := cell{}
			switch {
			case t.name == "bare Go" && !r.floor, t.name != "minido" && r.alone, !b.selects(r.name, t.name):
			case t.missing != "":
				any = true
				c.Error = t.missing
			default:
				any = true
				fmt.Fprintf(os.Stderr, "%s: %s\n", r.name, t.name)
				var err error
				if c, err = r.run(ctx, b, t); err != nil {
					fmt.Fprintf(os.Stderr, "  %v\n", err)
					c.Error = "failed"
				}
			}
			if err := ctx.Err(); err != nil {
				return nil, errors.New("interrupted")
			}
			res.cells = append(res.cells, c)
		}
		if any {
			out = append(out, res)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("-only %s: no row has this in its name", b.only)
	}
	return out, nil
}

// spread is the median of values, with their range.
func spread(values []float64) cell {
	slices.Sort(values)
	n := len(values)
	median := (values[(n-1)/2] + values[n/2]) / 2
	return cell{Value: median, Min: values[0], Max: values[n-1], Note: fmt.Sprintf("%d runs, %.0f–%.0f", n, values[0], values[n-1])}
}
