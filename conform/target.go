package conform

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/cq"
	"ibwitness/fabricagent/sim"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/cma"
	"ibwitness/hcaagent/soft"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/subnet"
	"ibwitness/subnet/sa"
	"ibwitness/subnet/sma"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// Port is where an adapter under test is put.
type Port struct {
	Addr  packet.Addr
	GIDs  []wqe.GID // the other entries of its table of GIDs, or on a native link, where Addr is a LID, all
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
	// Profile says how the adapter spaces its congestion notification packets, where it sends them.
	Profile verifier.Profile
	Make    func(Port) (Device, error) // an adapter; nil: there is none, and tests of adapters are not applicable
	// Switch and ChannelAdapter make nodes that subnet management packets reach; nil: there is none, and tests of these are not applicable. Tests of both take
	// the switch where there is one.
	Switch, ChannelAdapter func() (*sma.Node, error)
	// Administration makes subnet administration, which is at the node where a subnet manager runs, and Standby that of a standby subnet manager, which is at another one; nil: there is
	// none.
	Administration, Standby func() (*sa.Agent, error)
	// SMKey is the SM_Key of trusted requests; 0: it is not known.
	SMKey uint64
	// Cabled makes an adapter, and the agents of its port, for tests on native links: its packets are those between LRH and ICRC. nil: there is none.
	Cabled func(Port) (Device, *sma.Node, error)
	// Live, where not nil, is an adapter in real time, in place of Make.
	Live *Live
	// Subnet, where not nil, is a subnet manager in real time, in place of all others.
	Subnet *Subnet
	// LinkFault is a fault of sim.LinkFaults that the ports of the device have, where its links are native ones; empty: none.
	LinkFault string
}

// node returns what makes the node for a test; nil: there is none.
func (t *Target) node(k Kind) func() (*sma.Node, error) {
	if k == Switch || k == Node && t.Switch != nil {
		return t.Switch
	}
	return t.ChannelAdapter
}

// lacks says why a test cannot be run against a target; empty: it can.
func (t *Target) lacks(x *Test) string {
	if t.Subnet != nil {
		if x.Needs&Administration == 0 {
			return "the device under test is a subnet manager, and the test is of another device"
		}
		return ""
	}
	if x.cabled && x.Device == Adapter {
		if t.Cabled == nil {
			return "the device under test has no adapter on a native link"
		}
		return ""
	}
	if x.Device == Adapter && t.Make == nil && t.Live == nil || x.Device.managed() && t.node(x.Device) == nil {
		return fmt.Sprintf("the test is for a device of kind %v, and the device under test is of another", x.Device)
	}
	if t.Live != nil && x.native {
		return "the test is for InfiniBand, and the device under test is on Ethernet"
	}
	if t.LinkFault != "" && !x.cabled {
		return "the fault shows on native links only, and the test has none"
	}
	if n := x.Needs &^ t.Has; n != 0 {
		return "the device lacks " + n.String()
	}
	return ""
}

// Software says which devices in software are under test. The zero value is an adapter, a switch of four ports with base port 0 that does not support
// SLtoVLMappingTable and forwards by its LinearForwardingTable, and a channel adapter of two ports, all without a fault.
type Software struct {
	Fault         string // of soft.Faults, sma.Faults or sim.LinkFaults: only the devices that can have it are there, and show it whenever they can; empty: none
	Kinds         []Kind // that are there; empty: all
	Ports         uint8  // external ports of the switch, 1 to 254; 0: 4
	EnhancedPort0 bool   // of the switch (section 18.2.4)
	SLtoVL        bool   // switch and channel adapter have eight data lanes, SLtoVLMappingTable and VLArbitrationTable (sections 14.2.5.8 and 14.2.5.9)
	Optimized     bool   // with SLtoVL, the switch sets many SLtoVLMappingTables by one Set
	Random        bool   // the switch forwards by its RandomForwardingTable, and has no LinearForwardingTable (section 14.2.5.11)
	Router        bool   // the channel adapter is a router between two subnets
	Manager       bool   // the master subnet manager runs at the switch and at port 1 of the channel adapter
	Plain         bool   // switch and channel adapter have nothing that is optional but for what is named here
}

// Soft is the devices in software, or those of them that can have a fault where that is not empty.
func Soft(fault string) (*Target, error) { return Software{Fault: fault}.Target() }

// Target makes the target. The error says that no such device has this fault, or wraps sma.ErrConfig.
func (s Software) Target() (*Target, error) {
	t := &Target{Name: "soft"}
	if s.there(Adapter) {
		t.Has, t.Make = Control|Memory|Reads|Extended|Notifies|Communication, s.adapter
		t.Profile = verifier.Profile{CNPs: verifier.Pacing{By: verifier.PacedByQP, Every: notifiesEvery}, DSCP: notifiesDSCP, HasDSCP: true}
	}
	if t.Make != nil || s.wanted(Adapter) && nodeFault(s.Fault) {
		t.Cabled = s.cabled
	}
	if s.there(Switch) {
		t.Has |= Managed
		t.Switch = s.aSwitch
		if _, err := s.aSwitch(); err != nil {
			return nil, fmt.Errorf("conform: %w", err)
		}
	}
	if s.there(ChannelAdapter) {
		t.Has |= Managed
		t.ChannelAdapter = s.channelAdapter
	}
	if t.Make == nil && t.Switch == nil && t.ChannelAdapter == nil {
		return nil, fmt.Errorf("conform: no device that is there has a fault %q: `ibwitness simulate --faults` lists those of adapters, `ibwitness conform run --faults` those of switches and channel adapters", s.Fault)
	}
	if s.Manager {
		t.Has |= Administration
		t.Administration, t.Standby, t.SMKey = func() (*sa.Agent, error) { return s.administration(false) }, func() (*sa.Agent, error) { return s.administration(true) }, softKey
	}
	if sim.LinkFaults[s.Fault] != nil {
		t.LinkFault = s.Fault
	}
	if s.Fault != "" {
		t.Name += " with the fault " + s.Fault
	}
	return t, nil
}

