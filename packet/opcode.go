package packet

import "fmt"

// Opcode is byte 0 of the BTH: the service in the upper three bits, the operation in the lower five (table T2).
type Opcode uint8

// Service is the transport service that an opcode belongs to.
type Service uint8

// The services, by the upper three bits of the opcode.
const (
	RC      Service = 0
	UC      Service = 1
	RD      Service = 2
	UD      Service = 3
	CNP     Service = 4 // RoCEv2 congestion notification, opcode 0x81 only
	XRC     Service = 5
	Vendor6 Service = 6 // 0xC0-0xDF, manufacturer specific
	Vendor7 Service = 7 // 0xE0-0xFF, manufacturer specific
)

// Reliable reports whether a service is RC or XRC, which differs from it only in who takes a message.
func (s Service) Reliable() bool { return s == RC || s == XRC }

func (s Service) String() string {
	return [...]string{"RC", "UC", "RD", "UD", "CNP", "XRC", "vendor", "vendor"}[s&7]
}

// Fn is the operation of an opcode, its lower five bits (table T2).
type Fn uint8

// The operations.
const (
	SendFirst      Fn = 0x00
	SendMiddle     Fn = 0x01
	SendLast       Fn = 0x02
	SendLastImm    Fn = 0x03
	SendOnly       Fn = 0x04
	SendOnlyImm    Fn = 0x05
	WriteFirst     Fn = 0x06
	WriteMiddle    Fn = 0x07
	WriteLast      Fn = 0x08
	WriteLastImm   Fn = 0x09
	WriteOnly      Fn = 0x0A
	WriteOnlyImm   Fn = 0x0B
	ReadRequest    Fn = 0x0C
	ReadRespFirst  Fn = 0x0D
	ReadRespMiddle Fn = 0x0E
	ReadRespLast   Fn = 0x0F
	ReadRespOnly   Fn = 0x10
	Acknowledge    Fn = 0x11
	AtomicAck      Fn = 0x12
	CmpSwap        Fn = 0x13
	FetchAdd       Fn = 0x14
	Resync         Fn = 0x15 // RD only
	SendLastInv    Fn = 0x16
	SendOnlyInv    Fn = 0x17
	Flush          Fn = 0x1C
	AtomicWrite    Fn = 0x1D
	fnNames           = "SEND First|SEND Middle|SEND Last|SEND Last with Immediate|SEND Only|SEND Only with Immediate|RDMA WRITE First|RDMA WRITE Middle|RDMA WRITE Last|RDMA WRITE Last with Immediate|RDMA WRITE Only|RDMA WRITE Only with Immediate|RDMA READ Request|RDMA READ Response First|RDMA READ Response Middle|RDMA READ Response Last|RDMA READ Response Only|Acknowledge|ATOMIC Acknowledge|CmpSwap|FetchAdd|RESYNC|SEND Last with Invalidate|SEND Only with Invalidate|||||FLUSH|ATOMIC WRITE||"
)

// OpCNP is the congestion notification packet of RoCEv2 (annex A17.9.3).
const OpCNP Opcode = 0x81

// OpCNPIB is the congestion notification packet of InfiniBand (annex A10.3.2): a BTH with BECN. Elsewhere the opcode is reserved.
const OpCNPIB Opcode = 0x80

// Op builds the opcode of an operation on a service.
func Op(s Service, f Fn) Opcode { return Opcode(s)<<5 | Opcode(f) }

// Service returns the service of the opcode.
func (o Opcode) Service() Service { return Service(o >> 5) }

// Fn returns the operation of the opcode.
func (o Opcode) Fn() Fn { return Fn(o & 0x1F) }

// Info is the row of an opcode in table T2.
type Info struct {
	Opcode   Opcode
	Name     string // "RC SEND Only"; "reserved 0x15" for an undefined one
	Defined  bool
	Headers  Has  // extension headers after the BTH
	Request  bool // sent by a requester (SEND, WRITE, READ, atomics, FLUSH, ATOMIC WRITE, UD SEND)
	Response bool // sent by a responder (READ response, Acknowledge, ATOMIC Acknowledge)
	First    bool // first packet of a message of several
	Middle   bool
	Last     bool
	Only     bool
	Payload  bool // may carry payload
}

// Info returns the description of the opcode.
func (o Opcode) Info() *Info { return &infos[o] }

func (o Opcode) String() string { return infos[o].Name }

var infos = buildInfos()

func buildInfos() (t [256]Info) {
	names := splitNames(fnNames)
	for i := range t {
		o := Opcode(i)
		in := &t[i]
		in.Opcode = o
		in.Name = fmt.Sprintf("reserved 0x%02x", i)
		if o >= 0xC0 {
			in.Name = fmt.Sprintf("vendor 0x%02x", i)
			continue
		}
		if o == OpCNP {
			*in = Info{Opcode: o, Name: "CNP", Defined: true, Headers: HasCNP}
			continue
		}
		f := o.Fn()
		if !defined(o.Service(), f) {
			continue
		}
		*in = Info{Opcode: o, Name: o.Service().String() + " " + names[f], Defined: true}
		in.Response = f >= ReadRespFirst && f <= AtomicAck
		in.Request = !in.Response
		switch f {
		case SendFirst, WriteFirst, ReadRespFirst:
			in.First = true
		case SendMiddle, WriteMiddle, ReadRespMiddle:
			in.Middle = true
		case SendLast, SendLastImm, SendLastInv, WriteLast, WriteLastImm, ReadRespLast:
			in.Last = true
		default:
			in.Only = true
		}
		switch f {
		case ReadRequest, Acknowledge, AtomicAck, CmpSwap, FetchAdd, Resync, Flush:
		default:
			in.Payload = true
		}
		in.Headers = extension(o.Service(), f, in.Request)
	}
	return t
}

func defined(s Service, f Fn) bool {
	switch s {
	case RC:
		return f <= FetchAdd || f == SendLastInv || f == SendOnlyInv || f == Flush || f == AtomicWrite
	case UC:
		return f <= WriteOnlyImm
	case RD:
		return f <= Resync || f == Flush
	case UD:
		return f == SendOnly || f == SendOnlyImm
	case XRC:
		return f <= FetchAdd || f == SendLastInv || f == SendOnlyInv
	}
	return false
}

func extension(s Service, f Fn, request bool) (h Has) {
	switch {
	case s == RD && request:
		h = HasRDETH | HasDETH
	case s == RD:
		h = HasRDETH
	case s == UD:
		h = HasDETH
	case s == XRC && request:
		h = HasXRCETH
	}
	switch f {
	case SendLastImm, SendOnlyImm, WriteLastImm:
		h |= HasImmDt
	case WriteFirst, WriteOnly, ReadRequest, AtomicWrite:
		h |= HasRETH
	case WriteOnlyImm:
		h |= HasRETH | HasImmDt
	case ReadRespFirst, ReadRespLast, ReadRespOnly, Acknowledge:
		h |= HasAETH
	case AtomicAck:
		h |= HasAETH | HasAtomicAckETH
	case CmpSwap, FetchAdd:
		h |= HasAtomicETH
	case SendLastInv, SendOnlyInv:
		h |= HasIETH
	case Flush:
		h |= HasFETH | HasRETH
	}
	return h
}

func splitNames(s string) (out [32]string) {
	i := 0
	for _, c := range s {
		if c == '|' {
			i++
			continue
		}
		out[i] += string(c)
	}
	return out
}
