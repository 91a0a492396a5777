package conform

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ibwitness/internal/testkit/sample"
	"ibwitness/mad"
	"ibwitness/subnet"
	"ibwitness/subnet/sma"
)

// on makes Software of words: enhanced, sltovl, random, plain, ca, and a number of ports.
func on(t *testing.T, words, fault string) *Target {
	t.Helper()
	w := Software{Fault: fault, Kinds: []Kind{Switch}}
	for _, word := range strings.Fields(words) {
		switch word {
		case "enhanced":
			w.EnhancedPort0 = true
		case "sltovl":
			w.SLtoVL = true
		case "optimized":
			w.SLtoVL, w.Optimized = true, true
		case "manager":
			w.Manager = true
		case "random":
			w.Random = true
		case "plain":
			w.Plain = true
		case "router":
			w.Kinds, w.Router = []Kind{ChannelAdapter}, true
		case "ca":
			w.Kinds = []Kind{ChannelAdapter}
		default:
			if _, err := fmt.Sscan(word, &w.Ports); err != nil {
				t.Fatal(word, err)
			}
		}
	}
	target, err := w.Target()
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// nodes are switches of 1, 4 and 36 ports, at base and at enhanced port 0, and channel adapters, with and without what is optional.
var nodes = []string{
	"", "enhanced", "1", "1 enhanced", "36", "36 enhanced", "sltovl", "sltovl enhanced", "optimized", "1 optimized enhanced", "1 sltovl", "random", "random enhanced", "plain", "plain 1 enhanced sltovl", "ca", "ca sltovl", "ca plain", "manager", "ca manager", "router",
}

// slow are the nodes for tests of many thousand packets.
var slow = map[*Test][]string{saturation: {"", "ca"}, linearStored: {"1", "enhanced", "36", "random"}}

// TestCleanNodes: nodes without a fault pass all tests that are for them, and no rule accuses them. On one of them each step of a procedure is taken and each assertion judged.
func TestCleanNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs one test after the other, and make unit runs it whole")
	}
	for _, x := range Tests() {
		if !x.Device.managed() {
			continue
		}
		of := nodes
		if slow[x] != nil {
			of = slow[x]
		}
		passed, steps := map[string]bool{RulesID: true}, map[int]bool{}
		for _, node := range of {
			r := Execute(x, on(t, node, ""), RunOptions{Sample: strings.Contains(node, "36")})
			for _, j := range r.Judgements {
				if j.Outcome > Pass || r.Outcome == Pass && j.Times == 0 {
					t.Errorf("%s %s on %q: %v: expected %s, actual %s, frames %v", x.ID, j.ID, node, j.Outcome, j.Expected, j.Actual, j.Frames)
				}
				passed[j.ID] = passed[j.ID] || j.Outcome == Pass
			}
			for _, l := range r.Log {
				steps[l.Step] = true
			}
			for _, f := range append(r.Violations, r.Warnings...) {
				t.Errorf("%s on %q: %v at frame %d: expected %s, actual %s", x.ID, node, f.Rule, f.Frame, f.Expected, f.Actual)
			}
		}
		for _, a := range x.Assertions {
			if !passed[a.ID] {
				t.Errorf("%s %s is judged on no node", x.ID, a.ID)
			}
		}
		for step := range x.Procedure {
			if !steps[step+1] {
				t.Errorf("%s does not take step %d on any node", x.ID, step+1)
			}
		}
	}
}

