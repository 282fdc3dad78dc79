package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

// roomSocket is one connection to a room. frames is closed at its end, and err
// then says why; status is the Close frame's.
type roomSocket struct {
	conn   *websocket.Conn
	frames chan string
	err    error
}

type relayed struct {
	Type, ID, Role, Error string
	Peer                  bool
}

// phone is one side of a room, which connects again when it is cut.
type phone struct {
	l          *lives
	room, role string
	socket     *roomSocket // nil when it is not connected
	joined     bool
	inbox      []string // ids of messages, of all connections
}

func (p *phone) dial() {
	p.l.t.Helper()
	socket, err := dialRoom(p.l, p.room, p.role)
	if err != nil {
		p.l.t.Fatal(err)
	}
	p.socket, p.joined = socket, false
}

func dialRoom(l *lives, room, role string) (*roomSocket, error) {
	return dialSocket(l, "/rooms/"+room+"/ws", http.Header{"X-Client-Role": {role}, "X-User-Id": {role + "-user"}})
}

// dialSocket opens a WebSocket and collects what comes, until the test ends.
func dialSocket(l *lives, path string, header http.Header) (*roomSocket, error) {
	ctx, cancel := wait.WithLimit(l.t.Context(), clock.Real{}, limit)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(l.server.url, "http")+path, &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		return nil, err
	}
	s := &roomSocket{conn: conn, frames: make(chan string, 4096)}
	threads := sched.NewThreads(clock.Real{})
	threads.Go("read "+path, func() {
		defer close(s.frames)
		for {
			_, data, err := conn.Read(context.Background())
			if err != nil {
				s.err = err
				return
			}
			s.frames <- string(data)
		}
	})
	l.t.Cleanup(func() {
		_ = conn.CloseNow() // it may have ended already
		ctx, cancel := wait.WithLimit(context.Background(), clock.Real{}, limit)
		defer cancel()
		if err := threads.Close(ctx); err != nil {
			l.t.Error(err)
		}
	})
	return s, nil
}

func (s *roomSocket) send(ctx context.Context, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.conn.Write(ctx, websocket.MessageText, data)
}

// next waits for a frame; ok is false when the connection has ended.
func (p *phone) next() (f relayed, ok bool) {
	p.l.t.Helper()
	ctx, cancel := wait.WithLimit(p.l.t.Context(), clock.Real{}, limit)
	defer cancel()
	select {
	case text, open := <-p.socket.frames:
		if !open {
			return f, false
		}
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			p.l.t.Fatalf("%s was sent %q", p.role, text)
		}
		if f.Type == "message" {
			p.inbox = append(p.inbox, f.ID)
		}
		return f, true
	case <-ctx.Done():
		p.l.t.Fatalf("%s waits for a frame: %v", p.role, context.Cause(ctx))
		return f, false
	}
}

// expect waits for a frame of a type, and lets messages pass.
func (p *phone) expect(kind string) relayed {
	p.l.t.Helper()
	for {
		f, ok := p.next()
		if !ok {
			p.l.t.Fatalf("%s waits for %s: %v", p.role, kind, p.socket.err)
		}
		if f.Type == kind {
			return f
		}
		if f.Type != "message" {
			p.l.t.Fatalf("%s waits for %s and got %+v", p.role, kind, f)
		}
	}
}

func (p *phone) send(v any) {
	p.l.t.Helper()
	if err := p.socket.send(p.l.t.Context(), v); err != nil {
		p.l.t.Fatal(err)
	}
}

// join takes the phone's role.
func (p *phone) join() {
	p.l.t.Helper()
	if p.role == "mac" {
		p.send(map[string]string{"type": "register_room"})
		p.expect("room_registered")
	} else {
		p.send(map[string]string{"type": "join_room"})
		p.expect("room_joined")
	}
	p.joined = true
}

// until lets frames pass until this message has come.
func (p *phone) until(id string) {
	p.l.t.Helper()
	for !slices.Contains(p.inbox, id) {
		if _, ok := p.next(); !ok {
			p.l.t.Fatalf("%s waits for %s: %v", p.role, id, p.socket.err)
		}
	}
}

