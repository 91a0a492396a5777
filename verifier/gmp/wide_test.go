package gmp

import (
	"math/rand/v2"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet"
)

// The ports of a conversation have LIDs up to lastPort, and the administrator's.
const lastPort = 6

// fabric is what subnet management may have told of the ports.
func fabric(r *rand.Rand) *subnet.Subnet {
	s := new(subnet.Subnet)
	for lid := uint16(1); lid <= administrator; lid++ {
		n := s.Node(0x100 + uint64(lid))
		n.Type, n.NumPorts = subnet.ChannelAdapter, 2
		p := n.Port(1)
		p.PKeys, p.Has = []uint16{0xFFFF, uint16(1 + lid%2)}, subnet.KnowsPKeys
		if lid == administrator {
			p.PKeys = append(p.PKeys, 0x8001, 0x8002)
		}
		if r.IntN(4) > 0 {
			s.SetLID(p, lid, 0)
		}
	}
	return s
}

// sa sends a datagram of subnet administration.
func (t *talk) sa(from, to uint16, h mad.Header, s mad.SA, r *mad.RMPP, data func(b []byte)) {
	t.say(from, to, h, func(b []byte) {
		_ = s.Encode(b)
		if r != nil {
			_ = r.Encode(b)
		}
		if data != nil {
			data(b[mad.SAHeaderSize:])
		}
	})
}

// single is the RMPP header of a message in one segment, whose class header and data have so many bytes.
func single(bytes uint32) *mad.RMPP {
	return &mad.RMPP{Version: 1, Type: mad.RMPPData, Flags: mad.RMPPActive | mad.RMPPFirst | mad.RMPPLast, Data1: 1, Data2: bytes}
}

// acked ends the transfer of one segment.
func (t *talk) acked(from uint16, h mad.Header) {
	t.sa(from, administrator, h, mad.SA{}, &mad.RMPP{Version: 1, Type: mad.RMPPAck, Flags: mad.RMPPActive, Data1: 1, Data2: 1}, nil)
}

// about asks a class of a port about itself, and is perhaps sent elsewhere.
func (t *talk) about(from, to uint16) {
	class, version := mad.ClassPerformance, uint8(1)
	if t.r.IntN(2) == 0 {
		class, version, to = mad.ClassSubnetAdmin, 2, administrator
	}
	h := t.header(class, version, mad.Get, mad.AttrClassPortInfo)
	at := mad.PerformanceData
	if class == mad.ClassSubnetAdmin {
		at = mad.SAHeaderSize
	}
	t.say(from, to, h, nil)
	h.Method = mad.GetResp
	t.say(to, from, h, func(b []byte) {
		b[at], b[at+1] = 1, version
		cpiResp.PutUint(b[at:], uint64(16+t.r.IntN(5)))
	})
	if t.r.IntN(4) == 0 && class == mad.ClassPerformance {
		t.moves(from, to)
	}
}

// moves has a port send the requests of a class to another queue pair of its own.
func (t *talk) moves(from, to uint16) {
	t.tid++
	h := t.header(mad.ClassPerformance, 1, mad.Get, mad.AttrPortCounters)
	t.say(from, to, h, func(b []byte) { portSelect.PutUint(b[mad.PerformanceData:], 1) })
	h.Method, h.Status, h.Attribute = mad.GetResp, uint16(mad.StatusRedirect), mad.AttrClassPortInfo
	t.say(to, from, h, func(b []byte) {
		d := b[mad.PerformanceData:]
		d[0], d[1] = 1, 1
		cpiLID.PutUint(d, uint64(to))
		cpiQP.PutUint(d, 1)
	})
}

