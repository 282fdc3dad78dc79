package r2

import "slices"

// Conditional is onlyIf, in milliseconds since the epoch and with etags as they
// are stored, without quotes. A list of etags is nil if none was asked for; "*"
// stands for any.
type Conditional struct {
	EtagMatches      []string `json:"etagMatches"`
	EtagDoesNotMatch []string `json:"etagDoesNotMatch"`
	UploadedBefore   *int64   `json:"uploadedBefore"`
	UploadedAfter    *int64   `json:"uploadedAfter"`
	// SecondsGranularity compares whole seconds, as HTTP headers have them.
	SecondsGranularity bool `json:"secondsGranularity"`
}

// holds reports whether the condition is true of an object, nil if there is none
// (miniflare: workers/r2/validator.worker.ts, _testR2Conditional).
func (c *Conditional) holds(o *Object) bool {
	if c == nil {
		return true
	}
	if o == nil {
		return c.EtagMatches == nil && c.UploadedAfter == nil
	}
	includes := func(list []string) bool { return slices.Contains(list, "*") || slices.Contains(list, o.Etag) }
	ms := func(t int64) int64 {
		if c.SecondsGranularity {
			return t / 1000 * 1000
		}
		return t
	}
	match := c.EtagMatches == nil || includes(c.EtagMatches)
	noneMatch := c.EtagDoesNotMatch == nil || !includes(c.EtagDoesNotMatch)
	modified := c.UploadedAfter == nil || ms(*c.UploadedAfter) < ms(o.Uploaded) || (c.EtagDoesNotMatch != nil && noneMatch)
	unmodified := c.UploadedBefore == nil || ms(o.Uploaded) < ms(*c.UploadedBefore) || (c.EtagMatches != nil && match)
	return match && noneMatch && modified && unmodified
}
