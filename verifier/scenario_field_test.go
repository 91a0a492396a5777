package verifier_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"ibwitness/packet"
)

// fields are the words after the operation of a packet line: name=value, or only a name.
type fields struct {
	names, values []string
}

func parseFields(words []string) (*fields, error) {
	f := &fields{}
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			value = "1"
		}
		f.names, f.values = append(f.names, name), append(f.values, value)
	}
	return f, nil
}

// number returns the value of a field and removes it.
func (f *fields) number(name string) (uint64, bool) {
	v, ok := f.word(name)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(v, 0, 64)
	if err != nil {
		// Put back, so that build complains of it.
		f.names, f.values = append(f.names, name+"="+v), append(f.values, "")
	}
	return n, err == nil
}

// word returns the text of a field and removes it.
func (f *fields) word(name string) (string, bool) {
	for i, n := range f.names {
		if n == name {
			v := f.values[i]
			f.names = append(f.names[:i:i], f.names[i+1:]...)
			f.values = append(f.values[:i:i], f.values[i+1:]...)
			return v, true
		}
	}
	return "", false
}

func (f *fields) psn(p *packet.PSN) {
	if n, ok := f.number("psn"); ok {
		*p = packet.PSN(n & packet.PSNMask)
	}
}

// content makes the payload: len bytes that count up from data, or else from the PSN.
func (f *fields) content(p *packet.Packet) {
	if n, ok := f.number("len"); ok {
		p.PayloadLen = int(n)
	}
	seed := uint64(p.PSN)
	n, given := f.number("data")
	if given {
		seed = n
	}
	p.Payload = make([]byte, p.PayloadLen)
	for i := range p.Payload {
		p.Payload[i] = byte(seed + uint64(i))
	}
	if w, ok := f.word("prefix"); ok { // what an encoder has put before the payload
		b, _ := hex.DecodeString(strings.TrimPrefix(w, "0x"))
		p.Payload = append(b, p.Payload...)
		p.PayloadLen += len(b)
	}
	f.managed(p, given)
}

// tap says where the packet is seen.
func (f *fields) tap(p *packet.Packet) {
	if n, ok := f.number("tap"); ok {
		p.Tap = uint16(n)
	}
	switch w, _ := f.word("way"); w {
	case "in":
		p.Way = packet.WayIn
	case "out":
		p.Way = packet.WayOut
	}
}

// bit makes the setter of a bit.
func bit(set func(p *packet.Packet, on bool)) func(*packet.Packet, uint64) {
	return func(p *packet.Packet, v uint64) { set(p, v != 0) }
}