// wanted reports whether a device of a kind is one of those that are wanted.
func (s Software) wanted(k Kind) bool { return len(s.Kinds) == 0 || slices.Contains(s.Kinds, k) }

// there reports whether a device of a kind is there: it is one of those that are wanted, and can have the fault.
func (s Software) there(k Kind) bool {
	if !s.wanted(k) {
		return false
	}
	if sim.LinkFaults[s.Fault] != nil {
		return true
	}
	if k == Adapter {
		return s.Fault == "" || soft.Faults[s.Fault] != nil || managerFault(s.Fault)
	}
	return s.Fault == "" || nodeFault(s.Fault) || s.Manager && administrationFault(s.Fault)
}

// nodeFault reports whether a fault is one of nodes.
func nodeFault(name string) bool {
	return slices.ContainsFunc(sma.Faults(), func(f sma.Fault) bool { return f.Name == name })
}

// How the adapter in software sends congestion notification packets.
const (
	notifiesEvery = 50 * time.Microsecond
	notifiesDSCP  = 48
)

// managerFault reports whether a fault is one of communication managers.
func managerFault(name string) bool {
	return slices.ContainsFunc(cma.Faults(), func(f cma.Fault) bool { return f.Name == name })
}

func (s Software) adapter(p Port) (Device, error) {
	if sim.LinkFaults[s.Fault] != nil {
		s.Fault = ""
	}
	o := soft.Options{
		Addr: p.Addr, GIDs: p.GIDs, MAC: p.MAC, Clock: p.Clock, Send: p.Send, Event: p.Event, Seed: p.Seed, Fault: s.Fault, FaultAll: true,
		Congestion: soft.Congestion{CNPs: soft.PerQP, Every: int64(notifiesEvery), TClass: notifiesDSCP << 2},
	}
	c := cma.Config{GUID: nodeGUID, Addr: p.Addr, PKeys: []uint16{0xFFFF}}
	if managerFault(s.Fault) {
		o.Fault, c.Faults = "", []string{s.Fault}
	}
	hca, err := soft.New(o)
	if err != nil {
		return nil, err
	}
	cm, err := cma.New(c)
	if err != nil {
		return nil, fmt.Errorf("conform: %w", err)
	}
	return &communicating{HCA: hca, Agent: cm, port: p}, nil
}

// cabledLanes is VLCap of the port of an adapter on a native link: code 3, four data lanes.
const cabledLanes = 3

// cabled makes an adapter on a native link, and the agents of its port. Which of the two the fault is of, it has.
func (s Software) cabled(p Port) (Device, *sma.Node, error) {
	c := sma.Config{Type: subnet.ChannelAdapter, GUID: nodeGUID, Description: "device", Ports: 1, VLCap: cabledLanes, RespTime: 8}
	if nodeFault(s.Fault) {
		c.Faults, s.Fault = []string{s.Fault}, ""
	}
	node, err := sma.New(c)
	if err != nil {
		return nil, nil, fmt.Errorf("conform: %w", err)
	}
	device, err := s.adapter(p)
	return device, node, err
}

func (s Software) aSwitch() (*sma.Node, error) {
	if s.Ports == 0 {
		s.Ports = 4
	}
	c := sma.SwitchConfig(nodeGUID, "device", s.Ports)
	c.EnhancedPort0, c.Optimized, c.Enforcement = s.EnhancedPort0, s.SLtoVL && s.Optimized, 64
	if s.Random {
		c.LinearCap, c.RandomCap = 0, 1024
	}
	if s.Plain {
		c.MulticastCap, c.Enforcement = 0, 0
	}
	return s.node(c)
}

func (s Software) channelAdapter() (*sma.Node, error) {
	c := sma.Config{Type: subnet.ChannelAdapter, GUID: nodeGUID, Description: "device", Ports: 2}
	if s.Router {
		c.Type, c.Ways = subnet.Router, routerWays
	}
	return s.node(c)
}

// node makes a node with what both have in common.
func (s Software) node(c sma.Config) (*sma.Node, error) {
	c.NoSLtoVL, c.PartitionCap, c.GUIDCap, c.Led = !s.SLtoVL, 64, 12, !s.Plain
	if nodeFault(s.Fault) {
		c.Faults = []string{s.Fault}
	}
	n, err := sma.New(c)
	if err == nil && s.Manager {
		err = manages(n)
	}
	return n, err
}

// manages has the master subnet manager run at a node, which has given it a LID.
func manages(n *sma.Node) error {
	number := uint8(1)
	if n.Type() == subnet.Switch {
		number = 0
	}
	data := n.PortInfo(number)
	changed(mad.LayoutPortInfo, data, map[string]uint64{"LID": nodeLID, "masterSMLID": nodeLID})
	m := mad.SMP{Header: mad.Header{BaseVersion: 1, Class: mad.ClassSubnetLID, ClassVersion: 1, Method: mad.Set, Attribute: mad.AttrPortInfo}, Data: data}
	b := make([]byte, mad.Size)
	if err := m.Encode(b); err != nil {
		return fmt.Errorf("conform: %w", err)
	}
	n.Receive(0, number, b)
	n.SetSM(0, &sma.SM{GUID: mad.LayoutNodeInfo.Field("portGUID").Uint(n.NodeInfo(number)), Count: 1, State: masterSMState})
	return nil
}
