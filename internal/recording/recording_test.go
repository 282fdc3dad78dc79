package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
)

// The picture is well-formed, has every line that was printed in its order, and shows
// each at its time.
func TestDraw(t *testing.T) {
	svg := draw("minido <demo>", 12, []line{{time.Second, "first & <b>"}, {2 * time.Second, ""}, {4 * time.Second, "PASS and a long line"}})
	d := xml.NewDecoder(strings.NewReader(svg))
	var texts []string
	inText := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inText = token.Name.Local == "text"
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				texts = append(texts, string(token))
			}
		}
	}
	if got := strings.Join(texts, "|"); got != "$ minido <d…|first & <b>|PASS and a …" {
		t.Errorf("lines %q", got)
	}
	if !strings.Contains(svg, "@keyframes l2{0%,10.00%{opacity:0}") || !strings.Contains(svg, "@keyframes l4{0%,40.00%{opacity:0}") {
		t.Errorf("the times:\n%s", svg)
	}
}

// A run is recorded line by line; one that fails is not shown as if it had passed.
func TestRecord(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go")
	}
	lines, err := record(clock.Real{}, []string{"go", "env", "GOOS", "GOARCH"})
	if err != nil || len(lines) != 2 || lines[0].at <= 0 {
		t.Errorf("%v, %v", lines, err)
	}
	if _, err := record(clock.Real{}, []string{"go", "no-such-command"}); err == nil {
		t.Error("a failure is recorded as a success")
	}
}
