package scenario

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"ibwitness/hcaagent/soft"
	"ibwitness/internal/small"
	"ibwitness/internal/yamlfile"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// The values that a file may leave out.
const (
	defaultUntil  = 60e9
	defaultMemory = 1 << 20
	defaultDepth  = 4096
	// defaultInterval is how far apart CNPs are.
	defaultInterval = 50_000
)

// mostText is how long the text of a scenario may be, bytes.
const mostText = 16 << 20

// mostMemory is how much memory all HCAs may have together, bytes.
const mostMemory = 4 << 30

// ReadFile reads a scenario file. The error joins a *LineError for each mistake.
func ReadFile(path string) (*Scenario, error) {
	text, err := small.ReadFile(path, mostText)
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	return Read(path, text)
}

// Read reads the text of a scenario; file is the name that errors shall show.
func Read(file string, text []byte) (*Scenario, error) {
	p := &parser{yamlfile.Reader{Package: "scenario", File: file}}
	n, err := p.Document(text, "docs/simulate.md says what a scenario holds")
	if err != nil {
		return nil, err
	}
	s := &Scenario{File: file, Until: defaultUntil}
	p.top(s, n)
	if !p.Failed() {
		p.refer(s)
	}
	return s, p.Err()
}

// top takes the whole file.
func (p *parser) top(s *Scenario, n *yaml.Node) {
	common := &yaml.Node{Kind: yaml.MappingNode}
	var qps *yaml.Node
	p.Fields(n, "the scenario", map[string]setter{
		"about":   p.Text(&s.About),
		"seed":    number(p, &s.Seed, 0, 1<<63),
		"until":   p.Duration(&s.Until),
		"packets": number(p, &s.Packets, 1, 1e12),
		"link":    p.link(s),
		"hcas": func(n *yaml.Node) {
			p.Pairs(n, "hcas", func(k, v *yaml.Node) { s.HCAs = append(s.HCAs, p.hca(k, v)) })
		},
		"srqs": func(n *yaml.Node) {
			p.Pairs(n, "srqs", func(k, v *yaml.Node) { s.SRQs = append(s.SRQs, p.srq(k, v)) })
		},
		"attributes": func(n *yaml.Node) { common = n },
		"qps":        func(n *yaml.Node) { qps = n },
		"work": func(n *yaml.Node) {
			p.List(n, "work", func(x *yaml.Node) { s.Work = append(s.Work, p.work(x)) })
		},
		"errors": func(n *yaml.Node) {
			p.List(n, "errors", func(x *yaml.Node) { s.Errors = append(s.Errors, p.error(x)) })
		},
		"taps": func(n *yaml.Node) {
			s.tapsLine = n.Line
			p.Words(&s.Taps)(n)
		},
		"near": func(n *yaml.Node) {
			s.nearLine = n.Line
			p.Words(&s.Near)(n)
		},
	})
	s.Link.Seed = s.Seed
	if qps != nil {
		p.Pairs(qps, "qps", func(k, v *yaml.Node) { s.QPs = append(s.QPs, p.qp(k, v, common, len(s.QPs))) })
	} else {
		// Read them all the same, for their mistakes.
		p.qp(common, common, common, 0)
	}
}

// hca takes an address, or a mapping.
func (p *parser) hca(k, n *yaml.Node) HCA {
	h := HCA{Name: k.Value, Line: k.Line, Memory: defaultMemory, Congestion: soft.Congestion{Every: defaultInterval}}
	address := func(n *yaml.Node) {
		s, ok := p.Scalar(n, "an IPv4 or IPv6 address, or a LID")
		if !ok {
			return
		}
		a, err := packet.ParseAddr(s)
		if err != nil || a.IsLID() && (a.Lo == 0 || a.Lo > 0xBFFF) || a.IsMulticast() || a.IsZero() {
			p.Fail(n.Line, "%q is no address of a port: give an IPv4 or IPv6 address, or for a native link a LID such as lid:1", s)
		}
		h.Addr = a
	}
	if h.Name == Middle {
		p.Fail(k.Line, "an HCA cannot be called %q: that is the tap halfway", Middle)
	}
	if n.Kind == yaml.ScalarNode {
		address(n)
		return h
	}
	p.Fields(n, "an HCA", map[string]setter{
		"address": address, "memory": number(p, &h.Memory, 4096, 1<<30), "fault": p.Text(&h.Fault), "fault_at": number(p, &h.FaultAt, 0, 1e9),
		"fault_always": p.Boolean(&h.FaultAll), "ack_every": number(p, &h.AckEvery, 0, 1e6), "ack_delay": p.Duration(&h.AckDelay),
		"cnp": choice(p, &h.Congestion.CNPs, pacings), "cnp_interval": p.Duration(&h.Congestion.Every),
		"cnp_traffic_class": number(p, &h.Congestion.TClass, 0, 255), "credits": p.Boolean(&h.Credits), "window": number(p, &h.Window, 1, 1e6),
		"buffer": number(p, &h.Port.Buffer, 70, 1e6), "drain": p.Duration(&h.Port.Drain), "sl_to_vl": numbers(p, &h.Port.SLtoVL, 15),
	})
	if f := soft.Faults[h.Fault]; f != nil && f.Constant && h.FaultAt > 0 {
		p.Fail(k.Line, "fault %s shows whenever it can: leave fault_at out", h.Fault)
	}
	if h.Addr.IsZero() && !p.Failed() {
		p.Fail(k.Line, "HCA %q has no address: give address: 10.0.0.1 or the like", h.Name)
	}
	return h
}

