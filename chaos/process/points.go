package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/killpoint"
)

// Point is one line of a point log: an effect point that a child passed, or
// died at.
type Point struct {
	// N counts from 1 within one process.
	N int `json:"n"`
	// Label is kind:side(object)/cause#occurrence, see internal/killpoint.
	Label string `json:"label"`
	// AtNs is when, in nanoseconds since the epoch; 0 if it was not recorded.
	AtNs int64 `json:"t,omitempty"`
	// Site is killpoint.Point's.
	Site string `json:"site,omitempty"`
}

// Points reads the points that the child has recorded so far, in order. A last
// line without its end is left out: the child was in the middle of it.
func (c *Child) Points() ([]Point, error) {
	if c.options.PointLog == "" {
		return nil, errors.New("process: the child was started without a point log")
	}
	return ReadPoints(c.options.PointLog)
}

// ReadPoints reads a point log; one that does not exist has no points.
func ReadPoints(path string) ([]Point, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it has not come to its first point
	}
	if err != nil {
		return nil, fmt.Errorf("process: points: %w", err)
	}
	var points []Point
	for n := 1; ; n++ {
		line, rest, ended := bytes.Cut(data, []byte("\n"))
		if !ended {
			return points, nil
		}
		var p Point
		if err := json.Unmarshal(line, &p); err != nil {
			return nil, fmt.Errorf("process: points: %s:%d: %w", path, n, err)
		}
		points = append(points, p)
		data = rest
	}
}

// PointsFromEnvironment arms and records a process's effect points as the
// environment says (EnvKillPoint, EnvKillPointLog). Without these they are off,
// until the control API arms a crash.
func PointsFromEnvironment() (*killpoint.Points, error) {
	o := killpoint.Options{Off: true}
	if target := os.Getenv(EnvKillPoint); target != "" {
		var err error
		if o.Target, err = killpoint.ParseTarget(target); err != nil {
			return nil, fmt.Errorf("%s: %w", EnvKillPoint, err)
		}
		o.Off = false
	}
	if log := os.Getenv(EnvKillPointLog); log != "" {
		record, err := RecordPoints(log)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", EnvKillPointLog, err)
		}
		o.Record, o.Off = record, false
	}
	return killpoint.New(o), nil
}

// RecordPoints returns a record function for killpoint.Options that appends a
// line for each point to the file at path, with one write each: nothing is lost
// when the process dies at the point. The file stays open as long as the process.
func RecordPoints(path string) (func(killpoint.Point), error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("process: points: %w", err)
	}
	return func(p killpoint.Point) {
		line, err := json.Marshal(Point{p.Number, p.Label(), clock.Real{}.Now().UnixNano(), p.Site})
		if err == nil {
			_, err = f.Write(append(line, '\n'))
		}
		if err != nil {
			panic(fmt.Sprintf("process: points: %v", err)) // a gap in the record would be a lie
		}
	}, nil
}
