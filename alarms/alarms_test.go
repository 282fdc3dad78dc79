package alarms

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sqlite"
)

const testNamespace = "app-Agent"

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// world is a scheduler on a virtual clock, and a log of what it delivered.
type world struct {
	t      *testing.T
	dir    string
	clock  *clock.Virtual
	s      *Scheduler
	opts   Options
	log    []string   // "id@ms" relative to epoch, "#retries" if there were any
	open   []Delivery // without an answer
	report []error
	// answer, if set, answers each delivery on the spot.
	answer func(Delivery) Outcome
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, dir: t.TempDir(), clock: clock.NewVirtual(epoch)}
	w.opts = Options{Entropy: entropy.NewSeeded(1)}
	t.Cleanup(func() {
		if err := w.s.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// start makes a scheduler on what is on disk and starts it.
func (w *world) start() *world {
	w.t.Helper()
	o := w.opts
	o.Clock = w.clock
	o.Deliver = w.deliver
	o.Report = func(err error) { w.report = append(w.report, err) }
	w.s = New(o)
	w.open = nil
	_, err := w.s.Open(Namespace{Key: testNamespace, Class: "Agent", Dir: w.nsDir()})
	w.must(err)
	w.s.Start()
	return w
}

func (w *world) nsDir() string { return filepath.Join(w.dir, "v3", "do", testNamespace) }

// restart is a crash: the old scheduler hears nothing any more.
func (w *world) restart() {
	w.t.Helper()
	w.must(w.s.Close())
	w.start()
}

func (w *world) deliver(d Delivery) {
	entry := fmt.Sprintf("%s@%d", d.ID, w.ms())
	if d.RetryCount > 0 {
		entry += fmt.Sprintf("#%d", d.RetryCount)
	}
	w.log = append(w.log, entry)
	if w.answer != nil {
		d.Done(w.answer(d))
		return
	}
	w.open = append(w.open, d)
}

// ms is the clock's time since epoch.
func (w *world) ms() int64 { return w.clock.Now().Sub(epoch).Milliseconds() }

// at converts a time since epoch to one that Set takes.
func at(ms int64) int64 { return epoch.UnixMilli() + ms }

func obj(id string) Object { return Object{Namespace: testNamespace, ID: id} }

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) advanceTo(ms int64) {
	w.clock.AdvanceTo(epoch.Add(time.Duration(ms) * time.Millisecond))
}

func (w *world) want(entries ...string) {
	w.t.Helper()
	if !slices.Equal(w.log, entries) {
		w.t.Fatalf("delivered %q, want %q", w.log, entries)
	}
}

// rows is the index on disk, read through a connection of its own.
func (w *world) rows() string {
	w.t.Helper()
	x := &index{path: filepath.Join(w.nsDir(), IndexFile)}
	conn, err := sqlite.Open(sqlite.Options{Path: x.path, ReadOnly: true, Now: w.clock.Now, Rand: entropy.NewSeeded(2)})
	w.must(err)
	x.conn = conn
	rows, err := x.load()
	w.must(err)
	w.must(x.close((*sqlite.Conn).Close))
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprintf("%s=%d%s", r.id, r.atNs/1e6-epoch.UnixMilli(), r.name))
	}
	return strings.Join(out, " ")
}

// An alarm is delivered at its time, not before, once; its row leaves the index
// only when the handler's success is known.
func TestDeliversOnTime(t *testing.T) {
	w := newWorld(t).start()
	w.must(w.s.Set(Object{testNamespace, "a", "r1"}, at(1000), "rpc"))
	if ms, ok := w.s.Get(obj("a")); !ok || ms != at(1000) {
		t.Fatalf("Get = %d, %v", ms, ok)
	}
	w.advanceTo(999)
	w.want()
	w.advanceTo(5000)
	w.want("a@1000")
	d := w.open[0]
	if d.ScheduledMs != at(1000) || d.RetryCount != 0 || d.Name != "r1" || d.Namespace != testNamespace {
		t.Errorf("delivered %+v", d)
	}
	if ms, ok := w.s.Get(obj("a")); ok {
		t.Errorf("inside the handler Get = %d", ms)
	}
	if got := w.rows(); got != "a=1000r1" {
		t.Errorf("while the handler runs the index has %q", got)
	}
	d.Done(Finished)
	d.Done(Failed) // ignored
	if got := w.rows(); got != "" {
		t.Errorf("after success the index has %q", got)
	}
	if _, count, ok := w.s.Next(); count != 0 || ok {
		t.Errorf("%d alarms left", count)
	}
	if w.clock.Step() {
		t.Error("a timer is left")
	}
}

