package conform

import (
	"fmt"
	"slices"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/subnet/sma"
)

// Port is where an adapter under test is put.
type Port struct {
	Addr  packet.Addr
	MAC   [6]byte
	Clock soft.Clock
	Send  func(frame []byte) // takes an Ethernet frame that leaves the device
	Event func(*cq.Event)    // takes events that no verb tells of
	Seed  uint64
}

// Device is an adapter under test. Tests drive it only by Control; Query tells the rules what its memory holds.
type Device interface {
	hcaagent.Control
	hcaagent.Query
	Limits() qp.Limits
	Receive(frame []byte) // takes a frame that has arrived at its port
}

// Target makes devices under test, one for each run.
type Target struct {
	Name string
	Has  Need
	Make func(Port) (Device, error) // an adapter; nil: there is none, and tests of adapters are not applicable
	// Node makes a node that subnet management packets reach; nil: there is none, and tests of switches are not applicable.
	Node func() (*sma.Node, error)
}

// lacks says why a test cannot be run against a target; empty: it can.
func (t *Target) lacks(x *Test) string {
	if x.Device == Adapter && t.Make == nil || x.Device == Switch && t.Node == nil {
		return fmt.Sprintf("the test is for a device of kind %v, and the device under test is of another", x.Device)
	}
	if n := x.Needs &^ t.Has; n != 0 {
		return "the device lacks " + n.String()
	}
	return ""
}

// Software says which devices in software are under test. The zero value is an adapter, and a switch of four ports with base port 0 that does not support
// SLtoVLMappingTable, both without a fault.
type Software struct {
	Fault         string // of soft.Faults or sma.Faults: only the device that can have it is there, and shows it whenever it can; empty: none
	Kinds         []Kind // that are there; empty: all
	Ports         uint8  // external ports of the switch, 1 to 254; 0: 4
	EnhancedPort0 bool   // of the switch (section 18.2.4)
	SLtoVL        bool   // the switch supports SLtoVLMappingTable (section 14.2.5.8)
}

// Soft is the devices in software, or the one of them that can have a fault where that is not empty.
func Soft(fault string) (*Target, error) { return Software{Fault: fault}.Target() }

// Target makes the target. The error says that no such device has this fault, or wraps sma.ErrConfig.
func (s Software) Target() (*Target, error) {
	t := &Target{Name: "soft"}
	there := func(k Kind) bool { return len(s.Kinds) == 0 || slices.Contains(s.Kinds, k) }
	ofSwitch := slices.ContainsFunc(sma.Faults(), func(f sma.Fault) bool { return f.Name == s.Fault })
	if there(Adapter) && (s.Fault == "" || soft.Faults[s.Fault] != nil) {
		t.Has, t.Make = Control|Memory|Reads|Extended, s.adapter
	}
	if there(Switch) && (s.Fault == "" || ofSwitch) {
		t.Has |= Managed
		t.Node = s.node
		if _, err := s.node(); err != nil {
			return nil, fmt.Errorf("conform: %w", err)
		}
	}
	if t.Make == nil && t.Node == nil {
		return nil, fmt.Errorf("conform: no device that is there has a fault %q: `ibwitness simulate --faults` lists those of adapters, `ibwitness conform run --faults` those of switches", s.Fault)
	}
	if s.Fault != "" {
		t.Name += " with the fault " + s.Fault
	}
	return t, nil
}

func (s Software) adapter(p Port) (Device, error) {
	return soft.New(soft.Options{
		Addr: p.Addr, MAC: p.MAC, Clock: p.Clock, Send: p.Send, Event: p.Event, Seed: p.Seed, Fault: s.Fault, FaultAll: true,
	})
}

func (s Software) node() (*sma.Node, error) {
	if s.Ports == 0 {
		s.Ports = 4
	}
	c := sma.SwitchConfig(nodeGUID, "device", s.Ports)
	c.EnhancedPort0, c.NoSLtoVL = s.EnhancedPort0, !s.SLtoVL
	if s.Fault != "" {
		c.Faults = []string{s.Fault}
	}
	return sma.New(c)
}