// TestOddNodes: nodes of sizes that are no whole blocks, with all lanes, of a slow or busy agent, a router, and nodes that a manager has given an M_Key, pass all tests that are for
// them. These have the M_Key after a test that they had before.
func TestOddNodes(t *testing.T) {
	sample.Skip(t, "nothing runs beside it")
	sw, host := sma.SwitchConfig(nodeGUID, "device", 5), sma.Config{Type: subnet.ChannelAdapter, GUID: nodeGUID, Description: "device", Ports: 3}
	for _, c := range []*sma.Config{&sw, &host} {
		c.VLCap, c.VLArbitration, c.GUIDCap, c.PartitionCap, c.RespTime = 5, 64, 19, 100, 18
	}
	sw.Enforcement, sw.MulticastCap, sw.LinearCap, sw.Led = 40, 70, 130, true
	few, busy, router, bare := sw, sw, host, host
	few.VLArbitration, few.GUIDCap, few.RespTime, few.LinearCap, few.RandomCap, few.Ports = 40, 1, 8, 0, 20, 20
	busy.Busy, busy.Ports, router.Type, router.Ports = busyTries-1, 2, subnet.Router, 1
	bare.NoSLtoVL, bare.VLCap, bare.VLArbitration, bare.NoTraps, bare.Ports = true, 1, 0, true, 1
	for name, c := range map[string]sma.Config{"switch": sw, "host": host, "few": few, "busy": busy, "router": router, "bare": bare} {
		for _, key := range []uint64{0, 5} {
			if key != 0 && name != "switch" {
				continue
			}
			var node *sma.Node
			keyed := nodeTarget(t, c, map[string]uint64{"MKey": key, "MKeyLeasePeriod": key, "LID": 3, "masterSMLID": 1})
			make := func() (n *sma.Node, err error) {
				node, err = sma.New(c)
				if key != 0 {
					node, err = keyed.Switch()
				}
				return node, err
			}
			target := &Target{Name: name, Has: Managed, Switch: make, ChannelAdapter: make}
			if c.Type != subnet.Switch {
				target.Switch = nil
			}
			for _, x := range Tests() {
				if !x.Device.managed() || x == saturation {
					continue
				}
				r := Execute(x, target, RunOptions{})
				for _, j := range r.Judgements {
					if j.Outcome > Pass {
						t.Errorf("%s %s on %s: %v: expected %s, actual %s, frames %v", x.ID, j.ID, name, j.Outcome, j.Expected, j.Actual, j.Frames)
					}
				}
				for _, f := range append(r.Violations, r.Warnings...) {
					t.Errorf("%s on %s: %v at frame %d: expected %s, actual %s", x.ID, name, f.Rule, f.Frame, f.Expected, f.Actual)
				}
				if l := mad.LayoutPortInfo; key != 0 && node != nil {
					if info := node.PortInfo(0); l.Field("MKey").Uint(info) != key || l.Field("MKeyLeasePeriod").Uint(info) != key || l.Field("MKeyProtectBits").Uint(info) != 0 {
						t.Errorf("%s leaves M_Key %#x", x.ID, l.Field("MKey").Uint(info))
					}
				}
			}
		}
	}
}

// TestOtherNodes: a test is not applicable to a node of another kind, or that lacks what it is about.
func TestOtherNodes(t *testing.T) {
	for test, node := range map[string]string{
		"C14_024_13_1": "", "C14_024_13_3": "manager", "C14_024_04_SW_01": "ca", "C14_024_06_CA_01": "", "C14_024_06_SW_05": "", "C14_024_06_SW_06": "", "C14_024_08_01": "ca", "C14_024_08_02": "ca sltovl", "C14_024_08_03": "",
		"C14_024_09_CA": "ca", "C14_024_09_SW": "", "C14_024_10_01": "", "C14_024_10_02": "random", "C14_024_10_03": "random",
	} {
		r := Execute(Match(test)[0], on(t, node, ""), RunOptions{})
		if r.Outcome != NotApplicable || slices.ContainsFunc(r.Judgements, func(j Judgement) bool { return j.Actual == "" }) {
			t.Errorf("%s on %q: %v", test, node, r.Outcome)
		}
	}
	both, err := Software{}.Target()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := both.node(Node)(); err != nil || n.Type().String() != "switch" {
		t.Errorf("a test of any node is run on %v", n.Type())
	}
}

