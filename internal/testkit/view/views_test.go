package view

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/packet"
	"ibwitness/rule"
)

var (
	runs   = flag.Int("views.runs", 20000, "views of real captures")
	seed   = flag.Uint64("views.seed", 1, "the first seed: each view has one of its own")
	strict = flag.Bool("views.strict", false, "open cases fail too")
	only   = flag.String("views.only", "", "take views of captures only whose name contains this")
	with   = flag.String("views.with", "", "take views only with a step of this kind: join, late, …")
	near   = flag.Bool("views.near", false, "take views only where the tap position is known")
	folder = flag.String("views.folder", "", "take views of the captures in this folder too")
	write  = flag.String("views.write", "", "folder for the views that accuse somebody")
)

// accusation is what somebody is accused of.
type accusation struct {
	rule rule.ID
	addr packet.Addr
}

// TestViews: nobody is accused in a view of a real capture who is not accused of the same in the whole capture.
func TestViews(t *testing.T) {
	x := examiner{t: t, known: map[string]map[accusation]bool{}}
	captures, weights := x.captures(), []float64{}
	total := 0.0
	for _, c := range captures {
		frames, _ := c.Frames()
		total += 1 / float64(len(frames)+300) // short ones more often
		weights = append(weights, total)
	}
	failed := 0
	for s := *seed; s < *seed+uint64(sample.Part(*runs, 40)); s++ {
		r := rand.New(rand.NewPCG(s, 77))
		at, _ := slices.BinarySearch(weights, r.Float64()*total)
		p := NewPlan(r, captures[at])
		if *with != "" && !p.Has(*with) || *near && !p.Near {
			continue
		}
		if !x.examine(s, p, captures) {
			failed++
		}
		if failed >= 20 && *write == "" {
			t.Fatalf("no more after these; %d views", s-*seed+1)
		}
	}
	t.Logf("%d views of %d captures, %d of them accuse somebody", sample.Part(*runs, 40), len(captures), failed)
}

// examiner verifies views.
type examiner struct {
	t     *testing.T
	known map[string]map[accusation]bool // by capture and place of its tap
}

// examine reports whether nobody is accused in a view without cause.
func (x *examiner) examine(s uint64, p Plan, others []*Capture) bool {
	if len(x.wrong(p, p.View(others))) == 0 {
		return true
	}
	p = p.Fewer(func(q Plan) bool { return len(x.wrong(q, q.View(others))) > 0 })
	v := p.View(others)
	short := v.Shorter(func(w *View) bool { return len(x.wrong(p, w)) > 0 })
	var text strings.Builder
	fmt.Fprintf(&text, "-views.seed %d -views.runs 1: %s, near %v: %s\n", s, p.Capture.Name, v.Near, strings.Join(v.About, "; "))
	for _, f := range x.wrong(p, v) {
		fmt.Fprintf(&text, "  %s\n", line(&f))
	}
	fmt.Fprintf(&text, "  in the shortest cut of it, of %d frames:\n", len(short.Frames))
	for _, f := range x.wrong(p, short) {
		fmt.Fprintf(&text, "  %s\n", line(&f))
	}
	if *write != "" {
		for k, w := range map[string]*View{"": v, "-short": short} {
			name := filepath.Join(*write, fmt.Sprintf("view%d%s.pcapng", s, k))
			if err := os.WriteFile(name, w.Bytes(), 0o666); err != nil {
				x.t.Fatal(err)
			}
			fmt.Fprintf(&text, "  written to %s\n", name)
		}
	}
	x.t.Error(text.String())
	return false
}

func line(f *rule.Finding) string {
	return fmt.Sprintf("%v frame %d %v accuses %v: expected %s, actual %s; %s", f.Rule, f.Frame, f.Evidence, f.Accused.Addr, f.Expected, f.Actual, f.Detail)
}

// wrong returns the violations of a view that the whole capture, and the one that is joined to it, do not have.
func (x *examiner) wrong(p Plan, v *View) []rule.Finding {
	src, err := v.Open()
	if err != nil {
		if len(v.Frames) > 0 {
			x.t.Errorf("%s: %s: %v", p.Capture.Name, v.About, err)
		}
		return nil
	}
	defer src.Close()
	res, err := agent.Run(context.Background(), src, agent.Options{Near: v.Near, Workers: 1})
	if err != nil {
		x.t.Errorf("%s: %s: %v", p.Capture.Name, v.About, err)
		return nil
	}
	return slices.DeleteFunc(res.Findings, func(f rule.Finding) bool {
		if f.Class != rule.Violation || f.Accused.Role == rule.Capture {
			return true
		}
		k := accusation{f.Rule, f.Accused.Addr}
		return expected(p, v, k) || resumes(v, &f) || x.knows(p.Capture, false, k) || len(v.Near) > 0 && x.knows(p.Capture, true, k) || v.Joined != nil && x.knows(v.Joined, false, k)
	})
}

