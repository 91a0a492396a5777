package planted

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/packet"
	"ibwitness/rule"
)

// fault is one fault planted into one frame of a base capture, and what must be found.
type fault struct {
	name  string
	at    int // the frame, as numbered in the file
	plant Plant
	rules string // the rules accepted: "RC-PSN-004|RC-PSN-001"
	// want is the class of the finding where the tap position is not known, and where it is near the accused: V violation,
	// U unproven, * either of them, - nothing at all.
	want string
	// by is who is accused: "" the sender of the frame, "peer" its receiver, "capture", or an address.
	by string
	// Several addresses, joined by |, are all guilty, and the tap is near the first.
	// more is how many further new findings, events apart, are tolerated.
	more int
	// known says why this fault is not found as it should be. The test fails when it is.
	known string
}

// base is a capture to plant faults into.
type base struct {
	file    string // in testdata, or in the folder of captures
	prepare Plant  // what makes another clean capture of it
	faults  []fault
}

// load returns the capture of a base, and skips the test where it is not here.
func (b *base) load(t *testing.T) *Capture {
	t.Helper()
	path := filepath.Join("testdata", b.file)
	if strings.Contains(b.file, "/") {
		dir := os.Getenv("IBWITNESS_CAPTURES")
		if dir == "" {
			dir = "../../../../shared/captures"
		}
		path = filepath.Join(dir, b.file)
		if _, err := os.Stat(path); err != nil {
			t.Skipf("%s is not here: set IBWITNESS_CAPTURES to the folder of captures", b.file)
		}
	}
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.prepare != nil {
		b.prepare(c, 0)
		for i, f := range c.Frames {
			f.Was = i + 1
		}
		c.Accepted = nil
	}
	return c
}

