package main

import (
	"context"
	"errors"
	"fmt"
)

// loopRow measures what one operation costs that the worker repeats within one
// request: the request's time, seen by the generator, by the operations in it.
func loopRow(what string, times int) func(context.Context, *bench, *target) (cell, error) {
	return loopRowOf(func(b *bench) *project { return b.objects }, what, times)
}

// bindingRow is loopRow for an operation of a binding, which workerd alone does not
// have: miniflare brings them.
func bindingRow(what string, times int) func(context.Context, *bench, *target) (cell, error) {
	run := loopRowOf(func(b *bench) *project { return b.bindings }, what, times)
	return func(ctx context.Context, b *bench, t *target) (cell, error) {
		if t.name == "workerd" {
			return cell{Error: "not without miniflare"}, nil
		}
		return run(ctx, b, t)
	}
}

func loopRowOf(of func(*bench) *project, what string, times int) func(context.Context, *bench, *target) (cell, error) {
	return func(ctx context.Context, b *bench, t *target) (c cell, err error) {
		s, _, err := b.startAndAsk(ctx, t, b.fresh(of(b)), "/", 404)
		if err != nil {
			return cell{}, err
		}
		defer func() { err = errors.Join(err, s.close()) }()
		before, beforeErr := groupUsage(s.child.Pid())
		l := load{url: fmt.Sprintf("%s/loop/%s/%d/{n}", s.url, what, times), conns: 1, warm: warmUp, seconds: b.duration()}
		got, _, err := b.generate(ctx, l)
		if err != nil {
			return cell{}, fmt.Errorf("%w; the server wrote:\n%s", err, s.child.Output())
		}
		perOperation := 1000 / float64(times)
		c = cell{Value: got.P50 * perOperation}
		c.Note = fmt.Sprintf("%d × %d, best %.1f p99 %.1f", got.Requests, times, got.Min*perOperation, got.P99*perOperation)
		if after, err := groupUsage(s.child.Pid()); err == nil && beforeErr == nil {
			cores := (after.cpu - before.cpu).Seconds() / (b.duration() + warmUp).Seconds()
			c.Note += fmt.Sprintf("; %.1f µs of CPU", cores*got.Seconds/float64(got.Requests*times)*1e6)
		}
		return c, nil
	}
}

// socketMemoryRow measures by how much memory grows for each of many WebSockets
// to one object that are open at once and have echoed once.
func socketMemoryRow(verb string, count int) func(context.Context, *bench, *target) (cell, error) {
	return func(ctx context.Context, b *bench, t *target) (c cell, err error) {
		s, _, err := b.startAndAsk(ctx, t, b.fresh(b.objects), "/", 404)
		if err != nil {
			return cell{}, err
		}
		defer func() { err = errors.Join(err, s.close()) }()
		url := s.url + "/" + verb + "/one"
		// One socket beforehand: what the first one loads is not a socket's.
		if _, _, err := b.generate(ctx, load{url: url, sockets: true, conns: 1, count: 1}); err != nil {
			return cell{}, err
		}
		before, err := b.settled(ctx, s)
		if err != nil {
			return cell{}, err
		}
		var after usage
		var settledErr error
		err = b.holdSockets(ctx, url, count, func() { after, settledErr = b.settled(ctx, s) })
		if err := errors.Join(err, settledErr); err != nil {
			return cell{}, err
		}
		return cell{Value: float64(after.rss-before.rss) / 1024 / float64(count)}, nil
	}
}
