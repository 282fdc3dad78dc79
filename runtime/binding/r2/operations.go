package r2

import (
	"crypto/md5" //nolint:gosec // R2's etag
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/binding/miniflare"
)

// Object is what is known of an object, beside its bytes. Immutable.
type Object struct {
	Key     string `json:"key"`
	Version string `json:"version"` // 32 hex digits
	Size    int64  `json:"size"`    // in bytes
	Etag    string `json:"etag"`    // the MD5 of the bytes, in hex
	// Uploaded is in milliseconds since the epoch.
	Uploaded       int64             `json:"uploaded"`
	Checksums      map[string]string `json:"checksums"` // in hex
	HTTPMetadata   json.RawMessage   `json:"httpMetadata"`
	CustomMetadata json.RawMessage   `json:"customMetadata"`
	Range          *Range            `json:"range,omitempty"`
}

// Range is a part of an object. A request has Offset, Length or both, or Suffix;
// an answer has Offset and Length. In bytes. One of a Range header that cannot be
// satisfied is the whole object, as in miniflare.
type Range struct {
	Offset *int64 `json:"offset,omitempty"`
	Length *int64 `json:"length,omitempty"`
	Suffix *int64 `json:"suffix,omitempty"`
	Header bool   `json:"header,omitempty"`
}

// Request is an operation's argument; each operation uses the members that it
// knows.
type Request struct {
	Key            string            `json:"key"`
	Keys           []string          `json:"keys"`
	Range          *Range            `json:"range"`
	OnlyIf         *Conditional      `json:"onlyIf"`
	HTTPMetadata   json.RawMessage   `json:"httpMetadata"`
	CustomMetadata json.RawMessage   `json:"customMetadata"`
	Checksums      map[string]string `json:"checksums"` // in hex; at most one
	Prefix         string            `json:"prefix"`
	Delimiter      string            `json:"delimiter"`
	StartAfter     string            `json:"startAfter"`
	Cursor         string            `json:"cursor"`
	Limit          *int              `json:"limit"`
	Include        []string          `json:"include"`
	UploadID       string            `json:"uploadId"`
	PartNumber     int64             `json:"partNumber"`
	Parts          []Part            `json:"parts"`
}

// Reply is an operation's answer.
type Reply struct {
	// Object is nil if there is none, or a put's condition did not hold.
	Object *Object `json:"object,omitempty"`
	// HasBody says that the bytes of a get come with it.
	HasBody bool `json:"hasBody,omitempty"`
	// Listing
	Objects   []Object `json:"objects,omitempty"`
	Truncated bool     `json:"truncated,omitempty"`
	Cursor    string   `json:"cursor,omitempty"`
	Prefixes  []string `json:"prefixes,omitempty"`
	// UploadID is that of an upload that was created, Etag that of a part.
	UploadID string `json:"uploadId,omitempty"`
	Etag     string `json:"etag,omitempty"`
}

const (
	maxKeyBytes = 1024
	maxList     = 1000
)

// Do runs get, head, put, list, delete or an operation of a multipart upload, and
// returns the bytes of a get. It blocks on the disk.
//
// # Errors
//
// *Error for what the service refuses.
func (b *Bucket) Do(op string, r Request, body []byte) (reply Reply, data []byte, err error) {
	for _, key := range append([]string{r.Key}, r.Keys...) {
		if len(key) > maxKeyBytes {
			return Reply{}, nil, &Error{"The specified object name is not valid.", 10020}
		}
	}
	err = b.Store.Do(func() (err error) {
		switch op {
		case "get", "head":
			reply, data, err = b.get(r, op == "head")
		case "put":
			reply, err = b.put(r, body)
		case "list":
			reply, err = b.list(r)
		case "delete":
			err = b.delete(r.Keys)
		case "createMultipartUpload":
			reply, err = b.createUpload(r)
		case "uploadPart":
			reply, err = b.uploadPart(r, body)
		case "completeMultipartUpload":
			reply, err = b.completeUpload(r)
		case "abortMultipartUpload":
			err = b.abortUpload(r)
		default:
			err = fmt.Errorf("r2: there is no operation %q", op)
		}
		return err
	})
	return reply, data, err
}

func (b *Bucket) get(r Request, head bool) (Reply, []byte, error) {
	found, err := b.find(r.Key)
	if err != nil || found == nil {
		return Reply{}, nil, err
	}
	offset, length := int64(0), found.Size
	object := found.Object
	object.Range = &Range{Offset: &offset, Length: &length}
	if head || !r.OnlyIf.holds(&object) {
		return Reply{Object: &object}, nil, nil
	}
	if r.Range != nil {
		switch at, n, err := r.Range.within(found.Size); {
		case err == nil:
			offset, length = at, n
		case !r.Range.Header:
			return Reply{}, nil, err
		}
	}
	data, err := b.readObject(found)
	if err != nil {
		return Reply{}, nil, err
	}
	return Reply{Object: &object, HasBody: true}, data[offset : offset+length], nil
}

// within is the part of size bytes that a range asks for.
func (r *Range) within(size int64) (offset, length int64, err error) {
	unsatisfiable := &Error{"The requested range is not satisfiable", 10039}
	if r.Suffix != nil {
		if *r.Suffix <= 0 {
			return 0, 0, unsatisfiable
		}
		length = min(*r.Suffix, size)
		return size - length, length, nil
	}
	if r.Offset != nil {
		offset = *r.Offset
	}
	length = size - offset
	if r.Length != nil {
		length = min(length, *r.Length)
	}
	if offset < 0 || length <= 0 {
		return 0, 0, unsatisfiable
	}
	return offset, length, nil
}

