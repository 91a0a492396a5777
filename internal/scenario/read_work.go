package scenario

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"ibwitness/hcaagent"
	"ibwitness/packet"
)

// sendOps are the operations of send queues, by the names that the event log has for them.
var sendOps = map[string]hcaagent.SendOp{
	"send": hcaagent.OpSend, "send_imm": hcaagent.OpSendImm, "send_inv": hcaagent.OpSendInv, "write": hcaagent.OpWrite,
	"write_imm": hcaagent.OpWriteImm, "read": hcaagent.OpRead, "cmp_swap": hcaagent.OpCmpSwap, "fetch_add": hcaagent.OpFetchAdd,
	"flush": hcaagent.OpFlush, "atomic_write": hcaagent.OpAtomicWrite,
}

var qpStates = map[string]hcaagent.State{
	"RESET": hcaagent.Reset, "INIT": hcaagent.Init, "RTR": hcaagent.RTR, "RTS": hcaagent.RTS, "SQD": hcaagent.SQD, "ERR": hcaagent.Err,
}

var placements = map[string]uint8{"global": 1, "persistent": 2, "both": 3}

// work takes one piece of work.
func (p *parser) work(n *yaml.Node) Work {
	w := Work{Line: n.Line, Repeat: 1, Place: 1}
	var op string
	signaled, solicited, fence, inline := true, false, false, false
	p.fields(n, "work", map[string]setter{
		"qp": p.text(&w.QP), "srq": p.text(&w.SRQ), "op": p.text(&op), "at": p.duration(&w.At), "every": p.duration(&w.Every),
		"repeat": number(p, &w.Repeat, 1, 1e6), "length": numbers(p, &w.Lengths, 1<<30), "imm": number(p, &w.Imm, 0, 0xffffffff),
		"to": p.text(&w.To), "offset": number(p, &w.Offset, 0, 1<<62), "bad_key": p.boolean(&w.BadKey), "spare": p.boolean(&w.Spare),
		"qkey":    number(p, &w.QKey, 0, 0xffffffff),
		"compare": number(p, &w.Compare, 0, 1<<63), "swap": number(p, &w.SwapAdd, 0, 1<<63), "add": number(p, &w.SwapAdd, 0, 1<<63),
		"signaled": p.boolean(&signaled), "solicited": p.boolean(&solicited), "fence": p.boolean(&fence), "inline": p.boolean(&inline),
		"state": choice(p, &w.State, qpStates), "placement": choice(p, &w.Place, placements), "whole": p.boolean(&w.FlushAll),
	})
	for flag, set := range map[hcaagent.SendFlags]bool{
		hcaagent.Signaled: signaled, hcaagent.Solicited: solicited, hcaagent.Fence: fence, hcaagent.Inline: inline,
	} {
		if set {
			w.Flags |= flag
		}
	}
	switch send, ok := sendOps[op]; {
	case op == "receive":
		w.Action = PostReceive
	case op == "look":
		w.Action = Look
	case op == "modify":
		w.Action = Modify
	case ok:
		w.Op = send
		switch send {
		case hcaagent.OpCmpSwap, hcaagent.OpFetchAdd, hcaagent.OpAtomicWrite:
			if w.Lengths == nil {
				w.Lengths = []uint32{8}
			}
		}
	default:
		p.fail(n.Line, "op %q: give receive, look, modify or one of %s", op, strings.Join(slices.Sorted(maps.Keys(sendOps)), ", "))
	}
	return w
}

func (p *parser) referWork(s *Scenario, w *Work) {
	if w.Action == PostReceive && w.QP == "" {
		if s.SRQ(w.SRQ) == nil {
			p.fail(w.Line, "a receive request for SRQ %q, which there is none of: name one of srqs, or a qp", w.SRQ)
		}
		return
	}
	q := s.QP(w.QP)
	if q == nil {
		p.fail(w.Line, "work for QP %q, which there is none of: name one of qps", w.QP)
		return
	}
	if w.Action != PostSend {
		return
	}
	if a, err := packet.ParseAddr(w.To); q.Type == hcaagent.TypeUD && err == nil && a.IsMulticast() && !a.IsLID() {
		w.Group = a
		return
	}
	switch to := s.QP(w.To); {
	case q.Type == hcaagent.TypeUD && (to == nil || to.Type != hcaagent.TypeUD):
		p.fail(w.Line, "to %q: a datagram goes to a QP of type UD; name one of qps", w.To)
	case q.Type == hcaagent.TypeXRCInitiator && s.SRQ(w.To) == nil:
		p.fail(w.Line, "to %q: a message on XRC names an SRQ of the peer; name one of srqs", w.To)
	case q.Type != hcaagent.TypeUD && q.Type != hcaagent.TypeXRCInitiator && w.To != "":
		p.fail(w.Line, "to %q: a connected QP sends to its peer; remove it", w.To)
	}
}
