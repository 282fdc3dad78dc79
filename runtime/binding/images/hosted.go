package images

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/binding/kv"
)

// Paths of what is hosted (miniflare: workers/core/constants.ts).
const (
	deliveryPath = "/__cf_local/imagedelivery"
	uploadPath   = "/__cf_local/imageupload"
)

// Class is miniflare's class of the namespace that has the hosted pictures, and
// dataName the namespace.
const (
	Class    = "miniflare-images-KVNamespaceObject"
	dataName = "images-data"
)

// signingSecret is what miniflare signs with, so that its addresses hold here.
const signingSecret = "miniflare-local-dev-images-signing-key"

// draftSuffix is behind the id of an upload that nobody has made yet, for the key that
// has the end of its time in seconds.
const draftSuffix = ":direct-upload-expiry"

// refusal is an error of the service with the reference's text.
type refusal string

// Error implements error.
func (r refusal) Error() string { return string(r) }

// stored is what is kept of a picture beside its bytes; its members have the
// reference's order.
type stored struct {
	ID                string          `json:"id"`
	Filename          *string         `json:"filename,omitempty"`
	Uploaded          string          `json:"uploaded"`
	RequireSignedURLs bool            `json:"requireSignedURLs"`
	Meta              json.RawMessage `json:"meta"`
	Variants          []string        `json:"variants"`
	Draft             bool            `json:"draft"`
	Creator           *string         `json:"creator,omitempty"`
}

// request is what the operations are asked; each has members of its own.
type request struct {
	ID                string          `json:"id"`
	Given             bool            `json:"given"` // the id is the worker's own
	Filename          *string         `json:"filename"`
	RequireSignedURLs *bool           `json:"requireSignedURLs"`
	Metadata          json.RawMessage `json:"metadata"`
	Creator           *string         `json:"creator"`
	Variant           string          `json:"variant"`
	ExpiresIn         *float64        `json:"expiresIn"`
	Limit             *int            `json:"limit"`
	Cursor            string          `json:"cursor"`
	SortOrder         string          `json:"sortOrder"`
	Filter            struct {
		Metadata map[string]any `json:"metadata"`
	} `json:"filter"`
}

func (d *bindings) data() (*kv.Namespace, error) {
	return d.Get(dataName, func(dir string) (*kv.Namespace, error) {
		s := d.session
		return kv.Open(kv.Options{Dir: dir, Class: Class, ID: dataName, Clock: s.Scheduler.Clock(), Entropy: s.Entropy.Fork("images"), Points: s.Points})
	})
}

// hosted does one operation. It blocks on the disk.
func (d *bindings) hosted(op string, args, body []byte) (result any, data []byte, err error) {
	var r request
	if err := json.Unmarshal(args, &r); err != nil {
		return nil, nil, err
	}
	n, err := d.data()
	if err != nil {
		return nil, nil, err
	}
	switch op {
	case "details":
		m, _, err := d.find(n, r.ID)
		if err != nil || m == nil {
			return nil, nil, err
		}
		return d.shown(*m), nil, nil
	case "bytes":
		v, err := n.Get(r.ID)
		if err != nil || v == nil {
			return false, nil, err
		}
		return true, v.Data, nil
	case "signedUrl":
		text, err := d.signed(r, n.Now())
		return text, nil, err
	case "update":
		result, err = d.update(n, r)
	case "delete":
		v, err := n.Get(r.ID)
		if err != nil || v == nil {
			return false, nil, err
		}
		return true, nil, n.Delete(r.ID)
	case "upload":
		name := "uploaded.jpg"
		m := d.fresh(r, n.Now())
		m.Filename = cmp.Or(r.Filename, &name)
		if err := put(n, m, body); err != nil {
			return nil, nil, err
		}
		return d.shown(m), nil, nil
	case "createDirectUpload":
		result, err = d.draft(n, r)
	case "list":
		result, err = d.list(n, r)
	}
	return result, nil, err
}

func (d *bindings) fresh(r request, now int64) stored {
	m := stored{ID: r.ID, Uploaded: time.UnixMilli(now).UTC().Format("2006-01-02T15:04:05.000Z"), Meta: r.Metadata, Variants: []string{"public"}, Creator: r.Creator}
	if r.RequireSignedURLs != nil {
		m.RequireSignedURLs = *r.RequireSignedURLs
	}
	if len(m.Meta) == 0 || string(m.Meta) == "null" {
		m.Meta = json.RawMessage("{}")
	}
	return m
}

