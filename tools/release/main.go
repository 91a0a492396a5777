// Command release writes what goes with a built program: the licences of the modules in it, and a list of them as CycloneDX JSON (an SBOM).
package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	log.SetFlags(0)
	program := flag.String("program", "bin/ibwitness", "the program")
	version := flag.String("version", "", "its version")
	notices := flag.String("notices", "", "write the licences of its modules to this file")
	sbom := flag.String("sbom", "", "write the list of its modules to this file")
	flag.Parse()
	info, err := buildinfo.ReadFile(*program)
	if err != nil {
		log.Fatal(err)
	}
	for i, m := range info.Deps {
		if m.Replace != nil {
			info.Deps[i] = m.Replace
		}
	}
	if *notices != "" {
		text, err := licences(info.Deps, info.GoVersion)
		if err == nil {
			err = os.WriteFile(*notices, text, 0o644)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	if *sbom != "" {
		if err := list(*sbom, *version, info); err != nil {
			log.Fatal(err)
		}
	}
}

// licences returns the texts of the modules' licences, equal ones once.
func licences(modules []*debug.Module, toolchain string) ([]byte, error) {
	type text struct {
		of   []string
		body string
	}
	var texts []*text
	add := func(name, dir string) error {
		files, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		found := false
		for _, f := range files {
			upper := strings.ToUpper(f.Name())
			if f.IsDir() || !slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE"}, func(s string) bool { return strings.HasPrefix(upper, s) }) {
				continue
			}
			b, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				return err
			}
			body := strings.TrimSpace(strings.ReplaceAll(string(b), "\r\n", "\n"))
			found = true
			if i := slices.IndexFunc(texts, func(t *text) bool { return t.body == body }); i >= 0 {
				texts[i].of = append(texts[i].of, name)
			} else {
				texts = append(texts, &text{[]string{name}, body})
			}
		}
		if !found {
			return fmt.Errorf("%s has no licence in %s", name, dir)
		}
		return nil
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	if err := add("Go's standard library", strings.TrimSpace(string(root))); err != nil {
		return nil, err
	}
	for _, m := range modules {
		out, err := exec.Command("go", "mod", "download", "-json", m.Path+"@"+m.Version).Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Path, err)
		}
		var at struct{ Dir string }
		if err := json.Unmarshal(out, &at); err != nil {
			return nil, err
		}
		if err := add(m.Path+" "+m.Version, at.Dir); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	fmt.Fprintln(&b, "ibwitness contains the following works of others, under their licences.")
	for _, t := range texts {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(t.of, "\n"), t.body)
	}
	return b.Bytes(), nil
}

// list writes the modules as CycloneDX.
func list(path, version string, info *buildinfo.BuildInfo) error {
	purl := func(m, v string) string { return "pkg:golang/" + m + "@" + v }
	b := cdx.NewBOM()
	own := cdx.Component{BOMRef: purl("ibwitness", version), Type: cdx.ComponentTypeApplication, Name: "ibwitness", Version: version, PackageURL: purl("ibwitness", version)}
	b.Metadata = &cdx.Metadata{Component: &own}
	std := strings.TrimPrefix(info.GoVersion, "go")
	parts := []cdx.Component{{BOMRef: purl("std", std), Type: cdx.ComponentTypeLibrary, Name: "std", Version: std, PackageURL: purl("std", std)}}
	refs := []string{parts[0].BOMRef}
	for _, m := range info.Deps {
		c := cdx.Component{BOMRef: purl(m.Path, m.Version), Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: purl(m.Path, m.Version)}
		parts, refs = append(parts, c), append(refs, c.BOMRef)
	}
	b.Components = &parts
	b.Dependencies = &[]cdx.Dependency{{Ref: own.BOMRef, Dependencies: &refs}}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON).SetPretty(true).Encode(b); err != nil {
		return err
	}
	return f.Close()
}
