package expect

import (
	"fmt"
	"strconv"

	"ibwitness/packet"
)

// ID names a field of a packet.
type ID uint8

// The fields, in the order of the wire.
const (
	VL ID = iota // LRH
	LVer
	SL
	LRHRes
	LNH
	DLID
	LRHRes5
	PktLen
	SLID
	IPVer // GRH, IPv6, IPv4
	IHL
	DSCP
	ECN
	FlowLabel
	PayLen // GRH and IPv6: Payload Length; IPv4: Total Length
	IPID
	IPFlags
	FragmentOffset
	NxtHdr
	HopLmt
	IPSum
	Src // SGID of a GRH
	Dst
	SrcPort // UDP
	DstPort
	UDPLen
	UDPSum
	RWHRes // RWH
	EtherType
	Opcode // BTH
	SE
	MigReq
	PadCnt
	TVer
	PKey
	FECN
	BECN
	Resv8a
	DestQP
	AckReq
	Resv7
	PSN
	RDETHRes // extension headers
	EEC
	QKey
	DETHRes
	SrcQP
	XRCRes
	XRCSRQ
	FETHRes
	Selectivity
	Placement
	VA
	RKey
	DMALen
	SwapAdd
	Compare
	Syndrome
	MSN
	OrigData
	Imm
	InvRKey
	Payload
	Pad
	ICRC
	VCRC
	numIDs
)

// spec is what is known of a field: in which headers it is, where, and how its value is written. Names are Wireshark's.
type spec struct {
	name   string
	in     packet.Has
	at     int // bits from the beginning of the header
	bits   int
	at4    int // on IPv4; 0 where it has no other place
	name4  string
	name6  string // in an IPv6 header
	format func(v uint64) string
}

const networks = packet.HasGRH | packet.HasIPv6 | packet.HasIPv4