// setters are the header fields that a line may set to anything.
var setters = map[string]func(p *packet.Packet, v uint64){
	"pkey":   func(p *packet.Packet, v uint64) { p.PKey = uint16(v) },
	"destqp": func(p *packet.Packet, v uint64) { p.DestQP = uint32(v) },
	"opcode": func(p *packet.Packet, v uint64) { p.Opcode = packet.Opcode(v) },
	"tver":   func(p *packet.Packet, v uint64) { p.TVer = uint8(v) },
	"resv8a": func(p *packet.Packet, v uint64) { p.Resv8a = uint8(v) },
	"resv7":  func(p *packet.Packet, v uint64) { p.Resv7 = uint8(v) },
	"padcnt": func(p *packet.Packet, v uint64) { p.PadCnt = uint8(v) },
	"ackreq": bit(func(p *packet.Packet, on bool) { p.AckReq = on }),
	"se":     bit(func(p *packet.Packet, on bool) { p.SE = on }),
	"mig":    bit(func(p *packet.Packet, on bool) { p.MigReq = on }),
	"fecn":   bit(func(p *packet.Packet, on bool) { p.FECN = on }),
	"becn":   bit(func(p *packet.Packet, on bool) { p.BECN = on }),

	"syn":      func(p *packet.Packet, v uint64) { p.Syndrome = packet.Syndrome(v) },
	"credits":  func(p *packet.Packet, v uint64) { p.Syndrome = packet.Syndrome(v) & 31 },
	"msn":      func(p *packet.Packet, v uint64) { p.MSN = uint32(v) },
	"va":       func(p *packet.Packet, v uint64) { p.VA = v },
	"rkey":     func(p *packet.Packet, v uint64) { p.RKey = uint32(v) },
	"swap":     func(p *packet.Packet, v uint64) { p.SwapAdd = v },
	"compare":  func(p *packet.Packet, v uint64) { p.Compare = v },
	"orig":     func(p *packet.Packet, v uint64) { p.OrigData = v },
	"imm":      func(p *packet.Packet, v uint64) { p.Imm = uint32(v) },
	"inv":      func(p *packet.Packet, v uint64) { p.InvRKey = uint32(v) },
	"qkey":     func(p *packet.Packet, v uint64) { p.QKey = uint32(v) },
	"srcqp":    func(p *packet.Packet, v uint64) { p.SrcQP = uint32(v) },
	"dethres":  func(p *packet.Packet, v uint64) { p.DETHRes = uint8(v) },
	"feth":     func(p *packet.Packet, v uint64) { p.FETH = uint32(v) },
	"xrcsrq":   func(p *packet.Packet, v uint64) { p.XRCSRQ = uint32(v) },
	"xrcres":   func(p *packet.Packet, v uint64) { p.XRCRes = uint8(v) },
	"rdethres": func(p *packet.Packet, v uint64) { p.RDETHRes = uint8(v) },
	"eec":      func(p *packet.Packet, v uint64) { p.EEC = uint32(v) },

	"ipid":   func(p *packet.Packet, v uint64) { p.IPID = uint16(v) },
	"ipfrag": func(p *packet.Packet, v uint64) { p.IPFrag = uint16(v) },
	"df":     func(p *packet.Packet, v uint64) { p.IPFrag = p.IPFrag&^0x4000 | uint16(v&1)<<14 },
	"paylen": func(p *packet.Packet, v uint64) { p.PayLen = uint16(v) },
	"ttl":    func(p *packet.Packet, v uint64) { p.HopLmt = uint8(v) },
	"tclass": func(p *packet.Packet, v uint64) { p.TClass = uint8(v) },
	"dscp":   func(p *packet.Packet, v uint64) { p.TClass = p.TClass&3 | uint8(v)<<2 },
	"ecn":    func(p *packet.Packet, v uint64) { p.TClass = p.TClass&^3 | uint8(v&3) },
	"flow":   func(p *packet.Packet, v uint64) { p.FlowLabel = uint32(v) },
	"ipver":  func(p *packet.Packet, v uint64) { p.IPVer = uint8(v) },
	"nxthdr": func(p *packet.Packet, v uint64) { p.NxtHdr = uint8(v) },
	"sport":  func(p *packet.Packet, v uint64) { p.SrcPort = uint16(v) },
	"dport":  func(p *packet.Packet, v uint64) { p.DstPort = uint16(v) },
	"udplen": func(p *packet.Packet, v uint64) { p.UDPLen = uint16(v) },
	"pktlen": func(p *packet.Packet, v uint64) { p.PktLen = uint16(v) },
	"vl":     func(p *packet.Packet, v uint64) { p.VL = uint8(v) },
	"sl":     func(p *packet.Packet, v uint64) { p.SL = uint8(v) },
	"lver":   func(p *packet.Packet, v uint64) { p.LVer = uint8(v) },
	"lnh":    func(p *packet.Packet, v uint64) { p.LNH = uint8(v) },
	"lrhres": func(p *packet.Packet, v uint64) { p.LRHRes = uint8(v) },
	"slid":   func(p *packet.Packet, v uint64) { p.SLID = uint16(v) },
	"dlid":   func(p *packet.Packet, v uint64) { p.DLID = uint16(v) },
}

// addresses are the fields that hold one.
var addresses = map[string]func(p *packet.Packet, a packet.Addr){
	"src": func(p *packet.Packet, a packet.Addr) { p.Src, p.SGID = a, a },
	"dst": func(p *packet.Packet, a packet.Addr) { p.Dst, p.DGID = a, a },
	// Beside an LRH the GIDs are not the endpoint's address.
	"sgid": func(p *packet.Packet, a packet.Addr) { p.SGID = a },
	"dgid": func(p *packet.Packet, a packet.Addr) { p.DGID = a },
}