// Equal times are delivered in the order of ids, others in that of time, however
// they were set; one timer serves all of them.
func TestOrder(t *testing.T) {
	w := newWorld(t).start()
	for _, c := range []struct {
		id string
		ms int64
	}{{"c", 10}, {"a", 10}, {"d", 5}, {"b", 10}, {"e", -7}} {
		w.must(w.s.Set(obj(c.id), at(c.ms), "rpc"))
	}
	w.want() // never from within Set, even if overdue
	w.advanceTo(100)
	w.want("e@0", "d@5", "a@10", "b@10", "c@10")
}

// Set replaces a waiting alarm, in both directions; Clear removes it.
func TestSetAndClear(t *testing.T) {
	w := newWorld(t).start()
	w.must(w.s.Set(obj("a"), at(1000), "rpc"))
	w.must(w.s.Set(obj("a"), at(3000), "rpc"))
	w.must(w.s.Set(obj("b"), at(9000), "rpc"))
	w.must(w.s.Set(obj("b"), at(2000), "rpc"))
	w.must(w.s.Set(obj("c"), at(2500), "rpc"))
	w.must(w.s.Clear(obj("c"), "rpc"))
	w.must(w.s.Clear(obj("never"), "rpc"))
	if got := w.rows(); got != "a=3000 b=2000" {
		t.Errorf("the index has %q", got)
	}
	w.advanceTo(10000)
	w.want("b@2000", "a@3000")
	if err := w.s.Set(Object{Namespace: "other", ID: "a"}, 1, "rpc"); !errors.Is(err, ErrNamespace) {
		t.Errorf("an unknown namespace: %v", err)
	}
}

// A throwing handler is called again after 2 s, doubling, with at most 25 % on
// top, six times, and then no more.
func TestRetriesAndDrop(t *testing.T) {
	w := newWorld(t).start()
	var times []int64
	var counts []int
	w.answer = func(d Delivery) Outcome {
		times = append(times, w.ms())
		counts = append(counts, d.RetryCount)
		return Failed
	}
	w.must(w.s.Set(obj("a"), at(100), "rpc"))
	w.advanceTo(10 * 60 * 1000)
	if want := []int{0, 1, 2, 3, 4, 5, 6}; !slices.Equal(counts, want) {
		t.Fatalf("retry counts %v, want %v", counts, want)
	}
	jittered := false
	for i := 1; i < len(times); i++ {
		delay, base := times[i]-times[i-1], int64(2000)<<(i-1)
		if delay < base || delay > base*125/100 {
			t.Errorf("retry %d came after %d ms, want %d and up to 25 %% more", i, delay, base)
		}
		jittered = jittered || delay != base
	}
	if !jittered {
		t.Error("no delay was jittered")
	}
	if got := w.rows(); got != "" {
		t.Errorf("after the last retry the index has %q", got)
	}
	if len(w.report) != 1 || !strings.Contains(w.report[0].Error(), "Agent/a: the alarm was dropped after 6 retries") {
		t.Errorf("reported %v", w.report)
	}
}

// Failures of the platform are retried without an end and without being
// counted, at most 2 s << 9 apart; the handler's own failure afterwards starts
// its backoff anew.
func TestInterruptionsDoNotCount(t *testing.T) {
	w := newWorld(t).start()
	calls := 0
	var times []int64
	w.answer = func(d Delivery) Outcome {
		calls++
		times = append(times, w.ms())
		switch {
		case calls <= 14 && d.RetryCount != 0:
			t.Fatalf("call %d has retryCount %d", calls, d.RetryCount)
		case calls <= 14:
			return Interrupted
		case calls == 15:
			return Failed
		}
		if d.RetryCount != 1 {
			t.Errorf("the retry after one failure has retryCount %d", d.RetryCount)
		}
		return Finished
	}
	w.must(w.s.Set(obj("a"), at(0), "rpc"))
	w.clock.Advance(24 * time.Hour)
	if calls != 16 {
		t.Fatalf("%d calls, want 16", calls)
	}
	if d := times[14] - times[13]; d < 1024_000 || d > 1280_000 {
		t.Errorf("the 14th delay is %d ms, want about 1024 s", d)
	}
	if d := times[15] - times[14]; d > 2500 {
		t.Errorf("the first delay after the handler's own failure is %d ms, want 2 s", d)
	}
}

