package fault

import (
	"slices"
	"testing"
)

// An object that gets messages hibernates behind each of their effects, and behind what a
// request has sent that may have opened a socket; one that gets none never does.
func TestHibernations(t *testing.T) {
	var got []string
	for _, p := range Hibernations([]string{
		"response:after(Gate/g)/fetch#1", "frame:after(Gate/g)/fetch#1", "commit:after(Gate/g)/fetch#1", "frame:before(Gate/g)/message#1",
		"frame:after(Gate/g)/message#1", "close:after(Gate/g)/message#1", "response:after(Api/v1)/fetch#1", "response:after()/fetch#1",
	}) {
		got = append(got, p.String())
	}
	want := []string{"hibernate@response:after(Gate/g)/fetch#1", "hibernate@frame:after(Gate/g)/fetch#1", "hibernate@frame:after(Gate/g)/message#1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
