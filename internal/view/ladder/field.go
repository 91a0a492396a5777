package ladder

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/bits"
	"strconv"

	"ibwitness/packet"
)

// Layer is one header, or what follows the headers. Its names and those of its fields are Wireshark's.
type Layer struct {
	Name   string  `json:"name"`
	Fields []Field `json:"fields"`
}

// Field is one field of a header.
type Field struct {
	Name  string
	Value string
	At    int // of its bytes in Row.Hex, which begins with the first byte of the LRH, GRH or IP header; -1: none
	Size  int
	// Expected is what the rule wants, where the field is not so.
	Expected string
	key      key
}

// MarshalJSON writes a field as an array, as there are many: name, value, place and size of its bytes, and what was expected where that differs.
func (f Field) MarshalJSON() ([]byte, error) {
	list := []any{f.Name, f.Value, f.At, f.Size}
	if f.Expected != "" {
		list = append(list, f.Expected)
	}
	return json.Marshal(list)
}

// key names the fields that findings speak of.
type key uint8

const (
	noKey key = iota
	keyOpcode
	keySE
	keyMigReq
	keyPadCnt
	keyTVer
	keyPKey
	keyResv
	keyDestQP
	keyAckReq
	keyPSN
	keySyndrome
	keyMSN
	keyVA
	keyRKey
	keyDMALen
	keySwap
	keyCompare
	keyOrig
	keyImm
	keyInvRKey
	keyQKey
	keySrcQP
	keyPayload
	keyICRC
	keyDSCP
	keyECN
	keyFlags
	keyFragment
	keyTotal
	keyPayLen
	keyUDPLen
	keySrcPort
	keyUDPSum
	keySrc
	keyDst
	keyFlow
	keySLID
	keyDLID
	keyPktLen
	keyVL
)

// shownBytes is up to how many bytes of a packet are shown.
const shownBytes = 128

// writer collects layers.
type writer struct {
	list []Layer
	at   int // of the layer in the bytes of the packet
}

func (w *writer) layer(name string, size int) *writer {
	w.list = append(w.list, Layer{Name: name})
	return w
}

// field adds a field of the current layer: its bytes begin at offset at of the layer.
func (w *writer) field(k key, at, size int, name, format string, args ...any) {
	l := &w.list[len(w.list)-1]
	l.Fields = append(l.Fields, Field{Name: name, Value: fmt.Sprintf(format, args...), At: w.at + at, Size: size, key: k})
}

// layers lists every header of a packet, and its bytes.
func layers(p *packet.Packet) ([]Layer, string) {
	w := &writer{list: []Layer{}}
	w.network(p)
	if p.Has&packet.HasBTH != 0 {
		w.at = p.BTHOff
		w.bth(p)
		w.at += 12
		w.extensions(p)
		w.rest(p)
	}
	n := min(len(p.Data), shownBytes, w.at)
	return w.list, hex.EncodeToString(p.Data[:n])
}

func (w *writer) network(p *packet.Packet) {
	if p.Has&packet.HasLRH != 0 {
		w.layer("Local Route Header", 8)
		w.field(keyVL, 0, 1, "Virtual Lane", "%d", p.VL)
		w.field(noKey, 0, 1, "Link Version", "%d", p.LVer)
		w.field(noKey, 1, 1, "Service Level", "%d", p.SL)
		w.field(noKey, 1, 1, "Link Next Header", "%d", p.LNH)
		w.field(keyDLID, 2, 2, "Destination Local ID", "0x%04x", p.DLID)
		w.field(keyPktLen, 4, 2, "Packet Length", "%d words", p.PktLen)
		w.field(keySLID, 6, 2, "Source Local ID", "0x%04x", p.SLID)
		w.at += 8
	}
	switch {
	case p.Has&packet.HasGRH != 0:
		w.ipv6(p, "Global Route Header", "IP Version", "Traffic Class", "Flow Label", "Payload Length", "Next Header", "Hop Limit", "Source GID", "Destination GID", p.SGID, p.DGID)
	case p.Has&packet.HasIPv6 != 0:
		w.ipv6(p, "Internet Protocol Version 6", "Version", "Traffic Class", "Flow Label", "Payload Length", "Next Header", "Hop Limit", "Source Address", "Destination Address", p.Src, p.Dst)
	case p.Has&packet.HasIPv4 != 0:
		w.layer("Internet Protocol Version 4", 4*int(p.IHL))
		w.field(noKey, 0, 1, "Version", "%d", p.IPVer)
		w.field(noKey, 0, 1, "Header Length", "%d bytes", 4*int(p.IHL))
		w.field(keyDSCP, 1, 1, "Differentiated Services Codepoint", "%d", p.TClass>>2)
		w.field(keyECN, 1, 1, "Explicit Congestion Notification", "%s", ecn(p.TClass))
		w.field(keyTotal, 2, 2, "Total Length", "%d", p.PayLen)
		w.field(noKey, 4, 2, "Identification", "0x%04x", p.IPID)
		w.field(keyFlags, 6, 1, "Flags", "%s", ipFlags(p.IPFrag))
		w.field(keyFragment, 6, 2, "Fragment Offset", "%d", p.IPFrag&0x1FFF)
		w.field(noKey, 8, 1, "Time to Live", "%d", p.HopLmt)
		w.field(noKey, 9, 1, "Protocol", "%d", p.NxtHdr)
		w.field(noKey, 10, 2, "Header Checksum", "0x%04x", p.IPSum)
		w.field(keySrc, 12, 4, "Source Address", "%v", p.Src)
		w.field(keyDst, 16, 4, "Destination Address", "%v", p.Dst)
		w.at += 4 * int(p.IHL)
	}
	if p.Has&packet.HasUDP != 0 {
		w.at = p.BTHOff - 8
		w.layer("User Datagram Protocol", 8)
		w.field(keySrcPort, 0, 2, "Source Port", "%d", p.SrcPort)
		w.field(noKey, 2, 2, "Destination Port", "%d", p.DstPort)
		w.field(keyUDPLen, 4, 2, "Length", "%d", p.UDPLen)
		w.field(keyUDPSum, 6, 2, "Checksum", "0x%04x", p.UDPSum)
		w.at += 8
	}
}