// checksums are the algorithms that a put can be checked with, in hex.
var checksums = []struct {
	name, title string
	sum         func(data []byte) string
}{
	{"md5", "MD5", func(d []byte) string { s := md5.Sum(d); return hex.EncodeToString(s[:]) }},
	{"sha1", "SHA-1", func(d []byte) string { s := sha1.Sum(d); return hex.EncodeToString(s[:]) }},
	{"sha256", "SHA-256", func(d []byte) string { s := sha256.Sum256(d); return hex.EncodeToString(s[:]) }},
	{"sha384", "SHA-384", func(d []byte) string { s := sha512.Sum384(d); return hex.EncodeToString(s[:]) }},
	{"sha512", "SHA-512", func(d []byte) string { s := sha512.Sum512(d); return hex.EncodeToString(s[:]) }},
}

func (b *Bucket) put(r Request, body []byte) (Reply, error) {
	for _, c := range checksums {
		given, ok := r.Checksums[c.name]
		if actual := c.sum(body); ok && given != actual {
			return Reply{}, &Error{fmt.Sprintf("The %s checksum you specified did not match what we received.\nYou provided a %s checksum with value: %s\nActual %s was: %s", c.title, c.title, given, c.title, actual), 10037}
		}
	}
	before, err := b.find(r.Key)
	if err != nil {
		return Reply{}, err
	}
	var object *Object
	if before != nil {
		object = &before.Object
	}
	if !r.OnlyIf.holds(object) {
		return Reply{}, nil
	}
	var version [16]byte
	if _, err := b.opts.Entropy.Read(version[:]); err != nil {
		return Reply{}, fmt.Errorf("r2: %w", err)
	}
	blob, err := b.WriteBlob(body)
	if err != nil {
		return Reply{}, err
	}
	o := Object{Key: r.Key, Version: hex.EncodeToString(version[:]), Size: int64(len(body)), Etag: checksums[0].sum(body),
		Uploaded: b.opts.Clock.Now().UnixMilli(), Checksums: r.Checksums, HTTPMetadata: orEmpty(r.HTTPMetadata), CustomMetadata: orEmpty(r.CustomMetadata)}
	if o.Checksums == nil {
		o.Checksums = map[string]string{}
	}
	sums, err := json.Marshal(o.Checksums)
	if err != nil {
		return Reply{}, fmt.Errorf("r2: %w", err)
	}
	var gone []string
	err = b.Effect("put", func() error {
		return b.Transaction(func() error {
			if gone, err = b.forget(o.Key); err != nil {
				return err
			}
			return b.Query("INSERT OR REPLACE INTO _mf_objects ("+columns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", miniflare.Nothing,
				o.Key, blob, o.Version, o.Size, o.Etag, o.Uploaded, string(sums), string(o.HTTPMetadata), string(o.CustomMetadata))
		})
	})
	return Reply{Object: &o}, b.removeBlobs(err, gone)
}

func orEmpty(m json.RawMessage) json.RawMessage {
	if len(m) == 0 || string(m) == "null" {
		return json.RawMessage("{}")
	}
	return m
}

// delete deletes all keys in one commit, and their bytes after it.
func (b *Bucket) delete(keys []string) error {
	var gone []string
	err := b.Effect("delete", func() error {
		return b.Transaction(func() error {
			for _, key := range keys {
				blobs, err := b.forget(key)
				if err != nil {
					return err
				}
				gone = append(gone, blobs...)
			}
			return nil
		})
	})
	return b.removeBlobs(err, gone)
}

func (b *Bucket) list(r Request) (Reply, error) {
	limit := maxList
	if r.Limit != nil {
		if limit = *r.Limit; limit < 1 || limit > maxList {
			return Reply{}, &Error{"MaxKeys params must be positive integer <= 1000.", 10022}
		}
	}
	after := r.StartAfter
	if r.Cursor != "" {
		last, err := base64.StdEncoding.DecodeString(r.Cursor)
		if err != nil {
			return Reply{}, &Error{"The specified cursor is not valid.", 10021}
		}
		after = max(after, string(last))
	}
	var reply Reply
	last, n := "", 0
	err := b.Query("SELECT "+columns+" FROM _mf_objects WHERE substr(key, 1, length(?1)) = ?1 AND (?2 = '' OR key > ?2) ORDER BY key", func(st *sqlite.Stmt) error {
		o, err := scan(st)
		if err != nil {
			return err
		}
		group := ""
		if r.Delimiter != "" {
			if i := strings.Index(o.Key[len(r.Prefix):], r.Delimiter); i >= 0 {
				group = o.Key[:len(r.Prefix)+i+len(r.Delimiter)]
			}
		}
		known := group != "" && (slices.Contains(reply.Prefixes, group) || strings.HasPrefix(after, group))
		if known && !reply.Truncated {
			last = o.Key // the group's last key, so that a cursor goes past it
			return nil
		}
		if n == limit {
			reply.Truncated = true
		}
		if reply.Truncated {
			return nil
		}
		n++
		last = o.Key
		if group != "" {
			reply.Prefixes = append(reply.Prefixes, group)
			return nil
		}
		if !slices.Contains(r.Include, "httpMetadata") {
			o.HTTPMetadata = json.RawMessage("{}")
		}
		if !slices.Contains(r.Include, "customMetadata") {
			o.CustomMetadata = json.RawMessage("{}")
		}
		reply.Objects = append(reply.Objects, o.Object)
		return nil
	}, r.Prefix, after)
	if reply.Truncated {
		reply.Cursor = base64.StdEncoding.EncodeToString([]byte(last))
	}
	return reply, err
}
