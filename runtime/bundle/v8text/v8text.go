// Package v8text describes syntax errors of a program with V8's texts.
package v8text

import (
	"strconv"
	"strings"

	"minido.dev/minido/internal/lazyregexp"
)

var (
	unexpectedToken = lazyregexp.New(`^(?:Expected .+ but found|Unexpected) ("(?:[^"\\]|\\.)*")$`)
	reservedWord    = lazyregexp.New(`^"(.+)" is a reserved word and cannot be used in (?:an ECMAScript module|strict mode)$`)
	declaredTwice   = lazyregexp.New(`^The symbol "(.+)" has already been declared$`)
	exportedTwice   = lazyregexp.New(`^Multiple exports with the same name "(.+)"$`)
	undeclared      = lazyregexp.New(`^"(.+)" is not declared in this file$`)
	interfaceWord   = lazyregexp.New(`(?:^|[;}])\s*(interface)\s+$`)
	identifier      = lazyregexp.New(`^[\p{L}_$][\p{L}\p{N}_$]*$`)
	constant        = lazyregexp.New(`\bconst\s+([\p{L}_$][\p{L}\p{N}_$]*)\s*$`)
)

// keywords are the reserved words that V8 shows as tokens.
const keywords = " break case catch class const continue debugger default delete do else export extends false finally for function if import in instanceof new null return super switch this throw true try typeof var void while with "

// strictWords are reserved in strict code alone.
const strictWords = " implements interface let package private protected public static yield "

// texts are V8's texts for those of esbuild that name nothing.
var texts = map[string]string{
	"Unexpected end of file":                                             "Unexpected end of input",
	`"await" can only be used inside an "async" function`:                "Unexpected reserved word",
	"Top-level return cannot be used inside an ECMAScript module":        "Illegal return statement",
	"Invalid assignment target":                                          "Invalid left-hand side in assignment",
	`Cannot use "break" here:`:                                           "Illegal break statement",
	`Cannot use "continue" here:`:                                        "Illegal continue statement: no surrounding iteration statement",
	"Delete of a bare identifier cannot be used in an ECMAScript module": "Delete of an unqualified identifier in strict mode.",
	"The JSX syntax extension is not currently enabled":                  "Unexpected token '<'",
}

// openQuote is the quote of the literal that a line leaves open, and its column; 0 for none.
func openQuote(line string) (quote byte, at int) {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote == 0 && (c == '"' || c == '\'' || c == '`'):
			quote, at = c, i
		case c == quote:
			quote = 0
		}
	}
	return quote, at
}

// Syntax is V8's text for what esbuild says of a syntax error, or that itself where V8 has
// another view, and its column from 0. line is the line of the source, column that of
// esbuild from 0, both in bytes. Compared with workerd 1.20261117.
func Syntax(message, line string, column int) (text string, at int) {
	if found := unexpectedToken.FindStringSubmatch(message); found != nil {
		token, err := strconv.Unquote(found[1])
		if err != nil {
			return message, column
		}
		before := line[:min(max(column, 0), len(line))]
		if word := interfaceWord.FindStringSubmatchIndex(before); word != nil {
			return unexpected("interface"), word[2]
		}
		if name := constant.FindStringSubmatchIndex(before); name != nil && token != "=" {
			return "Missing initializer in const declaration", name[2]
		}
		return unexpected(token), column
	}
	if text := texts[message]; text != "" {
		return text, column
	}
	switch {
	case strings.HasSuffix(message, "found end of file"):
		return "Unexpected end of input", column
	case strings.HasPrefix(message, "With statements cannot be used in "):
		return "Strict mode code may not include a with statement", column
	case message == "Unterminated string literal":
		if quote, at := openQuote(line); quote == '"' || quote == '\'' {
			return "Invalid or unexpected token", at
		}
		return "Unexpected end of input", column // of a template
	case message == "Unterminated regular expression":
		return "Invalid regular expression: missing /", strings.LastIndexByte(line, '/')
	}
	if word := reservedWord.FindStringSubmatch(message); word != nil {
		return unexpected(word[1]), column
	}
	if name := declaredTwice.FindStringSubmatch(message); name != nil {
		return "Identifier '" + name[1] + "' has already been declared", column
	}
	if name := exportedTwice.FindStringSubmatch(message); name != nil {
		if name[1] == "default" {
			return "Identifier '.default' has already been declared", column
		}
		return "Duplicate export of '" + name[1] + "'", column
	}
	if name := undeclared.FindStringSubmatch(message); name != nil {
		return "Export '" + name[1] + "' is not defined in module", column
	}
	return message, column
}

// unexpected is V8's text of a token that stands where it may not.
func unexpected(token string) string {
	word := " " + token + " "
	switch {
	case token == "await" || token == "enum":
		return "Unexpected reserved word"
	case strings.Contains(strictWords, word):
		return "Unexpected strict mode reserved word"
	case strings.Contains(keywords, word), token == "":
		return "Unexpected token '" + token + "'"
	case identifier.MatchString(token):
		return "Unexpected identifier '" + token + "'"
	}
	switch c := token[0]; {
	case c >= '0' && c <= '9':
		return "Unexpected number"
	case c == '"' || c == '\'':
		return "Unexpected string"
	case c == '`':
		return "Unexpected template string"
	}
	return "Unexpected token '" + token + "'"
}
