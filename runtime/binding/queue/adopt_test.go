package queue_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/minidotest"
)

// Messages that an earlier minido has kept in its table are delivered before new ones,
// and their attempts count.
func TestMessagesOfTheFirstTable(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"w.js": `export default { async fetch(req, env) { await env.Q.send("new"); return new Response("sent"); } };`,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "queues": {"producers": [{"binding": "Q", "queue": "q"}],
"consumers": [{"queue": "q", "type": "http_pull"}]}}`,
	}, minidotest.Options{})
	w.Do("GET", "http://localhost/", "")
	w.Stop()
	files, err := filepath.Glob(filepath.Join(w.Dir(), "v3", "queues", "minido-queue-q", strings.Repeat("?", 64)+".sqlite"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the broker's files: %v, %v", files, err)
	}
	conn, err := sqlite.Open(sqlite.Options{Path: files[0], MustExist: true, Now: time.Now, Rand: entropy.NewSeeded(1)})
	if err != nil {
		t.Fatal(err)
	}
	err = conn.Exec(fmt.Sprintf(`CREATE TABLE messages (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, timestamp INTEGER NOT NULL,
content_type TEXT NOT NULL, body BLOB NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL, dead INTEGER NOT NULL DEFAULT 0);
CREATE INDEX messages_due ON messages (dead, due, seq);
INSERT INTO messages (seq, id, timestamp, content_type, body, attempts, due) VALUES (7, 'a', %[1]d, 'text', x'6f6c64', 1, %[1]d);
DELETE FROM queued`, w.Now().UnixMilli()))
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	w = w.Restart()
	w.Do("GET", "http://localhost/", "")
	if got, want := pull(t, w, "q", 5).show(), `old text 2, Im5ldyI= json 1`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
