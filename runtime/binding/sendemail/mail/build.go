package mail

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/lazyregexp"
)

// Builder is a reply that is a message builder, as the email handler hands it on:
// addresses are written out, and attachments are base64.
type Builder struct {
	// Sender is the From header, Address the bare address in it.
	Sender  string  `json:"sender"`
	Address string  `json:"address"`
	ReplyTo *string `json:"replyTo"`
	Subject string  `json:"subject"`
	// Headers are pairs of a name in small letters and a value.
	Headers     [][2]string `json:"headers"`
	Text        string      `json:"text"`
	HTML        string      `json:"html"`
	Attachments []struct {
		Filename    string  `json:"filename"`
		Type        string  `json:"type"`
		Disposition *string `json:"disposition"`
		ContentID   *string `json:"contentId"`
		Content     string  `json:"content"`
	} `json:"attachments"`
}

// managed are the headers that a message has from its other members.
var managed = []string{"bcc", "cc", "content-transfer-encoding", "content-type", "date", "from", "in-reply-to", "message-id", "mime-version", "references", "reply-to", "subject", "to"}

var (
	mediaType = lazyregexp.New("^[!#$%&'*+\\-.^_`|~0-9A-Za-z]+/[!#$%&'*+\\-.^_`|~0-9A-Za-z]+$")
	base64s   = lazyregexp.New(`^[A-Za-z0-9+/]*={0,2}$`)
	space     = lazyregexp.New(`\s`)
	control   = lazyregexp.New(`[\x00-\x1f\x7f]`)
)

var errHeaders = errors.New("invalid headers set")

// check refuses what miniflare refuses (workers/email/mime.ts).
func (b *Builder) check(recipient string) error {
	fields := []string{b.Sender, recipient, b.Subject}
	if b.ReplyTo != nil {
		fields = append(fields, *b.ReplyTo)
	}
	for _, a := range b.Attachments {
		fields = append(fields, a.Filename)
		if a.ContentID != nil {
			fields = append(fields, *a.ContentID)
		}
	}
	if slices.ContainsFunc(fields, control.MatchString) {
		return errHeaders
	}
	for _, a := range b.Attachments {
		inline := a.Disposition != nil && *a.Disposition == "inline"
		if !mediaType.MatchString(a.Type) || a.Disposition != nil && !inline && *a.Disposition != "attachment" || inline && (a.ContentID == nil || *a.ContentID == "") {
			return errors.New("invalid attachment")
		}
	}
	for _, h := range b.Headers {
		if control.MatchString(h[1]) || h[0] == "received" {
			return errHeaders
		}
	}
	return nil
}

// BuildReply makes the message that answers an incoming one; text is a Builder. It
// gives the message, its id and its sender.
func BuildReply(text []byte, incoming *mail.Message, recipient string, now time.Time, source entropy.Source) (raw []byte, id, sender string, err error) {
	if !replyable(incoming) {
		return nil, "", "", errNotReplyable
	}
	var b Builder
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, "", "", fmt.Errorf("email: %w", err)
	}
	if err := b.check(recipient); err != nil {
		return nil, "", "", err
	}
	if id, err = MessageID(b.Address, source); err != nil {
		return nil, "", "", err
	}
	raw, err = b.message(id, incoming, recipient, now, source)
	return raw, id, b.Sender, err
}

func (b *Builder) message(id string, incoming *mail.Message, recipient string, now time.Time, source entropy.Source) ([]byte, error) {
	before := incoming.Header.Get("Message-ID")
	head := []string{"From: " + b.Sender, "To: " + recipient}
	if b.ReplyTo != nil && *b.ReplyTo != "" {
		head = append(head, "Reply-To: "+*b.ReplyTo)
	}
	head = append(head, "Subject: "+b.Subject, "Message-ID: "+id, "Date: "+now.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"), "MIME-Version: 1.0",
		"In-Reply-To: "+before, "References: "+strings.TrimSpace(incoming.Header.Get("References")+" "+before))
	for _, h := range b.Headers {
		if !slices.Contains(managed, h[0]) {
			head = append(head, h[0]+": "+h[1])
		}
	}
	contentType, content, err := b.body(source)
	if err != nil {
		return nil, err
	}
	if len(b.Attachments) == 0 {
		return []byte(strings.Join(append(head, contentType), "\r\n") + "\r\n\r\n" + content), nil
	}
	boundary, err := boundaryOf("Mixed", source)
	if err != nil {
		return nil, err
	}
	head = append(head, `Content-Type: multipart/mixed; boundary="`+boundary+`"`)
	parts := []string{"--" + boundary, contentType, "", content}
	for _, a := range b.Attachments {
		data, err := normalized(a.Content)
		if err != nil {
			return nil, err
		}
		name := strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(a.Filename)
		disposition := "attachment"
		if a.Disposition != nil {
			disposition = *a.Disposition
		}
		parts = append(parts, "--"+boundary, fmt.Sprintf(`Content-Type: %s; name="%s"`, a.Type, name),
			fmt.Sprintf(`Content-Disposition: %s; filename="%s"`, disposition, name), "Content-Transfer-Encoding: base64")
		if disposition == "inline" {
			cid := *a.ContentID
			if !strings.HasPrefix(cid, "<") {
				cid = "<" + cid + ">"
			}
			parts = append(parts, "Content-ID: "+cid)
		}
		parts = append(parts, "", strings.Join(slices.Collect(lines(data)), "\r\n"))
	}
	parts = append(parts, "--"+boundary+"--", "")
	return []byte(strings.Join(head, "\r\n") + "\r\n\r\n" + strings.Join(parts, "\r\n")), nil
}

