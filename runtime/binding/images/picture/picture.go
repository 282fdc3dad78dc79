// Package picture decodes, transforms and encodes pictures: the part of the images
// binding outside of JavaScript. What the operations mean is Cloudflare Images'
// documentation; sizes, defaults and refusals are those of wrangler's local mode
// (miniflare: plugins/images/fetcher.ts over sharp). GIF, JPEG, PNG and WebP are read
// in Go; AVIF is read and written, and WebP written, by libavif and libwebp as
// WebAssembly.
package picture

import (
	"encoding/json"
	"fmt"
)

// Limits. A picture is bounded before it is decoded: what its header says it has.
const (
	// MaxPixels is how many pixels a picture may have, read or written; in memory each
	// takes four bytes.
	MaxPixels = 64 << 20
	// MaxSide is how many pixels a side may have.
	MaxSide = 65535
	// MaxBytes is how many bytes all pictures of one operation may have.
	MaxBytes = 100 << 20
	// MaxDraws is how many pictures one operation may draw.
	MaxDraws = 100
)

// Error is an answer of the service: a refusal, or a failure. Immutable.
type Error struct {
	Status int
	// Code is Cloudflare's number of the error; 0 for what has none.
	Code int
	Text string
}

// Error implements error.
func (e *Error) Error() string { return e.Text }

// Codes of errors (Cloudflare's documentation of the images binding).
const (
	codeUnsupported = 9520
	codeInternal    = 9523
)

// failed is a failure that the service has no text for.
func failed(format string, args ...any) *Error {
	return &Error{Status: 500, Text: fmt.Sprintf(format, args...)}
}

func refused(status, code int, text string) *Error {
	return &Error{status, code, fmt.Sprintf("ERROR %d: %s", code, text)}
}

// Info is what a picture's header says of it. Width and Height are 0 for SVG.
type Info struct {
	// Format is the media type.
	Format   string `json:"format"`
	FileSize int    `json:"fileSize,omitempty"`
	Width    int    `json:"width,omitempty"`
	Height   int    `json:"height,omitempty"`
}

// ReadInfo reads the header of a picture. The size is that of the pixels as they are
// kept, before the orientation of a camera is applied. It decodes no pixels. Safe for
// concurrent use.
//
// # Errors
//
// *Error with 9520 for a format that the service does not take, and without a code for
// what is no picture.
func ReadInfo(data []byte) (Info, error) {
	h, err := readHeader(data)
	if err != nil {
		return Info{}, err
	}
	switch h.format {
	case svg:
		return Info{Format: svg.mime()}, nil
	case tiff:
		return Info{}, refused(415, codeUnsupported, "ERROR: Unsupported image type tiff, expected one of: JPEG, SVG, PNG, WebP, GIF or AVIF")
	}
	return Info{h.format.mime(), len(data), h.width, h.height}, nil
}

// Step is one thing to do, in the words of the binding's request: a transformation of
// the picture ImageIndex, or DrawImageIndex drawn onto TargetImageIndex. Picture 0 is
// the canvas.
type Step struct {
	ImageIndex *float64 `json:"imageIndex"`
	Rotate     *float64 `json:"rotate"`
	Width      *float64 `json:"width"`
	Height     *float64 `json:"height"`
	Fit        any      `json:"fit"`
	Gravity    any      `json:"gravity"`
	Background any      `json:"background"`

	DrawImageIndex   *int     `json:"drawImageIndex"`
	TargetImageIndex *int     `json:"targetImageIndex"`
	Opacity          *float64 `json:"opacity"`
	Repeat           any      `json:"repeat"`
	Top              *float64 `json:"top"`
	Left             *float64 `json:"left"`
	Bottom           *float64 `json:"bottom"`
	Right            *float64 `json:"right"`
}

// Steps reads the steps of a request.
//
// # Errors
//
// *Error 9523, the reference's text, if they are none.
func Steps(text []byte) ([]Step, error) {
	var steps []Step
	var members []map[string]json.RawMessage
	if json.Unmarshal(text, &steps) != nil || json.Unmarshal(text, &members) != nil {
		return nil, errSteps()
	}
	for _, m := range members {
		for _, name := range []string{"imageIndex", "rotate", "width", "height"} {
			if string(m[name]) == "null" {
				return nil, errSteps()
			}
		}
	}
	return steps, nil
}

func errSteps() *Error {
	return refused(400, codeInternal, "ERROR: Internal Images binding error: Expected JSON array of valid transforms in transforms field")
}
