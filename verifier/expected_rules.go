package verifier

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// judged says, by rule, which fields of a packet a verdict is about and what they should hold. A rule that is not here is about no field: a packet was sent that
// should not have been, or not then, or is missing. Values are those of the verdict.
var judged = func() map[rule.ID]func(*comparing) {
	t := map[rule.ID]func(*comparing){
		rule.BTH008:    func(x *comparing) { x.Keep(expect.Pad) },
		rule.PKY002:    partitionKey,
		rule.PKY004:    partitionKey,
		rule.BTH006:    padded,
		rule.BTH007:    padded,
		rule.CNGCNP003: cnpFields,
		rule.CNGCNP004: func(x *comparing) { x.Length(16) },
		rule.FLW001:    flushFields,
		rule.FLW005:    atomicWriteFields,
		rule.LNKVL001:  inWords(expect.VL),
		rule.RCACK002:  func(x *comparing) { x.is(expect.AckReq, 1) },
		rule.RCRSP008:  bareResponse,
		rule.RCSEQ005:  onlyWrite,
		rule.UCLEN003:  onlyWrite,
		rule.RCLEN001:  exactPayload,
		rule.UCLEN001:  exactPayload,
		rule.RCRES002:  exactPayload,
		rule.FLW002:    emptyOrOpcode,
		rule.FLW006:    emptyOrOpcode,
		rule.RCRES001:  opcodeOrPSN,
		rule.RCRTY007:  readFields,
		rule.RCRTY008:  readFields,
		rule.RCRSP023:  negative(packet.NAKInvalidRequest),
		rule.RDQKEY001: negative(packet.NAKInvalidRD),
		rule.RCRSP040:  negative(packet.NAKSequence),
		rule.RCCRD003:  func(x *comparing) { x.is(expect.Syndrome, packet.CreditInvalid) },
		rule.RCCRD006:  func(x *comparing) { x.is(expect.Syndrome, packet.CreditInvalid) },
		rule.RCRSP016:  func(x *comparing) { x.opcode(packet.Acknowledge) },
		rule.UDQP0001:  queuePair0,
		rule.UDQP1001:  queuePair1,
		rule.LNKLRH005: lengths(expect.PktLen),
		rule.NETGRH004: lengths(expect.PayLen),
		rule.NETGRH005: lengths(expect.PktLen, expect.PayLen),
		rule.ROCV2006:  lengths(expect.PayLen),
		rule.ROCV2014:  lengths(expect.PayLen),
		rule.ROCV2016:  lengths(expect.UDPLen),
	}
	both := func(f func(...expect.ID) func(*comparing), ids []expect.ID, rules ...rule.ID) {
		for _, id := range rules {
			t[id] = f(ids...)
		}
	}
	// The format of the headers says what these hold.
	both(lengths, []expect.ID{}, rule.BTH002, rule.BTH009, rule.BTH012, rule.BTH015, rule.BTH016, rule.UCSE001, rule.LNKLRH002, rule.LNKLRH003, rule.LNKRAW001,
		rule.NETGRH002, rule.NETGRH003, rule.ROCV2003, rule.ROCV2010, rule.ROCV2015, rule.UDHDR002, rule.XRCHDR002, rule.RCRSP037, rule.LNKCRC001, rule.LNKCRC003,
		rule.LNKCRC004, rule.LNKCRC005, rule.ROCV2019, rule.CNGIB003)
	// The verdict does, in a number or in words.
	both(named, []expect.ID{expect.PSN}, rule.RCPSN001, rule.RCPSN002, rule.RCPSN003, rule.RCPSN004, rule.UCPSN001, rule.UCPSN002, rule.UDPSN001, rule.UDPSN002, rule.RDEEC001,
		rule.CNGCNP006, rule.RCRES003, rule.RCRNR002, rule.RCRSP001, rule.RCRSP006, rule.RCRSP017, rule.RCRSP018, rule.RCRSP029, rule.RCRTY005, rule.RCRTY006, rule.RCACK004)
	both(named, []expect.ID{expect.MSN}, rule.RCRSP013, rule.RCRSP014, rule.RCRSP015, rule.RCACK008)
	both(named, []expect.ID{expect.PKey}, rule.PKY001, rule.PKY006, rule.UDPKY001)
	both(named, []expect.ID{expect.QKey}, rule.PKY012, rule.UDQKEY001)
	both(named, []expect.ID{expect.DestQP}, rule.BTH011, rule.BTH010, rule.UDMC001, rule.UDMC004, rule.LNKLID004)
	both(named, []expect.ID{expect.MigReq}, rule.BTH013, rule.UCMIG001)
	both(named, []expect.ID{expect.SL}, rule.LNKSL001, rule.LNKVL007)
	both(named, []expect.ID{expect.DSCP}, rule.ROCV2004, rule.ROCV2013, rule.CNGCNP008)
	both(named, []expect.ID{expect.FlowLabel, expect.DSCP}, rule.NETGRH013)
	both(named, []expect.ID{expect.HopLmt}, rule.ROCV2009, rule.NETGRH010)
	both(named, []expect.ID{expect.SrcPort}, rule.ROCV2018)
	t[rule.UDQKEY003] = func(x *comparing) { x.is(expect.QKey, 0x80010000) }
	t[rule.CNGIB001] = func(x *comparing) { x.is(expect.FECN, 0) }
	t[rule.CNGIB002] = func(x *comparing) { x.is(expect.BECN, 1) }
	t[rule.RCATM002] = func(x *comparing) { x.is(expect.Compare, 0) }
	both(named, []expect.ID{expect.DLID}, rule.LNKLID001, rule.UDMC002)
	both(named, []expect.ID{expect.SLID}, rule.LNKLID003, rule.LNKLID005, rule.LNKLID006)
	both(named, []expect.ID{expect.SrcQP, expect.QKey, expect.DestQP}, rule.RDHDR003)
	both(named, []expect.ID{expect.XRCSRQ}, rule.XRCSRQ002)
	both(named, []expect.ID{expect.DMALen}, rule.RCLEN004)
	both(named, []expect.ID{expect.Opcode}, rule.BTH003, rule.BTH004, rule.RCACK003, rule.RCRSP007, rule.RCRSP010, rule.RCSEQ001, rule.RCSEQ002, rule.RCSEQ003, rule.RCSEQ004, rule.UCSEQ001,
		rule.RDATM001, rule.RDOPC001, rule.UCOPC001, rule.UCOPC002, rule.UDOPC001, rule.XRCOPC001, rule.FLW004, rule.RCCRD002)
	t[rule.ROCV2007] = func(x *comparing) { x.is(expect.IPFlags, 2) }
	t[rule.ROCV2008] = func(x *comparing) {
		x.is(expect.IPFlags, expect.IPFlags.Value(x.p)&^1)
		x.is(expect.FragmentOffset, 0)
	}
	both(inWords, []expect.ID{expect.Src}, rule.NETGRH011, rule.BTH019, rule.ROCV2029, rule.UCADR001)
	both(inWords, []expect.ID{expect.Dst}, rule.NETGRH008, rule.NETGRH009, rule.NETGRH012)
	both(inWords, []expect.ID{expect.Src, expect.Dst}, rule.NETGRH007)
	both(inWords, []expect.ID{expect.PktLen}, rule.LNKLRH006, rule.LNKLRH007)
	both(inWords, []expect.ID{expect.Payload}, rule.LNKMTU001, rule.UDLEN001, rule.RCLEN002, rule.RCLEN003, rule.RCLEN005, rule.UCLEN002, rule.RCLEN006, rule.RCLEN007,
		rule.RCLEN008, rule.RCRSP009)
	both(inWords, []expect.ID{expect.ECN}, rule.ROCV2005)
	both(inWords, []expect.ID{expect.IPVer}, rule.ROCV2022)
	both(inWords, []expect.ID{expect.UDPSum}, rule.ROCV2017)
	both(inWords, []expect.ID{expect.VA}, rule.RCATM001)
	both(inWords, []expect.ID{expect.RKey}, rule.RCINV001)
	both(inWords, []expect.ID{expect.SrcQP}, rule.UDHDR003)
	both(inWords, []expect.ID{expect.OrigData}, rule.RCRSP031)
	both(inWords, []expect.ID{expect.Syndrome}, rule.RCCRD005, rule.RCRES004, rule.RCRSP019, rule.RCRSP021, rule.RCRSP022, rule.RCRSP026, rule.RDNAK001)
	t[rule.ROCV2011], t[rule.ROCV2012] = sourceGID, toPeer
	both(empty, nil, rule.RCSEQ007, rule.RDRSY001)
	return t
}()

