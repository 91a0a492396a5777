// Command words finds phrases that are not those of the field in what people read: strings and comments of programs, strings of the page,
// documents, configuration, examples. It names the file, the line and the better word, and fails.
//
//	make lint
//
// A phrase that is right in its place is excused by a comment in its line: "words:" and the reason.
package main

import (
	"fmt"
	"os"
)

func main() {
	hits, err := tree(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(2)
	}
	for _, h := range hits {
		fmt.Printf("%s:%d: %q: say %s\n", h.path, h.line, h.phrase, h.use)
	}
	if len(hits) > 0 {
		os.Exit(1)
	}
}