// An alarm set while the handler runs follows it, even at the same time, and
// ends the retries of the old one; Clear takes only the new one away.
func TestSetWhileRunning(t *testing.T) {
	w := newWorld(t).start()
	w.must(w.s.Set(obj("a"), at(10), "rpc"))
	w.advanceTo(10)
	w.must(w.s.Set(obj("a"), at(10), "alarm"))
	w.advanceTo(20)
	w.want("a@10")
	if ms, ok := w.s.Get(obj("a")); !ok || ms != at(10) {
		t.Errorf("the queued alarm: %d, %v", ms, ok)
	}
	w.open[0].Done(Failed)
	w.advanceTo(30)
	w.want("a@10", "a@20") // no retry count: it is a new alarm

	w.must(w.s.Set(obj("a"), at(500), "alarm"))
	w.must(w.s.Clear(obj("a"), "alarm"))
	if got := w.rows(); got != "" {
		t.Errorf("after Clear the index has %q", got)
	}
	w.open[1].Done(Failed) // the one that ran is retried all the same
	w.advanceTo(10_000)
	if len(w.log) != 3 || !strings.HasSuffix(w.log[2], "#1") {
		t.Errorf("delivered %q, want one retry at the end", w.log)
	}
	w.open[2].Done(Finished)
	w.advanceTo(60_000)
	if len(w.log) != 3 {
		t.Errorf("delivered %q", w.log)
	}
}

// A new alarm set between two retries follows the next of them, as in the
// reference; the developer's order to fire does not wait for it.
func TestSetBetweenRetries(t *testing.T) {
	w := newWorld(t).start()
	w.must(w.s.Set(obj("a"), at(0), "rpc"))
	w.advanceTo(0)
	w.open[0].Done(Failed)
	w.must(w.s.Set(obj("a"), at(60_000), "rpc"))
	if ms, ok := w.s.Get(obj("a")); !ok || ms != at(60_000) {
		t.Errorf("the queued alarm: %d, %v", ms, ok)
	}
	w.advanceTo(10_000)
	if len(w.log) != 2 || !strings.HasSuffix(w.log[1], "#1") {
		t.Fatalf("delivered %q, want the retry", w.log)
	}
	w.open[1].Done(Finished) // the object's row was not due
	w.advanceTo(100_000)
	if len(w.log) != 3 || w.log[2] != "a@60000" {
		t.Fatalf("delivered %q, want the new alarm without a retry count", w.log)
	}
	w.open[2].Done(Failed)
	w.must(w.s.Clear(obj("a"), "rpc"))
	w.advanceTo(1_000_000)
	if len(w.log) != 3 {
		t.Errorf("delivered %q after Clear", w.log)
	}
	w.must(w.s.Set(obj("b"), at(1_000_000), "rpc"))
	w.advanceTo(1_000_000)
	w.open[3].Done(Failed)
	w.must(w.s.Set(obj("b"), at(1_000_000), CauseFire))
	w.advanceTo(1_000_001)
	if len(w.log) != 5 || w.log[4] != "b@1000000" {
		t.Errorf("delivered %q, want b at once", w.log)
	}
}

