package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Point is one line of a point log: an effect point that a child passed, or
// died at.
type Point struct {
	// N counts from 1 within one process.
	N int `json:"n"`
	// Label is kind:side(object)/cause#occurrence, see internal/killpoint.
	Label string `json:"label"`
}

// Points reads the points that the child has recorded so far, in order. A last
// line without its end is left out: the child was in the middle of it.
func (c *Child) Points() ([]Point, error) {
	if c.options.PointLog == "" {
		return nil, errors.New("process: the child was started without a point log")
	}
	data, err := os.ReadFile(c.options.PointLog)
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
			return nil, fmt.Errorf("process: points: %s:%d: %w", c.options.PointLog, n, err)
		}
		points = append(points, p)
		data = rest
	}
}
