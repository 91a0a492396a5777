package conform

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ibwitness/fabricagent"
	"ibwitness/hcaagent/soft"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet"
	"ibwitness/subnet/sma"
)

// nodeTarget is a target of a node that is made and then changed.
func nodeTarget(t *testing.T, c sma.Config, change map[string]uint64) *Target {
	t.Helper()
	return &Target{Name: "node", Has: Managed, Switch: func() (*sma.Node, error) {
		n, err := sma.New(c)
		if err != nil || len(change) == 0 {
			return n, err
		}
		s := mad.SMP{Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetLID, ClassVersion: 1, Method: mad.Set, Attribute: mad.AttrPortInfo}, Data: n.PortInfo(0)}
		for _, name := range []string{"portState", "portPhysicalState"} {
			mad.LayoutPortInfo.Field(name).PutUint(s.Data, 0)
		}
		for name, v := range change {
			mad.LayoutPortInfo.Field(name).PutUint(s.Data, v)
		}
		b := make([]byte, mad.Size)
		if err := s.Encode(b); err != nil {
			return nil, err
		}
		if n.Receive(0, 0, b) == nil {
			return nil, errors.New("no answer")
		}
		return n, nil
	}}
}

// switchConfig is a switch without SLtoVLMappingTable.
func switchConfig(ports uint8, enhanced bool) sma.Config {
	c := sma.SwitchConfig(nodeGUID, "device", ports)
	c.NoSLtoVL, c.EnhancedPort0 = true, enhanced
	return c
}

func refusal(target *Target, opt RunOptions) *Result {
	return Execute(Match("C14_024_08_04")[0], target, opt)
}

// TestMappingRefused: switches without a fault pass, at base and at enhanced port 0, with all pairs of their ports asked for; with --sample the report says that it
// was not all.
func TestMappingRefused(t *testing.T) {
	for _, c := range []struct {
		ports    uint8
		enhanced bool
		sample   bool
		pairs    int
	}{
		{1, false, false, 2}, {1, true, false, 4}, {4, false, false, 20}, {4, true, true, 25}, {13, true, false, 196}, {36, false, false, 1332}, {36, true, true, 204}, {254, false, true, 204},
	} {
		target, err := Software{Kinds: []Kind{Switch}, Ports: c.ports, EnhancedPort0: c.enhanced}.Target()
		if err != nil {
			t.Fatal(err)
		}
		r := refusal(target, RunOptions{Sample: c.sample})
		sampled := c.sample && c.pairs == 204
		if r.Outcome != Pass || len(r.Violations)+len(r.Warnings) > 0 || (len(r.Remarks) > 0) != sampled {
			t.Errorf("%+v: %v, %v", c, r.Outcome, r.Remarks)
		}
		for _, j := range r.Judgements {
			want := map[string]int{getRefused: c.pairs, setRefused: 3 * c.pairs, noTable: 4 * c.pairs, notKept: c.pairs}[j.ID]
			if j.Outcome != Pass || want != 0 && j.Times != want {
				t.Errorf("%+v: %s %v, %d times, want %d", c, j.ID, j.Outcome, j.Times, want)
			}
		}
	}
}

// TestPortPairs: a sample has the corners, no pair twice, and is another one with another seed.
func TestPortPairs(t *testing.T) {
	list, other := portPairs(1, 254, true, 1), portPairs(1, 254, true, 2)
	if len(list) != sampled+4 || slices.Equal(list, other) || !slices.Equal(list, portPairs(1, 254, true, 1)) {
		t.Errorf("%d pairs", len(list))
	}
	for _, p := range []portPair{{0, 1}, {254, 1}, {0, 254}, {254, 254}} {
		if !slices.Contains(list, p) {
			t.Errorf("no pair %+v", p)
		}
	}
	for i, p := range list {
		if p.in < 0 || p.in > 254 || p.out < 1 || p.out > 254 || slices.Contains(list[:i], p) {
			t.Errorf("pair %+v", p)
		}
	}
	if m := (portPair{3, 7}).modifier(); m != 0x0307 {
		t.Errorf("modifier %#x", m)
	}
}

