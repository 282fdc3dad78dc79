package e2e

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// patience bounds each step in the browser: a loaded machine takes its time.
const patience = 30 * time.Second

// browserPage is a tab of a real Chromium, driven over its DevTools protocol. It is
// for one goroutine.
type browserPage struct {
	t       *testing.T
	conn    *websocket.Conn
	session string
	last    int
}

// browse starts Chromium with one empty tab, until the test ends. Without Chromium
// the test is skipped.
func browse(t *testing.T) *browserPage {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no chromium on this machine: install Debian's package chromium")
	}
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--window-size=1280,800", "--user-data-dir="+t.TempDir(), "--remote-debugging-port=0", "about:blank")
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := ""
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, found, ok := strings.Cut(lines.Text(), "DevTools listening on "); ok {
			address = found
			break
		}
	}
	p := &browserPage{t: t}
	t.Cleanup(func() {
		if p.conn != nil {
			if _, err := p.try("Browser.close", nil); err != nil {
				t.Log(err)
			}
			p.conn.CloseNow()
		} else if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		for lines.Scan() { // until it has ended
		}
		_ = cmd.Wait() // how a browser ends says nothing
	})
	if address == "" {
		t.Fatal("chromium does not say where it listens")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if p.conn, _, err = websocket.Dial(ctx, address, nil); err != nil {
		t.Fatal(err)
	}
	p.conn.SetReadLimit(64 << 20)
	p.open()
	return p
}

// tab is another tab of the same browser. Tabs take turns on one connection.
func (p *browserPage) tab() *browserPage {
	p.t.Helper()
	other := &browserPage{t: p.t, conn: p.conn, last: p.last + 1<<20}
	other.open()
	return other
}

func (p *browserPage) open() {
	p.t.Helper()
	var target struct{ TargetID string }
	p.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	p.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	p.session = attached.SessionID
	p.call("Page.enable", nil, nil)
}

func (p *browserPage) try(method string, params any) (json.RawMessage, error) {
	p.last++
	message := map[string]any{"id": p.last, "method": method}
	if params != nil {
		message["params"] = params
	}
	if p.session != "" {
		message["sessionId"] = p.session
	}
	text, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.conn.Write(ctx, websocket.MessageText, text); err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	for {
		_, text, err := p.conn.Read(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		var answer struct {
			ID     int
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(text, &answer); err != nil {
			return nil, err
		}
		if answer.ID != p.last {
			continue // an event
		}
		if answer.Error != nil {
			return nil, errors.New(method + ": " + answer.Error.Message)
		}
		return answer.Result, nil
	}
}

func (p *browserPage) call(method string, params, into any) {
	p.t.Helper()
	result, err := p.try(method, params)
	if err == nil && into != nil {
		err = json.Unmarshal(result, into)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// visit navigates.
func (p *browserPage) visit(url string) {
	p.t.Helper()
	var got struct{ ErrorText string }
	p.call("Page.navigate", map[string]any{"url": url}, &got)
	if got.ErrorText != "" {
		p.t.Fatalf("%s: %s", url, got.ErrorText)
	}
}

// eval evaluates an expression in the page, awaits it, and returns it as text.
func (p *browserPage) eval(expression string) string {
	p.t.Helper()
	var got struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	p.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true}, &got)
	if got.ExceptionDetails != nil {
		p.t.Fatalf("%s: %s", expression, got.ExceptionDetails.Exception.Description)
	}
	return fmt.Sprint(got.Result.Value)
}

// until waits until an expression is truthy, and returns it as text.
func (p *browserPage) until(expression string) string {
	p.t.Helper()
	got := p.eval(`new Promise((done, fail) => {
		const end = performance.now() + ` + fmt.Sprint(patience.Milliseconds()/2) + `;
		const look = () => {
			let value;
			try { value = (` + expression + `) } catch {}
			if (value) done(value);
			else if (performance.now() > end) done("minido: it did not come");
			else setTimeout(look, 20);
		};
		look();
	})`)
	if got == "minido: it did not come" {
		p.t.Fatalf("%s never holds; the page shows:\n%s", expression, p.eval("document.body.innerText"))
	}
	return got
}

// click clicks the first element of a kind whose text is the given one.
func (p *browserPage) click(selector, text string) {
	p.t.Helper()
	quoted, _ := json.Marshal(text)
	p.until(`[...document.querySelectorAll("` + selector + `")].find(e => e.textContent.trim() === ` + string(quoted) + ` && !e.disabled && (e.click(), true))`)
}

// key presses a key where the focus is; text is what it writes, code its number in Windows.
func (p *browserPage) key(name, text string, code int) {
	p.t.Helper()
	p.call("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": name, "text": text, "windowsVirtualKeyCode": code}, nil)
	p.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": name, "windowsVirtualKeyCode": code}, nil)
}

// dark has the page believe that its user prefers dark colours, or light ones, and no
// colour that changes slowly.
func (p *browserPage) dark(dark bool) {
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	p.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}}}, nil)
}

// screenshot is what the page looks like, as PNG.
func (p *browserPage) screenshot() []byte {
	p.t.Helper()
	var got struct{ Data string }
	p.call("Page.captureScreenshot", map[string]any{"format": "png"}, &got)
	b, err := base64.StdEncoding.DecodeString(got.Data)
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}