// build completes the packet, sets the fields of the line, seals it again, and writes its frame as the tap sees it.
func (f *fields) build(p *packet.Packet) (frame []byte, wireLen int, err error) {
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("there is no such packet: %v", why)
		}
	}()
	if n, ok := f.number("grh"); ok {
		p.Has = p.Has&^packet.HasGRH | packet.HasGRH*packet.Has(n&1)
	}
	p.Complete()
	f.pad(p)
	f.options(p)
	cut, snapped := f.number("cut")
	trim, _ := f.number("trim")
	extra, _ := f.number("extra")
	badICRC, _ := f.number("badicrc")
	badVCRC, _ := f.number("badvcrc")
	badSum, _ := f.number("badsum")
	icrc, _ := f.word("icrc")
	sum, summed := f.word("udpsum")
	sealed, otherwiseSealed := f.word("sealed")
	for i, name := range f.names {
		if name == "tap" || name == "way" {
			continue
		}
		if set, ok := addresses[name]; ok {
			a, err := packet.ParseAddr(f.values[i])
			if err != nil {
				return nil, 0, err
			}
			set(p, a)
			continue
		}
		set, ok := setters[name]
		n, err := strconv.ParseUint(f.values[i], 0, 64)
		if !ok || err != nil {
			return nil, 0, fmt.Errorf("no field %s=%s", name, f.values[i])
		}
		set(p, n)
	}
	p.SealIPv4()
	p.IPSum ^= uint16(badSum)
	if summed {
		seal(p, sum)
	}
	p.SealICRC()
	p.ICRC ^= uint32(badICRC)
	switch icrc {
	case "swapped":
		p.ICRC = bits.ReverseBytes32(p.ICRC)
	case "inverted":
		p.ICRC = ^p.ICRC
	}
	if (badICRC != 0 || icrc != "") && p.Has&packet.HasVCRC != 0 {
		sealVCRC(p)
	}
	p.VCRC ^= uint16(badVCRC)
	frame = p.Append(nil)
	if otherwiseSealed {
		if frame, err = otherwise(p, sealed); err != nil {
			return nil, 0, err
		}
	}
	frame = append(frame[:len(frame)-int(trim)], make([]byte, extra)...)
	wireLen = len(frame)
	if snapped {
		frame = frame[:min(cut, uint64(len(frame)))]
	}
	return frame, wireLen, nil
}

// pad gives the packet other pad bytes than it needs; all lengths follow.
func (f *fields) pad(p *packet.Packet) {
	if n, ok := f.number("pad"); ok {
		grow(p, int(n)-len(p.Pad))
		p.PadCnt, p.Pad = uint8(n), make([]byte, n)
	}
	if n, ok := f.number("padbytes"); ok {
		p.Pad = make([]byte, len(p.Pad))
		for i := range p.Pad {
			p.Pad[i] = byte(n)
		}
	}
}

// grow adds n bytes to every length of the packet.
func grow(p *packet.Packet, n int) {
	p.PayLen += uint16(n)
	if p.Has&packet.HasUDP != 0 {
		p.UDPLen += uint16(n)
	}
	p.PktLen = uint16(int(p.PktLen)*4+n+3) / 4
}

// options gives the IPv4 header options up to ihl words, or the IPv6 header an extension header.
func (f *fields) options(p *packet.Packet) {
	if n, ok := f.number("ihl"); ok {
		more := int(n)*4 - 20
		p.IHL = uint8(n)
		p.Data = make([]byte, 20+more)
		for i := 20; i < len(p.Data); i++ {
			p.Data[i] = 1 // no operation
		}
		p.PayLen += uint16(more)
		p.BTHOff += more
	}
	if _, ok := f.number("extension"); ok {
		p.Flaws |= packet.FlawExtension
		p.NxtHdr = 60 // destination options
		p.Data = append(make([]byte, 40), 17, 0, 1, 4, 0, 0, 0, 0)
		p.PayLen += 8
		p.BTHOff += 8
	}
}

// seal sets the UDP checksum: the right one, or a number.
func seal(p *packet.Packet, what string) {
	n, _ := strconv.ParseUint(what, 0, 16)
	if p.UDPSum = uint16(n); what != "right" {
		return
	}
	p.SealICRC()
	b := p.Append(nil)
	udp := b[p.BTHOff-8:]
	sum := uint32(17) + uint32(len(udp))
	src, dst := p.Src.Bytes(), p.Dst.Bytes()
	from := 0
	if p.Has&packet.HasIPv4 != 0 {
		from = 12
	}
	for _, part := range [][]byte{src[from:], dst[from:], udp} {
		for ; len(part) > 1; part = part[2:] {
			sum += uint32(binary.BigEndian.Uint16(part))
		}
	}
	for sum>>16 != 0 {
		sum = sum&0xFFFF + sum>>16
	}
	p.UDPSum = ^uint16(sum)
}

// sealVCRC recomputes only the VCRC: the frame is damaged, and the last link has sealed the damage.
func sealVCRC(p *packet.Packet) {
	icrc := p.ICRC
	q := *p
	q.Payload = binary.LittleEndian.AppendUint32(append(append([]byte(nil), p.Payload...), p.Pad...), icrc)
	q.Pad, q.Has = nil, p.Has&^packet.HasICRC
	q.SealICRC()
	p.VCRC = q.VCRC
}
