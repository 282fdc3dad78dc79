package url

import (
	"slices"
	"strings"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/idna"

	"minido.dev/minido/internal/insides/texts"
)

// The parser of the library takes a sign, and a letter after twenty digits, for
// parts of an IPv4 number, and refuses ASCII labels that are no valid Punycode.
// So it is given domains that are through domain-to-ASCII, with labels of these
// kinds in disguise, and their masks are taken off what it gives back.
const (
	hostMask = "minido-host-label-"
	noHost   = "<" // a forbidden domain code point: the parser refuses it
)

var domainProfile = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.ValidateLabels(true), idna.CheckHyphens(false),
	idna.CheckJoiners(true), idna.StrictDomainName(false), idna.Transitional(false), idna.VerifyDNSLength(false))

// Mappings of UTS 46 since Unicode 15.1, in which U+1E9E is no "ss" and five
// ideographs are no longer refused.
var domainMappings = strings.NewReplacer("\u1e9e", "\u00df", "\U0002f868", "\u36fc", "\U0002f874", "\u5f53",
	"\U0002f91f", "\U000243ab", "\U0002f95f", "\u7aee", "\U0002f9bf", "\u45d7")

// domainToASCII is the URL standard's (section 3.3): for a domain of ASCII
// nothing but lower case, whether or not its labels are valid Punycode.
func domainToASCII(domain string) (string, bool) {
	if texts.IsASCII(domain) {
		return strings.ToLower(domain), true
	}
	if !utf8.ValidString(domain) {
		return "", false
	}
	ascii, err := domainProfile.ToASCII(domainMappings.Replace(domain))
	return ascii, err == nil && ascii != ""
}

// maskHost prepares the host of a URL of a special scheme.
func maskHost(u *whatwg.Url, host string) string {
	if host == "" || host[0] == '[' || !slices.Contains([]string{"http", "https", "ws", "wss", "ftp", "file"}, u.Scheme()) {
		return host
	}
	domain, ok := domainToASCII(PercentDecode(host))
	if !ok || strings.Contains(domain, "%") {
		return noHost
	}
	labels := strings.Split(domain, ".")
	for i, label := range labels {
		if strings.HasPrefix(label, "xn--") || strings.HasPrefix(label, hostMask) || likeNumber(label) {
			labels[i] = hostMask + label
		}
	}
	return strings.Join(labels, ".")
}

// likeNumber reports whether a label is no IPv4 number and begins like one.
func likeNumber(label string) bool {
	if label == "" || !strings.Contains("+-0123456789", label[:1]) {
		return false
	}
	hex, isHex := strings.CutPrefix(label, "0x")
	return strings.Trim(label, "0123456789") != "" && !(isHex && strings.Trim(hex, "0123456789abcdef") == "")
}

// unmaskHost undoes maskHost.
func unmaskHost(_ *whatwg.Url, host string) string {
	if !strings.Contains(host, hostMask) {
		return host
	}
	labels := strings.Split(host, ".")
	for i, label := range labels {
		labels[i] = strings.TrimPrefix(label, hostMask)
	}
	return strings.Join(labels, ".")
}
