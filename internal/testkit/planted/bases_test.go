package planted

import (
	"slices"

	"ibwitness/packet"
)

const (
	nfsrdma = "public/lkml-nfsrdma-2021-02-18__sniffer.pcap"
	wiki    = "public/wireshark-wiki__infiniband.pcap"
)

// bases are the captures that faults are planted into, by a short name.
var bases = map[string]*base{
	// 10.77.0.1 sends SENDs, WRITEs, READs and atomics of all shapes to 10.77.0.2; path MTU 256, no CM, no losses.
	"rc": {file: "sidecar_rc_mtu256.pcap", faults: join(bthFaults, ipv4Faults, requestFaults, lengthFaults, responseFaults, retryFaults)},
	// The same with frames 98 to 101 lost after the tap, a sequence NAK, and all four retransmitted.
	"nak": {file: "sidecar_rc_mtu256.pcap", prepare: lostAndResent, faults: nakFaults},
	// The same with an RNR NAK for the SEND of frame 151, which is retransmitted after the wait.
	"rnr": {file: "sidecar_rc_mtu256.pcap", prepare: notReady, faults: rnrFaults},
	// Frame 21 is a misaligned atomic, refused by frame 22.
	"fatal": {file: "err_atomic_misaligned.pcap", faults: fatalFaults},
	// rping over IPv6, from CM REQ to DREP: path MTU 4096, one READ at a time, retry count 7, timeout 19.
	"cm": {file: "cm_rping_ipv6.pcap", faults: join(ipv6Faults, cmFaults, cmTiming, exchangeFaults, rnrCodes(8, 9), timerFaults(), countFaults(), waitFaults)},
	// The same without the exchange.
	"nocm": {file: "cm_rping_ipv6.pcap", prepare: unconnected, faults: join(rnrCodes(8, 9), waitFaults, withoutCM)},
	// Two datagram QPs that service IDs resolve to.
	"sidr": {file: "rxe/cm_udaddy_sidr.pcap", faults: sidrFaults},
	// SENDs and WRITEs of all shapes on UC, path MTU 1024, from 10.77.0.1 only.
	"uc": {file: "uc_mixed_sidecar.pcap", faults: ucFaults},
	"ud": {file: "ud_send_lat.pcap", faults: udFaults},
	// SENDs with immediate to 239.1.2.3.
	"multicast": {file: "cm_mckey_multicast.pcap", faults: multicastFaults},
	"native":    {file: nfsrdma, faults: nativeFaults},
	"wiki":      {file: wiki, faults: join(wikiFaults, wikiExchange)},
	// The first again, carried by RoCEv1.
	"v1": {file: "sidecar_rc_mtu256.pcap", prepare: asRoCEv1, faults: join(v1Faults, without("BTH-016", bthFaults), requestFaults, lengthFaults, responseFaults, retryFaults)},
	// RDMA WRITEs of 10.77.0.2 and 10.77.0.1 in turn, without CM.
	"first": {file: "rxe/rc_write_lat.pcap", faults: firstFaults},
	// RDMA READs of 10.77.0.1, without CM.
	"read":  {file: "rxe/rc_read_lat.pcap", faults: firstReadFaults},
	"rnr01": {file: "rxe/rnr_timer01.pcap", faults: rnr01Faults},
	"rnr12": {file: "rxe/rnr_timer12.pcap", faults: rnr12Faults},
	"rnr14": {file: "rxe/rnr_timer14.pcap", faults: rnr14Faults},
}

func join(tables ...[]fault) (all []fault) {
	for _, t := range tables {
		all = append(all, t...)
	}
	return all
}

// without leaves out the faults of a rule.
func without(rule string, faults []fault) []fault {
	return slices.DeleteFunc(slices.Clone(faults), func(f fault) bool { return f.rules == rule })
}

func rc(f packet.Fn) packet.Opcode { return packet.Op(packet.RC, f) }
func uc(f packet.Fn) packet.Opcode { return packet.Op(packet.UC, f) }
