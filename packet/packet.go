// Package packet holds the wire formats of InfiniBand and RoCE: every header from LRH to VCRC in one flat struct,
// opcodes, PSN arithmetic, syndromes, ICRC and VCRC. Decoding and checking do not allocate. Package packet/layers
// has the same headers as gopacket layers.
//
// Others may import it: its API is kept stable.
package packet

// Has is the set of headers that a packet carries. A field of a header that is not in the set is zero.
type Has uint32

// The headers of table T1.
const (
	HasLRH Has = 1 << iota
	HasGRH     // also RoCEv1; a RoCEv2 packet has HasIPv4 or HasIPv6 instead
	HasIPv4
	HasIPv6
	HasUDP
	HasRWH // raw packet: 16 reserved bits and an EtherType
	HasBTH
	HasRDETH
	HasDETH
	HasXRCETH
	HasRETH
	HasAtomicETH
	HasAETH
	HasAtomicAckETH
	HasImmDt
	HasIETH
	HasFETH
	HasCNP // the 16 reserved bytes of a congestion notification packet
	HasICRC
	HasVCRC
	HasQuote // not on the wire as such, but quoted by a router that refused it: see MTU
)

// Encap is how a packet is carried.
type Encap uint8

// The encapsulations.
const (
	NoEncap    Encap = iota
	Native           // InfiniBand link: LRH, perhaps GRH, ICRC, VCRC
	RoCEv1           // Ethertype 0x8915: GRH, BTH …, ICRC
	RoCEv2IPv4       // UDP 4791
	RoCEv2IPv6
)

func (e Encap) String() string {
	return [...]string{"none", "InfiniBand", "RoCEv1", "RoCEv2/IPv4", "RoCEv2/IPv6"}[e]
}

// OnIP reports whether packets are carried on UDP.
func (e Encap) OnIP() bool { return e == RoCEv2IPv4 || e == RoCEv2IPv6 }

// Way is the direction of a frame as the capture recorded it, relative to the machine of the tap.
type Way uint8

// The directions.
const (
	WayUnknown Way = iota
	WayIn
	WayOut
)

// CRC is the outcome of checking an ICRC or VCRC.
type CRC uint8

// The outcomes.
const (
	CRCNotJudged CRC = iota // cut off, absent, or not computed
	CRCGood
	CRCBad
)

// Flaw is a set of ways in which the bytes of a packet contradict themselves. The decoder sets it; the rules
// that it breaks are judged by the verifier.
type Flaw uint16

// The flaws.
const (
	FlawShort      Flaw = 1 << iota // the lengths leave no room for the headers, pad and ICRC (BTH-018)
	FlawIPLength                    // the IP length (or GRH PayLen) says more bytes than the frame held on the wire
	FlawUDPLength                   // the UDP length contradicts the IP length (ROC-V2-016)
	FlawLRHLength                   // LRH PktLen contradicts the length of the frame or the GRH (LNK-LRH-005, NET-GRH-005)
	FlawFragment                    // an IP fragment: only the first carries the headers (ROC-V2-008)
	FlawExtension                   // IPv6 extension headers before UDP (ROC-V2-014)
	FlawVersion                     // IP version (GRH IPVer) is not what the encapsulation needs (NET-GRH-002, ROC-V2-022)
	FlawNextHeader                  // GRH NxtHdr is not 0x1B (NET-GRH-003)
	FlawProtocol                    // the IP protocol is not UDP (ROC-V2-010): see DecodeOffPort
	FlawPort                        // the UDP destination port is not 4791 (ROC-V2-015): see DecodeOffPort
	FlawDelimiter                   // the packet ended with the bad-packet delimiter (LNK-CRC-006): set by the fabric agent
	FlawInserted                    // the ICRC is right without the IPv4 options or IPv6 extension headers: the network put them in
	FlawOuterMark                   // a tunnel around the packet is marked with ECN 11: set by the fabric agent
	FlawVCRC                        // a port drops the packet, whose VCRC is wrong: set by the transport agent
	FlawDiscard                     // where the ICRC does not look: the IPv4 header checksum is wrong, or the hop limit 0; or, set by the transport agent, the frame went to another Ethernet address than those before
)

