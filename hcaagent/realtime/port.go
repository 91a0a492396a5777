package realtime

import (
	"fmt"
	"net"
	"sync"
	"time"

	"ibwitness/cq"
	"ibwitness/hcaagent/remote"
	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// PortOptions say what an adapter on a network interface is.
type PortOptions struct {
	Interface string
	Addrs     []packet.Addr // of the adapter; empty: the first of the interface
	Fault     string        // of the adapter in software; empty: none
}

// Port is a network interface that adapters in software use, one after another.
type Port struct {
	opt    PortOptions
	card   *net.Interface
	mac    [6]byte
	mtu    uint32
	wire   *rawSocket
	Kernel bool // the kernel has the first address too, and answers packets to it

	mu         sync.Mutex
	adapter    *Adapter
	neighbours *neighbours
	seed       uint64
	reading    sync.WaitGroup
}

// overhead is how many bytes RoCEv2 adds to a payload at most: IPv6, UDP, BTH, AtomicETH and XRCETH, ICRC.
const overhead = 96

// OpenPort opens a network interface, which takes the capability CAP_NET_RAW.
func OpenPort(o PortOptions) (*Port, error) {
	if _, ok := soft.Faults[o.Fault]; !ok && o.Fault != "" {
		return nil, fmt.Errorf("realtime: no fault is called %q: ibwitness simulate --faults lists them", o.Fault)
	}
	card, err := net.InterfaceByName(o.Interface)
	if err != nil {
		return nil, fmt.Errorf("realtime: %s: %w: `ip link` lists the interfaces", o.Interface, err)
	}
	if len(card.HardwareAddr) != 6 {
		return nil, fmt.Errorf("realtime: %s is no Ethernet interface", o.Interface)
	}
	p := &Port{opt: o, card: card, mac: [6]byte(card.HardwareAddr)}
	has, err := addresses(card)
	if err != nil {
		return nil, err
	}
	if len(o.Addrs) == 0 {
		if len(has) == 0 {
			return nil, fmt.Errorf("realtime: %s has no address: give the adapter one by --address", o.Interface)
		}
		p.opt.Addrs = has[:1]
	}
	for _, a := range has {
		p.Kernel = p.Kernel || a == p.opt.Addrs[0]
	}
	for p.mtu = 4096; p.mtu > 256 && int(p.mtu)+overhead > card.MTU; {
		p.mtu /= 2
	}
	if p.wire, err = openRaw(card); err != nil {
		return nil, err
	}
	p.reading.Go(p.read)
	return p, nil
}

// addresses are those that a network interface has.
func addresses(card *net.Interface) (list []packet.Addr, err error) {
	addrs, err := card.Addrs()
	if err != nil {
		return nil, fmt.Errorf("realtime: %s: %w", card.Name, err)
	}
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok {
			list = append(list, packet.GIDAddr(ip.IP.To16()))
		}
	}
	return list, nil
}

// Open makes a new adapter at the port, for a remote.Server.
func (p *Port) Open(told func(*cq.Event)) (remote.Device, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.adapter != nil {
		return nil, remote.ErrInUse
	}
	p.seed++
	n := newNeighbours(p.mac, p.opt.Addrs)
	opt := soft.Options{
		Addr: p.opt.Addrs[0], MAC: p.mac, Event: told, Seed: p.seed ^ uint64(time.Now().UnixNano()), Fault: p.opt.Fault, FaultAll: true,
		Limits: soft.Limits{MTU: p.mtu}, Send: func(frame []byte) { p.send(n, frame) },
	}
	for _, a := range p.opt.Addrs[1:] {
		opt.GIDs = append(opt.GIDs, wqe.GID{Addr: a})
	}
	info := remote.Info{
		Device: "soft", Port: 1, Driver: "ibwitness hcaagent/soft", Addr: p.opt.Addrs[0], Active: true, State: "active", MTU: p.mtu, Interface: p.card.Name, MAC: p.mac,
	}
	for i, a := range p.opt.Addrs {
		info.GIDs = append(info.GIDs, remote.GID{Index: i, GID: wqe.GID{Addr: a}})
	}
	a, err := New(opt, info, p.leave)
	if err != nil {
		return nil, err
	}
	p.adapter, p.neighbours = a, n
	return a, nil
}

// leave makes room for another adapter.
func (p *Port) leave() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.adapter, p.neighbours = nil, nil
	return nil
}

// send sends a frame of the adapter.
func (p *Port) send(n *neighbours, frame []byte) {
	p.mu.Lock()
	list := n.send(frame, time.Now().UnixNano())
	p.mu.Unlock()
	for _, f := range list {
		p.wire.send(f) // what does not leave is lost, as on a wire
	}
}

// read hands frames to the adapter until the port is closed.
func (p *Port) read() {
	for {
		frame, err := p.wire.receive()
		if err != nil {
			return
		}
		p.mu.Lock()
		a, n := p.adapter, p.neighbours
		if a == nil {
			p.mu.Unlock()
			continue
		}
		take, out := n.take(frame)
		p.mu.Unlock()
		for _, f := range out {
			p.wire.send(f)
		}
		if take {
			a.Receive(frame)
		}
	}
}

// Close closes the interface, after the adapter.
func (p *Port) Close() error {
	err := p.wire.close()
	p.reading.Wait()
	return err
}
