package main

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/coder/websocket"
)

// floorMode is the first argument of this program as the bare server.
const floorMode = "floor-server"

// serveFloor answers on the port until the process is killed: every path with
// "hello", paths below /socket with an echo.
func serveFloor(port string) error {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		// An error means that the client has left.
		_, _ = fmt.Fprint(w, "hello")
	})
	mux.HandleFunc("/socket/", echo)
	return http.ListenAndServe("127.0.0.1:"+port, mux)
}

func echo(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = conn.CloseNow() }()
	for {
		kind, data, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		if err := conn.Write(r.Context(), kind, data); err != nil {
			return
		}
	}
}

// socketURL turns http://host into ws://host.
func socketURL(url string) string { return "ws" + strings.TrimPrefix(url, "http") }