func (p *parser) srq(k, n *yaml.Node) SRQ {
	s := SRQ{Name: k.Value, Line: k.Line, Depth: defaultDepth}
	p.Fields(n, "an SRQ", map[string]setter{
		"hca": p.Text(&s.HCA), "depth": number(p, &s.Depth, 1, 1e6), "limit": number(p, &s.Limit, 0, 1e6), "domain": p.Text(&s.Domain),
	})
	return s
}

var qpTypes = map[string]qp.Type{
	"RC": qp.TypeRC, "UC": qp.TypeUC, "UD": qp.TypeUD, "XRC-initiator": qp.TypeXRCInitiator,
	"XRC-target": qp.TypeXRCTarget,
}

// qp takes a queue pair: what the file says of all, then what it says of this one.
func (p *parser) qp(k, n, common *yaml.Node, index int) QP {
	q := QP{Name: k.Value, Line: k.Line, Depth: defaultDepth, Poll: true}
	a := &q.Attr
	*a = qp.Attr{
		PMTU: 1024, SQPSN: packet.PSN(0x100000*(index+1)) & packet.PSNMask, Timeout: 14, RetryCnt: 7, RNRRetry: 7, MinRNRTimer: 12,
		MaxRdAtomic: 4, MaxDestRdAtomic: 4, PKey: 0xffff, QKey: 0x11111111, HopLimit: 64, Port: 1,
		Access: wqe.RemoteRead | wqe.RemoteWrite | wqe.RemoteAtomic | wqe.RemoteFlush | wqe.RemotePersist,
	}
	const psns = packet.PSNMask
	attributes := map[string]setter{
		"type": choice(p, &q.Type, qpTypes), "pmtu": choice(p, &a.PMTU, pmtus), "psn": number(p, &a.SQPSN, 0, psns),
		"timeout": number(p, &a.Timeout, 0, 31), "retry_cnt": number(p, &a.RetryCnt, 0, 7), "rnr_retry": number(p, &a.RNRRetry, 0, 7),
		"min_rnr_timer": number(p, &a.MinRNRTimer, 0, 31), "max_rd_atomic": number(p, &a.MaxRdAtomic, 0, 255),
		"max_dest_rd_atomic": number(p, &a.MaxDestRdAtomic, 0, 255), "pkey": number(p, &a.PKey, 0, 0xffff), "qkey": number(p, &a.QKey, 0, 0xffffffff),
		"sl": number(p, &a.SL, 0, 15), "traffic_class": number(p, &a.TClass, 0, 255), "hop_limit": number(p, &a.HopLimit, 1, 255), "access": p.access(&a.Access),
		"cq_depth": number(p, &q.Depth, 1, 1e6), "poll": p.Boolean(&q.Poll), "signal_all": p.Boolean(&q.SignalAll),
	}
	p.Fields(common, "attributes", attributes)
	if n == common {
		return q
	}
	own := map[string]setter{"hca": p.Text(&q.HCA), "peer": p.Text(&q.Peer), "srq": p.Text(&q.SRQ), "groups": p.groups(&q.Groups), "domain": p.Text(&q.Domain)}
	for key, f := range attributes {
		own[key] = f
	}
	p.Fields(n, "a QP", own)
	return q
}

// groups takes multicast addresses.
func (p *parser) groups(to *[]packet.Addr) setter {
	return func(n *yaml.Node) {
		var list []string
		p.Words(&list)(n)
		for _, s := range list {
			a, err := packet.ParseAddr(s)
			if err != nil || !a.IsMulticast() || a.IsLID() {
				p.Fail(n.Line, "%q is no multicast address: give one such as 239.1.1.1 or ff0e::1", s)
			}
			*to = append(*to, a)
		}
	}
}

var pacings = map[string]soft.Pacing{"none": soft.NoCNPs, "per-qp": soft.PerQP, "per-ip": soft.PerAddress, "per-port": soft.PerPort}

var pmtus = map[string]uint32{"256": 256, "512": 512, "1024": 1024, "2048": 2048, "4096": 4096}

