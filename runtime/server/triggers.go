package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/explorer"
	"minido.dev/minido/runtime/isolate"
)

// The paths at which a developer fires a cron trigger by hand: the documented
// one, and those that older and newer miniflares answer at. wrangler dev's
// --test-scheduled adds /__scheduled.
var scheduledPaths = []string{"/cdn-cgi/handler/scheduled", "/cdn-cgi/mf/scheduled", "/cdn-cgi/local/scheduled"}

const testScheduledPath = "/__scheduled"

// trigger answers a request that fires a handler other than fetch. It reports
// false for every other request.
func (s *Server) trigger(req *event.Request, done func(*event.Response, error)) bool {
	path := pathOf(req.URL)
	if path == explorer.Path || strings.HasPrefix(path, explorer.Path+"/") {
		explore(s, req, done)
		return true
	}
	if slices.Contains(emailPaths, path) {
		email(s, req, done)
		return true
	}
	if web(s, path, req, done) {
		return true
	}
	found := path == testScheduledPath && s.opts.TestScheduled
	for _, p := range scheduledPaths {
		found = found || path == p
	}
	if !found {
		return false
	}
	u, err := url.Parse(req.URL)
	if err != nil {
		done(nil, fmt.Errorf("scheduled: %w", err))
		return true
	}
	q := u.Query()
	at := s.opts.Scheduler.Clock().Now()
	if given := q.Get("time"); given != "" {
		ms, err := strconv.ParseInt(given, 10, 64)
		if err != nil {
			done(plain(400, fmt.Sprintf("time=%s is not a number of milliseconds since the epoch\n", given)), nil)
			return true
		}
		at = time.UnixMilli(ms)
	}
	if path == testScheduledPath { // wrangler: templates/middleware/middleware-scheduled.ts
		answered := false
		answer := func(err error) {
			if answered {
				return
			}
			answered = true
			// The middleware asks a worker that has no handler for nothing, and does not wait
			// for waitUntil.
			if err != nil && err.Error() != isolate.ErrNoScheduled {
				done(nil, err)
				return
			}
			done(plain(200, "Ran scheduled event"), nil)
		}
		s.Scheduled(q.Get("cron"), at, answer, func(_ bool, err error) { answer(err) })
		return true
	}
	fire(s, q.Get("cron"), at, func(noRetry bool, failed error) {
		status, outcome := 200, "ok"
		if failed != nil {
			status, outcome = 500, "exception"
		}
		if q.Get("format") != "json" {
			done(plain(status, outcome), nil)
			return
		}
		body, err := json.Marshal(struct {
			Outcome string `json:"outcome"`
			NoRetry bool   `json:"noRetry"`
		}{outcome, noRetry})
		if err != nil {
			done(nil, err)
			return
		}
		done(&event.Response{Status: status, StatusText: event.Reason(status), Header: event.Header{{Name: "Content-Type", Value: "application/json"}}, Body: event.Bytes(body)}, nil)
	})
	return true
}

// fire delivers a cron event that a developer asked for, and tells the log why it failed.
func fire(s *Server, cron string, at time.Time, done func(noRetry bool, err error)) {
	s.Scheduled(cron, at, nil, func(noRetry bool, err error) {
		if err != nil {
			if err.Error() == isolate.ErrNoScheduled {
				s.noScheduled.Do(func() { // workerd: api/scheduled.c++, logWarningOnce
					s.event(EventWarning, "Received a ScheduledEvent but we lack a handler for ScheduledEvents (a.k.a. Cron Triggers). "+
						"Did you remember to export a scheduled() function?")
				})
			}
			if reported := (isolate.Reported{}); !errors.As(err, &reported) {
				s.event(EventFailure, "scheduled: "+err.Error())
			}
		}
		done(noRetry, err)
	})
}

// maxWebBytes bounds what clients send to bindings.
const maxWebBytes = 100 << 20

// web has a binding answer, if it does so at the path.
func web(s *Server, path string, req *event.Request, done func(*event.Response, error)) bool {
	if !strings.HasPrefix(path, "/__cf_local/") && !strings.HasPrefix(path, "/cdn-cgi/") {
		return false
	}
	w, kind := s.session.drivers.Web(path)
	if w == nil || !slices.ContainsFunc(s.session.members, func(m *Server) bool {
		return slices.ContainsFunc(m.Project().Env(), func(b config.Binding) bool { return b.Kind == kind })
	}) {
		return false
	}
	event.ReadAll(req.Body, maxWebBytes, func(body []byte, err error) {
		if err != nil {
			done(plain(413, err.Error()), nil)
			return
		}
		w.Serve(req, body, func(resp *event.Response) { done(resp, nil) })
	})
	return true
}

func plain(status int, text string) *event.Response {
	return &event.Response{Status: status, StatusText: event.Reason(status), Header: event.Header{{Name: "Content-Type", Value: "text/plain;charset=UTF-8"}},
		Body: event.Bytes([]byte(text))}
}