// After a restart with no request, overdue alarms are delivered at once and
// future ones in their time, with the stored name; a handler that was running
// is called again, its retry count at 0.
func TestRestart(t *testing.T) {
	w := newWorld(t).start()
	w.must(w.s.Set(Object{testNamespace, "a", "first"}, at(1000), "rpc"))
	w.must(w.s.Set(obj("a"), at(1500), "alarm")) // keeps the name
	w.must(w.s.Set(obj("b"), at(50_000), "rpc"))
	w.must(w.s.Set(obj("c"), at(10), "rpc"))
	w.advanceTo(10)
	w.open[0].Done(Failed)
	w.advanceTo(2600)
	if last := w.log[len(w.log)-1]; !strings.HasSuffix(last, "#1") {
		t.Fatalf("delivered %q, want a retry of c", w.log)
	}
	stale := w.open
	w.clock.Jump(7 * time.Second) // the time that the restart takes
	w.log = nil
	w.restart()
	for _, d := range stale {
		d.Done(Finished) // the dead scheduler must not hear it
	}
	w.want()
	w.advanceTo(9600)
	w.want("c@9600", "a@9600")
	if w.open[1].Name != "first" || w.open[1].ScheduledMs != at(1500) {
		t.Errorf("delivered %+v", w.open[1])
	}
	w.advanceTo(50_000)
	w.want("c@9600", "a@9600", "b@50000")
	if got := w.rows(); got != "a=1500first b=50000 c=10" {
		t.Errorf("the index has %q", got)
	}
}

// Reconcile repairs an index that differs from the object's row, and leaves one
// that agrees alone: no write, no lost retry count.
func TestReconcile(t *testing.T) {
	w := newWorld(t)
	writes := 0
	w.opts.Points = killpoint.New(killpoint.Options{Record: func(p killpoint.Point) {
		if p.Kind == killpoint.Index && p.Side == killpoint.After {
			writes++
		}
	}})
	w.start()
	row := func(ms int64) *int64 { v := at(ms); return &v }
	w.must(w.s.Reconcile(obj("a"), nil, "wake"))
	if writes != 0 {
		t.Errorf("%d writes for an object without an alarm on either side", writes)
	}
	w.must(w.s.Reconcile(obj("a"), row(40), "wake")) // the index had lost it
	w.must(w.s.Reconcile(obj("a"), row(40), "wake"))
	if writes != 1 {
		t.Errorf("%d writes, want 1", writes)
	}
	w.advanceTo(40)
	w.open[0].Done(Failed)
	w.must(w.s.Reconcile(obj("a"), row(40), "wake"))
	w.advanceTo(3000)
	if len(w.log) != 2 || !strings.HasSuffix(w.log[1], "#1") {
		t.Fatalf("delivered %q: agreeing with the row reset the retries", w.log)
	}
	// An early wake: the row says later. The index follows, and the alarm comes.
	w.must(w.s.Reconcile(obj("a"), row(7000), "alarm"))
	if got := w.rows(); got != "a=7000" {
		t.Errorf("the index has %q", got)
	}
	w.open[1].Done(Finished)
	w.advanceTo(7000)
	if w.log[len(w.log)-1] != "a@7000" {
		t.Errorf("delivered %q", w.log)
	}
	// A wake for nothing: the row has no alarm.
	w.must(w.s.Reconcile(obj("a"), nil, "alarm"))
	w.open[2].Done(Finished)
	w.advanceTo(100_000)
	if got := w.rows(); got != "" || len(w.log) != 3 {
		t.Errorf("the index has %q, delivered %q", got, w.log)
	}
}

// No more than MaxRunning handlers run at a time; the next starts when one ends.
func TestBoundedDeliveries(t *testing.T) {
	w := newWorld(t)
	w.opts.MaxRunning = 2
	w.start()
	for _, id := range []string{"a", "b", "c", "d"} {
		w.must(w.s.Set(obj(id), at(1), "rpc"))
	}
	w.advanceTo(10)
	w.want("a@1", "b@1")
	w.open[1].Done(Finished)
	w.want("a@1", "b@1") // not from within Done
	w.advanceTo(20)
	w.want("a@1", "b@1", "c@10")
	w.open[0].Done(Interrupted)
	w.open[2].Done(Finished)
	w.advanceTo(30)
	w.want("a@1", "b@1", "c@10", "d@20")
}