// drain reads what comes until the connection has ended, and says how it did.
func (p *phone) drain() error {
	p.l.t.Helper()
	for {
		if _, ok := p.next(); !ok {
			err := p.socket.err
			p.socket = nil
			return err
		}
	}
}

// stage is a room with its two sides.
type stage struct {
	l        *lives
	room     string
	mac, ios *phone
	sent     map[string][]string // ids of messages, by the role that said them
}

func newStage(l *lives, room string) *stage {
	return &stage{l, room, &phone{l: l, room: room, role: "mac"}, &phone{l: l, room: room, role: "ios"}, map[string][]string{}}
}

// say sends messages; they may be on their way when it returns.
func (s *stage) say(from *phone, n int) {
	s.l.t.Helper()
	for range n {
		id := fmt.Sprintf("%s-%d", from.role, len(s.sent[from.role])+1)
		s.sent[from.role] = append(s.sent[from.role], id)
		from.send(map[string]string{"type": "message", "id": id, "body": strings.Repeat("x", 100)})
	}
}

func (s *stage) last(role string) string {
	ids := s.sent[role]
	return ids[len(ids)-1]
}

// roomStep is one step of a room's life.
type roomStep struct {
	name string // what has happened after it
	do   func(s *stage)
}

// roomSteps is a room's life. Some say something and do not wait until it has
// arrived: what comes next meets messages on their way.
func roomSteps() []roomStep {
	return []roomStep{
		{"the Mac has connected", func(s *stage) { s.mac.dial() }},
		{"the Mac has registered", func(s *stage) { s.mac.join() }},
		{"the iPhone has connected", func(s *stage) { s.ios.dial() }},
		{"the iPhone has joined", func(s *stage) { s.ios.join(); s.mac.expect("peer_joined") }},
		{"the Mac talks", func(s *stage) { s.say(s.mac, 5) }},
		{"the iPhone talks", func(s *stage) { s.say(s.ios, 5) }},
		{"both talk", func(s *stage) { s.say(s.mac, 3); s.say(s.ios, 3) }},
		{"another Mac has replaced the first", (*stage).replaceMac},
		{"the other Mac talks", func(s *stage) { s.say(s.mac, 4) }},
		{"everything has arrived", func(s *stage) { s.say(s.ios, 4); s.settle() }},
		{"the iPhone has gone", func(s *stage) {
			if err := s.ios.socket.conn.Close(websocket.StatusNormalClosure, "bye"); err != nil {
				s.l.t.Error(err)
			}
			s.ios.socket, s.ios.joined = nil, false
			s.mac.expect("peer_left")
		}},
		{"a message had nobody to go to", func(s *stage) {
			s.mac.send(map[string]string{"type": "message", "id": "into the void"})
			s.mac.expect("peer_offline")
		}},
		{"the iPhone is back", func(s *stage) { s.ios.dial(); s.ios.join(); s.mac.expect("peer_joined") }},
		{"the last word has arrived", func(s *stage) { s.say(s.ios, 2); s.mac.until(s.last("ios")) }},
	}
}

// replaceMac has the Mac come again, without having gone.
func (s *stage) replaceMac() {
	s.l.t.Helper()
	// Two connections have no order: an answer says that what was sent on the old
	// one has come before it is replaced, which loses what comes later.
	s.mac.send(map[string]string{"type": "question"})
	s.mac.expect("error")
	old := *s.mac
	s.mac.inbox = nil
	s.mac.dial()
	s.mac.join()
	if err := old.drain(); websocket.CloseStatus(err) != 4001 {
		s.l.t.Errorf("the replaced socket ended with %v", err)
	}
	// What was said before the replacement came to the old socket.
	s.mac.inbox = append(old.inbox, s.mac.inbox...)
}

// walk takes steps of a room's life.
func (s *stage) walk(steps []roomStep) {
	s.l.t.Helper()
	for _, step := range steps {
		step.do(s)
	}
}

// moveTo goes on with a room in another test, after a blow.
func (s *stage) moveTo(l *lives) { s.l, s.mac.l, s.ios.l = l, l, l }

