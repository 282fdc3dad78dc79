package kv

import "fmt"

// The service's limits (miniflare: workers/kv/constants.ts).
const (
	minCacheTTL      = 30 // seconds
	minExpirationTTL = 60 // seconds
	maxListKeys      = 1000
	maxKeyBytes      = 512
	maxValueBytes    = 25 << 20
	maxMetadataBytes = 1024
	maxBulkKeys      = 100
)

// Error is what the service answers: "KV PUT failed: 400 text" to the worker.
type Error struct {
	Status int
	Text   string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%d %s", e.Status, e.Text) }

func refusal(status int, format string, args ...any) error {
	return &Error{status, fmt.Sprintf(format, args...)}
}

func checkKeyLength(key string) error {
	if len(key) > maxKeyBytes {
		return refusal(414, "UTF-8 encoded length of %d exceeds key length limit of %d.", len(key), maxKeyBytes)
	}
	return nil
}

// checkKey checks a key as the service does; workerd checks those of single
// operations before, with other texts.
func checkKey(key string) error {
	switch key {
	case "":
		return refusal(400, "Key names must not be empty")
	case ".", "..":
		return refusal(400, "Illegal key name \"%s\". Please use a different name.", key)
	}
	return checkKeyLength(key)
}

// checkCacheTTL checks the cacheTtl of a get; nil is none.
func checkCacheTTL(ttl *int32) error {
	if ttl != nil && *ttl < minCacheTTL {
		return refusal(400, "Invalid cache_ttl of %d. Cache TTL must be at least %d.", *ttl, minCacheTTL)
	}
	return nil
}

// Expires is when a value expires, in seconds since the epoch, 0 for never:
// what a put says, where now is in seconds since the epoch.
//
// # Errors
//
// *Error for what the service refuses.
func Expires(now int64, expiration, ttl *int32) (int64, error) {
	switch {
	case ttl != nil && *ttl <= 0:
		return 0, refusal(400, "Invalid expiration_ttl of %d. Please specify integer greater than 0.", *ttl)
	case ttl != nil && *ttl < minExpirationTTL:
		return 0, refusal(400, "Invalid expiration_ttl of %d. Expiration TTL must be at least %d.", *ttl, minExpirationTTL)
	case ttl != nil:
		return now + int64(*ttl), nil
	case expiration == nil:
		return 0, nil
	case int64(*expiration) <= now:
		return 0, refusal(400, "Invalid expiration of %d. Please specify integer greater than the current number of seconds since the UNIX epoch.", *expiration)
	case int64(*expiration) < now+minExpirationTTL:
		return 0, refusal(400, "Invalid expiration of %d. Expiration times must be at least %d seconds in the future.", *expiration, minExpirationTTL)
	}
	return int64(*expiration), nil
}

// checkMetadata checks JSON; "undefined" is what JSON.stringify makes of a function.
func checkMetadata(json string) error {
	switch {
	case len(json) > maxMetadataBytes:
		return refusal(413, "Metadata length of %d exceeds limit of %d.", len(json), maxMetadataBytes)
	case json == "undefined":
		return refusal(500, "Internal Server Error")
	}
	return nil
}

func checkValue(length int) error {
	if length > maxValueBytes {
		return refusal(413, "Value length of %d exceeds limit of %d.", length, maxValueBytes)
	}
	return nil
}

// Check says what the service refuses of an entry and its value: an *Error.
func (e Entry) Check(data []byte) error {
	if err := checkKey(e.Key); err != nil {
		return err
	}
	if err := checkMetadata(e.Metadata); err != nil {
		return err
	}
	return checkValue(len(data))
}

func checkListLimit(limit int32) error {
	if limit > maxListKeys {
		return refusal(400, "Invalid key_count_limit of %d. Please specify an integer less than %d.", limit, maxListKeys)
	}
	return nil
}
