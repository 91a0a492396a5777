package live

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// The layout of a ring (linux/if_packet.h).
const (
	addressAt = 48 // of a frame's address, after its header: TPACKET_ALIGN(sizeof(struct tpacket3_hdr))
	headerAt  = 8  // of struct tpacket_hdr_v1 in struct tpacket_block_desc
	tagRoom   = 4  // before each frame, for the VLAN tag that the kernel has taken out
)

// ring is one socket with its memory. One goroutine reads it; any may give blocks back.
type ring struct {
	fd     int
	mem    []byte
	blocks []block
	newest int // block that the kernel fills next, or is filling
	held   atomic.Int32
	tap    uint16
	index  int // of the interface

	block  *block // that is being read; nil: none
	left   uint32 // frames in it
	offset uint32
	dead   bool // the interface is gone
}

// block is a part of a ring, which goes to and fro between the kernel and us.
type block struct {
	ring  *ring
	mem   []byte
	refs  atomic.Int32
	taken atomic.Bool // from the kernel, until its status says that it is the kernel's again
}

func (b *block) status() *uint32 { return (*uint32)(unsafe.Pointer(&b.mem[headerAt])) }

func (b *block) header() *unix.TpacketHdrV1 {
	return (*unix.TpacketHdrV1)(unsafe.Pointer(&b.mem[headerAt]))
}

func (b *block) release() {
	if b.refs.Add(-1) == 0 {
		atomic.StoreUint32(b.status(), unix.TP_STATUS_KERNEL)
		b.taken.Store(false)
		b.ring.letGo()
	}
}

// letGo unmaps the memory when the ring is closed and all blocks are back.
func (r *ring) letGo() {
	if r.held.Add(-1) == 0 {
		_ = unix.Munmap(r.mem)
	}
}

// stamping is what takes one more capability.
const stamping = "ask for hardware time stamps"

func htons(v uint16) uint16 { return v<<8 | v>>8 }

// openRing opens one of the sockets of an interface.
func openRing(i *net.Interface, share int, o *Options) (r *ring, err error) {
	doing := "open a packet socket"
	r = &ring{fd: -1, index: i.Index}
	defer func() {
		if err != nil {
			r.close()
			err = openError(i.Name, doing, err)
		}
	}()
	if r.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0); err != nil {
		return r, err
	}
	doing = "set the filter"
	if err = r.filter(share, o); err != nil {
		return r, err
	}
	doing = "set up the ring"
	for _, opt := range [][2]int{{unix.PACKET_VERSION, unix.TPACKET_V3}, {unix.PACKET_RESERVE, tagRoom}} {
		if err = unix.SetsockoptInt(r.fd, unix.SOL_PACKET, opt[0], opt[1]); err != nil {
			return r, err
		}
	}
	if o.Hardware {
		doing = stamping
		if err = r.stampInHardware(i.Name); err != nil {
			return r, err
		}
	}
	doing = "allocate the ring"
	if err = r.allocate(o); err != nil {
		return r, err
	}
	if o.Promiscuous {
		doing = "enter promiscuous mode"
		m := unix.PacketMreq{Ifindex: int32(i.Index), Type: unix.PACKET_MR_PROMISC}
		if err = unix.SetsockoptPacketMreq(r.fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &m); err != nil {
			return r, err
		}
	}
	doing = "bind to it"
	return r, r.bind(i.Index)
}

// filter has the kernel pass on only what is RoCE, and only this socket's share of it.
func (r *ring) filter(share int, o *Options) error {
	code, err := roce(o.SnapLen, share, o.Sockets)
	if err != nil {
		return err
	}
	return attach(r.fd, code)
}

// stampInHardware takes the times of frames from the interface.
func (r *ring) stampInHardware(name string) error {
	cfg := unix.HwTstampConfig{Tx_type: unix.HWTSTAMP_TX_OFF, Rx_filter: unix.HWTSTAMP_FILTER_ALL}
	err := unix.IoctlSetHwTstamp(r.fd, name, &cfg)
	if err == unix.EPERM {
		// Somebody else may have switched them on.
		if now, e := unix.IoctlGetHwTstamp(r.fd, name); e == nil && now.Rx_filter == unix.HWTSTAMP_FILTER_ALL {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	return unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_TIMESTAMP, unix.SOF_TIMESTAMPING_RAW_HARDWARE)
}

// allocate makes the blocks of the ring.
func (r *ring) allocate(o *Options) (err error) {
	n := max(o.Memory/blockSize, 2)
	req := unix.TpacketReq3{
		Block_size: blockSize, Block_nr: uint32(n), Frame_size: 1 << 11, Frame_nr: uint32(n) * (blockSize >> 11),
		Retire_blk_tov: uint32(max(o.Hold.Milliseconds(), 1)),
	}
	if err = unix.SetsockoptTpacketReq3(r.fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &req); err != nil {
		return err
	}
	if r.mem, err = unix.Mmap(r.fd, 0, n*blockSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return err
	}
	r.held.Store(1)
	r.blocks = make([]block, n)
	for k := range r.blocks {
		r.blocks[k].ring, r.blocks[k].mem = r, r.mem[k*blockSize:(k+1)*blockSize]
	}
	return nil
}

// bind has frames of an interface come.
func (r *ring) bind(index int) error {
	return unix.Bind(r.fd, &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_ALL), Ifindex: index})
}

