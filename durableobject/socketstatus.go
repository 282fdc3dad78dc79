package durableobject

import (
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/engine"
)

// SocketStatus describes a hibernatable socket.
type SocketStatus struct {
	Tags []string
	// Attachment is what serializeAttachment() has stored, as console.log shows it, cut at
	// 16 KB; "" for none.
	Attachment string
	// AutoAtMs is when the auto-response last answered, in milliseconds since the epoch;
	// 0 for never.
	AutoAtMs int64
}

// Sockets describes the sockets of a set, in the order in which they were accepted. The
// object need not be in memory: its attachments are decoded in this realm. done is called
// once, on any goroutine; the error is sched.ErrClosed. Safe for concurrent use.
func (r *Realm) Sockets(set *SocketSet, done func([]SocketStatus, error)) {
	err := r.eng.Post(engine.GlobalFrame, causeOutside, func() {
		list := []SocketStatus{}
		for _, h := range set.list() {
			set.mu.Lock()
			attachment, auto := h.attachment, h.autoAtMs
			set.mu.Unlock()
			s := SocketStatus{Tags: h.Tags(), AutoAtMs: auto}
			if attachment != nil {
				s.Attachment = r.decoded(attachment)
			}
			list = append(list, s)
		}
		done(list, nil)
	})
	if err != nil {
		done(nil, err)
	}
}

// decoded is what was attached to a socket as console.log shows it, or why it cannot be
// shown.
func (r *Realm) decoded(b []byte) (text string) {
	v, err := r.iso.Platform.Clone.Deserialize(b, clone.Options{Mode: clone.Attachment})
	if err != nil {
		return fmt.Sprintf("(cannot be decoded: %s)", err)
	}
	if thrown := r.eng.Try(func() {
		text = r.iso.Platform.Console.InspectWith(v, goja.Undefined(), goja.Undefined())
	}); thrown != nil {
		return fmt.Sprintf("(cannot be shown: %s)", r.eng.Errors.ToEvent(thrown).Message)
	}
	if len(text) > maxShownBytes {
		text = strings.ToValidUTF8(text[:maxShownBytes], "") + "…"
	}
	return text
}
