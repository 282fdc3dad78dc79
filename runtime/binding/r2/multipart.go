package r2

import (
	"crypto/md5" //nolint:gosec // R2's etag
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/binding/miniflare"
)

// minPartBytes is the least that a part but the last may have.
const minPartBytes = 5 << 20

// States of an upload, in _mf_multipart_uploads.
const (
	inProgress = iota
	completed
	aborted
)

// What the service refuses of uploads.
var (
	errInternal     = &Error{"We encountered an internal error. Please try again.", 10001}
	errPartTooSmall = &Error{"Your proposed upload is smaller than the minimum allowed object size.", 10011}
	errNoUpload     = &Error{"The specified multipart upload does not exist.", 10024}
	errInvalidPart  = &Error{"One or more of the specified parts could not be found.", 10025}
	errBadUpload    = &Error{"There was a problem with the multipart upload.", 10048}
)

// Part names an uploaded part.
type Part struct {
	Number int64  `json:"partNumber"`
	Etag   string `json:"etag"`
}

// part is a part as its row has it.
type part struct {
	Part
	blob, md5 string
	size      int64
}

// randomID is an id of n random bytes, as miniflare's are base64url.
func (b *Bucket) randomID(n int) (string, error) {
	random := make([]byte, n)
	if _, err := b.opts.Entropy.Read(random); err != nil {
		return "", fmt.Errorf("r2: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(random), nil
}

// idBytes is the length of ids of uploads and etags of parts, before base64: that
// of miniflare's.
const idBytes = 128

func (b *Bucket) createUpload(r Request) (Reply, error) {
	id, err := b.randomID(idBytes)
	if err != nil {
		return Reply{}, err
	}
	return Reply{UploadID: id}, b.Effect("create upload", func() error {
		return b.Query("INSERT INTO _mf_multipart_uploads (upload_id, key, http_metadata, custom_metadata) VALUES (?, ?, ?, ?)", miniflare.Nothing,
			id, r.Key, string(orEmpty(r.HTTPMetadata)), string(orEmpty(r.CustomMetadata)))
	})
}

// upload is the state of an upload of a key and its metadata; errNoRow if there is none.
func (b *Bucket) upload(r Request) (state int, http, custom string, err error) {
	found := false
	err = b.Query("SELECT state, http_metadata, custom_metadata FROM _mf_multipart_uploads WHERE upload_id = ? AND key = ?", func(st *sqlite.Stmt) error {
		found = true
		state, http, custom = int(st.ColumnInt64(0)), st.ColumnText(1), st.ColumnText(2)
		return nil
	}, r.UploadID, r.Key)
	if err == nil && !found {
		err = errNoRow
	}
	return state, http, custom, err
}

var errNoRow = errors.New("r2: no such upload")

// uploadPart stores a part; the one that had its number before is dropped.
func (b *Bucket) uploadPart(r Request, body []byte) (Reply, error) {
	etag, err := b.randomID(idBytes)
	if err != nil {
		return Reply{}, err
	}
	state, _, _, err := b.upload(r)
	if errors.Is(err, errNoRow) || err == nil && state != inProgress {
		return Reply{}, errNoUpload
	}
	if err != nil {
		return Reply{}, err
	}
	blob, err := b.WriteBlob(body)
	if err != nil {
		return Reply{}, err
	}
	before, sum := "", md5.Sum(body)
	err = b.Effect("part", func() error {
		return b.Transaction(func() error {
			err := b.Query("SELECT blob_id FROM _mf_multipart_parts WHERE upload_id = ? AND part_number = ?", func(st *sqlite.Stmt) error {
				before = st.ColumnText(0)
				return nil
			}, r.UploadID, r.PartNumber)
			if err != nil {
				return err
			}
			return b.Query("INSERT OR REPLACE INTO _mf_multipart_parts (upload_id, part_number, blob_id, size, etag, checksum_md5) VALUES (?, ?, ?, ?, ?, ?)",
				miniflare.Nothing, r.UploadID, r.PartNumber, blob, int64(len(body)), etag, hex.EncodeToString(sum[:]))
		})
	})
	if err == nil && before != "" {
		err = b.RemoveBlob(before)
	}
	return Reply{Etag: etag}, err
}

const partColumns = "SELECT part_number, etag, blob_id, checksum_md5, size FROM _mf_multipart_parts WHERE "

func (b *Bucket) parts(where string, args ...any) (parts []part, err error) {
	err = b.Query(partColumns+where+" ORDER BY part_number", func(st *sqlite.Stmt) error {
		parts = append(parts, part{Part{st.ColumnInt64(0), st.ColumnText(1)}, st.ColumnText(2), st.ColumnText(3), st.ColumnInt64(4)})
		return nil
	}, args...)
	return parts, err
}

// selected are the parts that a completion names, by their numbers, if they make
// an object.
func selected(named []Part, uploaded []part) ([]part, error) {
	var parts []part
	seen := map[int64]bool{}
	for _, n := range named {
		if seen[n.Number] {
			return nil, errInternal
		}
		seen[n.Number] = true
	}
	for _, n := range named {
		i := slices.IndexFunc(uploaded, func(p part) bool { return p.Part == n })
		if i < 0 {
			return nil, errInvalidPart
		}
		parts = append(parts, uploaded[i])
	}
	if len(parts) == 0 {
		return nil, nil
	}
	for _, p := range parts[:len(parts)-1] { // the last as it was named
		if p.size < minPartBytes {
			return nil, errPartTooSmall
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return int(a.Number - b.Number) })
	last := len(parts) - 1
	for _, p := range parts[:last] {
		if p.size < minPartBytes || p.size != parts[0].size {
			return nil, errBadUpload
		}
	}
	if last > 0 && parts[last].size > parts[0].size {
		return nil, errBadUpload
	}
	return parts, nil
}

// completeUpload makes an object of parts, in one commit.
func (b *Bucket) completeUpload(r Request) (Reply, error) {
	state, http, custom, err := b.upload(r)
	switch {
	case errors.Is(err, errNoRow):
		return Reply{}, errInternal
	case err != nil:
		return Reply{}, err
	case state != inProgress:
		return Reply{}, errNoUpload
	}
	uploaded, err := b.parts("upload_id = ?", r.UploadID)
	if err != nil {
		return Reply{}, err
	}
	parts, err := selected(r.Parts, uploaded)
	if err != nil {
		return Reply{}, err
	}
	var version [16]byte
	if _, err := b.opts.Entropy.Read(version[:]); err != nil {
		return Reply{}, fmt.Errorf("r2: %w", err)
	}
	o := Object{Key: r.Key, Version: hex.EncodeToString(version[:]), Uploaded: b.Now(), Checksums: map[string]string{},
		HTTPMetadata: json.RawMessage(http), CustomMetadata: json.RawMessage(custom)}
	sums := md5.New()
	for _, p := range parts {
		o.Size += p.size
		sum, err := hex.DecodeString(p.md5)
		if err != nil {
			return Reply{}, b.Damaged(b.Path(), fmt.Errorf("the MD5 of a part of %q: %w", r.Key, err))
		}
		sums.Write(sum)
	}
	o.Etag = fmt.Sprintf("%x-%d", sums.Sum(nil), len(parts))
	var gone []string
	err = b.Effect("complete upload", func() error {
		return b.Transaction(func() error {
			if gone, err = b.forget(r.Key); err != nil {
				return err
			}
			return b.link(r.UploadID, o, parts, &gone)
		})
	})
	return Reply{Object: &o}, b.removeBlobs(err, gone)
}

// link writes the object's row and makes the parts its own; gone gets the blobs of
// the parts that were not named.
func (b *Bucket) link(upload string, o Object, parts []part, gone *[]string) error {
	err := b.Query("INSERT OR REPLACE INTO _mf_objects ("+columns+") VALUES (?, NULL, ?, ?, ?, ?, '{}', ?, ?)", miniflare.Nothing,
		o.Key, o.Version, o.Size, o.Etag, o.Uploaded, string(o.HTTPMetadata), string(o.CustomMetadata))
	for _, p := range parts {
		if err == nil {
			err = b.Query("UPDATE _mf_multipart_parts SET object_key = ? WHERE upload_id = ? AND part_number = ?", miniflare.Nothing, o.Key, upload, p.Number)
		}
	}
	if err != nil {
		return err
	}
	err = b.Query("DELETE FROM _mf_multipart_parts WHERE upload_id = ? AND object_key IS NULL RETURNING blob_id", collect(gone), upload)
	if err != nil {
		return err
	}
	return b.Query("UPDATE _mf_multipart_uploads SET state = ? WHERE upload_id = ?", miniflare.Nothing, int64(completed), upload)
}

// abortUpload drops the parts of an upload; one that has ended is left alone.
func (b *Bucket) abortUpload(r Request) error {
	state, _, _, err := b.upload(r)
	switch {
	case errors.Is(err, errNoRow):
		return errInternal
	case err != nil || state != inProgress:
		return err
	}
	var gone []string
	err = b.Effect("abort upload", func() error {
		return b.Transaction(func() error {
			err := b.Query("DELETE FROM _mf_multipart_parts WHERE upload_id = ? RETURNING blob_id", collect(&gone), r.UploadID)
			if err != nil {
				return err
			}
			return b.Query("UPDATE _mf_multipart_uploads SET state = ? WHERE upload_id = ?", miniflare.Nothing, int64(aborted), r.UploadID)
		})
	})
	return b.removeBlobs(err, gone)
}

// collect takes the first column of each row.
func collect(into *[]string) func(*sqlite.Stmt) error {
	return func(st *sqlite.Stmt) error {
		*into = append(*into, st.ColumnText(0))
		return nil
	}
}

// forget removes what the tables have of a key, and gives its blobs: that of the
// object, or those of its parts. For use within a transaction.
func (b *Bucket) forget(key string) (gone []string, err error) {
	var all []string
	// The parts first: their rows point at the object's.
	err = b.Query("DELETE FROM _mf_multipart_parts WHERE object_key = ? RETURNING blob_id", collect(&all), key)
	if err == nil {
		err = b.Query("DELETE FROM _mf_objects WHERE key = ? RETURNING coalesce(blob_id, '')", collect(&all), key)
	}
	return slices.DeleteFunc(all, func(blob string) bool { return blob == "" }), err
}

// removeBlobs removes the files that no row names any more, unless what took their
// rows away has failed.
func (b *Bucket) removeBlobs(err error, gone []string) error {
	for _, blob := range gone {
		if err == nil {
			err = b.RemoveBlob(blob)
		}
	}
	return err
}
