package conform

import (
	"bytes"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

func device(t *testing.T, fault string) *Target {
	t.Helper()
	target, err := Soft(fault)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// TestClean: an adapter without a fault passes all tests, with any start PSN; each step of the procedures is taken and each assertion judged.
func TestClean(t *testing.T) {
	zero, wrap := packet.PSN(0), packet.PSN(0xFFFFFF)
	adapter := slices.DeleteFunc(Tests(), func(x *Test) bool { return x.Device != Adapter })
	for _, psn := range []*packet.PSN{nil, &zero, &wrap} {
		for _, r := range ExecuteAll(adapter, device(t, ""), Options{RunOptions: RunOptions{StartPSN: psn}, Workers: 2}) {
			for _, j := range r.Judgements {
				if j.Outcome != Pass || j.Times == 0 {
					t.Errorf("%s %s, start PSN %v: %v: expected %s, actual %s, frames %v", r.Test.ID, j.ID, psn, j.Outcome, j.Expected, j.Actual, j.Frames)
				}
			}
			for step := range r.Test.Procedure {
				if !slices.ContainsFunc(r.Log, func(l Line) bool { return l.Head && l.Step == step+1 }) {
					t.Errorf("%s does not take step %d", r.Test.ID, step+1)
				}
			}
			if r.Outcome != Pass || len(r.Warnings) > 0 {
				t.Errorf("%s: %v, %d warnings", r.Test.ID, r.Outcome, len(r.Warnings))
			}
		}
	}
}

// TestOrder: the results are the same in any order and for any number of workers.
func TestOrder(t *testing.T) {
	all := slices.DeleteFunc(Tests(), func(x *Test) bool { return slow[x] != nil })
	for fault, list := range map[string][]*Test{"": all, "early-retry": Match("C09"), "sltovl-silent": Match("C")} {
		want := ExecuteAll(list, device(t, fault), Options{Seed: 1})
		for seed := range uint64(sample.Part(2, 2)) {
			got := ExecuteAll(list, device(t, fault), Options{Seed: seed + 1, Workers: 4})
			for i, r := range got {
				if !reflect.DeepEqual(r, want[i]) {
					t.Errorf("fault %q, seed %d: %s gives another result", fault, seed+1, r.Test.ID)
				}
			}
		}
	}
}

// TestPages: each test is written in full, and its ids are those of the plan.
func TestPages(t *testing.T) {
	id, assertion := regexp.MustCompile(`^([CX]\d\d_(0_1_)?\d{3}(_[A-Z0-9]+)*|TD_\d+(\.\d+)+|CATC_[A-Za-z]+)$`), regexp.MustCompile(`^(v1c\d\d-\d{3}(\.\d+)*|ours)#\d\d(\.\d\d)?$`)
	seen := map[string]bool{}
	for _, x := range Tests() {
		switch {
		case !id.MatchString(x.ID) || seen[x.ID]:
			t.Errorf("id %s", x.ID)
		case x.Title == "" || x.Abstract == "" || len(x.Covers) == 0 || x.Topology == "" || x.Needs == 0 || len(x.Setup) == 0 || len(x.Procedure) == 0 || len(x.Assertions) == 0:
			t.Errorf("%s lacks a part of its page", x.ID)
		}
		seen[x.ID] = true
		for i := range x.Assertions {
			a := &x.Assertions[i]
			if !assertion.MatchString(a.ID) || x.Assertion(a.ID) != a || !strings.HasSuffix(a.Text, ".") {
				t.Errorf("%s: assertion %+v", x.ID, a)
			}
		}
	}
}

func TestMatch(t *testing.T) {
	for pattern, want := range map[string]int{"C09_130_01": 1, "c09_130": 1, "X09_11": 6, "*_01": 11, "td_17": 1, "C14_016_get": 3, "C9": 0, "X09_11*": 6, "[": 0} {
		if got := Match(pattern); len(got) != want {
			t.Errorf("%s: %d tests, want %d", pattern, len(got), want)
		}
	}
}

// TestNotApplicable: a test that needs what the device lacks is not run.
func TestNotApplicable(t *testing.T) {
	target := device(t, "")
	target.Has &^= Reads
	r := Execute(Match("C09_142_01")[0], target, RunOptions{})
	if r.Outcome != NotApplicable || len(r.Frames) > 0 || !strings.Contains(r.Judgements[0].Actual, "lacks RDMA READ") || Status([]*Result{r}) != ExitPassed {
		t.Errorf("%v: %+v", r.Outcome, r.Judgements)
	}
}

// TestInconclusive: what a test cannot judge is no pass, and the reason is told.
func TestInconclusive(t *testing.T) {
	r := Execute(Match("C09_142_01")[0], device(t, "completion-lost"), RunOptions{})
	for _, j := range r.Judgements {
		if j.ID != RulesID && (j.Outcome != Inconclusive || !strings.Contains(j.Actual, "did not complete once with success")) {
			t.Errorf("%s: %v: %s", j.ID, j.Outcome, j.Actual)
		}
	}
	if Status([]*Result{r}) == ExitPassed {
		t.Error("passed")
	}
}

// TestTesterAccused: a tester that breaks a rule is an error of the test, unless the test says that it does.
func TestTesterAccused(t *testing.T) {
	x := &Test{
		ID: "X09_999", Procedure: []string{"Acknowledge with a wrong MSN."}, Assertions: []Assertion{{"ours#01", "Whatever."}},
		run: func(r *run) {
			c := r.connect(func(a *qp.Attr) { a.RetryCnt, a.RNRRetry = 7, 7 })
			r.at(1)
			c.post(wqe.OpSend, 64)
			c.ack(c.only(wqe.OpSend).PSN, positive, 1)
			c.post(wqe.OpSend, 64)
			c.ack(c.only(wqe.OpSend).PSN, positive, 7)
			r.settle()
			r.check("ours#01", true, "", "")
		},
	}
	r := Execute(x, device(t, ""), RunOptions{})
	if r.Outcome != Broken || !strings.Contains(r.Judgement(RulesID).Actual, "the tester breaks RC-RSP-013 at frame 4") || Status([]*Result{r}) != ExitInconclusive {
		t.Errorf("%v: %+v", r.Outcome, r.Judgements)
	}
	x.Breaks = []string{"RC-RSP-013"}
	if r := Execute(x, device(t, ""), RunOptions{}); r.Outcome != Pass {
		t.Errorf("%v: %+v", r.Outcome, r.Judgements)
	}
}

// TestCapture: the pcapng of a run has all frames, and comments on those that show a failure.
func TestCapture(t *testing.T) {
	r := Execute(Match("C09_130_01")[0], device(t, "resend-before-timer"), RunOptions{})
	var file bytes.Buffer
	if err := r.WriteCapture(&file); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(file.Bytes(), []byte("C09_130_01 v1c09-130#01 fails: expected at least 491.52ms (code 31)")) {
		t.Error("no comment")
	}
	src, err := fabricagent.OpenReader("run.pcapng", &file)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for {
		b, err := src.Next()
		if b == nil {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Frames {
			if f := &b.Frames[i]; f.Time != r.Frames[n].Time || !bytes.Equal(f.Data, r.Frames[n].Data) {
				t.Errorf("frame %d differs", n+1)
			}
			n++
		}
		b.Release()
	}
	if n != len(r.Frames) || n == 0 {
		t.Errorf("%d frames, want %d", n, len(r.Frames))
	}
}
