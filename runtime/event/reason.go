package event

import "net/http"

// Reason is the reason phrase of a response that names none, as workerd (KJ's HTTP
// library) has it: "Not Found", or "Client Error" for a status of 400 to 499 without a
// phrase of its own. It is "" outside of 100 to 599.
func Reason(status int) string {
	if text, ok := reasons[status]; ok {
		return text
	}
	if text := http.StatusText(status); text != "" {
		return text
	}
	if class := status/100 - 1; class >= 0 && class < len(classes) {
		return classes[class]
	}
	return ""
}

// reasons are the phrases that net/http has otherwise.
var reasons = map[int]string{
	http.StatusRequestEntityTooLarge:        "Payload Too Large",
	http.StatusRequestURITooLong:            "URI Too Long",
	http.StatusRequestedRangeNotSatisfiable: "Range Not Satisfiable",
	http.StatusTooEarly:                     "Client Error",
}

var classes = [...]string{"Informational", "Successful", "Redirection", "Client Error", "Server Error"}