// attach gives a socket a filter.
func attach(fd int, code []bpf.RawInstruction) error {
	list := make([]unix.SockFilter, len(code))
	for i, c := range code {
		list[i] = unix.SockFilter{Code: c.Op, Jt: c.Jt, Jf: c.Jf, K: c.K}
	}
	return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(list)), Filter: &list[0]})
}

func (r *ring) close() {
	if r.fd >= 0 {
		_ = unix.Close(r.fd)
		r.fd = -1
	}
	if r.block != nil {
		r.block.release()
		r.block = nil
	}
	if r.mem != nil {
		r.letGo()
	}
}

// ready takes the next block where the kernel has given one, and reports whether there is a frame.
func (r *ring) ready() bool {
	for {
		if r.block != nil {
			if r.left > 0 {
				return true
			}
			r.block.release()
			r.block = nil
		}
		if r.dead {
			return false
		}
		b := &r.blocks[r.newest]
		if b.taken.Load() || atomic.LoadUint32(b.status())&unix.TP_STATUS_USER == 0 {
			return false
		}
		h := b.header()
		b.taken.Store(true)
		b.refs.Store(1)
		r.held.Add(1)
		r.block, r.left, r.offset = b, h.Num_pkts, h.Offset_to_first_pkt
		r.newest = (r.newest + 1) % len(r.blocks)
	}
}

// frame is the header of the next frame; there must be one.
func (r *ring) frame() *unix.Tpacket3Hdr {
	return (*unix.Tpacket3Hdr)(unsafe.Pointer(&r.block.mem[r.offset]))
}

func stamp(h *unix.Tpacket3Hdr) int64 { return int64(h.Sec)*1e9 + int64(h.Nsec) }

// take fills in the next frame, whose data is a part of the block.
func (r *ring) take(f *fabricagent.Frame) (stamped bool) {
	h, mem := r.frame(), r.block.mem[r.offset:]
	at := uint32(h.Mac)
	data := mem[at : at+h.Snaplen]
	n := h.Len
	if h.Status&unix.TP_STATUS_VLAN_VALID != 0 && h.Snaplen >= 12 {
		tpid := uint16(etherVLAN)
		if h.Status&unix.TP_STATUS_VLAN_TPID_VALID != 0 {
			tpid = h.Hv1.Vlan_tpid
		}
		data, n = mem[at-tagRoom:at+h.Snaplen], n+tagRoom
		copy(data, data[tagRoom:tagRoom+12])
		data[12], data[13] = byte(tpid>>8), byte(tpid)
		data[14], data[15] = byte(h.Hv1.Vlan_tci>>8), byte(h.Hv1.Vlan_tci)
	}
	a := (*unix.RawSockaddrLinklayer)(unsafe.Pointer(&mem[addressAt]))
	f.Time, f.Tap, f.Link, f.Len, f.Data = stamp(h), r.tap, fabricagent.LinkEthernet, n, data
	switch a.Pkttype {
	case unix.PACKET_OUTGOING:
		f.Way = packet.WayOut
	case unix.PACKET_OTHERHOST:
		f.Way = packet.WayUnknown
	default:
		f.Way = packet.WayIn
	}
	r.left--
	r.offset += h.Next_offset
	return h.Status&unix.TP_STATUS_TS_RAW_HARDWARE != 0
}

// drops returns how many frames the kernel has lost since the last call.
func (r *ring) drops() (uint64, error) {
	s, err := unix.GetsockoptTpacketStatsV3(r.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return 0, fmt.Errorf("live: the drop counter cannot be read: %w", err)
	}
	return uint64(s.Drops), nil
}

// openError explains an error of the kernel.
func openError(name, doing string, err error) error {
	advice := ""
	switch {
	case errors.Is(err, unix.EPERM) && doing == stamping:
		advice = fmt.Sprintf("give the program the capability CAP_NET_ADMIN too, or switch them on before (hwstamp_ctl -i %s -r 1)", name)
	case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES):
		advice = fmt.Sprintf("give the program the capability CAP_NET_RAW (setcap cap_net_raw+ep %s), or run it as root", os.Args[0])
	case errors.Is(err, unix.ENOMEM):
		advice = "give it less memory for its rings"
	case errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ERANGE):
		advice = "the interface does not offer it: leave it out"
	case errors.Is(err, unix.ENETDOWN):
		advice = fmt.Sprintf("bring it up (ip link set %s up)", name)
	}
	return &OpenError{name, doing, advice, err}
}
