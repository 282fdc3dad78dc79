package control

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"minido.dev/minido/runtime/dashboard"
)

// A browser never gets the token of the file. `minido dashboard` buys a ticket
// with it, which stands in the fragment of the page's URL and is good for one
// session token within ticketTime. The page keeps that in its sessionStorage, which
// belongs to the origin with its port: a cookie would be sent to every port of this
// machine, the worker's among them.
const (
	ticketTime  = 2 * time.Minute
	maxSessions = 64 // of pages, the oldest go first; and of tickets
)

// secrets are random texts that are known by their hash alone, so that how long a
// look takes says nothing of them.
type secrets struct {
	list []secret
}

type secret struct {
	sum   [sha256.Size]byte
	until time.Time // zero: as long as the server
}

func (s *secrets) add(text string, until time.Time) {
	if len(s.list) == maxSessions {
		s.list = s.list[1:]
	}
	s.list = append(s.list, secret{sha256.Sum256([]byte(text)), until})
}

func (s *secrets) find(text string, now time.Time) (at int) {
	sum := sha256.Sum256([]byte(text))
	for i, known := range s.list {
		if known.sum == sum && (known.until.IsZero() || now.Before(known.until)) {
			return i
		}
	}
	return -1
}

// random is 256 bits as text.
func (c *Control) random() (string, error) {
	b := make([]byte, 32)
	if _, err := c.opts.Entropy.Read(b); err != nil {
		return "", err
	}
	return hex.EncodeToString(b), nil
}

// DashboardURL is the answer of POST /v1/dashboard.
type DashboardURL struct {
	// URL opens the dashboard, once, within two minutes.
	URL string `json:"url"`
}

// DashboardPage is the address of the dashboard without access to it: what it shows is
// up to the tab, which may have been there before.
func (c *Control) DashboardPage() string { return c.URL() + dashboard.Path + "/" }

// OpenDashboard returns a URL that opens the dashboard, once, within two minutes.
func (c *Control) OpenDashboard() (string, error) {
	ticket, err := c.random()
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tickets.add(ticket, c.opts.Machine.Now().Add(ticketTime))
	return c.DashboardPage() + "#" + ticket, nil
}

func (c *Control) ticket(w http.ResponseWriter, r *http.Request) {
	if !read(w, r, &struct{}{}) {
		return
	}
	url, err := c.OpenDashboard()
	if err != nil {
		failWith(w, err)
		return
	}
	reply(w, http.StatusOK, DashboardURL{url})
}

// sessionPath is the one path of the API without a token: it gives one for a
// ticket.
const sessionPath = "/v1/dashboard/session"

// SessionRequest is the body of POST /v1/dashboard/session.
type SessionRequest struct {
	Ticket string `json:"ticket"`
}

// SessionToken is its answer.
type SessionToken struct {
	Token string `json:"token"`
}

func (c *Control) session(w http.ResponseWriter, r *http.Request) {
	var req SessionRequest
	if !read(w, r, &req) {
		return
	}
	token, err := c.random()
	if err != nil {
		failWith(w, err)
		return
	}
	c.mu.Lock()
	at := c.tickets.find(req.Ticket, c.opts.Machine.Now())
	if at >= 0 {
		c.tickets.list = append(c.tickets.list[:at:at], c.tickets.list[at+1:]...)
		c.sessions.add(token, time.Time{})
	}
	c.mu.Unlock()
	if at < 0 {
		fail(w, http.StatusForbidden, "forbidden", "this address was used before, or is older than two minutes; run `minido dashboard` again")
		return
	}
	reply(w, http.StatusOK, SessionToken{token})
}

// ofPage reports whether the token is that of a page's session.
func (c *Control) ofPage(token string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sessions.find(token, c.opts.Machine.Now()) >= 0
}

// opened reports whether a person follows a link to the dashboard from another page,
// such as the one about an error: the browser shows it in a tab of its own, and the
// other page sees nothing of it.
func opened(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Path == dashboard.Path+"/" && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// public reports whether a request needs no token: the dashboard's files, which
// hold nothing of this server, and the exchange of a ticket.
func public(r *http.Request) bool {
	if r.URL.Path == sessionPath {
		return r.Method == http.MethodPost
	}
	return r.Method == http.MethodGet && (r.URL.Path == dashboard.Path || strings.HasPrefix(r.URL.Path, dashboard.Path+"/"))
}