// access takes the operations that the peer may do.
func (p *parser) access(to *wqe.Access) setter {
	names := map[string]wqe.Access{
		"write": wqe.RemoteWrite, "read": wqe.RemoteRead, "atomic": wqe.RemoteAtomic, "flush": wqe.RemoteFlush | wqe.RemotePersist,
	}
	return func(n *yaml.Node) {
		var list []string
		p.Words(&list)(n)
		*to = 0
		for _, s := range list {
			if names[s] == 0 {
				p.Fail(n.Line, "%q is no access: give any of write, read, atomic, flush", s)
			}
			*to |= names[s]
		}
	}
}

// refer checks that names are those of something, and completes what follows from them.
func (p *parser) refer(s *Scenario) {
	if len(s.HCAs) == 0 {
		p.Fail(1, "no HCA: give hcas: with a name and an address for each")
		return
	}
	p.referHCAs(s)
	for _, x := range s.SRQs {
		p.referHCA(s, x.Line, fmt.Sprintf("SRQ %q: hca", x.Name), x.HCA)
	}
	p.referLink(s)
	for i := range s.QPs {
		p.referQP(s, &s.QPs[i])
	}
	for i := range s.Work {
		p.referWork(s, &s.Work[i])
	}
	for i := range s.Errors {
		p.referError(s, &s.Errors[i])
	}
	p.referTaps(s)
}

// referHCAs checks that HCAs have addresses of their own, and memory that can be had.
func (p *parser) referHCAs(s *Scenario) {
	all := uint64(0)
	for i, h := range s.HCAs {
		all += h.Memory
		if j := slices.IndexFunc(s.HCAs, func(x HCA) bool { return x.Addr == h.Addr }); j != i {
			p.Fail(h.Line, "HCA %q has the address of HCA %q: give it another one", h.Name, s.HCAs[j].Name)
		}
	}
	if all > mostMemory {
		p.Fail(s.HCAs[0].Line, "the HCAs have %d bytes of memory together: give them %d at most", all, uint64(mostMemory))
	}
}

// referHCA checks that a name is that of an HCA; what is what has the name.
func (p *parser) referHCA(s *Scenario, line int, what, name string) {
	if s.HCA(name) == nil {
		p.Fail(line, "%s %q is no HCA: name one of hcas", what, name)
	}
}

// referTaps checks the tap positions, and which endpoints the taps are near. Where the scenario gives none, the tap is at the first HCA.
func (p *parser) referTaps(s *Scenario) {
	if s.Taps == nil {
		s.Taps = []string{s.HCAs[0].Name}
	}
	for _, name := range s.Taps {
		if name != Middle {
			p.referHCA(s, s.tapsLine, "tap", name)
		}
	}
	if s.Near == nil && len(s.Taps) == 1 && s.HCA(s.Taps[0]) != nil {
		s.Near = s.Taps
	}
	for _, name := range s.Near {
		p.referHCA(s, s.nearLine, "near", name)
	}
}

func (p *parser) referQP(s *Scenario, q *QP) {
	if s.HCA(q.HCA) == nil {
		p.Fail(q.Line, "QP %q: hca %q is no HCA: name one of hcas", q.Name, q.HCA)
	}
	if x := s.SRQ(q.SRQ); q.SRQ != "" && (x == nil || x.HCA != q.HCA) {
		p.Fail(q.Line, "QP %q: srq %q is no SRQ of its HCA: name one of srqs", q.Name, q.SRQ)
	}
	if q.Domain != "" && q.Type != qp.TypeXRCTarget {
		p.Fail(q.Line, "QP %q is of an XRC domain: give it the type XRC-target", q.Name)
	}
	if q.Type == qp.TypeUD {
		return
	}
	if q.Groups != nil {
		p.Fail(q.Line, "QP %q joins groups: give it the type UD", q.Name)
	}
	peer := s.QP(q.Peer)
	switch {
	case peer == nil:
		p.Fail(q.Line, "QP %q: peer %q is no QP: name one of qps", q.Name, q.Peer)
	case peer.Peer != q.Name:
		p.Fail(q.Line, "QP %q: the peer of %q is %q: queue pairs are each other's peers", q.Name, peer.Name, peer.Peer)
	case peer.HCA == q.HCA:
		p.Fail(q.Line, "QP %q and its peer are on the same HCA: give them one each", q.Name)
	}
}

// HCA returns the HCA with a name, or nil.
func (s *Scenario) HCA(name string) *HCA {
	return find(s.HCAs, func(h *HCA) bool { return h.Name == name })
}

// QP returns the queue pair with a name, or nil.
func (s *Scenario) QP(name string) *QP {
	return find(s.QPs, func(q *QP) bool { return q.Name == name })
}

// SRQ returns the shared receive queue with a name, or nil.
func (s *Scenario) SRQ(name string) *SRQ {
	return find(s.SRQs, func(q *SRQ) bool { return q.Name == name })
}

func find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}
