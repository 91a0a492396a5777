package conform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"ibwitness/fabricagent/ibsim"
	"ibwitness/mad"
	"ibwitness/subnet"
	"ibwitness/subnet/sma"
)

// ErrNoManager means that no subnet manager has brought a Subnet up.
var ErrNoManager = errors.New("conform: no subnet manager has brought the subnet up")

// Subnet is a fabric in real time that a subnet manager under test manages: one switch, and a host for the manager and one for the tester. Programs come to it by
// the protocol of ibsim. It has three end ports, so that all paths from one fit into a datagram: libumad2sim carries no more of a table.
type Subnet struct {
	server *ibsim.Server
	client *ibsim.Client // of the tester
	second *ibsim.Client // of a second one, at the switch
	tester ibsim.End
	other  ibsim.End // port 0 of the switch, where the second one is
	beside ibsim.End // the other end of the tester's link
	tests  uint64    // that have run

	mu     sync.Mutex // guards what follows
	passed []ibsim.Passed
	more   chan struct{} // has one where passed has some
}

// The nodes of a Subnet, by the names that programs choose them by.
const (
	SubnetManager = "manager" // host of the manager
	SubnetSwitch  = "switch"  // where a standby manager may run
	subnetTester  = "tester"
)

// mostPassed bounds the MADs that wait for a test; what is more is dropped.
const mostPassed = 1 << 14

// ServeSubnet offers a fabric to subnet managers under a name. Close ends it.
func ServeSubnet(name string) (*Subnet, error) {
	s := &Subnet{more: make(chan struct{}, 1)}
	f := &ibsim.Fabric{Observe: s.observe}
	var nodes []*sma.Node
	for _, c := range []sma.Config{
		sma.SwitchConfig(testerGUID+0x1000, SubnetSwitch, 4),
		{Type: subnet.ChannelAdapter, GUID: nodeGUID, Description: SubnetManager, Ports: 1},
		{Type: subnet.ChannelAdapter, GUID: testerGUID, Description: subnetTester, Ports: 1},
	} {
		n, err := sma.New(c)
		if err == nil {
			err = f.Add(n)
		}
		if err == nil && len(nodes) > 0 {
			err = f.Link(0, ibsim.End{Node: n, Port: 1}, ibsim.End{Node: nodes[0], Port: uint8(len(nodes))})
		}
		if err != nil {
			return nil, fmt.Errorf("conform: %w", err)
		}
		nodes = append(nodes, n)
	}
	s.beside, s.tester, s.other = ibsim.End{Node: nodes[0], Port: 2}, ibsim.End{Node: nodes[2], Port: 1}, ibsim.End{Node: nodes[0], Port: 0}
	var err error
	if s.server, err = ibsim.Listen(name, f); err != nil {
		return nil, err
	}
	if s.client, err = ibsim.Connect(s.server.Name(), subnetTester); err != nil {
		return nil, errors.Join(err, s.server.Close())
	}
	if s.second, err = ibsim.Connect(s.server.Name(), SubnetSwitch); err != nil {
		return nil, errors.Join(err, s.client.Close(), s.server.Close())
	}
	go drain(s.client)
	go drain(s.second)
	return s, nil
}

// drain takes what comes to a program of a tester: it was observed on the link.
func drain(c *ibsim.Client) {
	for {
		if _, err := c.Receive(time.Time{}); err != nil && !errors.Is(err, ibsim.ErrDatagram) {
			return
		}
	}
}

// Close ends the fabric.
func (s *Subnet) Close() error {
	return errors.Join(s.client.Close(), s.second.Close(), s.server.Close())
}

// Name is the name of the fabric: what subnet managers need as IBSIM_SOCKNAME.
func (s *Subnet) Name() string { return s.server.Name() }

// Target is the manager as a device under test, with the SM_Key of trusted requests; 0: it is not known.
func (s *Subnet) Target(key uint64) *Target {
	return &Target{Name: "the subnet manager of " + s.server.Name(), Has: Managed | Administration, SMKey: key, Subnet: s}
}

// clientAt is the client of the tester, or of the second one.
func (s *Subnet) clientAt(second bool) *ibsim.Client {
	if second {
		return s.second
	}
	return s.client
}

