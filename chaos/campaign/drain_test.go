package campaign

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"testing"

	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

// An answer that a server sent before it died is read, however late its client comes to
// it; nothing is sent to the dead.
func TestDrainReadsWhatTheDeadSent(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	threads := sched.NewThreads(clock.Real{})
	h := history.NewRecorder(clock.Real{}, nil)
	s := drive.NewSession(h, threads, deathLimit)
	s.Connect("http://" + listener.Addr().String())
	step, err := drive.Parse(drive.Fetch, "POST /add")
	if err != nil {
		t.Fatal(err)
	}
	steps := drive.NewSteps([]drive.Step{step, step}, drive.StepOptions{})
	ctx, hangUp := context.WithCancel(t.Context())
	driven := make(chan error, 1)
	go func() { driven <- steps.Run(ctx, s) }()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
		t.Fatal(err)
	}
	dead := make(chan bool)
	go func() {
		stopped := drain(s, driven, clock.Real{})
		hangUp()
		dead <- stopped
	}()
	go func() { // what comes before drain has begun is cut
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	for begun := false; !begun; {
		_, err := s.Do(t.Context(), step)
		begun = errors.Is(err, drive.ErrUnsent)
	}
	if _, err := conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1")); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if !<-dead {
		t.Error("the driver did not stop")
	}
	var got []history.Kind
	for _, e := range h.Events() {
		if e.Op == "fetch-1" {
			got = append(got, e.Kind)
		}
	}
	if len(got) != 2 || got[1] != history.Return {
		t.Errorf("the first request ended as %v", got)
	}
}