// named takes the values of fields from the verdict; those that it does not name are said in its words.
func named(ids ...expect.ID) func(*comparing) {
	return func(x *comparing) {
		for _, id := range ids {
			if !x.Has(id) {
				continue
			}
			if v, ok := x.d.Wants.Value(id); ok {
				x.Set(id, v)
			} else {
				x.Say(id, x.d.Expected, false)
			}
		}
	}
}

// inWords says in the words of the verdict what fields should hold.
func inWords(ids ...expect.ID) func(*comparing) {
	return func(x *comparing) {
		for _, id := range ids {
			if x.Has(id) {
				x.Say(id, x.d.Expected, false)
			}
		}
	}
}

// lengths leaves what is expected to the format of the headers.
func lengths(ids ...expect.ID) func(*comparing) {
	return func(x *comparing) { x.Keep(ids...) }
}

// empty says that there is no payload.
func empty(...expect.ID) func(*comparing) { return func(x *comparing) { x.Length(0) } }

// sourceGID says which address the packet comes from: the GID that its queue pair sends from.
func sourceGID(x *comparing) {
	if x.own != nil && x.own.Knows(qp.KnowsSourceAddr) {
		x.From(x.own.Attr.SourceAddr)
		return
	}
	x.Say(expect.Src, x.d.Expected, false)
}