// clears resets the counters of a port, or of all, and reads them again.
func (t *talk) clears(from, to uint16) {
	port, attr := uint64(1+t.r.IntN(2)), mad.AttrPortCounters
	l := mad.LayoutPortCounters
	if t.r.IntN(2) == 0 {
		attr, l = mad.AttrPortCountersExtended, mad.LayoutPortCountersExtended
	}
	counts := func(n uint64) func(b []byte) {
		return func(b []byte) {
			d := b[mad.PerformanceData:]
			for _, f := range l.Fields[3:] {
				if !f.Reserved() && f.Name != "counterSelect2" {
					f.PutUint(d, min(n, 1<<(f.Bits-1)-1))
				}
			}
			portSelect.PutUint(d, port)
		}
	}
	read := func(n uint64) {
		t.tid++
		h := t.header(mad.ClassPerformance, 1, mad.Get, attr)
		t.say(from, to, h, counts(0))
		h.Method = mad.GetResp
		t.say(to, from, h, counts(n))
	}
	read(uint64(t.now / 1000))
	t.tid++
	h := t.header(mad.ClassPerformance, 1, mad.Set, attr)
	select16 := uint64(0xFFFF)
	if attr == mad.AttrPortCounters && t.r.IntN(3) == 0 {
		select16 = 0x1FF
	}
	all := t.r.IntN(4) == 0
	set := func(b []byte) {
		d := b[mad.PerformanceData:]
		counterSelect.PutUint(d, select16)
		if attr == mad.AttrPortCounters && select16 == 0xFFFF {
			counterSelect2.PutUint(d, 1)
		}
		portSelect.PutUint(d, port)
		if all {
			portSelect.PutUint(d, allPorts)
		}
	}
	t.say(from, to, h, set)
	h.Method = mad.GetResp
	t.say(to, from, h, set)
	if select16 == 0xFFFF {
		read(3)
	}
}

// subscribes to a trap, is told of it, and ends it.
func (t *talk) subscribes(from uint16) {
	trap := uint64([]int{mad.TrapGIDInService, mad.TrapGIDOutOfService, mad.TrapMulticastCreated, mad.TrapMulticastDeleted, 0xFFFF}[t.r.IntN(5)])
	first := uint64(allLIDs)
	if t.r.IntN(3) == 0 {
		first = 1
	}
	info := func(subscribe, qpn uint64) func(b []byte) {
		return func(b []byte) {
			infFirst.PutUint(b, first)
			infSubscribe.PutUint(b, subscribe)
			infTrap.PutUint(b, trap)
			infQPN.PutUint(b, qpn)
			b[22] = 1
		}
	}
	h := t.header(mad.ClassSubnetAdmin, 2, mad.Set, mad.AttrInformInfo)
	t.sa(from, administrator, h, mad.SA{}, nil, info(1, 1))
	h.Method = mad.GetResp
	t.sa(administrator, from, h, mad.SA{}, nil, info(1, 1))
	for range t.r.IntN(3) {
		t.reports(from, trap)
	}
	if t.r.IntN(2) == 0 {
		t.tid++
		h = t.header(mad.ClassSubnetAdmin, 2, mad.Set, mad.AttrInformInfo)
		t.sa(from, administrator, h, mad.SA{}, nil, info(0, 1))
		h.Method = mad.GetResp
		t.sa(administrator, from, h, mad.SA{}, nil, info(0, 1))
	}
}

// reports has the administrator tell a port of a trap.
func (t *talk) reports(to uint16, trap uint64) {
	if trap == 0xFFFF {
		trap = uint64(mad.TrapGIDInService + t.r.IntN(4))
	}
	t.tid++
	h := t.header(mad.ClassSubnetAdmin, 2, mad.Report, mad.AttrNotice)
	h.TID |= 1 << 40 // of the administrator
	notice := func(b []byte) {
		noticeGeneric.PutUint(b, 1)
		noticeType.PutUint(b, 3)
		noticeTrap.PutUint(b, trap)
		noticeProducer.PutUint(b, uint64(mad.ProducerManager))
		noticeIssuer.PutUint(b, uint64(1+t.r.IntN(lastPort)))
		g := packet.Addr{Hi: subnetPrefix, Lo: uint64(1 + t.r.IntN(9))}.Bytes()
		if trap >= mad.TrapMulticastCreated {
			g = packet.Addr{Hi: 0xFF12401BFFFF0000, Lo: uint64(t.r.IntN(4))}.Bytes()
		}
		copy(mad.NoticeGID(b), g[:])
	}
	t.sa(administrator, to, h, mad.SA{}, nil, notice)
	h.Method = mad.ReportResp
	t.sa(to, administrator, h, mad.SA{}, nil, nil)
}

// kinds of records that are asked for.
var kinds = []mad.Attribute{
	mad.AttrNodeRecord, mad.AttrPortInfoRecord, mad.AttrSLtoVLRecord, mad.AttrSwitchInfoRecord, mad.AttrLFTRecord, mad.AttrSMInfoRecord, mad.AttrLinkRecord, mad.AttrGUIDInfoRecord,
	mad.AttrServiceRecord, mad.AttrPKeyTableRecord, mad.AttrVLArbRecord, mad.AttrInformInfoRecord, mad.AttrServiceAssociation, mad.AttrPathRecord, mad.AttrMCMemberRecord,
}