// observe takes a MAD that passes the link of the tester, or one of subnet administration from or to the second one on its first link.
func (s *Subnet) observe(p ibsim.Passed) {
	lid, _ := s.other.Node.LID(0)
	switch {
	case p.From == s.tester || p.To == s.tester:
	case mad.Class(p.MAD[1]) != mad.ClassSubnetAdmin:
		return
	case p.From.Node == s.other.Node && p.SLID == lid:
		p.From = s.other
	case p.To.Node == s.other.Node && p.DLID == lid:
		p.To = s.other
	default:
		return
	}
	p.Time, p.MAD = time.Now().UnixNano(), slices.Clone(p.MAD)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.passed) == mostPassed {
		s.passed = s.passed[1:]
	}
	s.passed = append(s.passed, p)
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// next is the next MAD that passes the tester's link until a time; false: none.
func (s *Subnet) next(until int64) (p ibsim.Passed, ok bool) {
	timeout := time.NewTimer(time.Until(time.Unix(0, until)))
	defer timeout.Stop()
	for {
		s.mu.Lock()
		if len(s.passed) > 0 {
			p, s.passed = s.passed[0], s.passed[1:]
			s.mu.Unlock()
			return p, true
		}
		s.mu.Unlock()
		select {
		case <-s.more:
		case <-timeout.C:
			return p, false
		}
	}
}

// drop forgets what has passed.
func (s *Subnet) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passed = nil
}

// ends are the LIDs of tester and master subnet manager; false where the link of the tester is not Active.
func (s *Subnet) ends() (tester, manager uint16, ok bool) {
	s.server.Do(func(int64, *ibsim.Fabric) {
		tester, _ = s.tester.Node.LID(s.tester.Port)
		manager, _ = s.tester.Node.Manager(s.tester.Port)
		ok = tester != 0 && manager != 0 && s.tester.Node.State(s.tester.Port) == sma.Active
	})
	return tester, manager, ok
}

// master is the port of the subnet manager with a LID.
func (s *Subnet) master(lid uint16) (at ibsim.End) {
	s.server.Do(func(_ int64, f *ibsim.Fabric) {
		for _, n := range f.Nodes() {
			number := uint8(1)
			if n.Type() == subnet.Switch {
				number = 0
			}
			if own, _ := n.LID(number); own == lid {
				at = ibsim.End{Node: n, Port: number}
			}
		}
	})
	return at
}

// lidOf is the LID of a port.
func (s *Subnet) lidOf(e ibsim.End) (lid uint16, ok bool) {
	s.server.Do(func(int64, *ibsim.Fabric) { lid, _ = e.Node.LID(e.Port) })
	return lid, lid != 0
}

// How long a manager has to bring the subnet up, and how often it is asked whether it has.
const (
	subnetPatience = 30 * time.Second
	subnetEvery    = 100 * time.Millisecond
)

// Await waits until a subnet manager has brought the subnet up and its administration answers. The error wraps ErrNoManager.
func (s *Subnet) Await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, subnetPatience)
	defer cancel()
	for ctx.Err() == nil {
		if s.answers() {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(subnetEvery):
		}
	}
	return fmt.Errorf("%w in %v: run one with IBSIM_SOCKNAME=%s, SIM_HOST=%s and libumad2sim.so preloaded", ErrNoManager, subnetPatience, s.server.Name(), SubnetManager)
}

// answers reports whether subnet administration answers.
func (s *Subnet) answers() bool {
	_, manager, up := s.ends()
	if !up {
		return false
	}
	d := ibsim.Datagram{DLID: manager, SrcQP: gsiQP, DestQP: gsiQP}
	h := mad.Header{BaseVersion: 1, Class: mad.ClassSubnetAdmin, ClassVersion: 2, Method: mad.Get, Attribute: mad.AttrClassPortInfo, TID: 1}
	s.drop()
	if h.Encode(d.MAD[:]) != nil || s.client.Send(&d) != nil {
		return false
	}
	for until := time.Now().Add(time.Second).UnixNano(); ; {
		p, ok := s.next(until)
		if !ok || p.To == s.tester && mad.Class(p.MAD[1]) == mad.ClassSubnetAdmin && mad.Method(p.MAD[3]) == mad.GetResp {
			return ok
		}
	}
}