// failingNode is like failing, of a node that on says.
type failingNode struct{ fault, test, on, fails, rules string }

// faultyNodes are like faulty, of tests by subnet management packets; on says which node it is.
var faultyNodes = slices.Concat(faultyLinks, faultyControls, faultyAdministration, []failingNode{
	{"node-description-set", "C14_024_02", "", "v1c14-024.1.1#02.02:9,10 v1c14-024.1.1#02.03:8,9,12", ""},
	{"node-description-set", "C14_024_02", "ca", "v1c14-024.1.1#02.02:7,8 v1c14-024.1.1#02.03:6,7,10", ""},
	{"combination-taken", "C14_024_02", "", "v1c14-024.1.1#02.02:9,10", ""},
	{"node-info-differs", "C14_024_03", "", "v1c14-024.1.1#03.04:2,12", "SMP-NI-002"},
	{"combination-taken", "C14_024_03", "ca", "v1c14-024.1.1#03.03:13,14", "SMP-MTH-002 SMP-NI-001 SMP-NI-002"},
	{"read-only-written", "C14_024_04_SW_01", "", "v1c14-024.1.1#04.02:9,10,12", ""},
	{"set-not-stored", "C14_024_04_SW_02", "", "v1c14-024.1.1#04.03:9,10,12", ""},
	{"illegal-stored", "C14_024_04_SW_03", "", "v1c14-024.1.1#04.04:9,10", ""},
	{"state-change-lost", "X14_005", "", "ours#02:14", ""},
	{"state-change-any-set", "X14_005", "", "ours#03:15,16,18", ""},
	{"combination-taken", "X14_006", "ca", "ours#01:5,6", "SMP-SI-001"},
	{"guid-zero-written", "C14_024_05", "", "v1c14-024.1.1#05.02:9,10,12", ""},
	{"guid-not-stored", "C14_024_05", "ca", "v1c14-024.1.1#05.03:11,12,14", ""},
	{"modifier-ignored", "C14_024_05", "", "ours#01:23,24", ""},
	{"read-only-written", "C14_024_06_CA_01", "ca", "ours#02:11,12,14", "SMP-PI-004 SMP-PI-005"},
	{"set-not-stored", "C14_024_06_CA_02", "ca", "ours#03:11,12,14", "SMP-PI-002 SMP-PI-006"},
	{"illegal-stored", "C14_024_06_CA_03", "ca", "v1c14-024.1.1#06.04:11,12", "SMP-PI-002 SMP-PI-003 SMP-PI-004 SMP-PI-005 SMP-PI-006 SMP-PI-007"},
	{"illegal-stored", "C14_024_06_SW_02", "", "v1c14-024.1.1#06.04:9,10", "SMP-PI-003 SMP-PI-004 SMP-PI-005 SMP-PI-006 SMP-PI-007"},
	{"set-not-stored", "C14_024_06_SW_05", "enhanced", "v1c14-024.1.1#06.04:13,14,16", "SMP-MK-003 SMP-PI-002"},
	{"illegal-stored", "C14_024_06_SW_06", "enhanced", "v1c14-024.1.1#06.04:13,14", "SMP-PI-002"},
	{"reregister-kept", "X14_007", "", "ours#02:13,16", ""},
	{"reregister-lost", "X14_007", "ca", "ours#01:11,12", ""},
	{"pkey-bad-status", "X14_009", "", "ours#02:11,12", ""},
	{"pkey-not-stored", "X14_009", "ca", "ours#03:13,14", ""},
	{"pkey-block-ignored", "X14_009", "", "ours#03:11,12,18 ours#04:23,24 ours#05:21,22", "SMP-PK-001"},
	{"modifier-ignored", "X14_009", "", "ours#04:23,24", "SMP-PK-001"},
	{"sltovl-not-stored", "C14_024_08_01", "ca sltovl", "ours#01:9,10", ""},
	{"sltovl-silent", "C14_024_08_01", "ca sltovl", "v1c14-024.1.1#08.01:4,9 v1c14-024.1.1#08.03:9", ""},
	{"sltovl-answers", "C14_024_08_02", "ca", "v1c14-024.1.1#08.01:7,8 v1c14-024.1.1#08.03:7,8", ""},
	{"sltovl-stores", "C14_024_08_02", "ca", "v1c14-024.1.1#08.01:9,10 v1c14-024.1.1#08.04:9,10", ""},
	{"vlcap-many", "C14_024_08_02", "ca", "v1c14-024.1.1#08.02:5,6", ""},
	{"sltovl-pair-mixed", "C14_024_08_03", "sltovl", "ours#01:17,18,96", ""},
	{"sltovl-not-stored", "C14_024_08_03", "sltovl", "ours#01:17,18", ""},
	{"sltovl-silent", "C14_024_08_03", "sltovl", "v1c14-024.1.1#08.01:4,17 v1c14-024.1.1#08.03:17", ""},
	{"vlarb-not-stored", "C14_024_09_CA", "ca sltovl", "v1c14-024.1.1#09.04:9,10", ""},
	{"modifier-ignored", "C14_024_09_CA", "ca sltovl", "ours#01:27,28", "SMP-VA-001"},
	{"vlarb-not-stored", "C14_024_09_SW", "sltovl enhanced", "v1c14-024.1.1#09.04:11,12", ""},
	{"modifier-ignored", "C14_024_09_SW", "sltovl", "ours#01:29,30", "SMP-VA-001"},
	{"combination-taken", "C14_024_10_01", "random", "v1c14-024.1.1#10.01:7,8 v1c14-024.1.1#10.03:7,8 v1c14-024.1.1#10.04:11,12", ""},
	{"lft-not-stored", "C14_024_10_02", "", "v1c14-024.1.1#10.05:9,10", ""},
	{"modifier-ignored", "C14_024_10_02", "", "ours#01:4615,4616", "SMP-LF-001"},
	{"lft-port-unchecked", "C14_024_10_03", "", "v1c14-024.1.1#10.06:34,43,44", ""},
	{"combination-taken", "C14_024_11", "", "v1c14-024.1.1#11.01:7,8", ""},
	{"rft-not-stored", "C14_024_11", "random", "v1c14-024.1.1#11.03:9,10", ""},
	{"modifier-ignored", "C14_024_11", "random", "ours#01:391,392", ""},
	{"combination-taken", "C14_024_12", "plain", "v1c14-024.1.1#12.01:7,8", ""},
	{"mft-not-stored", "C14_024_12", "", "v1c14-024.1.1#12.03:9,10", ""},
	{"modifier-ignored", "C14_024_12", "", "ours#01:199,200", ""},
	{"combination-taken", "C14_024_13_3", "", "v1c14-031#01:7,8 v1c14-070#01:4,7,8", ""},
	{"is-sm-lost", "C14_024_13_1", "manager", "v1c14-024.1.1#13.01:4,7,8", ""},
	{"sm-guid-wrong", "C14_024_13_1", "ca manager", "v1c14-024.1.1#13.02:2,6", ""},
	{"is-sm-set", "C14_024_13_3", "ca", "v1c14-024.1.1#13.01:4 v1c14-070#01:4,5,6", ""},
	{"vendor-diag-loop", "X14_011", "", "ours#02:9,10", ""},
	{"combination-taken", "X14_011", "", "ours#03:9,10", ""},
	{"combination-taken", "X14_012", "", "ours#01:7,8", ""},
	{"led-not-stored", "C14_024_15", "", "v1c14-024.1.1#15.04:9,10,12", ""},
	{"combination-taken", "C14_024_15", "plain", "v1c14-024.1.1#15.01:7,8", ""},
	{"mkey-zero-checked", "C14_015_GET", "", "v1c14-015#01:13 ours#01:13,15", ""},
	{"mkey-zero-checked", "C14_015_SET", "", "v1c14-015#02:15 ours#01:15,17", ""},
	{"mkey-zero-checked", "C14_015_TRAPREPRESS", "", "ours#02:37,39", ""},
	{"repress-answered", "C14_015_TRAPREPRESS", "ca", "ours#01:25,26", "SMP-TRP-005"},
	{"mkey-hidden", "C14_016_GET_0", "", "v1c14-016#01.01:11,12", ""},
	{"mkey-shown", "C14_016_GET_1", "", "v1c14-016#02.01:11,12", "SMP-MK-002"},
	{"protect-bits-ignored", "C14_016_GET_2", "", "v1c14-016#03.01:11,12 v1c14-016#04.01:21,22 ours#01:11,12,16", "SMP-MK-002"},
	{"mkey-not-counted", "C14_016_GET_2", "ca", "ours#01:9,13", ""},
	{"mkey-ignored", "C14_016_SET", "", "v1c14-016#01.02:19,20 v1c14-016#02.02:35,36 v1c14-016#03.02:51,52 v1c14-016#04.02:67,68 ours#01:19,20,22", "SMP-MK-003"},
	{"mkey-not-counted", "C14_016_SET", "", "ours#01:19,23", ""},
	{"lease-never-ends", "C14_017_01", "", "v1c14-020#01:11,13", ""},
	{"lease-early", "C14_017_01", "", "v1c14-017#01:21,22", ""},
	{"mkey-not-counted", "C14_017_01", "ca", "ours#01:9,13", ""},
	{"lease-not-stopped", "C14_017_03", "", "v1c14-019#01:11,15", ""},
	{"lease-zero-expires", "C14_017_05", "", "v1c14-021#01:12,13", ""},
	{"mkey-split", "X14_001", "", "ours#01:9,10", ""},
	{"repress-answered", "X14_014", "", "ours#01:37,38", "SMP-TRP-005"},
	{"answers-answer", "X14_014", "", "ours#03:43,44", ""},
	{"mkey-not-counted", "X14_014", "", "ours#02:40,42", ""},
	{"hops-unchecked", "X14_002", "", "ours#01:7,8 ours#02:15,16", "SMP-DR-001"},
	{"dr-return-rewritten", "TD_17.1.2.1.1", "", "v1c14-009#02.01:1,2", "SMP-NI-001"},
	{"dr-initial-cleared", "TD_17.1.2.1.1", "", "v1c14-010#02:1,2", "SMP-DR-010"},
	{"tid-mixed", "TD_17.1.2.1.1", "", "ours#01:1,2", ""},
	{"dr-return-wrong", "TD_17.1.2.1.1", "", "v1c14-009#02.07:3", ""},
	{"sltovl-all-ignored", "X14_010", "optimized", "ours#02:47,48,52 ours#03:89,90,94", ""},
	{"modifier-ignored", "X14_010", "sltovl", "ours#04:9,10", ""},
	{"violations-wrap", "X14_008", "", "ours#02:65550,65552 ours#04:65555,65556,65558", ""},
	{"dr-out-wrong", "X14_003", "", "ours#01:41,42 ours#03:47,48", ""},
	{"dr-end-delivered", "X14_003", "", "ours#02:45", ""},
	{"dr-end-delivered", "X14_004", "", "ours#02:43", ""},
	{"dr-back-wrong", "X14_004", "", "ours#01:41,42", ""},
	{"trap-too-fast", "X14_013", "", "ours#05:44,45", ""},
	{"trap-goes-on", "X14_013", "", "ours#06:44,49,50,51,52", "SMP-TRP-005"},
	{"trap-mkey", "X14_013", "ca", "ours#02:32", "SMP-TRP-001"},
	{"trap-new-tid", "X14_013", "", "ours#04:44,45", ""},
	{"set-not-stored", "X14_005", "", "ours#01:9,10,12", ""},
	{"violations-kept", "X14_008", "", "ours#03:65561,65562,65564", ""},
	{"get-refused", "X14_009", "", "ours#01:7,8 ours#04:15,16", ""},
	{"set-refused", "X14_010", "optimized", "ours#01:47,48", ""},
	{"get-refused", "X14_011", "", "ours#01:7,8", ""},
	{"trap-lost", "X14_013", "", "ours#01:", ""},
	{"trap-issuer-wrong", "X14_013", "ca", "ours#03:32", ""},
	{"trap-same-tid", "X14_013", "", "ours#07:49", "SMP-TRP-005"},
	{"mkey-never-shown", "C14_016_GET_1", "", "ours#01:15,16", "SMP-MK-002"},
	{"mkey-overcounted", "C14_016_GET_0", "", "ours#02:13,14,18", ""},
	{"mkey-overcounted", "C14_016_GET_1", "ca", "ours#02:11,12,16", ""},
	{"get-refused", "C14_024_02", "", "v1c14-024.1.1#02.01:7,8", "SMP-MTH-002"},
	{"versions-wrong", "C14_024_03", "", "v1c14-024.1.1#03.02:8", "SMP-NI-001"},
	{"port-guid-shared", "C14_024_03", "ca", "v1c14-024.1.1#03.05:2,10", "SMP-NI-002"},
	{"local-port-fixed", "C14_024_03", "", "v1c14-024.1.1#03.06:11,12", "SMP-NI-001"},
	{"set-refused", "C14_024_04_SW_01", "", "v1c14-024.1.1#04.01:9,10", "SMP-MTH-002"},
	{"other-component-set", "C14_024_04_SW_01", "", "v1c14-024.1.1#04.03:9,12", ""},
	{"set-refused", "C14_024_04_SW_02", "", "v1c14-024.1.1#04.01:9,10", "SMP-MTH-002"},
	{"read-only-changes", "C14_024_04_SW_02", "", "v1c14-024.1.1#04.02:8,9,12", ""},
	{"get-refused", "C14_024_05", "", "v1c14-024.1.1#05.01:7,8 ours#01:11,12", ""},
	{"set-refused", "C14_024_05", "ca", "v1c14-024.1.1#05.01:11,12", ""},
	{"other-component-set", "C14_024_06_CA_01", "ca", "ours#03:11,14", ""},
	{"read-only-changes", "C14_024_06_CA_02", "ca", "ours#02:10,11,14", ""},
	{"read-only-changes", "C14_024_06_CA_03", "ca", "v1c14-024.1.1#06.02:10,11,14 v1c14-024.1.1#06.04:11,12,14", ""},
	{"local-port-fixed", "C14_024_06_CA_03", "ca", "v1c14-024.1.1#06.05:211,212", "SMP-NI-001"},
	{"own-number-other", "C14_024_06_CA_03", "ca", "v1c14-024.1.1#06.06:10,108", ""},
	{"read-only-changes", "C14_024_06_SW_02", "", "v1c14-024.1.1#06.02:8,9,12 v1c14-024.1.1#06.04:9,10,12", ""},
	{"read-only-changes", "C14_024_06_SW_05", "enhanced", "v1c14-024.1.1#06.02:12,13,16", ""},
	{"violations-kept", "C14_024_06_SW_05", "enhanced", "v1c14-024.1.1#06.04:96,97,99", ""},
	{"read-only-changes", "C14_024_06_SW_06", "enhanced", "v1c14-024.1.1#06.02:12,13,16 v1c14-024.1.1#06.04:13,14,16", ""},
	{"set-refused", "C14_024_08_01", "ca sltovl", "v1c14-024.1.1#08.01:4,9,10 v1c14-024.1.1#08.04:9,10", ""},
	{"set-refused", "C14_024_08_03", "sltovl", "v1c14-024.1.1#08.01:4,17,18 v1c14-024.1.1#08.04:17,18", ""},
	{"get-refused", "C14_024_09_CA", "ca sltovl", "v1c14-024.1.1#09.02:7,8 ours#01:11,12", ""},
	{"set-refused", "C14_024_09_CA", "ca sltovl", "v1c14-024.1.1#09.03:9,10 ours#01:23,24", ""},
	{"get-refused", "C14_024_09_SW", "sltovl", "v1c14-024.1.1#09.02:9,10 ours#01:13,14", ""},
	{"set-refused", "C14_024_09_SW", "sltovl", "v1c14-024.1.1#09.03:11,12 ours#01:25,26", ""},
	{"both-tables", "C14_024_10_02", "", "v1c14-024.1.1#10.02:6", ""},
	{"get-refused", "C14_024_10_02", "", "v1c14-024.1.1#10.01:6,7,8 v1c14-024.1.1#10.03:7,8 ours#01:1543,1544", ""},
	{"set-refused", "C14_024_10_02", "", "v1c14-024.1.1#10.01:6,9,10 v1c14-024.1.1#10.04:9,10 ours#01:4617,4618", ""},
	{"both-tables", "C14_024_10_03", "", "v1c14-024.1.1#10.02:6", ""},
	{"both-tables", "C14_024_11", "", "v1c14-024.1.1#10.02:6 v1c14-024.1.1#11.01:7,8 ours#01:15,16", ""},
	{"get-refused", "C14_024_11", "random", "v1c14-024.1.1#11.01:7,8 ours#01:135,136", ""},
	{"set-refused", "C14_024_11", "random", "v1c14-024.1.1#11.02:9,10 ours#01:393,394", ""},
	{"get-refused", "C14_024_12", "", "v1c14-024.1.1#12.01:7,8 ours#01:71,72", ""},
	{"set-refused", "C14_024_12", "", "v1c14-024.1.1#12.02:9,10 ours#01:201,202", ""},
	{"is-sm-disabled", "C14_024_13_3", "", "v1c14-024.1.1#13.01:4 v1c14-070#01:4,7,8 v1c14-070#03:4", ""},
	{"get-refused", "C14_024_15", "", "v1c14-024.1.1#15.01:4,7,8 v1c14-024.1.1#15.02:7,8", ""},
	{"set-refused", "C14_024_15", "ca", "v1c14-024.1.1#15.03:11,12", ""},
	{"dr-lids-changed", "TD_17.1.2.1.1", "", "v1c14-010#03:1,2 v1c14-010#04:1,2", "SMP-DR-010"},
	{"dr-count-changed", "TD_17.1.2.1.1", "", "v1c14-010#01:1,2", "SMP-DR-010"},
	{"dr-pointer-kept", "TD_17.1.2.1.1", "", "v1c14-011#04.02:1,2", "SMP-DR-006"},
	{"dr-direction-lost", "TD_17.1.2.1.1", "", "v1c14-011#03:1,2", "SMP-DR-010"},
	{"slow-answer", "C13_014_01", "", "v1c13-015#01:5,6 v1c13-016#01:3,4 v1c13-016#02:9,10", ""},
	{"slow-first-answer", "C13_014_01", "ca", "v1c13-013.1.1#03:1,2 v1c13-015#01:5,6 v1c13-016#01:3,4 v1c13-016#02:9,10", ""},
	{"get-refused", "C13_014_01", "", "v1c13-014#01:7,8", "SMP-MTH-002"},
	{"version-ignored", "X13_001", "", "ours#01:7,8 ours#02:41,42", "MAD-FMT-001 MAD-STS-002 SMP-FMT-003"},
	{"method-ignored", "X13_002", "", "ours#01:7,8 ours#02:231,232", ""},
	{"method-silent", "X13_002", "ca", "ours#01:7", ""},
	{"combination-taken", "X13_003", "", "ours#01:7,8 ours#02:11,12", "SMP-MTH-002 SMP-NI-001"},
	{"combination-taken", "X13_003", "ca", "ours#01:5,6 ours#02:25,26", "SMP-MTH-002 SMP-NI-001 SMP-SI-001"},
	{"refusal-changed", "X13_003", "", "ours#03:7,8", ""},
	{"modifier-ignored", "X13_004", "", "ours#01:7,8", "SMP-LF-001 SMP-PI-001 SMP-PK-001"},
	{"modifier-ignored", "X13_004", "ca", "ours#01:5,6", "SMP-PI-001 SMP-PK-001"},
	{"tid-shared", "X13_005", "", "ours#01:33,133,134 ours#03:432", "SMP-MTH-003"},
	{"modifier-mixed", "X13_005", "", "ours#02:37,137", "SMP-MTH-003"},
	{"attribute-mixed", "X13_005", "ca", "ours#02:22,122", "MAD-TID-001 SMP-MTH-003"},
	{"answers-answer", "X13_006", "", "ours#01:33,34", ""},
	{"repress-answered", "X13_006", "ca", "ours#02:23,24", "SMP-TRP-005"},
	{"smp-length-unchecked", "X13_007", "", "ours#01:35,36", "UD-QP0-002"},
	{"smp-unchecked", "X13_007", "ca", "ours#02:29,30 ours#03:33,34 ours#04:37,38", "SMP-FMT-005 UD-QP0-002"},
	{"class-port-info-versions", "X13_008", "", "ours#02:35,36", ""},
	{"class-port-info-missing", "X13_008", "ca", "ours#03:23,24", ""},
	{"class-port-info-missing", "X16_001", "", "ours#01:33,34", ""},
	{"class-port-info-versions", "X16_001", "ca", "ours#02:25,26", ""},
	{"packets-uncounted", "X16_002", "", "ours#01:60,62,64,66,68,70,72,74 ours#03:58,82,86,90,94,98,102,106", ""},
	{"counter-off", "X16_002", "ca", "ours#02:26,27,29,31,33,35,37,39", ""},
	{"counter-not-stored", "X16_003", "", "ours#01:35,36,38 ours#03:41,42,44", ""},
	{"counter-kept", "X16_003", "", "ours#02:41,42,44", ""},
	{"counter-select-ignored", "X16_003", "ca", "ours#03:29,30,32", ""},
	{"counter-wraps", "X16_004", "", "ours#01:57,58 ours#02:71,72 ours#03:101,102", ""},
	{"counter-wrong", "X16_005", "", "ours#01:38,39 ours#02:43,44 ours#03:58,59 ours#04:88,89", ""},
	{"gmp-unchecked", "X16_005", "", "ours#05:92,93", ""},
	{"mkey-not-counted", "X16_005", "ca", "ours#05:49,50,52", ""},
	{"port-select-ignored", "X16_006", "", "ours#01:43,44 ours#02:51,52 ours#03:53,54", ""},
	{"sum-wrong", "X16_006", "ca", "ours#02:31,32", ""},
	{"extended-narrow", "X16_006", "", "ours#04:57,58,80", ""},
	{"gmp-unchecked", "X16_007", "", "ours#01:37,38 ours#03:47,48", ""},
	{"gmp-length-unchecked", "X16_007", "ca", "ours#02:28,29", ""},
	{"method-ignored", "X16_007", "", "ours#04:49,50", ""},
	{"combination-taken", "X16_007", "", "ours#05:55,56", ""},
	{"class-taken", "X16_007", "ca", "ours#06:47,48", ""},
})

// TestFaultyNodes: a node with a fault fails just the assertions that it should, shown by the right frames.
func TestFaultyNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs one test after the other, and make unit runs it whole")
	}
	for _, x := range faultyNodes {
		fails, rules, o := found(Execute(Match(x.test)[0], on(t, x.on, x.fault), RunOptions{}))
		if fails != x.fails || rules != x.rules || o != Fail {
			t.Errorf("%s on %s %s: %v, fails %q and rules %q, want %q and %q", x.test, x.fault, x.on, o, fails, rules, x.fails, x.rules)
		}
	}
}
