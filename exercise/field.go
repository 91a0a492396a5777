package exercise

import (
	"strings"

	"ibwitness/expect"
	"ibwitness/packet"
)

// setField is what a field is set to, when all else of the packet is right.
type setField struct {
	id    expect.ID
	value Value
}

// fieldNames are the fields of packets that a script may set, by their names there.
var fieldNames = map[string]expect.ID{
	"vl": expect.VL, "lver": expect.LVer, "sl": expect.SL, "lrh_res": expect.LRHRes, "lnh": expect.LNH, "dlid": expect.DLID, "lrh_res5": expect.LRHRes5,
	"pkt_len": expect.PktLen, "slid": expect.SLID,
	"ip_ver": expect.IPVer, "ihl": expect.IHL, "dscp": expect.DSCP, "ecn": expect.ECN, "flow_label": expect.FlowLabel, "pay_len": expect.PayLen, "ip_id": expect.IPID,
	"ip_flags": expect.IPFlags, "fragment_offset": expect.FragmentOffset, "nxt_hdr": expect.NxtHdr, "hop_lmt": expect.HopLmt, "ip_sum": expect.IPSum,
	"src_port": expect.SrcPort, "dst_port": expect.DstPort, "udp_len": expect.UDPLen, "udp_sum": expect.UDPSum,
	"rwh_res": expect.RWHRes, "ether_type": expect.EtherType,
	"opcode": expect.Opcode, "se": expect.SE, "mig_req": expect.MigReq, "pad_cnt": expect.PadCnt, "tver": expect.TVer, "pkey": expect.PKey, "fecn": expect.FECN,
	"becn": expect.BECN, "resv8a": expect.Resv8a, "dest_qp": expect.DestQP, "ack_req": expect.AckReq, "resv7": expect.Resv7, "psn": expect.PSN,
	"rdeth_res": expect.RDETHRes, "eec": expect.EEC, "qkey": expect.QKey, "deth_res": expect.DETHRes, "src_qp": expect.SrcQP, "xrc_res": expect.XRCRes,
	"xrc_srq": expect.XRCSRQ, "feth_res": expect.FETHRes, "selectivity": expect.Selectivity, "placement": expect.Placement, "va": expect.VA, "rkey": expect.RKey,
	"dma_len": expect.DMALen, "swap_add": expect.SwapAdd, "compare": expect.Compare, "syndrome": expect.Syndrome, "msn": expect.MSN, "orig_data": expect.OrigData,
	"imm": expect.Imm, "inv_rkey": expect.InvRKey,
}

// opcodes are the opcodes by name: rc_send_only, ud_send_only_imm, cnp.
var opcodes = buildOpcodes()

func buildOpcodes() map[string]packet.Opcode {
	names := map[string]packet.Opcode{"cnp": packet.OpCNP, "cnp_ib": packet.OpCNPIB}
	shorter := strings.NewReplacer(" ", "_", "rdma ", "", "rdma_", "", "with immediate", "imm", "with invalidate", "inv", "cmpswap", "cmp_swap", "fetchadd", "fetch_add")
	for i := range 256 {
		o := packet.Opcode(i)
		if o != packet.OpCNP && o.Info().Defined {
			names[shorter.Replace(strings.ToLower(o.String()))] = o
		}
	}
	return names
}
