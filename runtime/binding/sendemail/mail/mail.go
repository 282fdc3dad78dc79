// Package mail validates the messages of email workers, and stores them in files.
package mail

import (
	"bytes"
	"errors"
	"fmt"
	"net/mail"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"

	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/lazyregexp"
)

// Read parses a message's header.
func Read(raw []byte) (*mail.Message, error) {
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("could not parse email: %w", err)
	}
	return m, nil
}

// Check refuses what miniflare refuses of an EmailMessage, in its words
// (workers/email/send_email.worker.ts).
func Check(raw []byte, from string) error {
	if len(raw) == 0 {
		return errors.New("could not parse email: Cannot read properties of undefined (reading 'value')")
	}
	m, err := Read(raw)
	var malformed textproto.ProtocolError
	switch {
	case err != nil && !messageID.MatchString(string(raw)): // miniflare's parser reads any header
		return errNoID
	case errors.As(err, &malformed):
		return errors.New("email header block contains an invalid field")
	case err != nil:
		return err
	}
	if m.Header.Get("Message-ID") == "" {
		return errNoID
	}
	if a, err := mail.ParseAddress(m.Header.Get("From")); err != nil || a.Address != from {
		return errNotFrom
	}
	if m.Header.Get("Received") != "" {
		return errors.New("invalid headers set")
	}
	return nil
}

var (
	messageID = lazyregexp.New(`(?im)^Message-ID[ \t]*:`)
	errNoID   = errors.New("invalid message-id")
)

var errNotFrom = errors.New("From: header does not match mail from") //lint:ignore ST1005 the text is miniflare's

var errNotReplyable = errors.New("Original email is not replyable") //lint:ignore ST1005 the text is miniflare's

// CheckReply refuses a reply to an incoming message, as miniflare does
// (workers/core/entry.worker.ts).
func CheckReply(raw []byte, from string, incoming *mail.Message) error {
	if !replyable(incoming) {
		return errNotReplyable
	}
	m, err := Read(raw)
	if err != nil {
		return err
	}
	a, err := mail.ParseAddress(m.Header.Get("From"))
	switch id := incoming.Header.Get("Message-ID"); {
	case err != nil || a.Address != from:
		return errNotFrom
	case m.Header.Get("Received") != "":
		return errors.New("invalid headers set")
	case m.Header.Get("In-Reply-To") == "":
		return errors.New("no In-Reply-To header found in reply message")
	case m.Header.Get("In-Reply-To") != id:
		return errors.New("In-Reply-To does not match original Message-ID")
	case m.Header.Get("References") != "" && !strings.Contains(m.Header.Get("References"), id):
		return errors.New("provided References header is invalid")
	}
	return nil
}

// maxReferences is how long a thread may be that a worker replies to.
const maxReferences = 100

func replyable(m *mail.Message) bool {
	if v := strings.ToLower(m.Header.Get("X-Auto-Response-Suppress")); v != "" && v != "none" {
		return false
	}
	if v := strings.ToLower(m.Header.Get("Auto-Submitted")); v != "" && v != "no" {
		return false
	}
	references := strings.Fields(m.Header.Get("References"))
	return (m.Header.Get("In-Reply-To") == "") == (len(references) == 0) && len(references) <= maxReferences
}

// Options say where messages are kept. Points may be nil.
type Options struct {
	Dir    string
	Points *killpoint.Points
}

// Stored is a message in its files.
type Stored struct {
	MessageID string `json:"messageId"`
	// Paths are those of its parts, in their order.
	Paths []string `json:"paths"`
}

// alphabet is what names are made of (miniflare: workers/email/message-id.ts).
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// ID is a random name.
func ID(source entropy.Source) (string, error) {
	var id [36]byte
	if _, err := source.Read(id[:]); err != nil {
		return "", fmt.Errorf("email: %w", err)
	}
	for i, b := range id {
		id[i] = alphabet[int(b)%len(alphabet)]
	}
	return string(id[:]), nil
}

// Part is a file of a message: its name is the message's with the suffix.
type Part struct {
	Suffix string
	Data   []byte
}

// Store writes a message, durably, to files below Dir/folder that have the name of its
// id.
func Store(o Options, folder, id string, parts []Part) (Stored, error) {
	s := Stored{MessageID: id}
	dir, name := filepath.Join(o.Dir, folder), strings.Trim(id, "<>")
	if name != filepath.Base(name) {
		return s, fmt.Errorf("email: %q is no name of a file", name)
	}
	for _, p := range parts {
		s.Paths = append(s.Paths, filepath.Join(dir, name+p.Suffix))
	}
	err := o.Points.Effect(killpoint.Store, "email/"+folder, "send", func() error {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("email: %w", err)
		}
		for i, p := range parts {
			f, err := os.OpenFile(s.Paths[i], os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
			if err != nil {
				return fmt.Errorf("email: %w", err)
			}
			_, err = f.Write(p.Data)
			if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
				return fmt.Errorf("email: %w", err)
			}
		}
		return nil
	})
	return s, err
}