// TestMappingQualifiers: what the test is not for is not applicable, what it cannot find out is inconclusive, and why is told; what is unusual and legal passes.
func TestMappingQualifiers(t *testing.T) {
	supports, busy, busier := switchConfig(4, false), switchConfig(2, false), switchConfig(2, false)
	supports.NoSLtoVL = false
	host := sma.Config{Type: subnet.ChannelAdapter, GUID: nodeGUID, Description: "device", Ports: 1, NoSLtoVL: true}
	busy.Busy, busier.Busy = busyTries-1, busyTries
	adapter, err := Software{Kinds: []Kind{Adapter}}.Target()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		target  *Target
		outcome Outcome
		why     string // of #08.03
	}{
		"adapter":         {adapter, NotApplicable, "for a device of kind switch"},
		"channel adapter": {nodeTarget(t, host, nil), NotApplicable, "NodeType is 1, "},
		"supported":       {nodeTarget(t, supports, nil), NotApplicable, "the test is for switches without it"},
		"key":             {nodeTarget(t, switchConfig(2, true), map[string]uint64{"MKey": 5, "LID": 3, "masterSMLID": 1}), Pass, ""},
		"hidden key":      {nodeTarget(t, switchConfig(2, true), map[string]uint64{"MKey": 5, "MKeyProtectBits": 1, "LID": 3, "masterSMLID": 1}), Inconclusive, "its protect bits are 1"},
		"protected":       {nodeTarget(t, switchConfig(2, true), map[string]uint64{"MKey": 5, "MKeyProtectBits": 2, "LID": 3, "masterSMLID": 1}), Inconclusive, "no answer to 3 tries; if the M_Key"},
		"busy":            {nodeTarget(t, busy, nil), Pass, ""},
		"busier":          {nodeTarget(t, busier, nil), Inconclusive, "Get(NodeInfo), modifier 0x00000000: status 0x0001 (busy)"},
		"always busy":     {device(t, "sltovl-busy"), Inconclusive, "busy, each of the 4 times"},
		"invalid value":   {device(t, "sltovl-invalid-value"), Pass, ""},
	} {
		r := refusal(c.target, RunOptions{})
		j := r.Judgement(getRefused)
		if r.Outcome != c.outcome || !strings.Contains(j.Actual, c.why) {
			t.Errorf("%s: %v: %s %v: %s", name, r.Outcome, j.ID, j.Outcome, j.Actual)
		}
		if remarked := slices.ContainsFunc(r.Remarks, func(s string) bool { return strings.Contains(s, "80 requests were refused with status code 7") }); remarked != (name == "invalid value") {
			t.Errorf("%s: remarks %q", name, r.Remarks)
		}
		for _, f := range append(r.Violations, r.Warnings...) {
			t.Errorf("%s: %v: expected %s, actual %s", name, f.Rule, f.Expected, f.Actual)
		}
	}
}

// TestMappingKey: where PortInfo shows an M_Key, all later requests have it.
func TestMappingKey(t *testing.T) {
	r := refusal(nodeTarget(t, switchConfig(2, false), map[string]uint64{"MKey": 5, "LID": 3, "masterSMLID": 1}), RunOptions{})
	for _, f := range r.Frames {
		var p packet.Packet
		var s mad.SMP
		if fabricagent.Decode(&f, &p) != fabricagent.RDMA || s.Decode(p.Payload) != nil {
			t.Fatalf("frame %d is no SMP", f.Number)
		}
		if p.CheckICRC(); p.ICRCState != packet.CRCGood || s.Class.Subnet() != (p.VL == 15 && p.DestQP == 0) || s.Directed() && s.Backward() != (f.Number%2 == 0) {
			t.Errorf("frame %d: ICRC %v, VL %d, QP %d", f.Number, p.ICRCState, p.VL, p.DestQP)
		}
		if want := uint64(5); s.MKey != want && f.Number > 4 && s.Class.Subnet() {
			t.Errorf("frame %d has M_Key %d", f.Number, s.MKey)
		}
	}
}

// TestSoftware: what a fault is of decides which device is there; no name is of both.
func TestSoftware(t *testing.T) {
	for _, f := range sma.Faults() {
		if soft.Faults[f.Name] != nil {
			t.Errorf("the fault %s is of adapters and of switches", f.Name)
		}
	}
	if x := device(t, "sltovl-silent"); x.Make != nil || x.Switch == nil {
		t.Error("an adapter with a fault of a switch")
	}
	if x := device(t, "early-retry"); x.Make == nil || x.Switch != nil {
		t.Error("a switch with a fault of an adapter")
	}
	for _, s := range []Software{{Fault: "none"}, {Fault: "early-retry", Kinds: []Kind{Switch}}, {Fault: "sltovl-silent", Kinds: []Kind{Adapter}}, {Ports: 255}} {
		if _, err := s.Target(); err == nil || s.Ports == 0 && !strings.Contains(err.Error(), "no device that is there has a fault") {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