var specs = [numIDs]spec{
	VL:             {name: "Virtual Lane", in: packet.HasLRH, at: 0, bits: 4},
	LVer:           {name: "Link Version", in: packet.HasLRH, at: 4, bits: 4},
	SL:             {name: "Service Level", in: packet.HasLRH, at: 8, bits: 4},
	LRHRes:         {name: "Reserved (2 bits)", in: packet.HasLRH, at: 12, bits: 2},
	LNH:            {name: "Link Next Header", in: packet.HasLRH, at: 14, bits: 2},
	DLID:           {name: "Destination Local ID", in: packet.HasLRH, at: 16, bits: 16, format: hexa(4)},
	LRHRes5:        {name: "Reserved (5 bits)", in: packet.HasLRH, at: 32, bits: 5},
	PktLen:         {name: "Packet Length", in: packet.HasLRH, at: 37, bits: 11, format: func(v uint64) string { return dec(v) + " words" }},
	SLID:           {name: "Source Local ID", in: packet.HasLRH, at: 48, bits: 16, format: hexa(4)},
	IPVer:          {name: "IP Version", name4: "Version", name6: "Version", in: networks, at: 0, bits: 4},
	IHL:            {name: "Header Length", in: packet.HasIPv4, at: 4, bits: 4, format: func(v uint64) string { return dec(4*v) + " bytes" }},
	DSCP:           {name: "Differentiated Services Codepoint", in: networks, at: 4, at4: 8, bits: 6},
	ECN:            {name: "Explicit Congestion Notification", in: networks, at: 10, at4: 14, bits: 2, format: ecn},
	FlowLabel:      {name: "Flow Label", in: packet.HasGRH | packet.HasIPv6, at: 12, bits: 20, format: hexa(5)},
	PayLen:         {name: "Payload Length", name4: "Total Length", in: networks, at: 32, at4: 16, bits: 16},
	IPID:           {name: "Identification", in: packet.HasIPv4, at: 32, bits: 16, format: hexa(4)},
	IPFlags:        {name: "Flags", in: packet.HasIPv4, at: 48, bits: 3, format: ipFlags},
	FragmentOffset: {name: "Fragment Offset", in: packet.HasIPv4, at: 51, bits: 13},
	NxtHdr:         {name: "Next Header", name4: "Protocol", in: networks, at: 48, at4: 72, bits: 8},
	HopLmt:         {name: "Hop Limit", name4: "Time to Live", in: networks, at: 56, at4: 64, bits: 8},
	IPSum:          {name: "Header Checksum", in: packet.HasIPv4, at: 80, bits: 16, format: hexa(4)},
	Src:            {name: "Source GID", name4: "Source Address", name6: "Source Address", in: networks, at: 64, at4: 96, bits: 128},
	Dst:            {name: "Destination GID", name4: "Destination Address", name6: "Destination Address", in: networks, at: 192, at4: 128, bits: 128},
	SrcPort:        {name: "Source Port", in: packet.HasUDP, at: 0, bits: 16},
	DstPort:        {name: "Destination Port", in: packet.HasUDP, at: 16, bits: 16},
	UDPLen:         {name: "Length", in: packet.HasUDP, at: 32, bits: 16},
	UDPSum:         {name: "Checksum", in: packet.HasUDP, at: 48, bits: 16, format: hexa(4)},
	RWHRes:         {name: "Reserved (16 bits)", in: packet.HasRWH, at: 0, bits: 16, format: hexa(4)},
	EtherType:      {name: "EtherType", in: packet.HasRWH, at: 16, bits: 16, format: hexa(4)},
	Opcode:         {name: "Opcode", in: packet.HasBTH, at: 0, bits: 8, format: opcode},
	SE:             {name: "Solicited Event", in: packet.HasBTH, at: 8, bits: 1},
	MigReq:         {name: "MigReq", in: packet.HasBTH, at: 9, bits: 1},
	PadCnt:         {name: "Pad Count", in: packet.HasBTH, at: 10, bits: 2},
	TVer:           {name: "Header Version", in: packet.HasBTH, at: 12, bits: 4},
	PKey:           {name: "Partition Key", in: packet.HasBTH, at: 16, bits: 16, format: hexa(4)},
	FECN:           {name: "FECN", in: packet.HasBTH, at: 32, bits: 1},
	BECN:           {name: "BECN", in: packet.HasBTH, at: 33, bits: 1},
	Resv8a:         {name: "Reserved (6 bits)", in: packet.HasBTH, at: 34, bits: 6},
	DestQP:         {name: "Destination Queue Pair", in: packet.HasBTH, at: 40, bits: 24, format: hexa(6)},
	AckReq:         {name: "Acknowledge Request", in: packet.HasBTH, at: 64, bits: 1},
	Resv7:          {name: "Reserved (7 bits)", in: packet.HasBTH, at: 65, bits: 7},
	PSN:            {name: "Packet Sequence Number", in: packet.HasBTH, at: 72, bits: 24, format: psn},
	RDETHRes:       {name: "Reserved (8 bits)", in: packet.HasRDETH, at: 0, bits: 8, format: hexa(2)},
	EEC:            {name: "E2E Context", in: packet.HasRDETH, at: 8, bits: 24, format: hexa(6)},
	QKey:           {name: "Queue Key", in: packet.HasDETH, at: 0, bits: 32, format: hexa(8)},
	DETHRes:        {name: "Reserved (8 bits)", in: packet.HasDETH, at: 32, bits: 8, format: hexa(2)},
	SrcQP:          {name: "Source Queue Pair", in: packet.HasDETH, at: 40, bits: 24, format: hexa(6)},
	XRCRes:         {name: "Reserved (8 bits)", in: packet.HasXRCETH, at: 0, bits: 8, format: hexa(2)},
	XRCSRQ:         {name: "XRC Shared Receive Queue", in: packet.HasXRCETH, at: 8, bits: 24, format: hexa(6)},
	FETHRes:        {name: "Reserved (26 bits)", in: packet.HasFETH, at: 0, bits: 26, format: hexa(7)},
	Selectivity:    {name: "Selectivity Level", in: packet.HasFETH, at: 26, bits: 2},
	Placement:      {name: "Placement Type", in: packet.HasFETH, at: 28, bits: 4},
	VA:             {name: "Virtual Address", in: packet.HasRETH | packet.HasAtomicETH, at: 0, bits: 64, format: hexa(16)},
	RKey:           {name: "Remote Key", in: packet.HasRETH | packet.HasAtomicETH, at: 64, bits: 32, format: hexa(8)},
	DMALen:         {name: "DMA Length", in: packet.HasRETH, at: 96, bits: 32},
	SwapAdd:        {name: "Swap (Or Add) Data", in: packet.HasAtomicETH, at: 96, bits: 64, format: hexa(16)},
	Compare:        {name: "Compare Data", in: packet.HasAtomicETH, at: 160, bits: 64, format: hexa(16)},
	Syndrome:       {name: "Syndrome", in: packet.HasAETH, at: 0, bits: 8, format: syndrome},
	MSN:            {name: "Message Sequence Number", in: packet.HasAETH, at: 8, bits: 24},
	OrigData:       {name: "Original Remote Data", in: packet.HasAtomicAckETH, at: 0, bits: 64, format: hexa(16)},
	Imm:            {name: "Immediate Data", in: packet.HasImmDt, at: 0, bits: 32, format: hexa(8)},
	InvRKey:        {name: "RKey", in: packet.HasIETH, at: 0, bits: 32, format: hexa(8)},
	Payload:        {name: "Payload"},
	Pad:            {name: "Pad Bytes"},
	ICRC:           {name: "Invariant CRC", in: packet.HasICRC, bits: 32},
	VCRC:           {name: "Variant CRC", in: packet.HasVCRC, bits: 16},
}

