package soft

import (
	"bytes"
	"slices"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// multicast hands a datagram to each queue pair of its group, in the order in which they joined.
func (h *HCA) multicast(p *packet.Packet) {
	list := h.grps[p.Dst]
	if h.has("multicast-unattached") && h.due() {
		for _, q := range h.sorted() {
			if !slices.Contains(list, q.num) && q.service == packet.UD {
				list = append(slices.Clone(list), q.num)
			}
		}
	}
	if len(list) == 0 || p.DestQP != wqe.MulticastQPN {
		h.count.Dropped++
		return
	}
	for _, n := range list {
		q := h.qps[n]
		if !q.validHeader(p) || q.service != packet.UD || h.breaks("multicast-missed") {
			h.count.Dropped++
			continue
		}
		if !q.admits(p) {
			h.count.PKeyViolations++
			continue
		}
		q.arrive(p)
		if h.breaks("multicast-twice") {
			q.arrive(p)
		}
	}
}

// loop gives the queue pairs of this device that have joined a group their copy of what it sends there: the fabric brings none back.
func (h *HCA) loop(frame []byte) {
	if frame[0]&1 != 0 && len(h.grps) > 0 {
		frame = bytes.Clone(frame)
		h.opt.Clock.After(0, func() { h.take(frame, true) })
	}
}

// admits reports whether the P_Key of a packet is one of the queue pair's partition.
func (q *queuePair) admits(p *packet.Packet) bool {
	return q.num == 1 || p.PKey&0x7FFF == q.attr.PKey&0x7FFF && p.PKey|q.attr.PKey >= 0x8000 || q.h.breaks("pkey-ignored")
}
