package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Client calls the API of one server. Safe for concurrent use. Close ends its
// connections.
type Client struct {
	session Session
	http    *http.Client
}

// NewClient returns a client of a server. It uses no proxy: the token must not
// leave the machine.
func NewClient(s Session) *Client {
	return &Client{session: s, http: &http.Client{
		Transport:     &http.Transport{Proxy: nil, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// CallError is a failure that the server reported.
type CallError struct {
	Status  int
	Code    string
	Message string
}

// Error implements error.
func (e *CallError) Error() string { return e.Message }

// Get fetches a path such as /v1/objects into a JSON value.
func (c *Client) Get(ctx context.Context, path string, into any) error {
	return c.call(ctx, http.MethodGet, path, nil, into)
}

// Follow calls give with each line of the feed, until ctx ends or the server does.
// query is that of GET /v1/feed.
func (c *Client) Follow(ctx context.Context, query string, give func(FeedLine)) error {
	return c.call(ctx, http.MethodGet, "/v1/feed?"+query, nil, &lines{give: give})
}

// Post sends a JSON body and reads a JSON answer; into may be nil, or an
// io.Writer that gets the answer as it is.
func (c *Client) Post(ctx context.Context, path string, body, into any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("control: %s: %w", path, err)
	}
	return c.call(ctx, http.MethodPost, path, b, into)
}

func (c *Client) call(ctx context.Context, method, path string, body []byte, into any) (err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.session.URL+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.session.Token)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if resp.StatusCode != http.StatusOK {
		var f Failure
		if err := json.NewDecoder(resp.Body).Decode(&f); err != nil || f.Error.Message == "" {
			return &CallError{resp.StatusCode, "unknown", fmt.Sprintf("%s %s: %s", method, path, resp.Status)}
		}
		return &CallError{resp.StatusCode, f.Error.Code, f.Error.Message}
	}
	switch to := into.(type) {
	case nil:
		return nil
	case io.Writer:
		_, err := io.Copy(to, resp.Body)
		return err
	default:
		d := json.NewDecoder(resp.Body)
		d.UseNumber()
		return d.Decode(into)
	}
}

// lines is a writer that decodes each line of JSON.
type lines struct {
	rest []byte
	give func(FeedLine)
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		var got FeedLine
		if err := json.Unmarshal(line, &got); err != nil {
			return 0, fmt.Errorf("control: /v1/feed: %w", err)
		}
		l.rest = rest
		l.give(got)
	}
}