// comeBack is what clients do after a blow that cut them: whoever had a role
// takes it again.
func (s *stage) comeBack() {
	s.l.t.Helper()
	for _, p := range []*phone{s.mac, s.ios} {
		if p.socket == nil {
			continue
		}
		joined := p.joined
		_ = p.drain()
		p.dial()
		if joined {
			p.join()
		}
	}
	if s.mac.joined && s.ios.joined {
		s.mac.expect("peer_joined")
	}
}

type roomBooks struct {
	Sockets   []struct{ ID, Role, User string }
	Keys      map[string]any
	Usage     map[string]float64
	Wakes     []struct{ Sockets, Alarms int }
	NextAlarm *float64
}

func (s *stage) books() (b roomBooks) {
	s.l.t.Helper()
	get(s.l.t, s.l.server.url+"/rooms/"+s.room, &b)
	return b
}

// beats is how often the room's alarm has run.
func (b roomBooks) beats() (n int) {
	for _, w := range b.Wakes {
		n += w.Alarms
	}
	return n
}

// check holds the room's invariants against what the sides saw. lossless says
// that no blow cut a connection.
func (s *stage) check(lossless bool) {
	t := s.l.t
	t.Helper()
	for _, side := range []struct{ from, to *phone }{{s.mac, s.ios}, {s.ios, s.mac}} {
		sent, got := s.sent[side.from.role], side.to.inbox
		if lossless && !slices.Equal(sent, got) {
			t.Errorf("%s said %q, %s got %q", side.from.role, sent, side.to.role, got)
		}
		at := -1 // nothing doubled, nothing out of order, nothing from the wrong side
		for _, id := range got {
			i := slices.Index(sent, id)
			if i <= at {
				t.Errorf("%s got %q of %q", side.to.role, got, sent)
				break
			}
			at = i
		}
	}
	b := s.books()
	roles := map[string]int{}
	want := map[string]bool{}
	for _, socket := range b.Sockets {
		roles[socket.Role]++
		for _, kind := range []string{"role", "user", "ip", "clientRole", "since"} {
			want[kind+":"+socket.ID] = true
		}
		if b.Keys["role:"+socket.ID] != socket.Role || b.Keys["user:"+socket.ID] != socket.User || socket.User != socket.Role+"-user" {
			t.Errorf("socket %+v has keys %v", socket, b.Keys)
		}
	}
	for key := range b.Keys {
		if strings.Contains(key, ":") && !want[key] {
			t.Errorf("a stale key: %s", key)
		}
	}
	if roles["mac"] != 1 || roles["ios"] != 1 || len(b.Sockets) != 2 || b.NextAlarm == nil || b.Keys["session_start"] == nil {
		t.Errorf("the room's books are %+v", b)
	}
}

// A room hibernates after each step of its life, or goes with its isolate; the
// blows of TestSystemsSurvive are others. Where connections survive, nobody
// notices: every message arrives, once, on the right side. Where they do not, the
// sides connect again, and no message is doubled, reordered or misdirected; no
// key of a socket that is gone is left.
func TestRelayIsHit(t *testing.T) {
	t.Parallel()
	for _, b := range blows {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			l, steps := beginOn(t, steadyDev, "relay", nil, shortHeartbeat), roomSteps()
			for n, after := range steps {
				t.Run(after.name, func(t *testing.T) {
					mine := *l
					mine.t = t
					s := newStage(&mine, fmt.Sprintf("n%d", n))
					s.walk(steps[:n+1])
					mine.strike(b, "Room", s.room)
					if !b.gentle {
						s.comeBack()
					}
					if wakes := len(s.books().Wakes); wakes != 2 {
						t.Errorf("%d lives of the room, want 2", wakes)
					}
					s.walk(steps[n+1:])
					s.settle()
					s.check(b.gentle)
					s.leave()
				})
			}
		})
	}
}

// settle makes sure that everything that was said has arrived: what each side
// says comes after it.
func (s *stage) settle() {
	s.l.t.Helper()
	s.say(s.mac, 1)
	s.say(s.ios, 1)
	s.ios.until(s.last("mac"))
	s.mac.until(s.last("ios"))
}

