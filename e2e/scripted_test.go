package e2e

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
)

// Servers that know just what the packages of TestPackages ask of them. Each ends
// when its client hangs up.

// redis answers the commands of RESP2 (redis.io/docs/reference/protocol-spec).
func redis(c net.Conn) {
	in, keys := bufio.NewReader(c), map[string]string{}
	line := func(kind byte) (n int, ok bool) {
		text, err := in.ReadString('\n')
		if err != nil || text[0] != kind {
			return 0, false
		}
		_, err = fmt.Sscan(text[1:], &n)
		return n, err == nil
	}
	for {
		count, ok := line('*')
		var words []string
		for range count {
			n, known := line('$')
			word := make([]byte, n+2)
			_, err := io.ReadFull(in, word)
			if ok = ok && known && err == nil; ok {
				words = append(words, string(word[:n]))
			}
		}
		if !ok || len(words) == 0 {
			return
		}
		bulk := func(text string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text) }
		answer := "+OK\r\n"
		switch strings.ToUpper(words[0]) {
		case "HELLO":
			answer = "*2\r\n" + bulk("proto") + ":2\r\n"
		case "INFO":
			answer = bulk("redis_version:7.0.0\r\nloading:0\r\n")
		case "SET":
			keys[words[1]] = words[2]
		case "GET":
			answer = "$-1\r\n"
			if value, has := keys[words[1]]; has {
				answer = bulk(value)
			}
		case "BROKEN":
			answer = "-ERR unknown command 'BROKEN'\r\n"
		}
		if _, err := io.WriteString(c, answer); err != nil {
			return
		}
	}
}

// postgres answers each query with the one row {answer: 42}, and BROKEN with an
// error (postgresql.org/docs/current/protocol-message-formats.html).
func postgres(c net.Conn) {
	in := bufio.NewReader(c)
	read := func() (body string, ok bool) {
		var n uint32
		if binary.Read(in, binary.BigEndian, &n) != nil || n < 4 || n > 1<<16 {
			return "", false
		}
		text := make([]byte, n-4)
		_, err := io.ReadFull(in, text)
		return string(text), err == nil
	}
	message := func(kind string, parts ...any) string {
		var body []byte
		for _, part := range parts {
			if text, isText := part.(string); isText {
				body = append(body, text...)
				continue
			}
			body, _ = binary.Append(body, binary.BigEndian, part) // of fixed size, all of them
		}
		return string(binary.BigEndian.AppendUint32([]byte(kind), uint32(len(body)+4))) + string(body)
	}
	fields := message("T", uint16(1), "answer\x00", uint32(0), uint16(0), uint32(23), uint16(4), int32(-1), uint16(0))
	row, ready := message("D", uint16(1), uint32(2), "42")+message("C", "SELECT 1\x00"), message("Z", "I")
	failure := message("E", "SERROR\x00VERROR\x00C42601\x00Msyntax error at or near \"BROKEN\"\x00\x00")
	if _, ok := read(); !ok { // the start: user, database
		return
	}
	answer := message("R", uint32(0)) + message("S", "server_version\x0014.0\x00") + message("K", uint32(1), uint32(2)) + ready
	for {
		if _, err := io.WriteString(c, answer); err != nil {
			return
		}
		kind, err := in.ReadByte()
		body, ok := read()
		if err != nil || !ok {
			return
		}
		switch answer = ""; kind {
		case 'Q':
			if answer = fields + row + ready; strings.HasPrefix(body, "BROKEN") {
				answer = failure + ready
			}
		case 'P':
			answer = message("1")
		case 'B':
			answer = message("2")
		case 'D':
			answer = fields
		case 'E':
			answer = row
		case 'S':
			answer = ready
		case 'X':
			return
		}
	}
}

// smtp takes every mail whose text came as it was sent (RFC 5321).
func smtp(c net.Conn) {
	in := bufio.NewReader(c)
	answer := "220 scripted ESMTP"
	for {
		if _, err := io.WriteString(c, answer+"\r\n"); err != nil {
			return
		}
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch command, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(line)), " "); command {
		case "EHLO":
			answer = "250-scripted\r\n250 8BITMIME"
		case "DATA":
			io.WriteString(c, "354 go on\r\n")
			var text []string
			for line != ".\r\n" {
				if line, err = in.ReadString('\n'); err != nil {
					return
				}
				text = append(text, strings.TrimRight(line, "\r\n"))
			}
			if answer = "250 taken"; !slices.Equal(text[len(text)-4:], []string{"hello", "..", "world", "."}) {
				answer = fmt.Sprintf("554 the text came as %q", text)
			}
		case "QUIT":
			answer = "221 bye"
		default:
			answer = "250 OK"
		}
	}
}
