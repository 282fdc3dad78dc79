package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/scenario"
	"minido.dev/minido/chaos/upstream"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/config"
	runtime "minido.dev/minido/runtime/server"
	"minido.dev/minido/sqlstore"
)

// streamWorker answers with as many chunks as it is asked for.
const streamWorker = `export default { fetch(request) {
  let left = Number(new URL(request.url).searchParams.get("chunks"));
  return new Response(new ReadableStream({ async pull(c) {
    if (left-- === 0) return c.close();
    await scheduler.wait(1);
    c.enqueue(new TextEncoder().encode("chunk\n"));
  } }));
} };`

// What became durable or visible, as others see it, is as much as the effect
// points say: commits by SQLite's logs, frames, chunks and answers by the bytes
// that came to the clients, requests by the server that got them. No log grows but
// within an effect that has a point.
func TestPointsAgreeWithTheOutside(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fixture string
		steps   []string
		want    []killpoint.Kind // of which there must be some
	}{
		{"stream", []string{"GET /?chunks=7", "GET /?chunks=0", "GET /?chunks=1"}, []killpoint.Kind{killpoint.Response, killpoint.Chunk}},
		{"counter", []string{"POST /c/add?by=1", "POST /c/add?by=2", "POST /c/wake?ms=20", "GET /c"}, []killpoint.Kind{killpoint.Response, killpoint.Commit}},
		{"fibers", nil, []killpoint.Kind{killpoint.Commit, killpoint.Frame}},
		{"chat", nil, []killpoint.Kind{killpoint.Commit, killpoint.Frame, killpoint.Fetch}},
		{"relay", nil, []killpoint.Kind{killpoint.Commit, killpoint.Frame, killpoint.Response}},
	} {
		t.Run(c.fixture, func(t *testing.T) {
			t.Parallel()
			project := filepath.Join("..", "fixtures", c.fixture)
			if c.fixture == "stream" {
				project = t.TempDir()
				writeText(t, filepath.Join(project, "wrangler.jsonc"), `{"name":"stream","main":"index.js","compatibility_date":"2025-06-01"}`)
				writeText(t, filepath.Join(project, "index.js"), streamWorker)
			}
			w, outside := observe(t, project, c.steps)
			for _, text := range w.found {
				t.Error(text)
			}
			points := w.points
			// A call to an object is answered by a result, which is a point of rpc, or by a
			// response, which is one before the gateway makes it an answer.
			points[killpoint.Response] -= w.calls - w.results
			points[killpoint.Commit] = w.grown
			for _, kind := range []killpoint.Kind{killpoint.Commit, killpoint.Frame, killpoint.Chunk, killpoint.Response, killpoint.Fetch} {
				if points[kind] != outside[kind] {
					t.Errorf("%s: %d within points, %d seen from outside", kind, points[kind], outside[kind])
				}
			}
			for _, kind := range c.want {
				if outside[kind] == 0 {
					t.Errorf("%s: there was none", kind)
				}
			}
			t.Logf("within points %v, from outside %v", points, outside)
		})
	}
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// watch counts the after-sides of points and looks at the databases' logs at each.
// Its fields are written under the lock of all effects, and read after the server.
type watch struct {
	t       *testing.T
	persist string
	points  map[killpoint.Kind]int
	calls   int // to objects
	results int // of them, to rpc
	commits int // in the logs, at the last point
	grown   int // those that came within an effect
	found   []string
}

func (w *watch) count(p killpoint.Point) {
	if p.Side != killpoint.After {
		return
	}
	w.points[p.Kind]++
	if p.Kind == killpoint.RPC && p.Object == "" {
		w.calls++
	} else if p.Kind == killpoint.RPC {
		w.results++
	}
}

// pass is count, and looks at the logs.
func (w *watch) pass(p killpoint.Point) {
	w.count(p)
	n := logCommits(w.t, w.persist)
	stores := p.Kind == killpoint.Commit || p.Kind == killpoint.Index || p.Kind == killpoint.File
	switch grown := n - w.commits; {
	case stores && p.Side == killpoint.After && grown >= 0 && (grown <= 1 || p.Kind == killpoint.File):
		w.grown += grown // by nothing if it changed nothing
	case grown != 0:
		w.found = append(w.found, fmt.Sprintf("%d commits were made at or before %s, and outside of an effect", grown, p.Label()))
	}
	w.commits = n
}