// knows reports whether the whole capture has an accusation.
func (x *examiner) knows(c *Capture, near bool, k accusation) bool {
	id := fmt.Sprint(c.Name, near)
	if x.known[id] == nil {
		var at []packet.Addr
		if near {
			at = c.Near
		}
		x.known[id] = map[accusation]bool{}
		res := x.run(c, at)
		for i := range res.Findings {
			if f := &res.Findings[i]; f.Class == rule.Violation {
				x.known[id][accusation{f.Rule, f.Accused.Addr}] = true
			}
		}
	}
	return x.known[id][k]
}

// run verifies a whole capture.
func (x *examiner) run(c *Capture, near []packet.Addr) *agent.Result {
	x.t.Helper()
	frames, taps := c.Frames()
	res, err := agent.Run(context.Background(), New(nil, taps, frames).Source(), agent.Options{Near: near, Workers: 1})
	if err != nil {
		x.t.Fatalf("%s: %v", c.Name, err)
	}
	return res
}

// captures loads the captures that are here.
func (x *examiner) captures() (list []*Capture) {
	x.t.Helper()
	dir := os.Getenv("IBWITNESS_CAPTURES")
	if dir == "" {
		dir = "../../../../shared/captures"
	}
	var files []string
	folders := []string{"../../../testdata/captures", "../planted/testdata", dir + "/rxe", dir + "/suites", dir + "/mad", dir + "/rtl", dir + "/public"}
	if *folder != "" {
		folders = append(folders, *folder)
	}
	for _, folder := range folders {
		found, err := filepath.Glob(folder + "/*.pcap*")
		if err != nil {
			x.t.Fatal(err)
		}
		if len(found) == 0 {
			x.t.Logf("no captures are in %s, so no views of them are taken: IBWITNESS_CAPTURES names the folder of captures", folder)
		}
		files = append(files, found...)
	}
	near := places(x.t, dir)
	several := map[string][]string{}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file)) + "/" + filepath.Base(file)
		c := NewCapture(name, file)
		c.Near = near(name)
		list = append(list, c)
		if m := regexp.MustCompile(`^(.*(?:\.|election-|ring2_node))[abc012](\.pcap)$`).FindStringSubmatch(name); m != nil {
			several[m[1]+"*"+m[2]] = append(several[m[1]+"*"+m[2]], file)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(several)) {
		list = append(list, NewCapture(name, several[name]...))
	}
	list = slices.DeleteFunc(list, func(c *Capture) bool { return !strings.Contains(c.Name, *only) })
	for _, c := range list {
		if err := c.Load(); err != nil {
			x.t.Fatal(err)
		}
		for _, con := range x.run(c, nil).Connections {
			a, b := con.Ends[0], con.Ends[1]
			c.Pairs = append(c.Pairs, [2]Target{{a.Addr, a.QPN}, {b.Addr, b.QPN}})
		}
	}
	return list
}

// relayed are the captures of two machines of soft-RoCE that a relay joins.
var relayed = regexp.MustCompile(`^k6(?:1|12|m)_.*\.([rg])([ab])\.pcap`)

// places returns which endpoints the tap of a capture is near, as the notes beside the captures say.
func places(t *testing.T, dir string) func(name string) []packet.Addr {
	addrs := func(list ...string) (out []packet.Addr) {
		for _, s := range list {
			a, err := packet.ParseAddr(s)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, a)
		}
		return out
	}
	said := map[string]string{}
	index, _ := os.ReadFile(dir + "/suites/INDEX.md")
	for _, part := range bytes.Split(index, []byte("\n## "))[1:] {
		name, rest, _ := strings.Cut(string(part), "\n")
		if m := regexp.MustCompile("`--near` that is true: ([0-9a-f.:]*[0-9a-f])\\.").FindStringSubmatch(rest); m != nil {
			said["suites/"+name] = m[1]
		}
	}
	return func(name string) []packet.Addr {
		folder, file, _ := strings.Cut(name, "/")
		switch {
		case folder == "rtl":
			return addrs("10.0.0.1")
		case regexp.MustCompile(`^(small-updn-sa-diags|small-multipath|dual-dfsssp|ring-lash|election-a)\.pcap`).MatchString(file): // at the port of the manager
			return addrs("lid:1")
		case said[name] != "":
			return addrs(said[name])
		case relayed.MatchString(file): // recorded by a relay where frames leave and reach an end, or in the machine there; netem is between a machine and its tap
			if m := relayed.FindStringSubmatch(file); m[1] == "r" || !strings.Contains(file, "_netem_") {
				n := map[string]string{"a": "1", "b": "2"}[m[2]]
				return addrs("10.88.0."+n, "fd88::"+n, "fe80::5054:ff:fe88:"+n)
			}
		case folder == "rxe" && strings.HasSuffix(file, ".a.pcap") && !strings.HasPrefix(file, "netem"):
			return addrs("10.77.0.1")
		case folder == "rxe" && !strings.HasPrefix(file, "netem"): // netem is between the endpoint and its tap
			return addrs("10.77.0.2", "fd77::2")
		}
		return nil
	}
}