// asks for records by some of their components.
func (t *talk) asks(from uint16) {
	attr := kinds[t.r.IntN(len(kinds))]
	l := mad.SARecord(attr)
	mask := uint64(t.r.IntN(1 << 8))
	if attr == mad.AttrPathRecord {
		mask = 1<<2 | 1<<3 | mask&(1<<4|1<<5|1<<6)
	} else if attr == mad.AttrMCMemberRecord {
		mask &= 0xF
	} else if n := mad.Components(attr); n < 8 {
		mask &= 1<<n - 1
	}
	record := make([]byte, l.Size)
	for i := range record {
		record[i] = byte(t.r.IntN(4))
	}
	key := uint64(t.r.IntN(2) * 5)
	switch attr {
	case mad.AttrPathRecord:
		gidOf(pathSGID, record, from)
		gidOf(pathDGID, record, 1+from%lastPort)
		pathSLID.PutUint(record, uint64(from))
		pathDLID.PutUint(record, uint64(1+from%lastPort))
		pathMTU.PutUint(record, 4)
	case mad.AttrMCMemberRecord:
		g := packet.Addr{Hi: 0xFF12401BFFFF0000, Lo: 2}.Bytes()
		copy(mcMGID.Bytes(record), g[:])
		mcMLID.PutUint(record, 0xC002)
	case mad.AttrPortInfoRecord:
		prMKey.PutUint(record, key)
		prMasterSM.PutUint(record, administrator)
		prState.PutUint(record, portActive)
	case mad.AttrPKeyTableRecord, mad.AttrServiceAssociation:
		key = 5
	case mad.AttrInformInfoRecord:
		recordQPN.PutUint(record, key)
	}
	h := t.header(mad.ClassSubnetAdmin, 2, mad.Get, attr)
	s := mad.SA{SMKey: key, ComponentMask: mask}
	data := func(b []byte) { copy(b, record) }
	if t.r.IntN(2) == 0 { // one record
		t.sa(from, administrator, h, s, nil, data)
		h.Method = mad.GetResp
		if t.r.IntN(4) == 0 {
			h.Status = uint16(mad.SANoRecords)
			data = nil
		}
		t.sa(administrator, from, h, mad.SA{}, nil, data)
		return
	}
	h.Method = mad.GetTable
	t.sa(from, administrator, h, s, nil, data)
	h.Method = mad.GetTableResp
	size := (l.Size + 7) / 8 * 8
	n := t.r.IntN(200/size + 1)
	answer := mad.SA{AttributeOffset: uint16(size / 8)}
	t.sa(administrator, from, h, answer, single(uint32(20+n*size)), func(b []byte) {
		for i := range n {
			copy(b[i*size:], record)
		}
	})
	h.Method = mad.GetTable
	t.acked(from, h)
}

// several asks for paths between several ports, in a message of segments that ends in the middle of one.
func (t *talk) several(from uint16) {
	h := t.header(mad.ClassSubnetAdmin, 2, mad.GetMulti, mad.AttrMultiPathRecord)
	s := mad.SA{ComponentMask: 1 << 15}
	gids := 2 + t.r.IntN(20)
	bytes := uint32(20 + 24 + 16*gids)
	n := (bytes - 20 + 199) / 200
	data := func(b []byte) { b[15], b[16] = 1, byte(gids-1) }
	for k := uint32(1); k <= n; k++ {
		r := single(0)
		r.Data1, r.Flags = k, mad.RMPPActive
		if k == 1 {
			r.Flags, r.Data2 = r.Flags|mad.RMPPFirst, bytes+20*(n-1)
		}
		if k == n {
			r.Flags, r.Data2 = r.Flags|mad.RMPPLast, bytes-(n-1)*200
		}
		t.sa(from, administrator, h, s, r, data)
		data = nil
		a := h
		a.Method = mad.GetMultiResp
		t.sa(administrator, from, a, mad.SA{}, &mad.RMPP{Version: 1, Type: mad.RMPPAck, Flags: mad.RMPPActive, Data1: k, Data2: max(k+1, 2)}, nil)
	}
	h.Method, h.Attribute = mad.GetMultiResp, mad.AttrPathRecord
	t.sa(administrator, from, h, mad.SA{AttributeOffset: 8}, single(20+64), func(b []byte) {
		gidOf(pathSGID, b, from)
		gidOf(pathDGID, b, 1+from%lastPort)
		pathSLID.PutUint(b, uint64(from))
		pathDLID.PutUint(b, uint64(1+from%lastPort))
	})
	h.Method, h.Attribute = mad.GetMulti, mad.AttrMultiPathRecord
	t.acked(from, h)
}