// observe runs a server in this process, drives it through a wire that is tapped,
// and counts once nothing is left to do.
func observe(t *testing.T, project string, steps []string) (*watch, map[killpoint.Kind]int) {
	outside := map[killpoint.Kind]int{}
	w := &watch{t: t, persist: t.TempDir(), points: map[killpoint.Kind]int{}}
	points := killpoint.New(killpoint.Options{Record: w.pass})
	threads := sched.NewThreads(clock.Real{})
	ctx, cancel := wait.WithLimit(t.Context(), clock.Real{}, limit)
	defer cancel()
	driver, options := driverOf(t, project, steps)
	model, err := upstream.Start(upstream.Options{Scheduler: threads, Script: upstream.Words(20)})
	if err != nil {
		t.Fatal(err)
	}
	options.Address, options.PersistDir, options.AI = runtime.Address{IP: "127.0.0.1", PortSet: true}, w.persist, model.URL()
	options.Scheduler, options.Entropy, options.Points = threads, entropy.System{}, points
	options.Dialer = netx.NewReal(netx.RealOptions{Scheduler: threads, Entropy: entropy.System{}, Points: points})
	s, err := runtime.Start(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	wire := tap(t, threads, strings.TrimPrefix(s.URL(), "http://"))
	session := drive.NewSession(history.NewRecorder(clock.Real{}, nil), threads, limit)
	session.Connect("http://" + wire.listener.Addr().String())
	if err := driver.Run(ctx, session); err != nil {
		t.Fatal(err)
	}
	atRest(t, ctx, s)
	outside[killpoint.Commit] = logCommits(t, w.persist)
	points.Begin(w.count, nil) // at the end the logs are emptied
	session.Disconnect()
	err = errors.Join(s.Close(ctx), wire.close(ctx))
	outside[killpoint.Fetch] = len(model.Requests())
	if err = errors.Join(err, model.Close(), threads.Close(ctx)); err != nil {
		t.Fatal(err)
	}
	for _, c := range wire.conns {
		tally(t, c.Bytes(), outside)
	}
	return w, outside
}

// driverOf is what the clients do: HTTP requests, or what the fixture's scenario
// says.
func driverOf(t *testing.T, project string, steps []string) (drive.Driver, runtime.Options) {
	t.Helper()
	o := runtime.Options{Sync: sqlite.Off, Limits: sqlstore.Local, CacheDir: t.TempDir(), BuildOutput: t.Output(),
		Config: config.Options{ConfigPath: filepath.Join(project, "wrangler.jsonc")}}
	var list []drive.Step
	for _, text := range steps {
		step, err := drive.Parse(drive.Fetch, text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, step)
	}
	if len(list) > 0 {
		return drive.NewSteps(list, drive.StepOptions{Strict: true}), o
	}
	o.CacheDir = filepath.Join(project, ".wrangler", "state", "minido-cache")
	found, err := scenario.Find(project)
	if err != nil || len(found) != 1 {
		t.Fatalf("%d scenarios, %v", len(found), err)
	}
	script, err := scenario.Load(found[0], project, "", clock.Real{})
	if err != nil {
		t.Fatal(err)
	}
	o.Config.Vars = script.Vars
	driver, err := script.Driver()
	if err != nil {
		t.Fatal(err)
	}
	return driver, o
}

// atRest waits until nothing is left to do.
func atRest(t *testing.T, ctx context.Context, s *runtime.Server) {
	t.Helper()
	err := wait.Until(ctx, clock.Real{}, limit, "rest", func() (bool, error) {
		why := make(chan string, 1)
		s.Pending(check.Horizon, func(w string) { why <- w })
		return <-why == "", nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wire is a proxy that keeps all that a server says.
type wire struct {
	listener net.Listener
	done     chan struct{} // closed when the last connection has ended
	conns    []*bytes.Buffer
}

// tap listens for clients of the server at address.
func tap(t *testing.T, threads *sched.Threads, address string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: listener, done: make(chan struct{})}
	threads.Go("wire", func() {
		defer close(w.done)
		var open sync.WaitGroup
		defer open.Wait()
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", address)
			if err != nil {
				client.Close()
				return
			}
			said := &bytes.Buffer{}
			w.conns = append(w.conns, said)
			open.Add(2)
			threads.Go("wire out", func() {
				defer open.Done()
				_, _ = io.Copy(server, client) // ends with the client
				_ = server.(*net.TCPConn).CloseWrite()
			})
			threads.Go("wire in", func() {
				defer open.Done()
				// All that the server says, also to a client that is gone.
				_, _ = io.Copy(io.MultiWriter(said, &deaf{client}), server)
				client.Close()
				server.Close()
			})
		}
	})
	return w
}

// deaf goes on when nobody listens any more.
type deaf struct{ w io.Writer }

func (d *deaf) Write(p []byte) (int, error) {
	_, _ = d.w.Write(p) // the client may be gone
	return len(p), nil
}

// close waits for the end of all connections.
func (w *wire) close(ctx context.Context) error {
	err := w.listener.Close()
	return errors.Join(err, wait.Channel(ctx, clock.Real{}, limit, "the connections' end", w.done))
}

// tally reads what a server has said on one connection: answers, the chunks of
// those that have any, frames of a WebSocket that carry a message.
func tally(t *testing.T, said []byte, seen map[killpoint.Kind]int) {
	t.Helper()
	in := bufio.NewReader(bytes.NewReader(said))
	for {
		head, err := textproto.NewReader(in).ReadLine()
		if errors.Is(err, io.EOF) {
			return
		}
		header, err := textproto.NewReader(in).ReadMIMEHeader()
		if err != nil {
			t.Errorf("the answer %q: %v", head, err)
			return
		}
		switch length, _ := strconv.Atoi(header.Get("Content-Length")); {
		case strings.HasPrefix(head, "HTTP/1.1 101"):
			seen[killpoint.Response]++
			seen[killpoint.Frame] += frames(in)
			return
		case header.Get("Transfer-Encoding") == "chunked":
			seen[killpoint.Response]++
			seen[killpoint.Chunk] += chunks(t, in)
		default:
			seen[killpoint.Response]++
			if _, err := in.Discard(length); err != nil {
				t.Error(err)
			}
			if length > 0 {
				seen[killpoint.Chunk]++
			}
		}
	}
}

// chunks reads a body of RFC 9112, section 7.1, and counts its chunks but the last.
func chunks(t *testing.T, in *bufio.Reader) (n int) {
	t.Helper()
	for {
		line, err := in.ReadString('\n')
		size, sizeErr := strconv.ParseInt(strings.TrimSpace(line), 16, 64)
		if err = errors.Join(err, sizeErr); err == nil {
			_, err = in.Discard(int(size) + 2)
		}
		if err != nil {
			t.Errorf("a chunk: %v", err)
			return n
		}
		if size == 0 {
			return n
		}
		n++
	}
}

// frames counts the frames of RFC 6455, section 5.2, that carry a message; Ping,
// Pong and Close do not.
func frames(in *bufio.Reader) (n int) {
	for {
		var head [2]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return n
		}
		length := uint64(head[1] & 127)
		switch length {
		case 126:
			var b [2]byte
			_, _ = io.ReadFull(in, b[:]) // an end shows at Discard
			length = uint64(binary.BigEndian.Uint16(b[:]))
		case 127:
			var b [8]byte
			_, _ = io.ReadFull(in, b[:])
			length = binary.BigEndian.Uint64(b[:])
		}
		if _, err := in.Discard(int(length)); err != nil {
			return n // a frame that was cut is none
		}
		if head[0]&8 == 0 {
			n++
		}
	}
}

// logCommits counts the commits in the logs of all databases, those of objects and
// those of alarm indexes.
func logCommits(t *testing.T, persist string) (n int) {
	t.Helper()
	err := filepath.WalkDir(persist, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "-wal") {
			return err
		}
		data, err := os.ReadFile(path)
		n += walCommits(data)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return n
}

// walCommits counts the frames that end a commit, of the log's present salts
// (SQLite's file format, section 4).
func walCommits(log []byte) (n int) {
	const head, frame = 32, 24
	if len(log) < head {
		return 0
	}
	page, salts := int(binary.BigEndian.Uint32(log[8:])), log[16:24]
	for at := head; at+frame+page <= len(log); at += frame + page {
		f := log[at : at+frame]
		if !bytes.Equal(f[8:16], salts) {
			return n
		}
		if binary.BigEndian.Uint32(f[4:]) > 0 {
			n++
		}
	}
	return n
}

// A commit without a point is seen, by the next point and by the count.
func TestCommitWithoutPointIsSeen(t *testing.T) {
	t.Parallel()
	w := &watch{t: t, persist: t.TempDir(), points: map[killpoint.Kind]int{}}
	points := killpoint.New(killpoint.Options{Record: w.pass})
	s, err := sqlstore.Open(sqlstore.Options{Path: filepath.Join(w.persist, "a.sqlite"), Clock: clock.Real{}, Entropy: entropy.System{}, Sync: sqlite.Off})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w.commits = logCommits(t, w.persist)
	put := func(key string) {
		if err := s.Put(key, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	put("good")
	if err := points.Effect(killpoint.Commit, "A/a", "rpc", s.Commit); err != nil || w.grown != 1 || len(w.found) > 0 {
		t.Fatalf("a commit with a point: %v, %d, %v", err, w.grown, w.found)
	}
	put("planted")
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	points.Hit(killpoint.Wake, killpoint.After, "A/a", "start")
	if len(w.found) != 1 || logCommits(t, w.persist)-w.grown != 1 {
		t.Errorf("a commit without one: %v, %d in the log, %d within points", w.found, logCommits(t, w.persist), w.grown)
	}
}
