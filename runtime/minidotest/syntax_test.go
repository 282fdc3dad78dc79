package minidotest

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"minido.dev/minido/internal/golden"
	"minido.dev/minido/internal/reference"
	"minido.dev/minido/internal/syntax"
	"minido.dev/minido/runtime/bundle"
)

// syntaxWorker runs programs, and answers with the logs.
func syntaxWorker(programs []string) string {
	var sb strings.Builder
	sb.WriteString(syntax.Prelude)
	sb.WriteString("const programs = [\n")
	for _, p := range programs {
		sb.WriteString(p)
		sb.WriteString(",\n")
	}
	sb.WriteString("];\nexport default { async fetch() { const logs = []; for (const program of programs) logs.push(await trial(program)); return Response.json(logs); } };\n")
	return sb.String()
}

// minidoLogs runs programs in a world; one that the world does not survive, or that
// does not compile, is told in its place.
func minidoLogs(t testing.TB, programs []string) []string {
	return logsWith(t, programs, nil)
}

// logsWith is minidoLogs of a bundle that amend has changed.
func logsWith(t testing.TB, programs []string, amend func(*bundle.Options)) []string {
	logs, err := tryMinido(t, programs, amend)
	if err == "" {
		return logs
	}
	if len(programs) == 1 {
		return []string{"BROKEN: " + err}
	}
	half := len(programs) / 2
	return append(logsWith(t, programs[:half], amend), logsWith(t, programs[half:], amend)...)
}

func tryMinido(t testing.TB, programs []string, amend func(*bundle.Options)) (logs []string, broken string) {
	defer func() {
		if x := recover(); x != nil {
			broken = fmt.Sprint(x)
		}
	}()
	w := NewWorldFrom(t, map[string]string{"worker.js": syntaxWorker(programs),
		"wrangler.json": `{"name": "test", "main": "worker.js", "compatibility_date": "2026-08-01"}`}, Options{Amend: amend})
	defer w.Stop()
	r := w.Do("POST", "http://localhost/", "")
	if r.Err != nil {
		return nil, r.Err.Error()
	}
	if err := json.Unmarshal([]byte(r.Body), &logs); err != nil {
		return nil, r.Body
	}
	return logs, ""
}

// found reads the programs of testdata/syntax, one a line, and what each is of.
func found(t *testing.T) (programs []string) {
	text, err := os.ReadFile("testdata/syntax/programs.js")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		if !strings.HasPrefix(line, "//") {
			programs = append(programs, "async (W) => { const "+syntax.Names+" = W; "+line+" }")
		}
	}
	return programs
}

// oneLine puts each log on a line of its own.
func oneLine(logs []string) []string {
	for i, log := range logs {
		logs[i] = strings.ReplaceAll(log, "\n", " | ")
	}
	return logs
}

// Programs in which goja or esbuild were found to be wrong log what workerd logged.
func TestSyntax(t *testing.T) {
	if golden.Update() {
		t.Skip("the answers are the reference's")
	}
	golden.Lines(t, "testdata/syntax/logs.txt", oneLine(minidoLogs(t, found(t))))
}

// Programs run as they do without counters where what runs of them is counted.
func TestSyntaxCounted(t *testing.T) {
	counted := &bundle.Counting{Wants: func(string) bool { return true }}
	count := func(b *bundle.Options) { b.Counting = counted }
	golden.Lines(t, "testdata/syntax/logs.txt", oneLine(logsWith(t, found(t), count)))
	programs := make([]string, 60)
	for i := range programs {
		programs[i] = syntax.Program(uint64(i+1), syntaxSize)
	}
	plain := minidoLogs(t, programs)
	for i, log := range logsWith(t, programs, count) {
		if log != plain[i] {
			t.Errorf("seed %d\n%s\n--- counted\n%s\n--- not counted\n%s", i+1, programs[i], log, plain[i])
		}
	}
	files, err := counted.Files()
	if err != nil || len(files) != 2 || len(files[1].Statements) < 1000 {
		t.Errorf("counted: %d files, %v", len(files), err)
	}
}

func TestDifferentialSyntaxLogs(t *testing.T) {
	golden.Lines(t, "testdata/syntax/logs.txt", oneLine(workerdLogs(t, found(t))))
}

// No program breaks the engine, or waits for ever.
func FuzzSyntax(f *testing.F) {
	f.Add(uint64(1), uint8(40))
	f.Fuzz(func(t *testing.T, seed uint64, size uint8) {
		program := syntax.Program(seed, int(size))
		if log := minidoLogs(t, []string{program})[0]; strings.HasPrefix(log, "BROKEN") || strings.HasSuffix(log, "HUNG") {
			t.Errorf("%s\n%s", program, log)
		}
	})
}

// Programs over all syntax around await and yield evaluate their parts in the order
// in which workerd does. MINIDO_SYNTAX says how many, and the first seed:
// 20000 or 20000@7.
func TestDifferentialSyntax(t *testing.T) {
	count, first := 600, uint64(1)
	if text := os.Getenv("MINIDO_SYNTAX"); text != "" {
		n, from, _ := strings.Cut(text, "@")
		var err error
		if count, err = strconv.Atoi(n); err != nil {
			t.Fatal(err)
		}
		if from != "" {
			if first, err = strconv.ParseUint(from, 10, 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	const batch = 200
	for done := 0; done < count; done += batch {
		t.Run(strconv.FormatUint(first, 10), func(t *testing.T) {
			programs := make([]string, min(batch, count-done))
			for i := range programs {
				programs[i] = syntax.Program(first+uint64(i), syntaxSize)
			}
			for _, i := range differences(t, programs) {
				tellSmallest(t, first+uint64(i))
			}
		})
		first += batch
	}
}

// syntaxSize is that of the programs.
const syntaxSize = 40

// differences are the indices of programs that minido runs otherwise than workerd.
func differences(t *testing.T, programs []string) (which []int) {
	want, got := workerdLogs(t, programs), minidoLogs(t, programs)
	for i := range programs {
		if got[i] != want[i] {
			which = append(which, i)
		}
	}
	return which
}

func workerdLogs(t testing.TB, programs []string) (logs []string) {
	p := reference.Start(t, reference.Options{Name: "test", Dir: t.TempDir(), Script: syntaxWorker(programs)})
	defer p.Kill()
	status, body := p.Post("/", "")
	if err := json.Unmarshal([]byte(body), &logs); err != nil {
		t.Fatalf("reference: %d %s", status, body)
	}
	return logs
}

// tellSmallest reports a seed at the smallest size that shows a difference.
func tellSmallest(t *testing.T, seed uint64) {
	programs := make([]string, syntaxSize)
	for i := range programs {
		programs[i] = syntax.Program(seed, i+1)
	}
	which := differences(t, programs)
	if len(which) == 0 {
		t.Errorf("seed %d: differs among others only", seed)
		return
	}
	program := programs[which[0]]
	got, want := minidoLogs(t, []string{program})[0], workerdLogs(t, []string{program})[0]
	t.Errorf("seed %d at size %d\n%s\n--- minido\n%s\n--- workerd\n%s", seed, which[0]+1, program, got, want)
}
