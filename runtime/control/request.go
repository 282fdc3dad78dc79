package control

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of a request that the API sends to the worker.
const (
	requestTime      = 60 * time.Second
	maxResponseBytes = 4 << 20
)

// WorkerRequest is the body of POST /v1/request.
type WorkerRequest struct {
	Method  string     `json:"method"`
	Path    string     `json:"path"`              // with its query: "/agents/chat/lobby?x=1"
	Headers [][]string `json:"headers,omitempty"` // pairs of name and value
	Body    string     `json:"body,omitempty"`
	Base64  string     `json:"base64,omitempty"` // instead of Body: bytes
}

// WorkerResponse is its answer: what the worker's listener said.
type WorkerResponse struct {
	Status  int        `json:"status"`
	Headers [][]string `json:"headers"` // pairs of name and value, in the order of their names
	// Text is the body if it is UTF-8, Base64 if it is not.
	Text   string `json:"text"`
	Base64 string `json:"base64,omitempty"`
	// Truncated says that the body went on.
	Truncated bool  `json:"truncated"`
	HeadUs    int64 `json:"head_us"` // from the request to the response's head, in microseconds
	TookUs    int64 `json:"took_us"` // to its end
}

// request sends a request to the worker as any client would, so that it is logged,
// counted and recorded like theirs.
func (c *Control) request(w http.ResponseWriter, r *http.Request) {
	var ask WorkerRequest
	if !read(w, r, &ask) {
		return
	}
	out, err := c.worker(ask, r)
	if err != nil {
		fail(w, http.StatusBadRequest, "bad_request", err.Error())
		return
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}, Timeout: requestTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	began := c.opts.Machine.Now()
	resp, err := client.Do(out)
	if err != nil {
		failWith(w, fmt.Errorf("the worker's listener: %w", err))
		return
	}
	defer resp.Body.Close()
	answer := WorkerResponse{Status: resp.StatusCode, Headers: [][]string{}, HeadUs: c.opts.Machine.Now().Sub(began).Microseconds()}
	for _, name := range slices.Sorted(maps.Keys(resp.Header)) {
		for _, value := range resp.Header[name] {
			answer.Headers = append(answer.Headers, []string{name, value})
		}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponseBytes+1))
	if err != nil {
		failWith(w, fmt.Errorf("the response broke off: %w", err))
		return
	}
	answer.TookUs = c.opts.Machine.Now().Sub(began).Microseconds()
	if answer.Truncated = len(body) > maxResponseBytes; answer.Truncated {
		body = body[:maxResponseBytes]
	}
	if utf8.Valid(body) {
		answer.Text = string(body)
	} else {
		answer.Base64 = base64.StdEncoding.EncodeToString(body)
	}
	reply(w, http.StatusOK, answer)
}

// worker makes the request; it can go nowhere but to the worker's own listener.
func (c *Control) worker(ask WorkerRequest, r *http.Request) (*http.Request, error) {
	base := c.opts.Server.URL()
	if base == "" {
		return nil, errors.New("this server has no listener")
	}
	path, err := url.ParseRequestURI(ask.Path)
	if err != nil || !strings.HasPrefix(ask.Path, "/") || path.Host != "" {
		return nil, fmt.Errorf("path: %q is not a path such as /a?b=c", ask.Path)
	}
	to, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	to.Path, to.RawPath, to.RawQuery = path.Path, path.RawPath, path.RawQuery
	body := []byte(ask.Body)
	if ask.Base64 != "" {
		if body, err = base64.StdEncoding.DecodeString(ask.Base64); err != nil {
			return nil, fmt.Errorf("base64: %w", err)
		}
	}
	out, err := http.NewRequestWithContext(r.Context(), ask.Method, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for _, h := range ask.Headers {
		if len(h) != 2 || strings.EqualFold(h[0], "Host") {
			return nil, errors.New("headers: they are pairs of name and value, without Host")
		}
		out.Header.Add(h[0], h[1])
	}
	return out, nil
}
