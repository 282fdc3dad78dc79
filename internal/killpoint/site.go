package killpoint

import "strings"

// maxWrites is how many writes of one commit are told.
const maxWrites = 20

// sites are what is known of where effects come from. Guarded by Points.mu.
type sites struct {
	explains bool
	written  map[string][]string // by object: what its next commit holds
	sending  string
}

// Explains reports whether someone wants to know where effects come from.
func (p *Points) Explains() bool { return p != nil && p.sites.explains }

// Wrote says that the next commit of object holds a write, and where in the source that
// is. Safe for concurrent use.
func (p *Points) Wrote(object, site string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sites.written == nil {
		p.sites.written = map[string][]string{}
	}
	if w := p.sites.written[object]; len(w) < maxWrites {
		p.sites.written[object] = append(w, site)
	}
}

// Unwritten says that object begins anew: what it has not committed never will be. Safe
// for concurrent use.
func (p *Points) Unwritten(object string) {
	if !p.Explains() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sites.written, object)
}

// Sending says where in the source what is sent now comes from; "" when it has left. Safe
// for concurrent use.
func (p *Points) Sending(site string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sites.sending = site
}

// explain sets the Site of a point.
func (s *sites) explain(p *Point) {
	switch {
	case !s.explains:
	case p.Kind == Commit:
		p.Site = strings.Join(s.written[p.Object], "\n")
		if p.Side == After {
			delete(s.written, p.Object)
		}
	case p.Kind != Index && p.Kind != File && p.Kind != Wake && p.Kind != Alarm:
		p.Site = s.sending
	}
}