// breaks off the transfer of a table.
func (t *talk) broken(from uint16) {
	h := t.header(mad.ClassSubnetAdmin, 2, mad.GetTable, mad.AttrLinkRecord)
	t.sa(from, administrator, h, mad.SA{}, nil, nil)
	answer := h
	answer.Method = mad.GetTableResp
	r := single(900)
	r.Flags &^= mad.RMPPLast
	t.sa(administrator, from, answer, mad.SA{AttributeOffset: 1}, r, nil)
	stop := &mad.RMPP{Version: 1, Type: mad.RMPPStop, Flags: mad.RMPPActive, Status: mad.RMPPResources}
	if t.r.IntN(2) == 0 {
		stop.Type, stop.Status = mad.RMPPAbort, mad.RMPPTimeout+mad.RMPPStatus(t.r.IntN(10))
	}
	if t.r.IntN(2) == 0 {
		t.sa(from, administrator, h, mad.SA{}, stop, nil)
	} else {
		t.sa(administrator, from, answer, mad.SA{}, stop, nil)
	}
}

// creates a multicast group, which others join.
func (t *talk) creates(from uint16) {
	mgid := packet.Addr{Hi: 0xFF12401BFFFF0000, Lo: uint64(0x10 + t.r.IntN(4))}
	own := t.r.IntN(2) == 0 // the administrator chooses the MGID
	mask := uint64(needed)
	if !own {
		mask |= maskMG
	}
	data := func(join uint64, answer bool) func(b []byte) {
		return func(b []byte) {
			if g := mgid.Bytes(); answer || !own {
				copy(mcMGID.Bytes(b), g[:])
			}
			gidOf(mcPort, b, from)
			mcJoin.PutUint(b, join)
			mc("QKey").PutUint(b, 0x80010000)
			mc("PKey").PutUint(b, 0xFFFF)
			mc("MTUSelector").PutUint(b, 2)
			mc("MTU").PutUint(b, 4)
			mc("rateSelector").PutUint(b, 2)
			mc("rate").PutUint(b, 3)
			mc("scope").PutUint(b, 2)
			if answer {
				mcMLID.PutUint(b, 0xC010+mgid.Lo)
			}
		}
	}
	if own {
		mgid.Hi = 0xFF12A01BFE800000
	}
	join := uint64(1 + 2*t.r.IntN(2))
	h := t.header(mad.ClassSubnetAdmin, 2, mad.Set, mad.AttrMCMemberRecord)
	t.sa(from, administrator, h, mad.SA{ComponentMask: mask}, nil, data(join, false))
	h.Method = mad.GetResp
	t.sa(administrator, from, h, mad.SA{}, nil, data(join, true))
	own = false
	t.tid++
	h.TID, h.Method = t.tid, mad.Set
	mask = maskMG | 1<<1 | maskJS | 3<<4 | 3<<8
	t.sa(from, administrator, h, mad.SA{ComponentMask: mask}, nil, data(1, false))
	h.Method = mad.GetResp
	t.sa(administrator, from, h, mad.SA{}, nil, data(join, true))
	if t.r.IntN(2) == 0 {
		t.tid++
		h.TID, h.Method = t.tid, mad.Delete
		t.sa(from, administrator, h, mad.SA{ComponentMask: mask}, nil, data(1, false))
		h.Method = mad.DeleteResp
		t.sa(administrator, from, h, mad.SA{}, nil, data(1, true))
	}
}

// serves registers a service.
func (t *talk) serves(from uint16) {
	data := func(b []byte) {
		b[7] = byte(t.r.IntN(2))
		g := packet.Addr{Hi: subnetPrefix, Lo: uint64(from)}.Bytes()
		copy(b[8:], g[:])
		b[24], b[25] = 0xFF, 0xFF
	}
	record := make([]byte, mad.LayoutServiceRecord.Size)
	data(record)
	data = func(b []byte) { copy(b, record) }
	for _, m := range []mad.Method{mad.Set, mad.Delete} {
		t.tid++
		h := t.header(mad.ClassSubnetAdmin, 2, m, mad.AttrServiceRecord)
		t.sa(from, administrator, h, mad.SA{ComponentMask: 7}, nil, data)
		h.Method = answerTo(mad.ClassSubnetAdmin, m)
		t.sa(administrator, from, h, mad.SA{}, nil, data)
	}
}

