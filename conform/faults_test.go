package conform

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ibwitness/hcaagent/soft"
)

// failing says which assertions of a test a fault of the device makes fail, each with the first frames that show it, and which rules it breaks.
type failing struct{ fault, test, fails, rules string }

var faulty = slices.Concat(faultyTransport, faultyCommon, faultyNetwork, faultyManagement, faultyCommunication, faultyAdapters)

// faultyManagement are the faults that tests of subnet management fail on.
var faultyManagement = []failing{
	{"sltovl-answers", "C14_024_08_04", "v1c14-024.1.1#08.01:11,12 v1c14-024.1.1#08.03:11,12", ""},
	{"sltovl-stores", "C14_024_08_04", "v1c14-024.1.1#08.01:13,14 v1c14-024.1.1#08.04:13,14", ""},
	{"sltovl-status-zero", "C14_024_08_04", "v1c14-024.1.1#08.01:11,12 v1c14-024.1.1#08.03:11,12 v1c14-024.1.1#08.04:13,14", ""},
	{"sltovl-silent", "C14_024_08_04", "v1c14-024.1.1#08.03:14 v1c14-024.1.1#08.04:17", ""},
	{"sltovl-wrong-code", "C14_024_08_04", "v1c14-024.1.1#08.03:11,12 v1c14-024.1.1#08.04:13,14", "MAD-STS-001"},
	{"sltovl-redirect", "C14_024_08_04", "v1c14-024.1.1#08.01:11,12 v1c14-024.1.1#08.03:11,12 v1c14-024.1.1#08.04:13,14", ""},
	{"sltovl-keeps-refused", "C14_024_08_04", "ours#02:12,17,19,20", ""},
	{"portinfo-changed", "C14_024_08_04", "ours#03:10,57,62", ""},
	{"vlcap-many", "C14_024_08_04", "v1c14-024.1.1#08.02:9,10", ""},
	{"vl-from-sl", "C14_024_08_04", "ours#04:253,254", ""},
	{"operational-vls-many", "C14_024_08_04", "ours#01:9,10", ""},
}

// found is what a run has found: the assertions that fail, each with the first frames that show it, the rules that are broken, and the outcome.
func found(r *Result) (failed, broken string, o Outcome) {
	var fails, rules []string
	for _, j := range r.Judgements {
		if j.Outcome == Fail && j.ID != RulesID {
			frames := strings.Join(strings.Fields(strings.Trim(fmt.Sprint(j.Frames[:min(len(j.Frames), 8)]), "[]")), ",")
			fails = append(fails, j.ID+":"+frames)
		}
	}
	for _, f := range r.Violations {
		if id := f.Rule.String(); !slices.Contains(rules, id) {
			rules = append(rules, id)
		}
	}
	slices.Sort(rules)
	return strings.Join(fails, " "), strings.Join(rules, " "), r.Outcome
}

// TestFaults: a device with a fault fails just the assertions that it should, shown by the right frames, and no test is wrong itself.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs one test after the other, and make unit runs it whole")
	}
	failed := map[string]bool{}
	for _, x := range faulty {
		failed[x.test] = true
		target, err := Soft(x.fault)
		if err != nil {
			t.Fatal(err)
		}
		fails, rules, o := found(Execute(Match(x.test)[0], target, RunOptions{}))
		if fails != x.fails || rules != x.rules || o != Fail {
			t.Errorf("%s on %s: %v, fails %q and rules %q, want %q and %q", x.test, x.fault, o, fails, rules, x.fails, x.rules)
		}
	}
	for _, x := range faultyNodes {
		failed[x.test] = true
	}
	for _, x := range Tests() {
		if !failed[x.ID] {
			t.Errorf("no fault is known to fail %s", x.ID)
		}
	}
}

// passing are the assertions that no fault makes fail, with the reason.
var passing = map[string]string{
	"C14_024_10_01 v1c14-024.1.1#10.02": "the test is only for switches whose LinearFDBCap is 0",
}

// TestAssertionsFail: each assertion fails on a fault, or the table says why it cannot.
func TestAssertionsFail(t *testing.T) {
	fails := map[string]bool{}
	note := func(test, list string) {
		for _, x := range strings.Fields(list) {
			id, _, _ := strings.Cut(x, ":")
			fails[test+" "+id] = true
		}
	}
	for _, x := range faulty {
		note(x.test, x.fails)
	}
	for _, x := range faultyNodes {
		note(x.test, x.fails)
	}
	for _, x := range Tests() {
		for _, a := range x.Assertions {
			name := x.ID + " " + a.ID
			if reason := passing[name]; fails[name] != (reason == "") {
				t.Errorf("%s fails on a fault: %t; the reason why it cannot: %q", name, fails[name], reason)
			}
		}
	}
}

// TestOwnFaults: each fault of an adapter that only a conformance test shows fails one, and breaks the rule that it names.
func TestOwnFaults(t *testing.T) {
	for _, name := range soft.FaultNames() {
		f := soft.Faults[name]
		if f.Needs != soft.Tester {
			continue
		}
		i := slices.IndexFunc(faulty, func(x failing) bool {
			return x.fault == name && (f.Rule == "" || slices.Contains(strings.Fields(x.rules), f.Rule))
		})
		if i < 0 {
			t.Errorf("%s: no test is known to fail on it, with the rule %q", name, f.Rule)
		}
	}
}