// Packet is one packet as one tap saw it: every header of tables T1 and T2 in one flat struct that Decode fills
// without allocating. Fields are the specification's, in host byte order; reserved fields are kept, since rules judge them.
//
// The order of the fields is the decoder's: what a packet of a connection is verified by comes first, in few lines of a processor's cache, neighbours that share
// one word of a header are written by one store, and what most packets do not have is cleared as one run.
type Packet struct {
	// Set by the fabric agent, not changed by Decode.
	Time  int64  // nanoseconds since the Unix epoch
	Frame uint64 // 1-based number of the frame in its file, as Wireshark counts
	// Station is the Ethernet address that the frame was sent to, in the low 48 bits; 0: not known, or that of a tunnel.
	Station uint64
	// Source is the Ethernet address that the frame came from, likewise: of a packet that was routed, that of the last router.
	Source uint64
	Tap    uint16 // index of the tap (file and interface) that saw it
	Way    Way
	Copy   bool // set by the transport agent: another tap has shown the packet already

	Has        Has
	Data       []byte // the packet from LRH, GRH or IP header through ICRC (and VCRC), as far as captured; a view on the frame
	BTHOff     int    // offset of the BTH in Data
	Src, Dst   Addr   // LIDs when HasLRH, else GIDs or IP addresses: the endpoint's address
	PayloadLen int    // bytes of payload by the lengths of the headers, without pad; what was captured may be less

	// BTH, and between its fields those of other headers that are needed with them.
	Opcode    Opcode
	Encap     Encap
	ICRCState CRC
	Cut       bool // the snap length cut the packet: payload, pad or ICRC are incomplete
	PadCnt    uint8
	AckReq    bool
	MigReq    bool
	// Usual says, of a decoded packet, that it is RoCEv2 on IPv4 without options, all of which was captured and whose lengths agree.
	Usual bool
	// Part says that only what Glance sets is set: Rest sets what is left.
	Part     bool
	Syndrome Syndrome // AETH; where there is none 0, which is positive
	Flaws    Flaw
	IPID     uint16
	SrcPort  uint16
	DestQP   uint32
	PSN      PSN
	ICRC     uint32 // as it is on the wire, first byte in the low eight bits
	MSN      uint32 // AETH
	RKey     uint32 // RETH, AtomicETH
	DMALen   uint32 // RETH
	VA       uint64 // RETH, AtomicETH
	Compare  uint64 // AtomicETH compare data
	OrigData uint64 // AtomicAckETH

	// What Glance leaves: first the rest of the network, GRH, IP and UDP.
	SGID    Addr   // GIDs of the GRH, also beside an LRH; equal to Src and Dst on RoCE
	DGID    Addr   //
	IPFrag  uint16 // IPv4 flags (3 bits) and fragment offset (13 bits)
	PayLen  uint16 // GRH and IPv6: payload length; IPv4: total length
	TClass  uint8  // GRH and IPv6 traffic class, IPv4 ToS: DSCP and ECN
	IHL     uint8  // IPv4, in words
	UDPSum  uint16
	UDPLen  uint16
	DstPort uint16
	IPSum   uint16
	NxtHdr  uint8 // GRH and IPv6 next header, IPv4 protocol
	HopLmt  uint8 // GRH and IPv6 hop limit, IPv4 TTL

	// The rest of the BTH.
	PKey   uint16
	IPVer  uint8 // GRH and IP
	SE     bool
	TVer   uint8
	FECN   bool
	BECN   bool
	Resv8a uint8 // the 6 reserved bits beside FECN and BECN
	Resv7  uint8 // the 7 reserved bits beside AckReq

	// LRH, RWH and VCRC.
	VL        uint8
	LVer      uint8
	SL        uint8
	LNH       uint8
	LRHRes    uint8 // the 2 reserved bits beside LNH, then the 5 above PktLen: rr_lllll
	VCRCState CRC
	VCRC      uint16 // as it is on the wire, first byte in the low eight bits
	PktLen    uint16 // LRH: words from LRH through ICRC
	DLID      uint16
	SLID      uint16
	EtherType uint16 // RWH
	RWHRes    uint16 // reserved 16 bits of the RWH
	FlowLabel uint32 // GRH and IPv6
	// VLAN is the tag control information of the innermost VLAN tag: PCP in the upper three bits, the VLAN in the lower twelve; 0: no tag, or one that says no more. Set by the
	// fabric agent.
	VLAN uint16

	// The rest of the extension headers.
	DETHRes  uint8  // reserved byte of the DETH
	RDETHRes uint8  // reserved byte of the RDETH
	XRCRes   uint8  // reserved byte of the XRCETH
	SwapAdd  uint64 // AtomicETH swap or add data
	Imm      uint32 // ImmDt
	InvRKey  uint32 // IETH
	QKey     uint32 // DETH
	SrcQP    uint32 // DETH
	XRCSRQ   uint32 // XRCETH
	EEC      uint32 // RDETH
	FETH     uint32 // placement type in bits 3:0, selectivity in bits 5:4, the rest reserved

	// Payload.
	Link    uint32 // of a tap on links: number of the link · 2 + the port that sent it, plus 1; 0: not known
	Payload []byte // what was captured of the payload, without pad; a view on the frame
	Pad     []byte // what was captured of the pad bytes

	// MAC is the Ethernet address that a datagram to a multicast group on IP was sent to, or that one to QP1 came from, where the frame tells;
	// zero, or left over, in all else. Set by the fabric agent.
	MAC [6]byte
	// MTU is how many bytes of IP fit where the packet was refused, 0 where the router does not say; with HasQuote only. Set by the fabric agent.
	MTU uint16
}

// IsCNP reports whether the packet is a congestion notification packet, of RoCEv2 or of InfiniBand.
func (p *Packet) IsCNP() bool { return p.Opcode == OpCNP || p.Opcode == OpCNPIB && p.Encap == Native }

// Info returns what table T2 says of the packet's opcode.
func (p *Packet) Info() *Info { return &infos[p.Opcode] }
