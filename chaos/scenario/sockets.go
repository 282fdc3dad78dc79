package scenario

import (
	"context"
	"encoding/json"

	"github.com/dop251/goja"

	"minido.dev/minido/chaos/drive"
)

// startSocket reads the arguments of an operation on a socket: open(path,
// header), send(socket, text), receive(socket), close(socket, code, reason).
func (e *engine) startSocket(op *operation, args []goja.Value) {
	if op.kind == "open" {
		op.path = args[0].String()
		if err := json.Unmarshal([]byte(args[1].String()), &op.header); err != nil {
			panic(e.vm.NewTypeError("headers are texts by name: %v", err))
		}
		return
	}
	op.socket = e.sockets[args[0].ToInteger()]
	if op.kind == "send" {
		op.text = args[1].String()
	}
	if op.kind == "close" {
		op.code, op.text = int(args[1].ToInteger()), args[2].String()
	}
}

// onSocket does it, on a goroutine of its own.
func (op *operation) onSocket(ctx context.Context, s *drive.Session) {
	switch op.kind {
	case "open":
		op.socket, op.err = s.OpenSocket(ctx, op.path, op.header)
	case "send":
		op.err = op.socket.Send(ctx, op.text)
	case "close":
		op.err = op.socket.Close(op.code, op.text)
	case "receive":
		var f drive.Frame
		if f, op.err = op.socket.Receive(ctx); op.err == nil {
			op.result.Data, op.err = json.Marshal(f)
		}
	}
}
