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

var faulty = slices.Concat(faultyFirst, faultyTransport)

var faultyFirst = []failing{
	{"resend-before-timer", "C09_130_01", "v1c09-130#01:1,2,3", "RC-RNR-001"},
	{"rnr-forever", "C09_130_01", "ours#04:1,4,5", "RC-RNR-003"},
	{"rnr-gives-up-early", "C09_130_01", "ours#03:1,2", "CPL-STS-007"},
	{"rnr-as-retry", "C09_130_01", "ours#05:1,4", "CPL-STS-007"},
	{"error-completes-twice", "C09_130_01", "ours#05:1,4", "CPL-ORD-002"},
	{"error-completion-lost", "C09_130_01", "ours#05:1,4", "QPS-ERR-002"},
	{"retry-other-payload", "C09_130_01", "ours#02:1,3", "RC-RTY-004"},
	{"completes-twice", "C09_130_01", "ours#08:7,8", "CPL-ORD-002"},
	{"completion-lost", "C09_130_01", "ours#08:7,8", ""},
	{"flush-lost", "C09_130_01", "ours#07:", ""},
	{"flush-twice", "C09_130_01", "ours#07:", "CPL-ORD-002"},
	{"no-ackreq", "C09_130_01", "ours#01:1", ""},
	{"start-psn", "C09_130_01", "ours#01:1", "RC-SEQ-006"},
	{"retry-error-for-ack", "C09_130_01", "ours#08:7,8", "CPL-STS-006"},
	{"resend-before-timer", "X09_110", "v1c09-130#01:1,2,3", "RC-RNR-001"},
	{"rnr-forever", "X09_111", "ours#01:1,2,3", "RC-RNR-003"},
	{"rnr-gives-up-early", "X09_111", "ours#01:3,4", "CPL-STS-007"},
	{"resend-before-timer", "X09_111", "ours#02:4,5", "RC-RNR-001"},
	{"rnr-gives-up-infinite", "X09_112", "ours#01:1,2", "CPL-STS-007"},
	{"rnr-error-for-ack", "X09_112", "ours#02:201,202", "CPL-STS-007"},
	{"rnr-not-reloaded", "X09_113", "ours#01:5,6", "CPL-STS-007"},
	{"rnr-goes-on", "X09_114", "ours#01:2,3", ""},
	{"resend-before-timer", "X09_114", "ours#01:2,3", ""},
	{"rnr-late-psn", "X09_114", "ours#02:1,2,3", ""},
	{"rnr-error-for-ack", "X09_115", "ours#01:1,3", "CPL-STS-007"},
	{"early-retry", "C09_142_01", "v1c09-142#01:3,4 v1c09-143#01:5", "RC-TMO-002"},
	{"late-retry", "C09_142_01", "v1c09-142#01:3", ""},
	{"retry-forever", "C09_142_01", "v1c09-142#01:5,6", "RC-RTY-001"},
	{"gives-up-early", "C09_142_01", "v1c09-142#01:3", "CPL-STS-006"},
	{"retry-as-rnr", "C09_142_01", "v1c09-143#01:5", "CPL-STS-007"},
	{"retry-as-timeout", "C09_142_01", "v1c09-143#01:5", "CPL-STS-006"},
	{"error-completes-twice", "C09_142_01", "v1c09-143#01:5", "CPL-ORD-002"},
	{"error-completion-lost", "C09_142_01", "v1c09-143#01:5", "QPS-ERR-002"},
	{"retry-read-key", "C09_142_01", "ours#02:3,4", "RC-RTY-007"},
	{"read-other-key", "C09_142_01", "ours#01:3", "RC-LEN-010"},
	{"read-other-length", "C09_142_01", "ours#01:3", "CPL-LEN-004 RC-LEN-010"},
	{"read-other-address", "C09_142_01", "ours#01:3", "RC-LEN-010"},
	{"flush-lost", "C09_142_01", "ours#04:", ""},
	{"early-retry", "X09_120", "ours#01:3,4 ours#03:5", "RC-TMO-002"},
	{"late-retry", "X09_120", "ours#01:3", "RC-TMO-002 RC-TMO-004"},
	{"retry-atomic-operand", "X09_120", "ours#02:18,19", "RC-RTY-009"},
	{"retry-atomic-address", "X09_120", "ours#02:18,19", "RC-RTY-009"},
	{"timer-not-off", "X09_121", "ours#01:3,4", "RC-TMO-001"},
	{"timer-goes-on", "X09_122", "ours#01:5,6", ""},
	{"retry-not-reloaded", "X09_123", "ours#01:5", "CPL-STS-006"},
	{"retry-forever", "X09_124", "ours#01:3,4", "RC-RTY-001"},
	{"gives-up-early", "X09_124", "ours#01:6", "CPL-STS-006"},
	{"error-behind-flush", "X09_124", "ours#03:3 ours#05:", "CPL-ORD-003"},
	{"retry-late-psn", "X09_130", "ours#01:9,21,22", "RC-RTY-005"},
	{"retry-skips", "X09_130", "ours#01:10,21,23", ""},
	{"retry-other-payload", "X09_130", "ours#02:9,22", "RC-RTY-004"},
	{"access-as-operational", "X09_132", "ours#01:1,3", "CPL-STS-002 CPL-STS-003"},
	{"access-as-success", "X09_132", "ours#01:1,3", "CPL-STS-002 CPL-STS-003 CPL-STS-004"},
	{"request-after-fatal", "X09_132", "ours#01:1,3 ours#02:2,3 ours#03:3", ""},
	{"sends-swapped", "X09_136", "ours#02:31", ""},
	{"completion-lost", "X09_136", "ours#02:31", ""},
	{"ghost-ack-taken", "X09_137", "ours#01:3,4", "CPL-STS-012"},
	{"complete-before-ack", "X09_101", "ours#01:1,4", "CPL-STS-012"},
	{"complete-before-ack", "X09_102", "ours#01:1,4", "CPL-STS-012"},
	{"read-completes-early", "C09_060_05", "v1c09-060#05:1,2", "CPL-STS-013"},
	{"read-not-stored", "C09_060_05", "ours#02:2,6,7,8", "CPL-MEM-001"},
	{"read-changed", "C09_060_05", "ours#02:1,2,3,4,5", "CPL-MEM-001"},
	{"atomic-completes-early", "C09_060_07", "v1c09-060#07:1,2", "CPL-STS-013"},
	{"atomic-not-stored", "C09_060_07", "ours#02:1,2,3", "CPL-MEM-001"},
	{"atomic-completes-early", "C09_060_09", "v1c09-060#07:1,2", "CPL-STS-013"},
	{"atomic-not-stored", "C09_060_09", "ours#02:1,2,3", "CPL-MEM-001"},
	{"wrong-msn", "C09_060_01_01", "v1c09-060#01:3,4", ""},
	{"no-ack", "C09_060_01_01", "v1c09-060#01:1,2,3", ""},
	{"receive-completes-early", "C09_060_01_01", "ours#01:1,2", "CPL-STS-014"},
	{"receive-damaged", "C09_060_01_01", "ours#03:1,2,3,4", "CPL-MEM-001"},
	{"receive-not-stored", "C09_060_01_01", "ours#03:5,6,7,8", "CPL-MEM-001"},
	{"byte-len", "C09_060_01_01", "ours#02:1,2,3,4", "CPL-LEN-001"},
	{"receive-completion-lost", "C09_060_01_01", "ours#02:1,2,3,4", ""},
	{"receive-twice", "C09_060_01_01", "ours#02:1,2,3,4", "CPL-ORD-002"},
	{"byte-len-read", "C09_060_05", "ours#02:1,2,3,4,5", ""},
	{"byte-len-atomic", "C09_060_07", "ours#02:1,2,3", ""},
	{"nak-not-counted", "X09_126", "ours#01:1,2,3", ""},
	{"accepts-damaged", "X09_002", "ours#01:3,4", "CPL-STS-014"},
	{"read-tail-address", "X09_125", "ours#02:1,5", "RC-RTY-007"},
	{"read-tail-length", "X09_125", "ours#02:1,5", "RC-RTY-007"},
	{"read-tail-key", "X09_125", "ours#02:1,5", "RC-RTY-007"},
	{"early-retry", "X09_125", "ours#01:4,5", "RC-TMO-002"},
	{"bad-response-taken", "X09_134", "ours#01:1,2", "CPL-STS-008"},
	{"read-completes-early", "X09_135", "ours#01:1,2,3", "CPL-STS-013"},
	{"no-ackreq", "X09_142", "ours#01:1", ""},
	{"too-many-reads", "X09_143", "ours#01:1,2,3,4,5,6,7,8", ""},
	{"fence-ignored", "X09_144", "ours#01:1,2", ""},
	{"no-ack", "X09_202", "ours#01:1", ""},
	{"ack-with-payload", "X09_202", "ours#01:1,2", "RC-RSP-008"},
	{"wrong-msn", "X09_202", "ours#01:1,2", ""},
	{"pad-in-ack", "X09_202", "", "BTH-007"},
	{"write-not-stored", "X09_202", "ours#03:11", "CPL-MEM-001"},
	{"read-first-as-middle", "X09_203", "ours#01:7,8", "RC-RES-001"},
	{"read-middle-missing", "X09_203", "ours#01:10,12", "RC-RES-001"},
	{"read-short-last", "X09_203", "ours#03:7,9", "RC-RES-002"},
	{"read-other-data", "X09_203", "ours#03:3,4", "RC-RSP-012"},
	{"read-psn", "X09_203", "ours#01:10,12", "RC-RES-001"},
	{"msn-in-read", "X09_203", "ours#02:7,9", "RC-RSP-013"},
	{"read-last-missing", "X09_203", "ours#01:7", ""},
	{"read-last-as-only", "X09_203", "ours#01:7,9", "RC-RES-001"},
	{"atomic-not-done", "X09_204", "ours#02:1,2", "RC-RSP-011"},
	{"atomic-other-result", "X09_204", "ours#01:1,2", "RC-RSP-011"},
	{"atomic-unanswered", "X09_204", "ours#01:1", ""},
	{"atomic-psn", "X09_204", "ours#01:1,2", ""},
	{"msn-in-atomic", "X09_204", "ours#01:1,2", ""},
	{"no-nak", "X09_206", "ours#01:11", ""},
	{"nak-twice", "X09_206", "ours#02:11,12,13", "RC-RSP-003"},
	{"nak-late-psn", "X09_206", "ours#01:11,12", "RC-RSP-006"},
	{"gap-executed", "X09_206", "ours#01:11,12 ours#03:11,12", "RC-RSP-006"},
	{"nak-msn", "X09_206", "ours#01:11,12", ""},
	{"duplicate-beyond", "X09_208", "ours#01:3,4", "RC-RSP-006"},
	{"duplicate-executed", "X09_210", "ours#01:7,9,10 ours#02:7,9", "RC-RSP-011 RC-RSP-031"},
	{"key-unknown", "X09_217", "ours#01:3,4", "CPL-MEM-005"},
	{"beyond-region", "X09_217", "ours#01:7,8", "CPL-MEM-005"},
	{"access-granted", "X09_217", "ours#01:11,12", "CPL-MEM-005"},
	{"fatal-nak-psn", "X09_217", "ours#01:3,4", "RC-RSP-017"},
	{"fatal-nak-msn", "X09_217", "ours#01:3,4", ""},
	{"answers-after-fatal", "X09_217", "ours#03:3,4", "RC-RSP-027"},
	{"zero-length-checked", "X09_218", "ours#01:1,2", "RC-RSP-026"},
	{"rnr-nak-psn", "X09_221", "ours#01:1,2", ""},
	{"rnr-nak-msn", "X09_221", "ours#01:1,2", ""},
	{"rnr-timer-short", "X09_221", "ours#02:1,2", "RC-RSP-019"},
	{"receive-nowhere", "X09_221", "ours#01:1,2", "RC-RSP-038"},
	{"rnr-nak-twice", "X09_223", "ours#02:2,3,4,5", "RC-RSP-043"},
	{"sltovl-answers", "C14_024_08_04", "v1c14-024.1.1#08.01:11,12 v1c14-024.1.1#08.03:11,12", ""},
	{"sltovl-stores", "C14_024_08_04", "v1c14-024.1.1#08.01:13,14 v1c14-024.1.1#08.04:13,14", ""},
	{"sltovl-status-zero", "C14_024_08_04", "v1c14-024.1.1#08.01:11,12 v1c14-024.1.1#08.03:11,12 v1c14-024.1.1#08.04:13,14", ""},
	{"sltovl-silent", "C14_024_08_04", "v1c14-024.1.1#08.03:14 v1c14-024.1.1#08.04:17", ""},
	{"sltovl-wrong-code", "C14_024_08_04", "v1c14-024.1.1#08.03:11,12 v1c14-024.1.1#08.04:13,14", "MAD-STS-001"},
	{"sltovl-redirect", "C14_024_08_04", "v1c14-024.1.1#08.01:11,12 v1c14-024.1.1#08.03:11,12 v1c14-024.1.1#08.04:13,14", ""},
	{"sltovl-keeps-refused", "C14_024_08_04", "ours#02:12,17,19,20", ""},
	{"portinfo-changed", "C14_024_08_04", "ours#03:10,57,62", ""},
	{"vlcap-many", "C14_024_08_04", "v1c14-024.1.1#08.02:9,10", ""},
	{"vl-from-sl", "C14_024_08_04", "ours#04:247,248", ""},
	{"operational-vls-many", "C14_024_08_04", "ours#01:9,10", ""},
}

// TestFaults: a device with a fault fails just the assertions that it should, shown by the right frames, and no test is wrong itself.
func TestFaults(t *testing.T) {
	failed := map[string]bool{}
	for _, x := range faulty {
		failed[x.test] = true
		target, err := Soft(x.fault)
		if err != nil {
			t.Fatal(err)
		}
		r := Execute(Match(x.test)[0], target, RunOptions{})
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
		if got := strings.Join(fails, " "); got != x.fails || strings.Join(rules, " ") != x.rules || r.Outcome != Fail {
			t.Errorf("%s on %s: %v, fails %q and rules %q, want %q and %q", x.test, x.fault, r.Outcome, got, rules, x.fails, x.rules)
		}
	}
	for _, x := range Tests() {
		if !failed[x.ID] {
			t.Errorf("no fault is known to fail %s", x.ID)
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
