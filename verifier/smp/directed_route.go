package smp

import (
	"fmt"
	"strings"

	"ibwitness/mad"
	"ibwitness/rule"
)

const permissive = mad.PermissiveLID

func pathText(path []byte, hops int) string {
	var b strings.Builder
	for i := 1; i <= min(hops, len(path)-1); i++ {
		if i > 1 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%d", path[i])
	}
	if b.Len() == 0 {
		return "of no hop"
	}
	return b.String()
}

// hopsOf is the part of a path that counts: from its entry 1 to the one of the last hop. Managers leave in the others what was there before.
func hopsOf(path []byte, hops int) []byte {
	return path[min(1, len(path)):min(max(hops, 0)+1, len(path))]
}

// samePath reports whether two paths are the same up to a hop.
func samePath(a, b []byte, hops int) bool {
	return string(hopsOf(a, hops)) == string(hopsOf(b, hops))
}

func (v *Verifier) hopText() string {
	return fmt.Sprintf("hop pointer %d of %d", v.s.HopPointer(), v.s.HopCount())
}

// directedRoute judges hop pointer, hop count and paths of a directed route as one link shows them (table T17). It reports whether the rest can be judged.
func (v *Verifier) directedRoute() bool {
	s := &v.s
	if v.breaks(rule.SMPDR001, s.HopCount() > mad.MaxHops) {
		v.report(rule.SMPDR001, rule.Violation, rule.Sender, "at most 63 hops", fmt.Sprintf("hop count %d", s.HopCount()))
		return false
	}
	response := s.Method == mad.GetResp || s.Method == mad.TrapRepress
	if v.breaks(rule.SMPDR010, s.Backward() != response) {
		v.report(rule.SMPDR010, rule.Violation, rule.Sender, fmt.Sprintf("direction bit %d in a %v", flag(response), s.Method),
			fmt.Sprintf("direction bit %d", flag(s.Backward())))
		return false
	}
	v.routeFormat()
	if s.HopCount() == 0 {
		return true
	}
	if s.Backward() {
		return v.returning()
	}
	return v.outbound()
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// missingHop returns the first hop for which a path names no port, or 0.
func missingHop(path []byte, hops int) int {
	for i := 1; i <= hops; i++ {
		if path[i] == 0 || path[i] == 255 {
			return i
		}
	}
	return 0
}

// routeFormat judges the LIDs and the paths.
func (v *Verifier) routeFormat() {
	s, p := &v.s, v.p
	hp, hc := s.HopPointer(), s.HopCount()
	pure := s.DrSLID == permissive && s.DrDLID == permissive
	bad := pure && (p.DLID != permissive || p.SLID != permissive) || !pure && hp >= 1 && hp <= hc && p.DLID != permissive
	if v.breaks(rule.SMPDR011, bad) {
		v.report(rule.SMPDR011, rule.Violation, rule.Sender, "permissive LIDs on the directed part of the route", fmt.Sprintf("SLID 0x%04x, DLID 0x%04x", p.SLID, p.DLID))
	}
	gap := missingHop(s.Initial, hc)
	if v.breaks(rule.SMPDR012, s.Initial[0] != 0 || s.Return[0] != 0 || gap != 0) {
		v.report(rule.SMPDR012, rule.Violation, rule.Sender, "a port number for each hop, and 0 before the first",
			fmt.Sprintf("initial path %d,%s, return path from %d", s.Initial[0], pathText(s.Initial, hc), s.Return[0]))
	}
}

// outbound judges an SMP on its way to the node.
func (v *Verifier) outbound() bool {
	s, p := &v.s, v.p
	hp, hc := s.HopPointer(), s.HopCount()
	if v.breaks(rule.SMPDR002, hp == 0 && p.DLID == permissive) {
		v.report(rule.SMPDR002, rule.Violation, rule.Sender, "hop pointer 1 after the sender", v.hopText())
		return false
	}
	// At its end it is delivered, or goes on by LIDs.
	if v.breaks(rule.SMPDR005, hp > hc+1 || hp == hc+1 && s.DrDLID == permissive) {
		v.report(rule.SMPDR005, rule.Violation, rule.Sender, "an SMP at the end of its route is delivered or discarded", v.hopText())
		return false
	}
	if hp == hc+1 && v.breaks(rule.SMPDR004, p.DLID != s.DrDLID) {
		v.report(rule.SMPDR004, rule.Violation, rule.Sender, fmt.Sprintf("DLID 0x%04x after the directed part", s.DrDLID), fmt.Sprintf("DLID 0x%04x", p.DLID))
		return false
	}
	if hp > 1 {
		gap := 0
		for i := hp - 1; i >= 1; i-- {
			if s.Return[i] == 0 {
				gap = i
			}
		}
		if v.breaks(rule.SMPDR003, gap != 0) {
			v.report(rule.SMPDR003, rule.Violation, rule.Network, "the ingress port of each hop in the return path",
				fmt.Sprintf("none for hop %d, %s", gap, v.hopText()))
		}
	}
	return true
}

// returning judges an SMP on its way back.
func (v *Verifier) returning() bool {
	s, p := &v.s, v.p
	hp, hc := s.HopPointer(), s.HopCount()
	if v.breaks(rule.SMPDR009, hp > hc+1) {
		v.report(rule.SMPDR009, rule.Violation, rule.Sender, "a hop pointer of at most one more than the hops, otherwise the SMP is discarded", v.hopText())
		return false
	}
	if v.breaks(rule.SMPDR006, hp == hc+1 && p.DLID == permissive) {
		v.report(rule.SMPDR006, rule.Violation, rule.Responder, fmt.Sprintf("hop pointer %d after the responder", hc), v.hopText())
		return false
	}
	if v.breaks(rule.SMPDR008, hp == 0 && (s.DrSLID == permissive || p.DLID != s.DrSLID)) {
		v.report(rule.SMPDR008, rule.Violation, rule.Sender, "an SMP that has returned is delivered, or forwarded to its DrSLID",
			fmt.Sprintf("%s, DrSLID 0x%04x, to 0x%04x", v.hopText(), s.DrSLID, p.DLID))
		return false
	}
	return true
}

// requestNextHop judges a request that was seen at another hop before (rule SMP-DR-003).
func (v *Verifier) requestNextHop(x *exchange) {
	s := &v.s
	bad := !samePath(s.Initial, x.initial[:], s.HopCount()) || !samePath(s.Return, x.requestReturn[:], min(x.hop, s.HopPointer())-1)
	if v.breaks(rule.SMPDR003, bad) {
		v.report(rule.SMPDR003, rule.Violation, rule.Network, fmt.Sprintf("initial path %s and the return path so far unchanged", pathText(x.initial[:], s.HopCount())),
			fmt.Sprintf("initial path %s, return path %s", pathText(s.Initial, s.HopCount()), pathText(s.Return, s.HopPointer())), x.frame)
	}
}

// returnPath is the return path that a response on a route had.
type returnPath struct {
	path  [64]byte
	time  int64
	frame uint64
}

// surely is how many responses prove that a tap is on one link.
const surely = 4

// responseHop judges a response where it is seen first: on each link it has the hop pointer that its request had there, and the return path that the responses to
// other requests on this route have, while no cable is moved.
func (v *Verifier) responseHop(x *exchange) {
	s := &v.s
	if n := v.oneLink[v.p.Tap]; x.tap == v.p.Tap && n >= 0 && s.HopPointer() == x.hop {
		v.oneLink[v.p.Tap]++
	} else if x.tap == v.p.Tap && n >= surely {
		v.breaks(rule.SMPDR007, true)
		v.unasked = true
		v.report(rule.SMPDR007, rule.Unproven, rule.Network, fmt.Sprintf("hop pointer %d, as in the request on this link", x.hop), v.hopText(), x.frame)
		v.unasked = false
		return
	}
	h := returnPath{time: v.p.Time, frame: v.p.Frame}
	copy(h.path[1:], hopsOf(s.Return, s.HopCount()))
	if was, ok := v.returnPaths[x.slot]; ok && h.time-was.time < restartTime && v.breaks(rule.SMPDR010, was.path != h.path) {
		v.report(rule.SMPDR010, rule.Unproven, rule.Responder, fmt.Sprintf("return path %s, as in the previous response on this route", pathText(was.path[:], s.HopCount())),
			"return path "+pathText(s.Return, s.HopCount()), x.frame, was.frame)
	}
	v.returnPaths[x.slot] = h
}

// responseNextHop judges a response that was seen at another hop before: the hop pointer decreases (rule SMP-DR-007), and the paths stay.
func (v *Verifier) responseNextHop(x *exchange) {
	s := &v.s
	up := s.HopPointer() > x.answerHop
	if up && (x.answerTap != v.p.Tap || s.HopPointer() <= x.answerTop) {
		return // the clock of another tap may be late, or a copy of what was seen there before
	}
	if v.breaks(rule.SMPDR007, up || !samePath(s.Return, x.responseReturn[:], s.HopCount())) {
		v.report(rule.SMPDR007, rule.Violation, rule.Network, fmt.Sprintf("a hop pointer below %d, return path %s", x.answerHop, pathText(x.responseReturn[:], s.HopCount())),
			fmt.Sprintf("%s, return path %s", v.hopText(), pathText(s.Return, s.HopCount())), x.answerFrame)
	}
	x.answerHop, x.answerFrame, x.answerTap, x.sights = s.HopPointer(), v.p.Frame, v.p.Tap, 1
}
