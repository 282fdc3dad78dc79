package stream

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/binding/miniflare"
)

// Class is miniflare's class of the object that has all videos, and dataName its name.
const (
	Class    = "miniflare-StreamObject"
	dataName = "stream-data"
)

// schema has the tables of miniflare (workers/stream/schemas.ts).
const schema = `
CREATE TABLE IF NOT EXISTS _mf_stream_videos (
  id TEXT PRIMARY KEY, creator TEXT, thumbnail TEXT NOT NULL DEFAULT '', thumbnail_timestamp_pct REAL NOT NULL DEFAULT 0.0,
  ready_to_stream INTEGER NOT NULL DEFAULT 1, ready_to_stream_at TEXT, status_state TEXT NOT NULL DEFAULT 'ready', status_pct_complete TEXT,
  status_error_reason_code TEXT NOT NULL DEFAULT '', status_error_reason_text TEXT NOT NULL DEFAULT '', meta TEXT NOT NULL DEFAULT '{}',
  created TEXT NOT NULL, modified TEXT NOT NULL, scheduled_deletion TEXT, size INTEGER NOT NULL DEFAULT 0, allowed_origins TEXT NOT NULL DEFAULT '[]',
  require_signed_urls INTEGER, uploaded TEXT, upload_expiry TEXT, max_size_bytes INTEGER, max_duration_seconds INTEGER,
  duration REAL NOT NULL DEFAULT -1.0, input_width INTEGER NOT NULL DEFAULT 0, input_height INTEGER NOT NULL DEFAULT 0,
  live_input_id TEXT, clipped_from_id TEXT, blob_id TEXT
);
CREATE TABLE IF NOT EXISTS _mf_stream_captions (
  video_id TEXT NOT NULL, language TEXT NOT NULL, generated INTEGER NOT NULL DEFAULT 0, label TEXT NOT NULL DEFAULT '', status TEXT, blob_id TEXT,
  PRIMARY KEY (video_id, language), FOREIGN KEY (video_id) REFERENCES _mf_stream_videos(id) ON DELETE CASCADE
);
CREATE TABLE IF NOT EXISTS _mf_stream_watermarks (
  id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', size INTEGER NOT NULL DEFAULT 0, height INTEGER NOT NULL DEFAULT 0, width INTEGER NOT NULL DEFAULT 0,
  created TEXT NOT NULL, downloaded_from TEXT, opacity REAL NOT NULL DEFAULT 1.0, padding REAL NOT NULL DEFAULT 0.05, scale REAL NOT NULL DEFAULT 0.15,
  position TEXT NOT NULL DEFAULT 'upperRight', blob_id TEXT
);
CREATE TABLE IF NOT EXISTS _mf_stream_downloads (
  video_id TEXT NOT NULL, download_type TEXT NOT NULL DEFAULT 'default', status TEXT NOT NULL DEFAULT 'ready', percent_complete REAL NOT NULL DEFAULT 100.0, url TEXT,
  PRIMARY KEY (video_id, download_type), FOREIGN KEY (video_id) REFERENCES _mf_stream_videos(id) ON DELETE CASCADE
)`

// refusal is an error of the service: its class, and its text.
type refusal struct{ Name, Text string }

// Error implements error.
func (r *refusal) Error() string { return r.Text }

func missing(what, which string) error {
	return &refusal{"NotFoundError", what + " not found: " + which}
}

// row is a row of a table; blobs are not among its values.
type row map[string]any

// store is all that is kept. Safe for concurrent use.
type store struct{ *miniflare.Store }

func (s store) rows(sql string, args ...any) (all []row, err error) {
	all = []row{}
	err = s.Query(sql, func(st *sqlite.Stmt) error {
		r := row{}
		for i, name := range st.ColumnNames() {
			r[name] = st.Column(i)
		}
		all = append(all, r)
		return nil
	}, args...)
	return all, err
}

