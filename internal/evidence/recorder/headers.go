package recorder

import (
	"encoding/binary"
	"unsafe"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// Where things are in a frame as nearly all are: Ethernet, IPv4 without options, UDP, BTH.
const (
	atType     = 12
	atIP       = 14
	atLength   = atIP + 2
	atProtocol = atIP + 9
	atHosts    = atIP + 12
	atPort     = atIP + 20 + 2
	atBTH      = atIP + 20 + 8
	bthEnd     = atBTH + 12
	icrcSize   = 4
)

// extensions are the bytes of the headers after the BTH, by opcode.
var extensions = func() (t [256]uint8) {
	sizes := map[packet.Has]uint8{
		packet.HasRDETH: 4, packet.HasDETH: 8, packet.HasXRCETH: 4, packet.HasRETH: 16, packet.HasAtomicETH: 28, packet.HasAETH: 4,
		packet.HasAtomicAckETH: 8, packet.HasImmDt: 4, packet.HasIETH: 4, packet.HasFETH: 4, packet.HasCNP: 16,
	}
	for i := range t {
		for h, n := range sizes {
			if packet.Opcode(i).Info().Headers&h != 0 {
				t[i] += n
			}
		}
	}
	return t
}()

// usual returns the tag of a frame as nearly all are, and how much of it is kept. It is false for any other.
func (r *Recorder) usual(f *fabricagent.Frame) (tag uint32, kept int, ok bool) {
	b := f.Data
	if f.Link != fabricagent.LinkEthernet || len(b) < bthEnd || len(b) > mostFrame {
		return 0, 0, false
	}
	h := (*[bthEnd]byte)(b)
	if binary.BigEndian.Uint16(h[atType:]) != 0x0800 || h[atIP] != 0x45 || h[atProtocol] != 17 ||
		binary.BigEndian.Uint16(h[atPort:]) != packet.UDPPort || binary.BigEndian.Uint16(h[atIP+6:])&0x3fff != 0 {
		return 0, 0, false
	}
	hosts := binary.BigEndian.Uint64(h[atHosts:])
	d := direction{
		src: packet.Addr{Lo: 0xffff<<32 | hosts>>32}, dst: packet.Addr{Lo: 0xffff<<32 | hosts&0xffffffff},
		qpn: binary.BigEndian.Uint32(h[atBTH+4:]) & 0xffffff,
	}
	kept = len(b)
	if at := bthEnd + int(extensions[h[atBTH]]); r.payload >= 0 && d.qpn > 1 {
		end := atIP + int(binary.BigEndian.Uint16(h[atLength:])) - icrcSize - int(h[atBTH+1]>>4&3)
		if end-at > r.payload {
			kept = min(kept, at+r.payload)
		}
	}
	return d.hash(), kept, true
}

// unusual is usual for any frame. It is false for one that is not kept.
func (r *Recorder) unusual(f *fabricagent.Frame) (tag uint32, kept int, ok bool) {
	p := &r.packet
	switch out := fabricagent.Decode(f, p); {
	case out == fabricagent.NotRDMA:
		return 0, 0, false
	case !out.IsRDMA():
		return 0, min(len(f.Data), spare), true
	}
	kept = min(len(f.Data), mostFrame)
	if r.payload >= 0 && len(p.Payload) > r.payload && p.DestQP > 1 { // a management datagram tells about connections
		offset := uintptr(unsafe.Pointer(unsafe.SliceData(p.Payload))) - uintptr(unsafe.Pointer(unsafe.SliceData(f.Data)))
		kept = min(kept, int(offset)+r.payload)
	}
	return (&direction{src: p.Src, dst: p.Dst, qpn: p.DestQP}).hash(), kept, true
}
