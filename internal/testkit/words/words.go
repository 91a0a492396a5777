package main

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// marker, in a comment with a reason after it, excuses the phrases of its line.
const marker = "words:"

// A hit is a phrase of the list in a text that people read.
type hit struct {
	path   string
	line   int    // from 1 on
	phrase string // as it is written
	use    string
}

var (
	inside   = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`[^`]*`") // a string of JavaScript, on one line
	comment  = regexp.MustCompile(`^\s*//`)
	generous = regexp.MustCompile(`\S\s+\S`) // two words or more: a single one is a name
)

// compiled makes the regular expressions of the words.
func compiled(words []word) []word {
	for i := range words {
		words[i].match = regexp.MustCompile(`(?i)\b(?:` + words[i].phrase + `)\b`)
		if words[i].but != "" {
			words[i].except = regexp.MustCompile(`(?i)^(?:` + words[i].but + `)\b`)
		}
	}
	return words
}

// find returns the phrases of a text that begins in this line of a file. Those that are joined to another word by -, _ or / are parts of names.
func find(path string, line int, text string) []hit {
	var hits []hit
	for _, w := range list {
		for _, at := range w.match.FindAllStringIndex(text, -1) {
			before, after := text[:at[0]], text[at[1]:]
			switch {
			case w.except != nil && w.except.MatchString(text[at[0]:]):
			case strings.HasSuffix(before, "/") || strings.HasSuffix(before, "-") || strings.HasSuffix(before, "_") || strings.HasPrefix(after, "-") || strings.HasPrefix(after, "_"):
			default:
				hits = append(hits, hit{path, line + strings.Count(before, "\n"), text[at[0]:at[1]], w.use})
			}
		}
	}
	return hits
}

// tree checks what people read of the files below a folder: strings and comments of Go programs, strings of the page, documents, configuration and examples.
// The data of tests, and folders whose name begins with a dot, are left out.
func tree(root string) ([]hit, error) {
	var hits []hit
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || name == "dist" || name == "words") {
				return filepath.SkipDir
			}
			return nil
		}
		var check func(path, text string) []hit
		switch ext := filepath.Ext(name); {
		case ext == ".go":
			check = program
		case ext == ".js":
			check = script
		case ext == ".html", ext == ".md", ext == ".yml", ext == ".yaml", ext == ".json":
			check = document
		default:
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		hits = append(hits, check(path, string(text))...)
		return nil
	})
	return hits, err
}

// without leaves out the hits in lines with a marker and a reason.
func without(hits []hit, text string) []hit {
	if !strings.Contains(text, marker) {
		return hits
	}
	lines := strings.Split(text, "\n")
	var left []hit
	for _, h := range hits {
		if _, why, ok := strings.Cut(lines[h.line-1], marker); !ok || len(strings.Fields(why)) < 2 {
			left = append(left, h)
		}
	}
	return left
}

// document checks all of a text.
func document(path, text string) []hit {
	return without(find(path, 1, text), text)
}

// script checks the strings of JavaScript of two words or more.
func script(path, text string) []hit {
	var hits []hit
	line := 0
	for s := range strings.Lines(text) {
		if line++; comment.MatchString(s) {
			continue
		}
		for _, literal := range inside.FindAllString(s, -1) {
			if generous.MatchString(literal) {
				hits = append(hits, find(path, line, literal)...)
			}
		}
	}
	return without(hits, text)
}

// program checks the comments of a Go file and its strings of two words or more. Strings that are joined by + are one text.
func program(path, text string) []hit {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile(path, -1, len(text))
	s.Init(file, []byte(text), nil, scanner.ScanComments)
	var hits []hit
	var joined string
	var first int
	var plus bool
	end := func() {
		if generous.MatchString(joined) {
			hits = append(hits, find(path, first, joined)...)
		}
		joined, plus = "", false
	}
	for {
		pos, tok, literal := s.Scan()
		switch {
		case tok == token.STRING:
			value, err := strconv.Unquote(literal)
			if err != nil {
				continue
			}
			if !plus {
				end()
				first = file.Line(pos)
			}
			joined, plus = joined+value, false
		case tok == token.COMMENT:
			hits = append(hits, find(path, file.Line(pos), literal)...)
		case tok == token.ADD && joined != "":
			plus = true
		default:
			end()
		}
		if tok == token.EOF {
			return without(hits, text)
		}
	}
}
