package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

// loadMode is the first argument of this program as the generator of load. It
// is a process of its own, so that its time and memory are nobody else's.
const loadMode = "load-generator"

// maxLoad bounds a run, whatever is asked for: creating many objects may take
// long, with a few writes to the disk for each.
const maxLoad = 20 * time.Second

// load is what to generate. Each connection has one request under way.
type load struct {
	url     string
	sockets bool          // echoes on WebSockets instead of requests
	conns   int           // connections
	warm    time.Duration // not counted, at the beginning
	seconds time.Duration // counted
	hold    bool          // once each connection has echoed, say so and leave them open until the input ends
	count   int           // if not 0, so many requests instead of a time; "{n}" in url is the number of each
}

// loaded is what came of a load, as JSON between the processes.
type loaded struct {
	Requests int     `json:"requests"`
	Seconds  float64 `json:"seconds"`
	Min      float64 `json:"min_ms"`
	P50      float64 `json:"p50_ms"`
	P99      float64 `json:"p99_ms"`
	Max      float64 `json:"max_ms"`
}

func (l load) arguments() []string {
	return []string{loadMode, "-url", l.url, "-sockets=" + strconv.FormatBool(l.sockets), "-hold=" + strconv.FormatBool(l.hold), "-conns", strconv.Itoa(l.conns),
		"-warm", l.warm.String(), "-time", l.seconds.String(), "-count", strconv.Itoa(l.count)}
}

// generateMain is this program as the generator.
func generateMain(arguments []string, out io.Writer) error {
	var l load
	flags := flag.NewFlagSet(loadMode, flag.ContinueOnError)
	flags.StringVar(&l.url, "url", "", "")
	flags.BoolVar(&l.sockets, "sockets", false, "")
	flags.BoolVar(&l.hold, "hold", false, "")
	flags.IntVar(&l.conns, "conns", 1, "")
	flags.DurationVar(&l.warm, "warm", 0, "")
	flags.DurationVar(&l.seconds, "time", time.Second, "")
	flags.IntVar(&l.count, "count", 0, "")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if l.hold {
		return l.holdOpen(os.Stdin, out)
	}
	result, err := l.generate(sched.NewThreads(clock.Real{}))
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	return json.NewEncoder(out).Encode(result)
}

// generation is a load under way.
type generation struct {
	load
	clock       clock.Clock
	from, until time.Time // what is counted
	next        atomic.Int64

	mu        sync.Mutex // guards everything below
	latencies []time.Duration
	err       error
}

func (l load) generate(s *sched.Threads) (loaded, error) {
	g := &generation{load: l, clock: s.Clock()}
	g.from = s.Clock().Now().Add(l.warm)
	g.until = g.from.Add(min(l.seconds, maxLoad))
	if l.count > 0 {
		g.until = g.from.Add(maxLoad)
	}
	ctx, cancel := wait.WithLimit(context.Background(), s.Clock(), l.warm+maxLoad+5*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for range l.conns {
		all.Add(1)
		s.Go("connection", func() {
			defer all.Done()
			g.connection(ctx)
		})
	}
	all.Wait()
	seconds := min(s.Clock().Now().Sub(g.from), g.until.Sub(g.from)).Seconds()
	if g.err == nil && l.count > 0 && len(g.latencies) < l.count {
		g.err = fmt.Errorf("%d of %d requests in %v", len(g.latencies), l.count, maxLoad)
	}
	return summarize(g.latencies, seconds), g.err
}

func summarize(latencies []time.Duration, seconds float64) loaded {
	out := loaded{Requests: len(latencies), Seconds: seconds}
	if len(latencies) == 0 {
		return out
	}
	slices.Sort(latencies)
	at := func(q float64) float64 { return ms(latencies[int(q*float64(len(latencies)-1))]) }
	out.Min, out.P50, out.P99, out.Max = at(0), at(0.5), at(0.99), at(1)
	return out
}

// connection asks on one connection, one request after the other.
func (g *generation) connection(ctx context.Context) {
	ask, hangUp, err := g.dial(ctx)
	var latencies []time.Duration
	if err == nil {
		latencies, err = g.askUntilEnd(ask)
		// The measurement is over: what closing says does not matter.
		hangUp()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.latencies = append(g.latencies, latencies...)
	if g.err == nil {
		g.err = err
	}
}

func (g *generation) askUntilEnd(ask func(n int64) error) (latencies []time.Duration, err error) {
	begin := g.clock.Now()
	for begin.Before(g.until) {
		n := g.next.Add(1) - 1
		if g.count > 0 && n >= int64(g.count) {
			return latencies, nil
		}
		if err := ask(n); err != nil {
			return latencies, err
		}
		end := g.clock.Now()
		if !begin.Before(g.from) && !end.After(g.until) {
			latencies = append(latencies, end.Sub(begin))
		}
		begin = end
	}
	return latencies, nil
}

func (g *generation) dial(ctx context.Context) (ask func(n int64) error, hangUp func(), err error) {
	if g.sockets {
		return dialSocket(ctx, g.url)
	}
	target, err := url.Parse(g.url)
	if err != nil {
		return nil, nil, err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", target.Host)
	if err != nil {
		return nil, nil, err
	}
	if err := conn.SetDeadline(g.until.Add(5 * time.Second)); err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	in := bufio.NewReader(conn)
	path := strings.TrimPrefix(g.url, target.Scheme+"://"+target.Host)
	request := []byte("GET " + path + " HTTP/1.1\r\nHost: " + target.Host + "\r\n\r\n")
	numbered := strings.Contains(path, "{n}")
	return func(n int64) error {
		bytes := request
		if numbered {
			bytes = []byte(strings.ReplaceAll(string(request), "{n}", strconv.FormatInt(n, 10)))
		}
		if _, err := conn.Write(bytes); err != nil {
			return err
		}
		return readResponse(in)
	}, func() { _ = conn.Close() }, nil
}

func dialSocket(ctx context.Context, url string) (ask func(n int64) error, hangUp func(), err error) {
	conn, _, err := websocket.Dial(ctx, socketURL(url), nil)
	if err != nil {
		return nil, nil, err
	}
	message := []byte("thirty-two bytes go there & back")
	return func(int64) error {
		if err := conn.Write(ctx, websocket.MessageText, message); err != nil {
			return err
		}
		_, got, err := conn.Read(ctx)
		if err == nil && string(got) != string(message) {
			err = fmt.Errorf("echoed %q", got)
		}
		return err
	}, func() { _ = conn.CloseNow() }, nil
}

// readResponse reads one response to its end. net/http's client would use more
// of the machine than some of the servers do.
func readResponse(in *bufio.Reader) error {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(string(line), "HTTP/1.1 200") {
		return fmt.Errorf("the server answered %q", line)
	}
	length, chunked := -1, false
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			break
		}
		name, value, _ := strings.Cut(text, ":")
		switch {
		case strings.EqualFold(name, "content-length"):
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return err
			}
		case strings.EqualFold(name, "transfer-encoding"):
			chunked = true
		}
	}
	switch {
	case chunked:
		return discardChunks(in)
	case length < 0:
		return errors.New("a response without a length")
	}
	_, err = in.Discard(length)
	return err
}

func discardChunks(in *bufio.Reader) error {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseUint(strings.TrimRight(string(line), "\r\n"), 16, 31)
		if err != nil {
			return err
		}
		if _, err := in.Discard(int(size) + len("\r\n")); err != nil || size == 0 {
			return err
		}
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
