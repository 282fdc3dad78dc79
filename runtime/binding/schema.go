package binding

import (
	"encoding/json"
	"fmt"
)

// Schema is the part of JSON Schema that a kind.json uses. An object with
// properties takes no others, unless additionalProperties is true; one without
// takes any. Immutable.
type Schema struct {
	// Type are "string", "number", "boolean", "array", "object" and "null"; none is
	// any.
	Type       Types              `json:"type"`
	Properties map[string]*Schema `json:"properties"`
	Required   []string           `json:"required"`
	// AdditionalProperties is what other members than Properties may be.
	AdditionalProperties *Additional `json:"additionalProperties"`
	Items                *Schema     `json:"items"`
	Enum                 []any       `json:"enum"`
	// Format names a check of the config reader: "binding-name", "class-name",
	// "script-name", "bucket-name", "json".
	Format string `json:"format"`
	// Unit is what a number counts, for messages.
	Unit string `json:"unit"`
}

// Types are one type or several.
type Types []string

// UnmarshalJSON implements json.Unmarshaler: a text, or a list of them.
func (t *Types) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = Types{one}
		return nil
	}
	var several []string
	if err := json.Unmarshal(text, &several); err != nil {
		return fmt.Errorf("type: %w", err)
	}
	*t = several
	return nil
}

// Additional is the value of additionalProperties: a schema, or true for any.
type Additional struct {
	Any    bool
	Schema *Schema
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *Additional) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &a.Any) == nil {
		return nil
	}
	return json.Unmarshal(text, &a.Schema)
}
