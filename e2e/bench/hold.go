package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
)

// holdOpen is the generator that keeps its sockets open: it writes a line when
// each has echoed, and returns when the input has ended.
func (l load) holdOpen(in io.Reader, out io.Writer) error {
	// The limit covers opening and echoing; a context that ends closes sockets.
	ctx, cancel := wait.WithLimit(context.Background(), clock.Real{}, 2*maxLoad)
	defer cancel()
	for n := range l.conns {
		ask, hangUp, err := dialSocket(ctx, l.url)
		if err == nil {
			defer hangUp()
			err = ask(int64(n))
		}
		if err != nil {
			return fmt.Errorf("socket %d of %d: %w", n, l.conns, err)
		}
	}
	if _, err := fmt.Fprintln(out, "open"); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, in)
	return err
}

// holdSockets calls during while so many WebSockets are open.
func (b *bench) holdSockets(ctx context.Context, url string, count int, during func()) (err error) {
	l := load{url: url, sockets: true, hold: true, conns: count}
	cmd := exec.CommandContext(ctx, b.self, l.arguments()...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return errors.Join(err, in.Close())
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close(), cmd.Wait()) }()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return fmt.Errorf("sockets on %s: %w", url, err)
	}
	during()
	return nil
}