// toPeer says that the packet goes to the other end of the connection.
func toPeer(x *comparing) {
	if x.peer != nil {
		x.To(x.peer.Addr)
		return
	}
	x.Say(expect.Dst, x.d.Expected, false)
}

// opcode says which operation of its service the packet is.
func (x *comparing) opcode(f packet.Fn) {
	x.Set(expect.Opcode, uint64(packet.Op(x.p.Opcode.Service(), f)))
}

// partitionKey says that the P_Key has the partition of the QP, whose membership bit a CM exchange does not tell.
func partitionKey(x *comparing) {
	v, ok := x.d.Wants.Value(expect.PKey)
	if !ok || !x.partition && x.d.Rule != rule.PKY002 {
		named(expect.PKey)(x)
		return
	}
	x.Say(expect.PKey, fmt.Sprintf("0x%04x or 0x%04x", v|0x8000, v&0x7FFF), false)
}

func padded(x *comparing) { x.Keep(expect.PadCnt) }

func cnpFields(x *comparing) {
	if v, ok := x.d.Wants.Value(expect.PKey); ok {
		x.Set(expect.PKey, v)
		return
	}
	x.zero(expect.SE, expect.MigReq, expect.PadCnt, expect.AckReq, expect.PSN)
	if len(x.p.Payload) == 16 {
		x.Fill(make([]byte, 16))
	}
}

func flushFields(x *comparing) {
	x.Say(expect.Selectivity, "0 or 1", expect.Selectivity.Value(x.p) <= 1)
	place := expect.Placement.Value(x.p)
	x.Say(expect.Placement, "1, 2 or 3", place != 0 && place <= 3)
	x.Length(0)
}

func atomicWriteFields(x *comparing) {
	x.Say(expect.VA, "on an 8-byte boundary", x.p.VA&7 == 0)
	x.is(expect.DMALen, 8)
	x.Length(8)
}

func bareResponse(x *comparing) {
	x.zero(expect.PadCnt, expect.AckReq, expect.SE)
	x.Length(0)
}

func onlyWrite(x *comparing) { x.opcode(packet.WriteOnly) }

// exactPayload takes the length of the payload from the verdict, or of a packet that others follow the path MTU where that is known.
func exactPayload(x *comparing) {
	if n, ok := x.d.Wants.Value(expect.Payload); ok {
		x.Length(int(n))
		return
	}
	if in := x.p.Info(); x.pmtu != 0 && in.Request && (in.First || in.Middle) {
		x.Length(int(x.pmtu))
		return
	}
	x.Say(expect.Payload, x.d.Expected, false)
}

// emptyOrOpcode is of the response to a FLUSH or ATOMIC WRITE: it has another opcode, or a payload.
func emptyOrOpcode(x *comparing) {
	if x.p.Opcode.Fn() == packet.ReadRespOnly && x.p.PayloadLen > 0 {
		x.Length(0)
		return
	}
	x.Say(expect.Opcode, x.d.Expected, false)
}

func opcodeOrPSN(x *comparing) {
	if v, ok := x.d.Wants.Value(expect.PSN); ok {
		x.Set(expect.PSN, v)
		return
	}
	named(expect.Opcode)(x)
}

// readFields is of a READ request that is retransmitted: the verdict is about one of its fields.
func readFields(x *comparing) {
	for _, id := range []expect.ID{expect.RKey, expect.VA, expect.DMALen} {
		if v, ok := x.d.Wants.Value(id); ok && x.Has(id) {
			x.Set(id, v)
			return
		}
	}
}

// negative is of a response in place of which there should be a NAK.
func negative(s packet.Syndrome) func(*comparing) {
	return func(x *comparing) {
		x.opcode(packet.Acknowledge)
		x.Set(expect.Syndrome, uint64(s))
	}
}

func queuePair0(x *comparing) {
	x.is(expect.VL, 15)
	queuePair1(x)
}

func queuePair1(x *comparing) {
	x.opcode(packet.SendOnly)
	x.Length(256)
}