// Until its handler has answered, an alarm is either due or running, also for
// somebody who asks while the timer takes it.
func TestAheadMissesNothing(t *testing.T) {
	for range 40 {
		w := newWorld(t).start()
		w.must(w.s.Set(obj("a"), at(1), "rpc"))
		asked, stop := make(chan bool), make(chan struct{})
		go func() {
			for all := true; ; {
				running, _, due := w.s.Ahead()
				all = all && (running > 0 || due)
				select {
				case <-stop:
					asked <- all
					return
				default:
				}
			}
		}()
		w.advanceTo(1)
		close(stop)
		if !<-asked {
			t.Fatal("the alarm was neither due nor running")
		}
		w.open[0].Done(Finished)
		if running, _, due := w.s.Ahead(); running > 0 || due {
			t.Fatal("there is nothing ahead, and Ahead says otherwise")
		}
	}
}

// Kill points stand on both sides of each write of the index and around each
// delivery, labelled with the object's name.
func TestKillPoints(t *testing.T) {
	w := newWorld(t)
	var labels []string
	w.opts.Points = killpoint.New(killpoint.Options{Record: func(p killpoint.Point) { labels = append(labels, p.Label()) }})
	w.start()
	w.must(w.s.Set(Object{testNamespace, "a", "r1"}, at(5), "rpc"))
	w.advanceTo(5)
	w.open[0].Done(Finished)
	want := []string{
		"file:before(Agent)/rpc#1", "file:after(Agent)/rpc#1",
		"index:before(Agent/r1)/rpc#1", "index:after(Agent/r1)/rpc#1",
		"alarm:before(Agent/r1)/alarm#1", "alarm:after(Agent/r1)/alarm#1",
		"index:before(Agent/r1)/alarm#1", "index:after(Agent/r1)/alarm#1",
	}
	if !slices.Equal(labels, want) {
		t.Errorf("hit %q\nwant %q", labels, want)
	}
	labels = nil
	w.restart()
	if len(labels) != 0 {
		t.Errorf("opening an existing index hit %q", labels)
	}
}

// A machine that slept while a timer waited is noticed after MaxWait, and a
// clock that was set back makes nothing early.
func TestClockJumps(t *testing.T) {
	w := newWorld(t)
	w.opts.MaxWait = time.Minute
	w.start()
	w.must(w.s.Set(obj("a"), at(3600_000), "rpc"))
	if next, ok := w.clock.Next(); !ok || next.Sub(epoch) != time.Minute {
		t.Fatalf("the clock wakes at %v", next)
	}
	w.advanceTo(1800_000)
	w.want()
	w.clock.Jump(-600 * time.Second)
	w.advanceTo(3599_999)
	w.want()
	w.advanceTo(3600_000)
	w.want("a@3600000")
}

// A clock that is set back while an alarm is on its way makes it early for its
// object: it comes at its time, with the retries that it had.
func TestClockJumpsBackInDelivery(t *testing.T) {
	w := newWorld(t).start()
	due := at(7000)
	w.must(w.s.Set(obj("a"), due, "rpc"))
	w.advanceTo(7000)
	w.clock.Jump(-5 * time.Second)
	w.must(w.s.Reconcile(obj("a"), &due, "alarm"))
	w.open[0].Done(Early)
	w.advanceTo(6999)
	w.want("a@7000")
	if got := w.rows(); got != "a=7000" {
		t.Errorf("the index has %q", got)
	}
	w.advanceTo(7000)
	w.open[1].Done(Failed)
	w.advanceTo(10_000)
	w.clock.Jump(-9 * time.Second)
	w.open[2].Done(Early)
	w.advanceTo(7000)
	w.open[3].Done(Finished)
	if len(w.log) != 4 || !strings.HasSuffix(w.log[2], "#1") || w.log[3] != "a@7000#1" {
		t.Errorf("delivered %q", w.log)
	}
	if got := w.rows(); got != "" {
		t.Errorf("the index has %q", got)
	}
}

// Dates beyond 64 bits of nanoseconds wait for ever instead of wrapping around.
func TestFarFuture(t *testing.T) {
	w := newWorld(t).start()
	w.must(w.s.Set(obj("a"), 8_640_000_000_000_000, "rpc"))
	w.clock.Advance(100 * 365 * 24 * time.Hour)
	w.want()
	if due, _, ok := w.s.Next(); !ok || due != math.MaxInt64 {
		t.Errorf("due at %d", due)
	}
}

