package conform

import (
	"fmt"
	"time"

	"ibwitness/mad"
)

// leaseTests are those of C14-17 and C14-19 to C14-21: the lease period of the M_Key.
var leaseTests = []*Test{leaseEnds, leaseStopped, leaseForever}

// second is the unit of MKeyLeasePeriod, in nanoseconds.
const second = int64(time.Second)

// protectBits judges the protect bits, by a Get with the right M_Key, which stops the timer.
func (r *run) protectBits(id string, want uint64, since *exchange, what string) *exchange {
	x := r.manager.get(mad.AttrPortInfo, 0)
	got := x.uint(mad.LayoutPortInfo, "MKeyProtectBits")
	r.check(id, got == want, fmt.Sprintf("protect bits %d %s", want, what), decimal(got), since.sent, x.got)
	return x
}

// wrongKey sends one Get with a wrong M_Key, and notes when it was sent.
func (m *manager) wrongKey() (x *exchange, at int64) {
	at = m.r.now()
	return m.once(otherKey, mad.Get, mad.AttrNodeInfo, 0, nil), at
}

// till waits for a time.
func (r *run) till(at int64) { r.wait(max(at-r.now(), 0)) }

var leaseEnds = &Test{
	ID: "C14_017_01", Title: "the lease period of the M_Key expires",
	Abstract: "A request with a wrong M_Key starts the timer of the lease period. When it expires the protect bits become 0, and not before.",
	Covers:   []Statement{{"C14-17", Stated}, {"C14-20", Stated}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: keySetup,
	Procedure: []string{
		surveyText,
		"Set an M_Key, protect bits 2 and lease period 1 s; Get NodeInfo with another M_Key, once. 2 s after that Get PortInfo with the right one.",
		"Set an M_Key, protect bits 3 and lease period 60 s; Get NodeInfo with another M_Key, once. 58 s after that Get NodeInfo with a wrong one, once.",
		"61 s after the first, Get PortInfo with the right M_Key.",
		unguardText,
	},
	Assertions: []Assertion{
		{"v1c14-017#01", "Before the lease period has expired, a Get with a wrong M_Key is not answered: the protect bits are as they were set."},
		{"v1c14-020#01", "After the lease period has expired, the protect bits are 0."},
		{"ours#01", "MKeyViolations is the number of requests with a wrong M_Key."},
	},
	Decisions: []Decision{
		{"One lease period is tested.", "1 s and 60 s."},
		{"Whether the protect bits stay till then is not looked at.", "Two seconds before the end of the longer one a Get with a wrong M_Key is sent: one with the right one would stop the timer (ours)."},
	},
	run: func(r *run) {
		m := r.manager
		r.survey()
		r.at(2)
		m.guard(guard{key: testerKey, protect: 2, lease: 1})
		x, at := m.wrongKey()
		r.till(at + 2*second)
		r.protectBits("v1c14-020#01", 0, x, "after a lease period of 1 s")
		r.counts("ours#01", 1, x)
		r.at(3)
		m.guard(guard{key: testerKey, protect: 3, lease: 60})
		x, at = m.wrongKey()
		r.till(at + 58*second)
		again, _ := m.wrongKey()
		r.silent("v1c14-017#01", again, " with a wrong M_Key, 58 s after the first")
		r.at(4)
		r.till(at + 61*second)
		r.protectBits("v1c14-020#01", 0, x, "after a lease period of 60 s")
		if again.got == nil {
			r.counts("ours#01", 2, again)
		}
		r.at(5)
		m.unguard()
	},
}

var leaseStopped = &Test{
	ID: "C14_017_03", Title: "a right M_Key stops the timer of the lease period",
	Abstract: "A request with the right M_Key stops the timer that one with a wrong M_Key has started: the protect bits stay.",
	Covers:   []Statement{{"C14-19", Stated}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: keySetup,
	Procedure: []string{
		surveyText,
		"Set an M_Key, protect bits 2, and then 3, and lease period 10 s.",
		"Get NodeInfo with another M_Key, once.",
		"5 s after that Get NodeInfo with the right M_Key.",
		"11 s after the first Get PortInfo with the right M_Key.",
		unguardText,
	},
	Assertions: []Assertion{
		{"v1c14-019#01", "The protect bits are as they were set, after more than a lease period."},
		{"ours#01", "Get(NodeInfo) with the right M_Key is answered with status code 0."},
	},
	Decisions: []Decision{{"It waits twice half a lease period, just when it would end.", "It waits a second longer, or nothing would be shown."}},
	run: func(r *run) {
		m := r.manager
		r.survey()
		for _, protect := range bothProtected {
			r.again(2)
			m.guard(guard{key: testerKey, protect: protect, lease: 10})
			r.again(3)
			x, at := m.wrongKey()
			r.again(4)
			r.till(at + 5*second)
			r.answered("ours#01", m.ask(mad.Get, mad.AttrNodeInfo, 0, nil), granted, "the right M_Key")
			r.again(5)
			r.till(at + 11*second)
			r.protectBits("v1c14-019#01", protect, x, "after 11 s, with a lease period of 10 s that was stopped")
		}
		r.at(6)
		m.unguard()
	},
}

// longestLease is longer than any lease period, in seconds.
const longestLease = 65_536

var leaseForever = &Test{
	ID: "C14_017_05", Title: "a lease period of 0 does not expire",
	Abstract: "With lease period 0 a request with a wrong M_Key starts no timer: the protect bits stay.",
	Covers:   []Statement{{"C14-21", Stated}}, Topology: subnetTopology, Device: Node, Needs: Managed,
	Qualifiers: []string{keyQualifier}, Setup: keySetup,
	Procedure: []string{
		surveyText,
		"Set an M_Key, protect bits 2, and then 3, and lease period 0.",
		"Get NodeInfo with another M_Key, once.",
		"65536 s after that, longer than any lease period, Get NodeInfo with a wrong M_Key, once.",
		"Get PortInfo with the right M_Key.",
		unguardText,
	},
	Assertions: []Assertion{
		{"v1c14-021#01", "The protect bits are as they were set, and a Get with a wrong M_Key is not answered."},
	},
	Decisions: []Decision{{"It takes 18 hours.", "It takes them in simulated time."}},
	run: func(r *run) {
		m := r.manager
		r.survey()
		for _, protect := range bothProtected {
			r.again(2)
			m.guard(guard{key: testerKey, protect: protect})
			r.again(3)
			x, at := m.wrongKey()
			r.again(4)
			r.till(at + longestLease*second)
			again, _ := m.wrongKey()
			r.silent("v1c14-021#01", again, " with a wrong M_Key, 65536 s after the first")
			r.again(5)
			r.protectBits("v1c14-021#01", protect, x, "after 65536 s, with lease period 0")
		}
		r.at(6)
		m.unguard()
	},
}
