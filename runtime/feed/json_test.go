package feed

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// What is written by hand is what encoding/json writes, for every member and any text.
func TestAppendJSON(t *testing.T) {
	fields := reflect.TypeFor[Entry]().NumField()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.OneOf(rapid.Just(""), rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		var e Entry
		v := reflect.ValueOf(&e).Elem()
		for i := range fields {
			switch f := v.Field(i); {
			case v.Type().Field(i).Tag.Get("json") == "-":
			case f.Kind() == reflect.String && v.Type().Field(i).Name != "Kind":
				f.SetString(words.Draw(t, "text"))
			case f.CanInt():
				f.SetInt(rapid.Int64Range(-5, 1<<40).Draw(t, "number"))
			case f.Kind() == reflect.Bool:
				f.SetBool(rapid.Bool().Draw(t, "bool"))
			}
		}
		e.Kind = rapid.SampledFrom([]Kind{Log, Request, Event, Point, Fetch, Turn, Sync, Message}).Draw(t, "kind")
		for range rapid.IntRange(0, 2).Draw(t, "statements") {
			e.Statements = append(e.Statements, StorageCall{words.Draw(t, "text"), words.Draw(t, "where"), rapid.Int64().Draw(t, "took"), rapid.Int64().Draw(t, "read"), rapid.Int64().Draw(t, "written"), words.Draw(t, "failed")})
		}
		written, err := json.Marshal(&e)
		if err != nil {
			t.Fatal(err)
		}
		var want, got any
		if err := json.Unmarshal(written, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(e.AppendJSON(nil), &got); err != nil {
			t.Fatalf("%s: %v", e.AppendJSON(nil), err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("it is %s, want %s", e.AppendJSON(nil), written)
		}
	})
}