func put(n *kv.Namespace, m stored, data []byte) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return n.Put(kv.Entry{Key: m.ID, Metadata: string(text)}, data)
}

// find is what is kept under an id; nil if there is none.
func (d *bindings) find(n *kv.Namespace, id string) (*stored, []byte, error) {
	v, err := n.Get(id)
	if err != nil || v == nil || v.Metadata == "" {
		return nil, nil, err
	}
	var m stored
	if err := json.Unmarshal([]byte(v.Metadata), &m); err != nil {
		return nil, nil, err
	}
	return &m, v.Data, nil
}

// shown is what workers see: variants are addresses.
func (d *bindings) shown(m stored) stored {
	all := make([]string, len(m.Variants))
	for i, v := range m.Variants {
		all[i] = d.variant(m.ID, v).String()
	}
	m.Variants = all
	return m
}

// address is a path on the address that clients reach the worker at.
func (d *bindings) address(path string) *url.URL {
	u, err := url.Parse(d.session.URL())
	if err != nil || u.Host == "" {
		u = &url.URL{Scheme: "http", Host: "localhost"} // nothing listens: tests, simulations
	}
	u.Path = path
	return u
}

func (d *bindings) variant(id, variant string) *url.URL {
	return d.address(deliveryPath + "/" + id + "/" + variant)
}

func sign(u *url.URL) string {
	mac := hmac.New(sha256.New, []byte(signingSecret))
	text := u.EscapedPath()
	if u.RawQuery != "" {
		text += "?" + u.RawQuery
	}
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

func (d *bindings) signed(r request, now int64) (string, error) {
	switch {
	case r.Variant == "":
		return "", refusal("variant is required")
	case strings.ContainsAny(r.Variant, "/?#%"):
		return "", refusal("variant contains invalid URL path characters")
	}
	u := d.variant(r.ID, r.Variant)
	if e := r.ExpiresIn; e != nil {
		if *e != math.Trunc(*e) || *e <= 0 {
			return "", refusal("expiresIn must be a positive integer")
		}
		u.RawQuery = "exp=" + strconv.FormatInt(now/1000+int64(*e), 10)
	}
	sig := sign(u)
	u.RawQuery = strings.TrimPrefix(u.RawQuery+"&sig="+sig, "&")
	return u.String(), nil
}

// verify is why a signed address does not hold; "" if it does.
func verify(u *url.URL, now int64) string {
	sig := u.Query().Get("sig")
	if sig == "" {
		return "Missing signature"
	}
	if u.Query().Has("exp") {
		if exp, err := strconv.ParseInt(u.Query().Get("exp"), 10, 64); err != nil || float64(exp) < float64(now)/1000 {
			return "Signature expired"
		}
	}
	rest := *u
	rest.RawQuery = strings.Join(slices.DeleteFunc(strings.Split(u.RawQuery, "&"), func(s string) bool { return strings.HasPrefix(s, "sig=") }), "&")
	if !hmac.Equal([]byte(sig), []byte(sign(&rest))) {
		return "Invalid signature"
	}
	return ""
}

func (d *bindings) update(n *kv.Namespace, r request) (any, error) {
	m, data, err := d.find(n, r.ID)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, refusal("Image not found: " + r.ID)
	}
	if r.RequireSignedURLs != nil {
		m.RequireSignedURLs = *r.RequireSignedURLs
	}
	if len(r.Metadata) > 0 && string(r.Metadata) != "null" {
		m.Meta = r.Metadata
	}
	m.Creator = cmp.Or(r.Creator, m.Creator)
	if err := put(n, *m, data); err != nil {
		return nil, err
	}
	return d.shown(*m), nil
}