// check runs the engine over a capture and returns what it finds, events apart.
func check(t *testing.T, c *Capture, near ...packet.Addr) []rule.Finding {
	t.Helper()
	src, err := fabricagent.OpenReader("planted.pcap", bytes.NewReader(c.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := agent.Run(context.Background(), src, agent.Options{Workers: 1, Near: near})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(r.Findings, func(f rule.Finding) bool { return f.Class == rule.Event })
}

// key is what makes two findings the same in two runs whose frames are numbered apart.
type key struct {
	rule  rule.ID
	class rule.Class
	was   int
	addr  packet.Addr
}

func keyOf(c *Capture, f *rule.Finding) key {
	return key{f.Rule, f.Class, c.Frames[f.Frame-1].Was, f.Accused.Addr}
}

// fresh returns the findings that the base does not have.
func fresh(c *Capture, found []rule.Finding, old map[key]int) (out []rule.Finding) {
	seen := map[key]int{}
	for _, f := range found {
		k := keyOf(c, &f)
		if seen[k]++; k.was == 0 || seen[k] > old[k] {
			out = append(out, f)
		}
	}
	return out
}

func (b *base) clean(t *testing.T, c *Capture, near ...packet.Addr) map[key]int {
	old := map[key]int{}
	for _, f := range check(t, c, near...) {
		old[keyOf(c, &f)]++
	}
	return old
}

func line(f *rule.Finding) string {
	return fmt.Sprintf("%s %v frame %d by %v %v: expected %s, actual %s (%s)", f.Rule, f.Class, f.Frame, f.Accused.Role, f.Accused.Addr, f.Expected, f.Actual, f.Detail)
}

// judge compares what was found with what one letter of want demands, and returns "" or what is wrong.
func (x *fault) judge(c *Capture, found []rule.Finding, want byte, accused []packet.Addr) string {
	accepted := strings.Split(x.rules, "|")
	hits, others, innocent, near := 0, 0, 0, []string{}
	for i := range found {
		f := &found[i]
		role := f.Accused.Role == rule.Capture
		right := slices.Contains(accepted, f.Rule.String()) && (role && x.by == "capture" || slices.Contains(accused, f.Accused.Addr)) &&
			slices.ContainsFunc(c.Accepted, func(g *Frame) bool { return c.Number(g) == f.Frame })
		switch want {
		case 'V':
			right = right && f.Class == rule.Violation
		case 'U':
			right = right && f.Class == rule.Unproven
		case '-':
			right = false
		}
		if right {
			hits++
		}
		if !right || hits > 1 {
			others++
		}
		if f.Class == rule.Violation && !slices.Contains(accused, f.Accused.Addr) && x.by != "capture" {
			innocent++
		}
		near = append(near, line(f))
	}
	said := "said nothing"
	if len(near) > 0 {
		said = "said " + strings.Join(near, "; ")
	}
	numbers := []uint64{}
	for _, g := range c.Accepted {
		numbers = append(numbers, c.Number(g))
	}
	switch {
	case want != '-' && hits == 0:
		return fmt.Sprintf("should say %s %c on frame %v by %v; %s", x.rules, want, numbers, accused, said)
	case innocent > 0:
		return fmt.Sprintf("%d violations by who did not commit it (%s %c on frame %v by %v); %s", innocent, x.rules, want, numbers, accused, said)
	case others > x.more:
		return fmt.Sprintf("%d findings beside it, at most %d wanted (%s %c on frame %v by %v); %s", others, x.more, x.rules, want, numbers, accused, said)
	}
	return ""
}

func TestFaults(t *testing.T) {
	counts := map[string]int{}
	for name, b := range bases {
		t.Run(name, func(t *testing.T) {
			c := b.load(t)
			blind := b.clean(t, c)
			for i, x := range b.faults {
				if i%sample.Stride(4) > 0 {
					continue
				}
				t.Run(x.name, func(t *testing.T) { counts[x.run(t, b, c, blind)]++ })
			}
		})
	}
	t.Logf("%d faults found as they should be, %d known not to be, %d wrong", counts["found"], counts["known"], counts["wrong"])
}

func (x *fault) run(t *testing.T, b *base, whole *Capture, blind map[key]int) string {
	f := whole.Frame(x.at)
	if f == nil || f.Packet == nil && x.by == "" {
		t.Fatalf("frame %d is no RDMA packet", x.at)
	}
	var accused []packet.Addr
	switch x.by {
	case "":
		accused = append(accused, f.Packet.Src)
	case "peer":
		accused = append(accused, f.Packet.Dst)
	case "capture":
	default:
		for _, s := range strings.Split(x.by, "|") {
			a, err := packet.ParseAddr(s)
			if err != nil {
				t.Fatal(err)
			}
			accused = append(accused, a)
		}
	}
	c := whole.Clone()
	x.plant(c, x.at)
	if len(c.Accepted) == 0 {
		c.accept(x.at)
	}
	wrong := ""
	if w := x.judge(c, fresh(c, check(t, c), blind), x.want[0], accused); w != "" {
		wrong = "blind: " + w
	}
	if x.by != "capture" {
		near := accused[0]
		if w := x.judge(c, fresh(c, check(t, c, near), b.clean(t, whole, near)), x.want[1], accused); w != "" {
			wrong += "\n        near " + near.String() + ": " + w
		}
	}
	verdict := map[bool]string{true: "found", false: "NOT AS IT SHOULD BE"}[wrong == ""]
	t.Logf("%-9s frame %3d  %-55s %-45s %s  %s", x.base(t), x.at, x.name, x.rules, x.want, verdict)
	switch {
	case wrong == "" && x.known != "":
		t.Errorf("found as it should be now: take away known %q", x.known)
		return "wrong"
	case wrong != "" && x.known == "":
		t.Error(wrong)
		return "wrong"
	case wrong != "":
		t.Logf("known: %s\n        %s", x.known, wrong)
		return "known"
	}
	return "found"
}

func (x *fault) base(t *testing.T) string { return strings.Split(t.Name(), "/")[1] }