// leave ends the room, which must come to rest: no key, and no alarm after the
// next heartbeat.
func (s *stage) leave() {
	t := s.l.t
	t.Helper()
	for _, p := range []*phone{s.mac, s.ios} {
		if err := p.socket.conn.Close(websocket.StatusNormalClosure, "bye"); err != nil {
			t.Error(err)
		}
	}
	until(t, "the room is empty", func() bool { return len(s.books().Keys) == 0 })
	until(t, "no heartbeat is left", func() bool { return s.books().NextAlarm == nil })
	b := s.books()
	if _, mac := b.Usage["mac-user"]; !mac {
		t.Errorf("usage %v", b.Usage)
	}
	if _, ios := b.Usage["ios-user"]; !ios {
		t.Errorf("usage %v", b.Usage)
	}
}

// A replaced socket whose client never answers the Close frame stays listed. The
// room that wakes does not give it its role back; the sides talk on.
func TestRelaySocketThatDoesNotClose(t *testing.T) {
	t.Parallel()
	l := begin(t, "relay")
	s := newStage(l, "r")
	ctx, cancel := wait.WithLimit(t.Context(), clock.Real{}, limit)
	defer cancel()
	deaf, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(l.server.url, "http")+"/rooms/r/ws?role=mac&user=mac-user", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = deaf.CloseNow() }()
	if err := deaf.Write(ctx, websocket.MessageText, []byte(`{"type":"register_room"}`)); err != nil {
		t.Fatal(err)
	}
	until(t, "the deaf Mac has registered", func() bool {
		b := s.books()
		return len(b.Sockets) == 1 && b.Sockets[0].Role == "mac"
	})
	s.mac.dial()
	s.mac.join()
	s.ios.dial()
	s.ios.join()
	s.mac.expect("peer_joined")
	s.settle()
	s.check(true) // its keys have gone at once, though it has not
	l.strike(hibernate, "Room", "r")
	s.settle()
	s.check(true)
}

// The heartbeat counts the time of a session for both users, also across
// hibernation and death, and closes sockets that never took a role.
func TestRelayHeartbeat(t *testing.T) {
	t.Parallel()
	l := begin(t, "relay", "UNJOINED_MS:0")
	s := newStage(l, "r")
	s.mac.dial()
	s.mac.join()
	s.ios.dial()
	s.ios.join()
	s.mac.expect("peer_joined")
	idle := &phone{l: l, room: "r", role: "tourist"}
	idle.dial()
	l.strike(hibernate, "Room", "r")
	l.ring("Room", "r") // the alarm wakes the room
	if err := idle.drain(); websocket.CloseStatus(err) != 4002 {
		t.Errorf("the socket without a role ended with %v", err)
	}
	first := s.books()
	if alarms := first.Wakes[len(first.Wakes)-1].Alarms; alarms != 1 || first.NextAlarm == nil {
		t.Errorf("after the heartbeat %+v", first)
	}
	until(t, "usage grows", func() bool {
		beats := s.books().beats()
		l.ring("Room", "r")
		var b roomBooks
		until(t, "a heartbeat", func() bool { b = s.books(); return b.beats() > beats })
		return b.Usage["mac-user"] > first.Usage["mac-user"] && b.Usage["ios-user"] == b.Usage["mac-user"]
	})
	before := s.books()
	l.crash()
	l.ring("Room", "r") // once: the room has no alarm when it has run
	until(t, "the heartbeat of the room that has died rests", func() bool { return s.books().NextAlarm == nil })
	if b := s.books(); b.Usage["mac-user"] != before.Usage["mac-user"] || len(b.Keys) != 0 {
		t.Errorf("after the death %+v, before it %+v", b, before)
	}
}

// A client that has sent its Close frame learns of it when the object dies before the
// answer has left: its connection ends.
func TestRelaySocketEndsWithItsObject(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"fail(sync)", "crash"} {
		cmd := exec.Command(minido, "chaos", "replay", filepath.Join("..", "fixtures", "relay"), "--mode", "sim", "--seed", "22",
			"--dir", filepath.Join(t.TempDir(), "out"), "--plan", fault+"@commit:after(Room/r1)/close#3")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", fault, err, out)
		}
	}
}