func (w *writer) ipv6(p *packet.Packet, layer, version, class, flow, length, next, hops, source, destination string, src, dst packet.Addr) {
	w.layer(layer, 40)
	w.field(noKey, 0, 1, version, "%d", p.IPVer)
	w.field(keyDSCP, 0, 2, class, "0x%02x (DSCP %d, ECN %s)", p.TClass, p.TClass>>2, ecn(p.TClass))
	w.field(keyFlow, 1, 3, flow, "0x%05x", p.FlowLabel)
	w.field(keyPayLen, 4, 2, length, "%d", p.PayLen)
	w.field(noKey, 6, 1, next, "0x%02x", p.NxtHdr)
	w.field(noKey, 7, 1, hops, "%d", p.HopLmt)
	w.field(keySrc, 8, 16, source, "%v", src)
	w.field(keyDst, 24, 16, destination, "%v", dst)
	w.at += 40
}

func (w *writer) bth(p *packet.Packet) {
	w.layer("Base Transport Header", 12)
	w.field(keyOpcode, 0, 1, "Opcode", "%v (0x%02x)", p.Opcode, uint8(p.Opcode))
	w.field(keySE, 1, 1, "Solicited Event", "%s", bit(p.SE))
	w.field(keyMigReq, 1, 1, "MigReq", "%s", bit(p.MigReq))
	w.field(keyPadCnt, 1, 1, "Pad Count", "%d", p.PadCnt)
	w.field(keyTVer, 1, 1, "Header Version", "%d", p.TVer)
	w.field(keyPKey, 2, 2, "Partition Key", "0x%04x", p.PKey)
	w.field(keyECN, 4, 1, "FECN", "%s", bit(p.FECN))
	w.field(keyECN, 4, 1, "BECN", "%s", bit(p.BECN))
	w.field(keyResv, 4, 1, "Reserved (6 bits)", "%d", p.Resv8a)
	w.field(keyDestQP, 5, 3, "Destination Queue Pair", "0x%06x", p.DestQP)
	w.field(keyAckReq, 8, 1, "Acknowledge Request", "%s", bit(p.AckReq))
	w.field(keyResv, 8, 1, "Reserved (7 bits)", "%d", p.Resv7)
	w.field(keyPSN, 9, 3, "Packet Sequence Number", "%v (%d)", p.PSN, uint32(p.PSN))
}

