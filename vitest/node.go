package vitest

import (
	"bufio"
	_ "embed" // what answers in Node.js
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"minido.dev/minido/runtime/event"
)

//go:embed js/node.js
var nodeModule string

// A node is a process of Node.js in which a file that is made for it is evaluated: one that
// needs more than minido has of Node.js. It belongs to the goroutine that asks.
type node struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// nodes are the processes of one run.
type nodes struct {
	program string // of Node.js, "" if there is none
	all     []*node
}

func findNode() *nodes {
	program, err := exec.LookPath("node")
	if err != nil {
		return &nodes{}
	}
	return &nodes{program: program}
}

// end ends all processes.
func (ns *nodes) end() error {
	var errs []error
	for _, n := range ns.all {
		errs = append(errs, n.in.Close())
		var exit *exec.ExitError
		if err := n.cmd.Wait(); err != nil && !errors.As(err, &exit) {
			errs = append(errs, err)
		}
	}
	ns.all = nil
	return errors.Join(errs...)
}

// start starts a process that answers questions about file.
func (ns *nodes) start(o *Options, file string) (*node, error) {
	text, err := forNode(file, fmt.Sprintf(`import { serve } from "minido:node"; serve(() => import(%q));`, file), api.FormatESModule, nodePlugin)
	if err != nil {
		return nil, err
	}
	// Packages are found from where the program lies.
	cache := filepath.Join(filepath.Dir(file), ".wrangler", "minido-test")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, fmt.Errorf("vitest: %w", err)
	}
	dir, err := generated(cache, "node", map[string]string{"config.mjs": text})
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(ns.program, "--enable-source-maps", filepath.Join(dir, "config.mjs"))
	cmd.Dir, cmd.Stderr = o.Dir, os.Stderr
	cmd.Env = append(o.environ(), "MINIDO_PIPES=3,4")
	n := &node{cmd: cmd}
	if runtime.GOOS == "windows" { // which hands on no other files
		cmd.Env = append(cmd.Env, "MINIDO_PIPES=0,1")
		if n.in, err = cmd.StdinPipe(); err != nil {
			return nil, fmt.Errorf("vitest: %w", err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, fmt.Errorf("vitest: %w", err)
		}
		n.out = bufio.NewReader(out)
		if err := cmd.Start(); err != nil {
			return nil, fmt.Errorf("vitest: %w", err)
		}
	} else if err := n.startWithPipes(); err != nil {
		return nil, fmt.Errorf("vitest: %w", err)
	}
	ns.all = append(ns.all, n)
	return n, nil
}

// startWithPipes starts the process with two pipes besides its standard files, which child
// processes of the user's write to.
func (n *node) startWithPipes() error {
	questions, in, err := os.Pipe()
	if err != nil {
		return err
	}
	out, answers, err := os.Pipe()
	if err != nil {
		return errors.Join(err, questions.Close(), in.Close())
	}
	n.cmd.Stdout, n.cmd.ExtraFiles = os.Stderr, []*os.File{questions, answers}
	n.in, n.out = in, bufio.NewReader(out)
	err = n.cmd.Start()
	return errors.Join(err, questions.Close(), answers.Close())
}

// ask asks the process, and answers what it asks meanwhile.
func (n *node) ask(op string, args any, answer any) error {
	if err := n.write(map[string]any{"op": op, "args": args}); err != nil {
		return err
	}
	for {
		line, err := n.out.ReadBytes('\n')
		if err != nil {
			return errors.New("Node.js has ended; what it says is above") //lint:ignore ST1005 a name
		}
		var m struct {
			Ask        int
			Migrations string
			Value      json.RawMessage
			Error      *string
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("vitest: Node.js answered %q: %w", line, err)
		}
		switch {
		case m.Ask > 0:
			reply := map[string]any{"answer": m.Ask}
			if list, err := migrations(m.Migrations); err != nil {
				reply["error"] = err.Error()
			} else {
				reply["value"] = list
			}
			if err := n.write(reply); err != nil {
				return err
			}
		case m.Error != nil:
			return errors.New(*m.Error)
		default:
			return json.Unmarshal(m.Value, answer)
		}
	}
}

func (n *node) write(message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("vitest: %w", err)
	}
	if _, err := n.in.Write(append(text, '\n')); err != nil {
		return errors.New("Node.js has ended; what it says is above") //lint:ignore ST1005 a name
	}
	return nil
}

// environ is the environment in which vitest evaluates configurations.
func (o *Options) environ() []string {
	env := append([]string{"NODE_ENV=test"}, o.Environ...)
	return append(env, "VITEST=true", "TEST=true", "VITEST_MODE=RUN")
}

// nodePlugin leaves packages to Node.js, but for those that minido stands in for.
var nodePlugin = api.Plugin{Name: "minido-node", Setup: func(b api.PluginBuild) {
	b.OnResolve(api.OnResolveOptions{Filter: "^minido:node$"}, func(api.OnResolveArgs) (api.OnResolveResult, error) {
		return api.OnResolveResult{Path: "node", Namespace: "minido-node"}, nil
	})
	b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "minido-node"}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
		return api.OnLoadResult{Contents: &nodeModule}, nil
	})
	b.OnResolve(api.OnResolveOptions{Filter: `^(vitest/config|minido/vitest|@cloudflare/(vitest-plugin|vitest-pool-workers)(/config)?)$`}, func(api.OnResolveArgs) (api.OnResolveResult, error) {
		return api.OnResolveResult{Path: "config", Namespace: "minido"}, nil
	})
	b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "minido"}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
		text := configModules + fetchMockModule
		return api.OnLoadResult{Contents: &text}, nil
	})
	b.OnResolve(api.OnResolveOptions{Filter: `^[^./]`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		if a.Kind == api.ResolveEntryPoint || filepath.IsAbs(a.Path) || strings.HasPrefix(a.Path, "#") {
			return api.OnResolveResult{}, nil
		}
		return api.OnResolveResult{Path: a.Path, External: true}, nil
	})
}}

// nodeHost is the host of the functions that run in Node.js.
const nodeHost = "node.minido.test"

// nodeFunctionWorker answers with a function that runs in Node.js.
const nodeFunctionWorker = `const { fetch } = globalThis;
export default {
  async fetch(request) {
    const body = btoa(String.fromCharCode(...new Uint8Array(await request.arrayBuffer())));
    const asked = await fetch("http://` + nodeHost + `/", { method: "POST", body: JSON.stringify({ n: %d, url: request.url, method: request.method, headers: [...request.headers], body }) });
    const { status, headers, body: text, error } = await asked.json();
    if (error !== undefined) throw new Error(error);
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new Response([101, 204, 205, 304].includes(status) ? null : bytes, { status, headers });
  },
};`

// serve answers a worker of nodeFunctionWorker.
func (n *node) serve(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	event.ReadAll(req.Body, 0, func(body []byte, err error) {
		var answer json.RawMessage
		if err == nil {
			err = n.ask("function", json.RawMessage(body), &answer)
		}
		if err != nil {
			answer, err = json.Marshal(map[string]string{"error": err.Error()})
		}
		if err != nil {
			done(nil, err)
			return
		}
		done(&event.Response{Status: 200, StatusText: "OK", Header: event.Header{{Name: "Content-Type", Value: "application/json"}}, Body: event.Bytes(answer)}, nil)
	})
	return func(error) {}
}