// An index of an older workerd, without names, is upgraded; a broken one is
// named, and the other namespaces go on.
func TestOlderAndBrokenIndexes(t *testing.T) {
	w := newWorld(t)
	w.must(os.MkdirAll(w.nsDir(), 0o700))
	conn, err := sqlite.Open(sqlite.Options{Path: filepath.Join(w.nsDir(), IndexFile), Now: w.clock.Now, Rand: entropy.NewSeeded(2)})
	w.must(err)
	w.must(conn.Exec(fmt.Sprintf(`CREATE TABLE _cf_ALARM (actor_id TEXT PRIMARY KEY, scheduled_time INTEGER) WITHOUT ROWID;
		INSERT INTO _cf_ALARM VALUES ('a', %d)`, epoch.UnixNano())))
	w.must(conn.Close())
	broken := filepath.Join(w.dir, "broken")
	w.must(os.MkdirAll(broken, 0o700))
	path := filepath.Join(broken, IndexFile)
	w.must(os.WriteFile(path, []byte(strings.Repeat("not a database ", 500)), 0o600))
	w.start()
	_, err = w.s.Open(Namespace{Key: "broken", Class: "B", Dir: broken})
	if err == nil || !strings.Contains(err.Error(), path) || !sqlite.IsCode(err, sqlite.CodeNotADB) {
		t.Errorf("a broken index: %v", err)
	}
	w.must(w.s.Set(Object{testNamespace, "a", "named"}, at(5), "rpc"))
	w.advanceTo(5)
	w.want("a@5")
	if got := w.rows(); got != "a=5named" {
		t.Errorf("the index has %q", got)
	}
	if _, err := w.s.Open(Namespace{Key: testNamespace, Class: "Agent", Dir: w.nsDir()}); err == nil {
		t.Error("a namespace was opened twice")
	}
}

// A row that is no alarm is damage, and the error names the index and the row.
func TestRowsThatAreNoAlarms(t *testing.T) {
	for _, row := range []string{`('abc', 'soon')`, `('abc', NULL)`, `(x'616263', 5)`} {
		w := newWorld(t).start()
		dir := filepath.Join(w.dir, "rows")
		w.must(os.MkdirAll(dir, 0o700))
		path := filepath.Join(dir, IndexFile)
		conn, err := sqlite.Open(sqlite.Options{Path: path, Now: w.clock.Now, Rand: entropy.NewSeeded(2)})
		w.must(err)
		w.must(conn.Exec(`CREATE TABLE _cf_ALARM (actor_id TEXT PRIMARY KEY, scheduled_time INTEGER) WITHOUT ROWID; INSERT INTO _cf_ALARM VALUES ` + row))
		w.must(conn.Close())
		_, err = w.s.Open(Namespace{Key: "rows", Class: "R", Dir: dir})
		var damaged *DamageError
		if !errors.As(err, &damaged) || damaged.Path != path || !strings.Contains(err.Error(), `"abc"`) {
			t.Errorf("%s: %v", row, err)
		}
	}
}

// After Close nothing is delivered, no timer is left and calls say so.
func TestClose(t *testing.T) {
	w := newWorld(t).start()
	w.must(w.s.Set(obj("a"), at(5), "rpc"))
	w.must(w.s.Close())
	w.must(w.s.Close())
	w.advanceTo(10)
	w.want()
	_, opened := w.s.Open(Namespace{Key: "x", Dir: t.TempDir()})
	for _, err := range []error{
		opened, w.s.Set(obj("a"), 1, "rpc"), w.s.Clear(obj("a"), "rpc"), w.s.Reconcile(obj("a"), nil, "wake"),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
}

// The same seed gives the same deliveries at the same times.
func TestDeterministic(t *testing.T) {
	run := func() []string {
		w := newWorld(t).start()
		w.answer = func(d Delivery) Outcome { return Outcome((len(w.log) * 7 % 3)) }
		for i := range 20 {
			w.must(w.s.Set(obj(fmt.Sprint(i*13%20)), at(int64(i%4)*1000), "rpc"))
		}
		w.clock.Advance(time.Hour)
		return w.log
	}
	a, b := run(), run()
	if len(a) < 30 || !slices.Equal(a, b) {
		t.Errorf("two runs differ or are empty:\n%q\n%q", a, b)
	}
}
