package url

import "testing"

// URL, section 3.3 (domain to ASCII): a domain of ASCII is lowercased, whatever
// its labels decode to; others are mapped by UTS 46 of Unicode 15.1 or later,
// without STD3 rules. Section 3.6 (ends in a number): a number is digits, or 0x
// and hexadecimal digits, without a sign.
func TestURLHosts(t *testing.T) {
	for _, c := range []struct{ host, want string }{
		{"XN--a", "xn--a"}, {"a.xn--", "a.xn--"}, {"xn--zn7c.com", "xn--zn7c.com"}, {"%58n--a", "xn--a"}, {"xn--a.\u00e9", ""},
		{"xn--a-\u00e4", ""}, {"xn--ls8h", "xn--ls8h"}, {"xn--a%00", ""}, {"xn--a b", ""}, {"1.2.3.xn--4", "1.2.3.xn--4"}, {"xn--a.1", ""},
		{"minido-host-label-xn--a", "minido-host-label-xn--a"}, {"minido-host-label-a", "minido-host-label-a"},
		{"\u1e9e", "xn--zca"}, {"\u2260", "xn--1ch"}, {"\U0002f868", "xn--snl"}, {"\u037e", ";"}, {"\u00ad", ""}, {"-\u00e9", "xn----bga"},
		{"+1", "+1"}, {"-1", "-1"}, {"0x+1", "0x+1"}, {"1.+2", "1.+2"}, {"+1.2", ""}, {"\uff0b\uff11", "+1"}, {"99999999999999999999a", "99999999999999999999a"},
		{"0x", "0.0.0.0"}, {"0x7F.1", "127.0.0.1"}, {"1.2.3.08", ""}, {"\uff11\uff12\uff17.1", "127.0.0.1"}, {"99999999999999999999", ""}, {"1g", "1g"},
	} {
		got := ""
		if u, err := Parse("http://"+c.host+"/", ""); err == nil {
			got = u.Host()
		}
		if got != c.want {
			t.Errorf("http://%s/ has the host %q, want %q", c.host, got, c.want)
		}
	}
	if u, err := Parse("foo://xn--A.%C3%A9+1/", ""); err != nil || u.Host() != "xn--A.%C3%A9+1" {
		t.Error("an opaque host is changed", u, err)
	}
}