// layer is a header of a packet.
type layer struct {
	has  packet.Has
	name string
	size int // bytes
}

// layers are the headers in the order of the wire; after them come payload, pad bytes and CRCs.
var layers = [...]layer{
	{packet.HasLRH, "Local Route Header", 8},
	{packet.HasGRH, "Global Route Header", 40},
	{packet.HasIPv6, "Internet Protocol Version 6", 40},
	{packet.HasIPv4, "Internet Protocol Version 4", 20},
	{packet.HasUDP, "User Datagram Protocol", 8},
	{packet.HasRWH, "Raw Header", 4},
	{packet.HasBTH, "Base Transport Header", 12},
	{packet.HasRDETH, "RDETH - Reliable Datagram Extended Transport Header", 4},
	{packet.HasDETH, "DETH - Datagram Extended Transport Header", 8},
	{packet.HasXRCETH, "XRCETH - XRC Extended Transport Header", 4},
	{packet.HasFETH, "FETH - FLUSH Extended Transport Header", 4},
	{packet.HasRETH, "RETH - RDMA Extended Transport Header", 16},
	{packet.HasAtomicETH, "AtomicETH - Atomic Extended Transport Header", 28},
	{packet.HasAETH, "AETH - ACK Extended Transport Header", 4},
	{packet.HasAtomicAckETH, "ATOMICACKETH - Atomic ACK Extended Transport Header", 8},
	{packet.HasImmDt, "IMMDT - Immediate Data Extended Transport Header", 4},
	{packet.HasIETH, "IETH - Invalidate Extended Transport Header", 4},
}

// rest is the layer after the headers.
const rest = "Payload and ICRC"

// String returns the name of the field, as Wireshark has it.
func (id ID) String() string { return specs[id].name }

// called is the name of the field in a header.
func (id ID) called(in packet.Has) string {
	s := &specs[id]
	switch {
	case in == packet.HasIPv4 && s.name4 != "":
		return s.name4
	case in == packet.HasIPv6 && s.name6 != "":
		return s.name6
	}
	return s.name
}

// place is where a field is in a header: bits from its beginning, and how many.
func (id ID) place(in packet.Has) (at, bits int) {
	s := &specs[id]
	at, bits = s.at, s.bits
	if in == packet.HasIPv4 {
		if s.at4 != 0 {
			at = s.at4
		}
		bits = min(bits, 32)
	}
	return at, bits
}

// text writes a value of the field.
func (id ID) text(v uint64) string {
	if f := specs[id].format; f != nil {
		return f(v)
	}
	return dec(v)
}

func dec(v uint64) string { return strconv.FormatUint(v, 10) }

func hexa(digits int) func(uint64) string {
	return func(v uint64) string { return fmt.Sprintf("0x%0*x", digits, v) }
}

func opcode(v uint64) string   { return fmt.Sprintf("%v (0x%02x)", packet.Opcode(v), v) }
func psn(v uint64) string      { return fmt.Sprintf("%v (%d)", packet.PSN(v), v) }
func syndrome(v uint64) string { return fmt.Sprintf("0x%02x, %v", v, packet.Syndrome(v)) }

func ecn(v uint64) string {
	return [...]string{"0, Not-ECT", "1, ECT(1)", "2, ECT(0)", "3, CE"}[v&3]
}

func ipFlags(v uint64) string {
	switch {
	case v&2 != 0:
		return dec(v) + ", Don't fragment"
	case v&1 != 0:
		return dec(v) + ", More fragments"
	}
	return dec(v)
}