var uuidPattern = lazyregexp.New(`(?i)^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// The bounds of an upload's time, in seconds; neither is allowed itself.
const (
	minDraft, maxDraft = 120, 21600
	standardDraft      = 1800
)

func (d *bindings) draft(n *kv.Namespace, r request) (any, error) {
	if r.Given {
		if uuidPattern.MatchString(r.ID) {
			return nil, refusal("CustomID must not be UUID")
		}
		if r.RequireSignedURLs != nil && *r.RequireSignedURLs {
			return nil, refusal("Private custom ID is not supported")
		}
	}
	after := float64(standardDraft)
	if r.ExpiresIn != nil {
		after = *r.ExpiresIn
	}
	if after <= minDraft || after >= maxDraft {
		return nil, refusal("expiry is out of accepted bound.")
	}
	m := d.fresh(r, n.Now())
	m.Draft = true
	if err := put(n, m, nil); err != nil {
		return nil, err
	}
	expires := strconv.FormatFloat(float64(n.Now()/1000)+after, 'f', -1, 64)
	if err := n.Put(kv.Entry{Key: r.ID + draftSuffix}, []byte(expires)); err != nil {
		return nil, err
	}
	return struct {
		ID  string `json:"id"`
		URL string `json:"uploadURL"`
	}{r.ID, d.address(uploadPath + "/" + r.ID).String()}, nil
}

// listed is how many keys are read at once.
const listed = 1000

func (d *bindings) list(n *kv.Namespace, r request) (any, error) {
	all := []stored{}
	for cursor := ""; ; {
		page, err := n.List("", cursor, listed)
		if err != nil {
			return nil, err
		}
		for _, e := range page.Entries {
			if e.Metadata == "" {
				continue
			}
			var m stored
			if err := json.Unmarshal([]byte(e.Metadata), &m); err != nil {
				return nil, err
			}
			if r.Creator != nil && *r.Creator != "" && (m.Creator == nil || *m.Creator != *r.Creator) {
				continue
			}
			if matches(m.Meta, r.Filter.Metadata) {
				all = append(all, m)
			}
		}
		if cursor = page.Cursor; cursor == "" {
			break
		}
	}
	slices.SortStableFunc(all, func(a, b stored) int {
		order := cmp.Or(strings.Compare(a.Uploaded, b.Uploaded), strings.Compare(a.ID, b.ID))
		if r.SortOrder == "desc" {
			return -order
		}
		return order
	})
	start, limit := 0, 50
	if r.Limit != nil {
		limit = max(0, *r.Limit)
	}
	if i := slices.IndexFunc(all, func(m stored) bool { return r.Cursor != "" && m.ID == r.Cursor }); i >= 0 {
		start = i + 1
	}
	end := min(len(all), start+limit)
	result := struct {
		Images   []stored `json:"images"`
		Cursor   string   `json:"cursor,omitempty"`
		Complete bool     `json:"listComplete"`
	}{Images: []stored{}, Complete: end >= len(all)}
	for _, m := range all[start:end] {
		result.Images = append(result.Images, d.shown(m))
	}
	if !result.Complete && end > start {
		result.Cursor = all[end-1].ID
	}
	return result, nil
}

// matches reports whether metadata meets all conditions: a value, or an object of
// operators, for a path whose parts have points between them.
func matches(meta json.RawMessage, conditions map[string]any) bool {
	var whole any
	if len(conditions) > 0 && json.Unmarshal(meta, &whole) != nil {
		return false
	}
	for path, condition := range conditions { // order-independent: all have to hold
		value := whole
		for part := range strings.SplitSeq(path, ".") {
			object, _ := value.(map[string]any)
			value = object[part]
		}
		operators, ok := condition.(map[string]any)
		if !ok {
			operators = map[string]any{"eq": condition}
		}
		for op, expected := range operators { // order-independent: all have to hold
			if !holds(value, op, expected) {
				return false
			}
		}
	}
	return true
}

func holds(value any, op string, expected any) bool {
	switch op {
	case "eq":
		return same(value, expected)
	case "in":
		list, _ := expected.([]any)
		return slices.ContainsFunc(list, func(e any) bool { return same(value, e) })
	}
	a, okA := value.(float64)
	b, okB := expected.(float64)
	if !okA || !okB {
		return false
	}
	switch op {
	case "gt":
		return a > b
	case "gte":
		return a >= b
	case "lt":
		return a < b
	case "lte":
		return a <= b
	}
	return false
}

// same is === of what JSON can have: objects are never the same.
func same(a, b any) bool {
	switch a.(type) {
	case map[string]any, []any:
		return false
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}
