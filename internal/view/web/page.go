package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

//go:embed page
var embedded embed.FS

// files are the page's: index.html, style.css, and its modules.
var files = func() fs.FS {
	sub, err := fs.Sub(embedded, "page")
	if err != nil {
		panic(err)
	}
	return sub
}()

func read(name string) string {
	b, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// The places in index.html that are filled in.
const (
	policyMark = "<!-- policy -->"
	styleMark  = "<!-- style -->"
	scriptMark = "<!-- script -->"
	dataMark   = "<!-- data -->"
)

// index is the page as it is served: style and script come from the server.
func index() []byte {
	return fill(map[string]string{
		policyMark: "",
		styleMark:  `<link rel="stylesheet" href="page/style.css">`,
		scriptMark: `<script type="module" src="page/main.js"></script>`,
		dataMark:   "",
	})
}

// served is the policy for the page that is served: nothing from elsewhere, nothing inline.
const served = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func fill(marks map[string]string) []byte {
	page := read("index.html")
	for mark, text := range marks {
		page = strings.Replace(page, mark, text, 1)
	}
	return []byte(page)
}

// whole is the page as one file with its data in it: JSON without any <.
func whole(data []byte) []byte {
	style, script := read("style.css"), bundle("main.js")
	policy := fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'", hash(script), hash(style))
	page := fill(map[string]string{
		policyMark: `<meta http-equiv="Content-Security-Policy" content="` + policy + `">`,
		styleMark:  "<style>" + style + "</style>",
		scriptMark: `<script type="module">` + script + "</script>",
	})
	before, after, _ := bytes.Cut(page, []byte(dataMark))
	return slices.Concat(before, []byte(`<script type="application/json" id="data">`), data, []byte("</script>"), after)
}

// hash is how a policy names a text that is in the page.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

var (
	imports = regexp.MustCompile(`(?m)^import \{[^}]*\} from "\./([a-z]+\.js)";\n`)
	exports = regexp.MustCompile(`(?m)^export `)
)

// bundle puts a module and all that it imports into one script. The modules name nothing twice, which TestBundle sees to.
func bundle(main string) string {
	var script strings.Builder
	var done []string
	var add func(name string)
	add = func(name string) {
		if slices.Contains(done, name) {
			return
		}
		done = append(done, name)
		text := read(name)
		for _, m := range imports.FindAllStringSubmatch(text, -1) {
			add(path.Base(m[1]))
		}
		script.WriteString(exports.ReplaceAllString(imports.ReplaceAllString(text, ""), ""))
	}
	add(main)
	return script.String()
}