func (w *writer) extensions(p *packet.Packet) {
	if p.Has&packet.HasRDETH != 0 {
		w.layer("RDETH - Reliable Datagram Extended Transport Header", 4)
		w.field(noKey, 0, 1, "Reserved (8 bits)", "0x%02x", p.RDETHRes)
		w.field(noKey, 1, 3, "E2E Context", "0x%06x", p.EEC)
		w.at += 4
	}
	if p.Has&packet.HasDETH != 0 {
		w.layer("DETH - Datagram Extended Transport Header", 8)
		w.field(keyQKey, 0, 4, "Queue Key", "0x%08x", p.QKey)
		w.field(noKey, 4, 1, "Reserved (8 bits)", "0x%02x", p.DETHRes)
		w.field(keySrcQP, 5, 3, "Source Queue Pair", "0x%06x", p.SrcQP)
		w.at += 8
	}
	if p.Has&packet.HasXRCETH != 0 {
		w.layer("XRCETH - XRC Extended Transport Header", 4)
		w.field(noKey, 0, 1, "Reserved (8 bits)", "0x%02x", p.XRCRes)
		w.field(noKey, 1, 3, "XRC Shared Receive Queue", "0x%06x", p.XRCSRQ)
		w.at += 4
	}
	if p.Has&packet.HasFETH != 0 {
		w.layer("FETH - FLUSH Extended Transport Header", 4)
		w.field(noKey, 0, 4, "Selectivity Level", "%d", p.FETH>>4&3)
		w.field(noKey, 0, 4, "Placement Type", "%d", p.FETH&0xF)
		w.at += 4
	}
	if p.Has&packet.HasRETH != 0 {
		w.layer("RETH - RDMA Extended Transport Header", 16)
		w.field(keyVA, 0, 8, "Virtual Address", "0x%016x", p.VA)
		w.field(keyRKey, 8, 4, "Remote Key", "0x%08x", p.RKey)
		w.field(keyDMALen, 12, 4, "DMA Length", "%d", p.DMALen)
		w.at += 16
	}
	if p.Has&packet.HasAtomicETH != 0 {
		w.layer("AtomicETH - Atomic Extended Transport Header", 28)
		w.field(keyVA, 0, 8, "Virtual Address", "0x%016x", p.VA)
		w.field(keyRKey, 8, 4, "Remote Key", "0x%08x", p.RKey)
		w.field(keySwap, 12, 8, "Swap (Or Add) Data", "0x%016x", p.SwapAdd)
		w.field(keyCompare, 20, 8, "Compare Data", "0x%016x", p.Compare)
		w.at += 28
	}
	if p.Has&packet.HasAETH != 0 {
		w.layer("AETH - ACK Extended Transport Header", 4)
		w.field(keySyndrome, 0, 1, "Syndrome", "0x%02x, %v", uint8(p.Syndrome), p.Syndrome)
		w.field(keyMSN, 1, 3, "Message Sequence Number", "%d", p.MSN)
		w.at += 4
	}
	if p.Has&packet.HasAtomicAckETH != 0 {
		w.layer("ATOMICACKETH - Atomic ACK Extended Transport Header", 8)
		w.field(keyOrig, 0, 8, "Original Remote Data", "0x%016x", p.OrigData)
		w.at += 8
	}
	if p.Has&packet.HasImmDt != 0 {
		w.layer("IMMDT - Immediate Data Extended Transport Header", 4)
		w.field(keyImm, 0, 4, "Immediate Data", "0x%08x", p.Imm)
		w.at += 4
	}
	if p.Has&packet.HasIETH != 0 {
		w.layer("IETH - Invalidate Extended Transport Header", 4)
		w.field(keyInvRKey, 0, 4, "RKey", "0x%08x", p.InvRKey)
		w.at += 4
	}
}

// rest describes what follows the headers. Their bytes are not shown, but the fields' are.
func (w *writer) rest(p *packet.Packet) {
	at := w.at
	w.at = -1
	w.layer("Payload and ICRC", 0)
	w.field(keyPayload, 0, 0, "Payload", "%d bytes", p.PayloadLen)
	if p.Has&packet.HasICRC != 0 {
		w.field(keyICRC, 0, 0, "Invariant CRC", "%08x, %s", swap(p.ICRC), crc(p.ICRCState))
	}
	if p.Has&packet.HasVCRC != 0 {
		w.field(noKey, 0, 0, "Variant CRC", "%02x%02x, %s", uint8(p.VCRC), uint8(p.VCRC>>8), crc(p.VCRCState))
	}
	w.at = at
}

// swap brings the bytes of an ICRC into the order of the wire.
func swap(v uint32) uint32 { return bits.ReverseBytes32(v) }

func crc(s packet.CRC) string {
	return [...]string{"not checked: the packet was cut when it was kept", "right", "wrong"}[s]
}

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func ecn(class uint8) string {
	return [...]string{"0, Not-ECT", "1, ECT(1)", "2, ECT(0)", "3, CE"}[class&3]
}

func ipFlags(v uint16) string {
	s := strconv.Itoa(int(v >> 13))
	switch {
	case v&0x4000 != 0:
		s += ", Don't fragment"
	case v&0x2000 != 0:
		s += ", More fragments"
	}
	return s
}
