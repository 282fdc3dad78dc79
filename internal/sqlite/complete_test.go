package sqlite

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	script := `SELECT 'a;b'; -- not; here
CREATE TRIGGER t AFTER INSERT ON x BEGIN DELETE FROM y; SELECT 1; END;
;
INSERT INTO "q;" VALUES (1) /* ; */ ;
SELECT 2`
	want := []string{"SELECT 'a;b';", "-- not; here\nCREATE TRIGGER t AFTER INSERT ON x BEGIN DELETE FROM y; SELECT 1; END;",
		`INSERT INTO "q;" VALUES (1) /* ; */ ;`, "SELECT 2"}
	if diff := cmp.Diff(want, Split(script)); diff != "" {
		t.Error(diff)
	}
}