// body is what a message says, without its attachments.
func (b *Builder) body(source entropy.Source) (contentType, content string, err error) {
	const plain, html = "Content-Type: text/plain; charset=utf-8", "Content-Type: text/html; charset=utf-8"
	switch {
	case b.HTML == "":
		return plain, b.Text, nil
	case b.Text == "":
		return html, b.HTML, nil
	}
	boundary, err := boundaryOf("Part", source)
	return `Content-Type: multipart/alternative; boundary="` + boundary + `"`,
		strings.Join([]string{"--" + boundary, plain, "", b.Text, "--" + boundary, html, "", b.HTML, "--" + boundary + "--", ""}, "\r\n"), err
}

func boundaryOf(what string, source entropy.Source) (string, error) {
	var random [16]byte
	if _, err := source.Read(random[:]); err != nil {
		return "", fmt.Errorf("email: %w", err)
	}
	return "----=_" + what + "_" + hex.EncodeToString(random[:]), nil
}

// normalized is base64 without what stands between its characters.
func normalized(content string) (string, error) {
	content = space.ReplaceAllString(content, "")
	if _, err := base64.StdEncoding.DecodeString(content); err != nil || !base64s.MatchString(content) {
		return "", errors.New("invalid attachment content")
	}
	return content, nil
}

// lines are the lines of base64, of 76 characters (RFC 2045, section 6.8).
func lines(data string) func(yield func(string) bool) {
	const length = 76
	return func(yield func(string) bool) {
		for len(data) > length {
			if !yield(data[:length]) {
				return
			}
			data = data[length:]
		}
		yield(data)
	}
}

var domainLabels = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*\.?$`)

// MessageID is a new message id of a sender's domain, in angle brackets.
func MessageID(from string, source entropy.Source) (string, error) {
	id, err := ID(source)
	if err != nil {
		return "", err
	}
	domain := ""
	if i := strings.LastIndexByte(from, '@'); i >= 0 && domainLabels.MatchString(from[i+1:]) {
		domain = strings.ToLower(from[i+1:])
	}
	return "<" + id + "@" + cmp.Or(domain, "localhost") + ">", nil
}

// WithMessageID is a message whose header has a message id, in the place of its own.
func WithMessageID(raw []byte, id string) []byte {
	text := string(raw)
	end, line := strings.Index(text, "\r\n\r\n"), "\r\n"
	if lf := strings.Index(text, "\n\n"); end < 0 || lf >= 0 && lf < end {
		end, line = lf, "\n"
	}
	if end < 0 {
		return raw
	}
	var out []string
	replaced, skipped := false, false
	for _, l := range strings.Split(text[:end], line) {
		folded := strings.HasPrefix(l, " ") || strings.HasPrefix(l, "\t")
		name, _, _ := strings.Cut(l, ":")
		if !folded {
			skipped = strings.EqualFold(strings.TrimSpace(name), "message-id")
		}
		switch {
		case !skipped:
			out = append(out, l)
		case !replaced:
			replaced = true
			out = append(out, "Message-ID: "+id)
		}
	}
	if !replaced {
		out = append([]string{"Message-ID: " + id}, out...)
	}
	return []byte(strings.Join(out, line) + text[end:])
}

// WithReferences is a reply that names the messages before it, if it does not itself.
func WithReferences(raw []byte, incoming *mail.Message) []byte {
	m, err := Read(raw)
	if err != nil || m.Header.Get("References") != "" {
		return raw
	}
	return append([]byte("References: "+strings.TrimSpace(incoming.Header.Get("References")+" "+incoming.Header.Get("Message-ID"))+"\r\n"), raw...)
}