// cannot asks for what is refused.
func (t *talk) cannot(from, to uint16) {
	h := t.header(mad.ClassPerformance, 1, mad.Get, mad.Attribute(0x60))
	status := mad.StatusAttribute
	switch t.r.IntN(3) {
	case 0:
		h.ClassVersion, status = 1, mad.StatusBusy
	case 1:
		h = t.header(mad.Class(0x30), 1, mad.Get, mad.Attribute(0x10))
		status = mad.StatusMethod
	}
	data := func(b []byte) { b[39], b[100] = 7, 5 }
	t.say(from, to, h, data)
	h.Method, h.Status = mad.GetResp, uint16(status)
	t.say(to, from, h, data)
}

// pathToGroup asks for the way to a multicast group.
func (t *talk) pathToGroup(from uint16) {
	h := t.header(mad.ClassSubnetAdmin, 2, mad.Get, mad.AttrPathRecord)
	data := func(answer bool) func(b []byte) {
		return func(b []byte) {
			g := packet.Addr{Hi: 0xFF12401BFFFF0000, Lo: 2}.Bytes()
			copy(pathDGID.Bytes(b), g[:])
			gidOf(pathSGID, b, from)
			pathReversible.PutUint(b, 1)
			for i, s := range pathSelectors {
				s.sel.PutUint(b, uint64(i))
				s.value.PutUint(b, 3)
				if answer {
					s.value.PutUint(b, []uint64{4, 2, 3}[i])
				}
			}
			if answer {
				pathSLID.PutUint(b, uint64(from))
				pathDLID.PutUint(b, 0xC002)
			}
		}
	}
	t.sa(from, administrator, h, mad.SA{ComponentMask: 1<<2 | 1<<3 | 1<<11 | 3<<16 | 3<<18 | 3<<20}, nil, data(false))
	h.Method = mad.GetResp
	t.sa(administrator, from, h, mad.SA{}, nil, data(true))
}

// tableAgain asks twice for a table of one record, gets it twice, and the second one once more.
func (t *talk) tableAgain(from uint16) {
	h := t.header(mad.ClassSubnetAdmin, 2, mad.GetTable, mad.AttrLinkRecord)
	answer := h
	answer.Method = mad.GetTableResp
	ask := func() { t.sa(from, administrator, h, mad.SA{}, nil, nil) }
	send := func() { t.sa(administrator, from, answer, mad.SA{AttributeOffset: 1}, single(28), nil) }
	ask()
	t.now += 5_000_000_000
	ask()
	send()
	t.acked(from, h)
	send()
	t.acked(from, h)
	send()
}

// widely is a conversation of few transactions, of all kinds.
func widely(r *rand.Rand) []packet.Packet {
	t := &talk{r: r, now: 1_000_000_000_000_000_000, tid: r.Uint64N(1 << 20)}
	for range 4 + r.IntN(8) {
		t.tid++
		from := uint16(1 + r.IntN(3))
		to := 1 + (from+uint16(r.IntN(2)))%lastPort
		switch r.IntN(14) {
		case 0:
			t.counters(administrator, from)
		case 1:
			t.paths(from, to)
		case 2:
			t.table(from)
		case 3:
			t.group(from)
		case 4:
			t.about(from, to)
		case 5:
			t.clears(from, to)
		case 6, 7:
			t.subscribes(from)
		case 8, 9:
			t.asks(from)
		case 10:
			t.several(from)
		case 11:
			t.broken(from)
		case 12:
			t.creates(from)
		case 13:
			if r.IntN(2) == 0 {
				t.serves(from)
			} else {
				t.cannot(from, to)
			}
		}
	}
	return t.packets(r.IntN(3) == 0)
}

// packets are what was said, with a GRH where it is global.
func (t *talk) packets(global bool) (list []packet.Packet) {
	psn := packet.PSN(0)
	for i := range t.list {
		p := t.list[i].packet(uint64(i) + 1)
		psn = psn.Add(1)
		p.PSN = psn
		if global {
			p.Has |= packet.HasGRH
			p.SGID, p.DGID = packet.Addr{Hi: subnetPrefix, Lo: uint64(p.SLID)}, packet.Addr{Hi: subnetPrefix, Lo: uint64(p.DLID)}
		}
		list = append(list, *p)
	}
	return list
}