// one is the first row; an error that what is missing if there is none.
func (s store) one(what, which, sql string, args ...any) (row, error) {
	all, err := s.rows(sql, args...)
	if err == nil && len(all) == 0 {
		err = missing(what, which)
	}
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// change runs statements that belong together, and makes them durable.
func (s store) change(what string, fn func() error) error {
	return s.Effect(what, func() error {
		if err := s.Query("PRAGMA foreign_keys = ON", miniflare.Nothing); err != nil {
			return err
		}
		return s.Transaction(fn)
	})
}

// forget removes the bytes that rows had.
func (s store) forget(rows ...row) error {
	for _, r := range rows {
		if id, ok := r["blob_id"].(string); ok {
			if err := s.RemoveBlob(id); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s store) now() string {
	return time.UnixMilli(s.Now()).UTC().Format("2006-01-02T15:04:05.000Z")
}

// request is what an operation is asked. Members that are not there are nil.
type request struct {
	ID       string                     `json:"id"` // of what it is about
	New      string                     `json:"new"`
	Language *string                    `json:"language"`
	Label    string                     `json:"label"`
	Type     string                     `json:"type"`
	From     any                        `json:"from"` // where a watermark is from
	Params   map[string]json.RawMessage `json:"params"`
}

// value is a parameter as SQLite has it; given is false if it is not there.
func (r request) value(name string) (v any, given bool, err error) {
	text, given := r.Params[name]
	if !given {
		return nil, false, nil
	}
	if err = json.Unmarshal(text, &v); err != nil {
		return nil, true, err
	}
	switch b := v.(type) {
	case bool:
		v = int64(0)
		if b {
			v = int64(1)
		}
	case map[string]any, []any:
		v = string(text)
	}
	return v, true, nil
}

// or is a parameter, or a default where it is missing or null.
func (r request) or(name string, byDefault any) (any, error) {
	v, _, err := r.value(name)
	if v == nil {
		v = byDefault
	}
	return v, err
}

const videoByID = "SELECT * FROM _mf_stream_videos WHERE id = ?"

// do does one operation; it is called within Do of the store.
func (s store) do(op string, r request, body []byte) (result any, err error) {
	switch op {
	case "upload":
		return s.upload(r, body)
	case "videos":
		return s.videos(r)
	case "watermark":
		return s.watermark(r, body)
	case "watermarks":
		return s.rows("SELECT * FROM _mf_stream_watermarks ORDER BY created DESC")
	case "getWatermark":
		return s.one("Watermark", r.ID, "SELECT * FROM _mf_stream_watermarks WHERE id = ?", r.ID)
	case "deleteWatermark":
		return nil, s.remove("Watermark", r.ID, "DELETE FROM _mf_stream_watermarks WHERE id = ? RETURNING blob_id", r.ID)
	case "deleteDownload":
		return nil, s.remove("Download", r.ID+"/"+r.Type, "DELETE FROM _mf_stream_downloads WHERE video_id = ? AND download_type = ? RETURNING video_id", r.ID, r.Type)
	case "deleteCaption":
		return nil, s.remove("Caption", r.ID+"/"+*r.Language, "DELETE FROM _mf_stream_captions WHERE video_id = ? AND language = ? RETURNING blob_id", r.ID, *r.Language)
	}
	// The others are about a video that has to be there.
	video, err := s.one("Video", r.ID, videoByID, r.ID)
	if err != nil {
		return nil, err
	}
	switch op {
	case "details":
		return video, nil
	case "update":
		return s.update(r, video)
	case "delete":
		return nil, s.deleteVideo(r.ID)
	case "token":
		text, err := json.Marshal(struct {
			Sub string `json:"sub"`
			Kid string `json:"kid"`
			Exp int64  `json:"exp"`
		}{r.ID, "local-mode-key", s.Now()/1000 + 6*3600})
		return base64.StdEncoding.EncodeToString(text), err
	case "caption":
		return s.caption(r, body)
	case "captions":
		if r.Language != nil {
			return s.rows("SELECT * FROM _mf_stream_captions WHERE video_id = ? AND language = ?", r.ID, *r.Language)
		}
		return s.rows("SELECT * FROM _mf_stream_captions WHERE video_id = ?", r.ID)
	case "download":
		err := s.change("download", func() error {
			return s.Query(`INSERT INTO _mf_stream_downloads (video_id, download_type, status, percent_complete) VALUES (?, ?, 'ready', 100)
				ON CONFLICT (video_id, download_type) DO UPDATE SET status = excluded.status, percent_complete = excluded.percent_complete`, miniflare.Nothing, r.ID, r.Type)
		})
		if err != nil {
			return nil, err
		}
		fallthrough
	case "downloads":
		return s.rows("SELECT * FROM _mf_stream_downloads WHERE video_id = ?", r.ID)
	}
	return nil, fmt.Errorf("stream: there is no operation %q", op)
}

// remove runs a DELETE, and removes the bytes of what is gone.
func (s store) remove(what, which, sql string, args ...any) error {
	var gone row
	err := s.change("delete", func() (err error) {
		gone, err = s.one(what, which, sql, args...)
		return err
	})
	if err != nil {
		return err
	}
	return s.forget(gone)
}

func (s store) upload(r request, body []byte) (row, error) {
	blob, err := s.WriteBlob(body)
	if err != nil {
		return nil, err
	}
	values := []any{r.New}
	for _, p := range []struct {
		name      string
		byDefault any
	}{{"creator", nil}, {"meta", "{}"}, {"allowedOrigins", "[]"}, {"requireSignedURLs", int64(0)}, {"scheduledDeletion", nil}, {"thumbnailTimestampPct", int64(0)}} {
		v, err := r.or(p.name, p.byDefault)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	now := s.now()
	values = append(values, now, now, now, int64(len(body)), blob)
	err = s.change("upload", func() error {
		return s.Query(`INSERT INTO _mf_stream_videos (id, creator, meta, allowed_origins, require_signed_urls, scheduled_deletion, thumbnail_timestamp_pct,
			created, modified, uploaded, size, blob_id, status_state, ready_to_stream) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'ready', 1)`, miniflare.Nothing, values...)
	})
	if err != nil {
		return nil, err
	}
	return s.one("Video", r.New, videoByID, r.New)
}

func (s store) update(r request, video row) (row, error) {
	for _, p := range []struct {
		name, column string
		nullable     bool // null and undefined are written
	}{
		{"creator", "creator", true}, {"meta", "meta", false}, {"allowedOrigins", "allowed_origins", false}, {"requireSignedURLs", "require_signed_urls", false},
		{"scheduledDeletion", "scheduled_deletion", true}, {"thumbnailTimestampPct", "thumbnail_timestamp_pct", false}, {"maxDurationSeconds", "max_duration_seconds", false},
	} {
		v, given, err := r.value(p.name)
		if err != nil {
			return nil, err
		}
		if given && (v != nil || p.nullable) {
			video[p.column] = v
		}
	}
	err := s.change("update", func() error {
		return s.Query(`UPDATE _mf_stream_videos SET modified = ?, creator = ?, meta = ?, allowed_origins = ?, require_signed_urls = ?, scheduled_deletion = ?,
			thumbnail_timestamp_pct = ?, max_duration_seconds = ? WHERE id = ?`, miniflare.Nothing, s.now(), video["creator"], video["meta"], video["allowed_origins"],
			video["require_signed_urls"], video["scheduled_deletion"], video["thumbnail_timestamp_pct"], video["max_duration_seconds"], r.ID)
	})
	if err != nil {
		return nil, err
	}
	return s.one("Video", r.ID, videoByID, r.ID)
}

func (s store) deleteVideo(id string) error {
	var gone []row
	err := s.change("delete", func() (err error) {
		if gone, err = s.rows("SELECT blob_id FROM _mf_stream_captions WHERE video_id = ?", id); err != nil {
			return err
		}
		if err = s.Query("DELETE FROM _mf_stream_downloads WHERE video_id = ?", miniflare.Nothing, id); err != nil {
			return err
		}
		video, err := s.one("Video", id, "DELETE FROM _mf_stream_videos WHERE id = ? RETURNING blob_id", id)
		gone = append(gone, video)
		return err
	})
	if err != nil {
		return err
	}
	return s.forget(gone...)
}

// comparisons are those of a listing's bounds.
var comparisons = map[string]string{"eq": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}

func (s store) videos(r request) ([]row, error) {
	var conditions []string
	var values []any
	for _, bound := range [][3]string{{"before", "beforeComp", "lt"}, {"after", "afterComp", "gte"}} {
		v, given, err := r.value(bound[0])
		if err != nil {
			return nil, err
		}
		if !given {
			continue
		}
		comparison, err := r.or(bound[1], bound[2])
		if err != nil {
			return nil, err
		}
		op, ok := comparisons[fmt.Sprint(comparison)]
		if !ok {
			return nil, &refusal{"BadRequestError", fmt.Sprint("Invalid comparison operator: ", comparison)}
		}
		conditions, values = append(conditions, "created "+op+" ?"), append(values, v)
	}
	sql := "SELECT * FROM _mf_stream_videos"
	if len(conditions) > 0 {
		sql += " WHERE " + strings.Join(conditions, " AND ")
	}
	sql += " ORDER BY created DESC"
	limit, given, err := r.value("limit")
	if err != nil {
		return nil, err
	}
	if !given && len(conditions) > 0 {
		limit, given = int64(1000), true
	}
	if given {
		sql, values = sql+" LIMIT ?", append(values, limit)
	}
	return s.rows(sql, values...)
}

// caption stores a caption; without a body one that was generated, and is empty.
func (s store) caption(r request, body []byte) (row, error) {
	const find = "SELECT * FROM _mf_stream_captions WHERE video_id = ? AND language = ?"
	before, err := s.rows(find, r.ID, *r.Language)
	if err != nil {
		return nil, err
	}
	generated, blob := int64(1), any(nil)
	if r.Type == "uploaded" {
		generated = 0
		if blob, err = s.WriteBlob(body); err != nil {
			return nil, err
		}
	}
	err = s.change("caption", func() error {
		return s.Query(`INSERT INTO _mf_stream_captions (video_id, language, generated, label, status, blob_id) VALUES (?, ?, ?, ?, 'ready', ?)
			ON CONFLICT (video_id, language) DO UPDATE SET generated = excluded.generated, label = excluded.label, status = excluded.status, blob_id = excluded.blob_id`,
			miniflare.Nothing, r.ID, *r.Language, generated, r.Label, blob)
	})
	if err != nil {
		return nil, err
	}
	if err := s.forget(before...); err != nil {
		return nil, err
	}
	return s.one("Caption", r.ID+"/"+*r.Language, find, r.ID, *r.Language)
}

func (s store) watermark(r request, body []byte) (row, error) {
	values := []any{r.New}
	for _, p := range []struct {
		name      string
		byDefault any
	}{{"name", ""}, {"opacity", 1.0}, {"padding", 0.05}, {"scale", 0.15}, {"position", "upperRight"}} {
		v, err := r.or(p.name, p.byDefault)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	blob, err := s.WriteBlob(body)
	if err != nil {
		return nil, err
	}
	values = append(values, int64(len(body)), s.now(), r.From, blob)
	err = s.change("watermark", func() error {
		return s.Query(`INSERT INTO _mf_stream_watermarks (id, name, opacity, padding, scale, position, size, created, downloaded_from, blob_id, height, width)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)`, miniflare.Nothing, values...)
	})
	if err != nil {
		return nil, err
	}
	return s.one("Watermark", r.New, "SELECT * FROM _mf_stream_watermarks WHERE id = ?", r.New)
}

// video is the bytes of a video; nil if there are none.
func (s store) video(id string) (data []byte, err error) {
	err = s.Do(func() error {
		all, err := s.rows("SELECT blob_id FROM _mf_stream_videos WHERE id = ?", id)
		if err != nil || len(all) == 0 {
			return err
		}
		blob, ok := all[0]["blob_id"].(string)
		if !ok {
			return nil
		}
		if data, err = os.ReadFile(s.BlobPath(blob)); errors.Is(err, fs.ErrNotExist) {
			return s.Damaged(s.BlobPath(blob), fmt.Errorf("it is missing, and the video %s should have it", id))
		}
		return err
	})
	return data, err
}
