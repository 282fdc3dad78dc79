package server

import (
	"encoding/json"
	"errors"
	"fmt"
	netmail "net/mail"
	"net/url"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	"minido.dev/minido/runtime/binding/sendemail/mail"
	"minido.dev/minido/runtime/event"
)

// The paths at which a developer hands a message to the email handler, as those
// of scheduledPaths.
var emailPaths = []string{"/cdn-cgi/handler/email", "/cdn-cgi/local/email"}

// maxEmailBytes is production's limit of a message.
const maxEmailBytes = 25 << 20

// outcome is what became of an incoming message (miniflare:
// workers/core/entry.worker.ts). Safe for concurrent use.
type outcome struct {
	s        *Server
	incoming *netmail.Message

	mu       sync.Mutex // guards the fields below
	Outcome  string     `json:"outcome"`
	Rejected *string    `json:"rejectReason,omitempty"`
	Forwards []forward  `json:"forwards"`
	Replies  []reply    `json:"replies"`
}

type forward struct {
	Recipient string      `json:"recipient"`
	Headers   [][2]string `json:"headers"`
	MessageID string      `json:"messageId"`
}

type reply struct {
	MessageID string `json:"messageId"`
	Sender    string `json:"sender"`
	Raw       string `json:"raw"`
}

// email answers a request that hands a message to the email handler.
func email(s *Server, req *event.Request, done func(*event.Response, error)) {
	event.ReadAll(req.Body, maxEmailBytes, func(raw []byte, err error) {
		u, urlErr := url.Parse(req.URL)
		if urlErr != nil {
			done(nil, fmt.Errorf("email: %w", urlErr))
			return
		}
		from, to := u.Query().Get("from"), u.Query().Get("to")
		if err != nil {
			done(plain(400, "Email message size is bigger than the production size limit of 25 MiB."), nil)
			return
		}
		if len(raw) == 0 || from == "" || to == "" {
			done(plain(400, "Invalid email. Your request must include URL parameters specifying the `from` and `to` addresses, as well as an email in the body"), nil)
			return
		}
		m, err := netmail.ReadMessage(strings.NewReader(string(raw)))
		if err != nil {
			done(plain(400, "Email could not be parsed: "+err.Error()), nil)
			return
		}
		if m.Header.Get("Message-ID") == "" {
			done(plain(400, "Email could not be parsed: invalid or no message id provided"), nil)
			return
		}
		o := &outcome{s: s, incoming: m, Outcome: "ok", Forwards: []forward{}, Replies: []reply{}}
		o.deliver(&event.Email{From: from, To: to, Raw: raw, Header: headerOf(m)}, u.Query().Get("format") == "json", done)
	})
}

func headerOf(m *netmail.Message) (header event.Header) {
	for name, values := range m.Header { // order-independent: sorted below
		for _, v := range values {
			header = append(header, event.Field{Name: name, Value: v})
		}
	}
	sort.SliceStable(header, func(i, j int) bool { return header[i].Name < header[j].Name })
	return header
}

func (o *outcome) deliver(m *event.Email, structured bool, done func(*event.Response, error)) {
	o.s.withWorker(func(w *worker, err error) {
		if err == nil && w.iso == nil {
			err = errors.New("this project has no worker, only assets")
		}
		if err != nil {
			done(nil, err)
			return
		}
		actions := event.EmailActions{Reject: o.reject, Forward: o.forward, Reply: o.reply, ReplyBuilt: func(builder []byte, done func(string, error)) { o.replyBuilt(builder, m.From, done) }}
		w.iso.Email(m, actions, func(err error) { done(o.response(err, structured)) })
	})
}

// response is what the developer gets.
func (o *outcome) response(err error, structured bool) (*event.Response, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	status := 200
	if err != nil {
		status, o.Outcome = 500, "exception"
		o.s.event(EventFailure, "email: "+err.Error())
	}
	switch {
	case structured:
		body, err := json.Marshal(o)
		if err != nil {
			return nil, fmt.Errorf("email: %w", err)
		}
		return &event.Response{Status: status, StatusText: event.Reason(status), Header: event.Header{{Name: "Content-Type", Value: "application/json"}}, Body: event.Bytes(body)}, nil
	case err != nil && strings.Contains(err.Error(), "does not export a email() function"):
		return plain(500, "Worker does not export an email() handler; message stored without delivery."), nil
	case err != nil:
		return nil, err
	case o.Rejected != nil:
		return plain(400, "Worker rejected email with the following reason: "+*o.Rejected), nil
	}
	return plain(200, "Worker successfully processed email"), nil
}

func (o *outcome) reject(reason string) {
	o.mu.Lock()
	o.Rejected = &reason
	o.mu.Unlock()
	o.s.event(EventWarning, fmt.Sprintf("Email handler rejected message with the following reason: %q", reason))
}

func (o *outcome) forward(recipient string, header event.Header, done func(string, error)) {
	id, err := mail.MessageID(recipient, o.s.opts.Entropy)
	if err != nil {
		done("", err)
		return
	}
	f := forward{Recipient: recipient, Headers: [][2]string{}, MessageID: id}
	for _, h := range header {
		f.Headers = append(f.Headers, [2]string{h.Name, h.Value})
	}
	o.mu.Lock()
	o.Forwards = append(o.Forwards, f)
	o.mu.Unlock()
	o.s.event(EventWarning, "Email handler forwarded message with rcptTo: "+recipient)
	done(f.MessageID, nil)
}

func (o *outcome) reply(from string, raw []byte, done func(string, error)) {
	o.s.opts.Scheduler.Go("email reply", func() {
		err := mail.CheckReply(raw, from, o.incoming)
		id := ""
		if err == nil {
			id, err = mail.MessageID(from, o.s.opts.Entropy)
		}
		if err != nil {
			done("", err)
			return
		}
		o.keep(id, from, mail.WithMessageID(mail.WithReferences(raw, o.incoming), id), done)
	})
}

// replyBuilt is reply with a message builder, which answers who the message is from.
func (o *outcome) replyBuilt(builder []byte, recipient string, done func(string, error)) {
	o.s.opts.Scheduler.Go("email reply", func() {
		raw, id, sender, err := mail.BuildReply(builder, o.incoming, recipient, o.s.opts.Scheduler.Clock().Now(), o.s.opts.Entropy)
		if err != nil {
			done("", err)
			return
		}
		o.keep(id, sender, raw, done)
	})
}

func (o *outcome) keep(id, sender string, raw []byte, done func(string, error)) {
	dir := filepath.Join(o.s.opts.PersistDir, "v3", "email")
	stored, err := mail.Store(mail.Options{Dir: dir, Points: o.s.opts.Points}, "reply", id, []mail.Part{{Suffix: ".eml", Data: raw}})
	if err != nil {
		done("", err)
		return
	}
	o.mu.Lock()
	o.Replies = append(o.Replies, reply{id, sender, string(raw)})
	o.mu.Unlock()
	o.s.event(EventWarning, "Email handler replied to sender with the following message:\n  "+stored.Paths[0])
	done(id, nil)
}
