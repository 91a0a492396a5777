package verifier

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// Profile is how the devices whose traffic is verified depart from the standard on purpose. The zero value is strict: they do not.
type Profile struct {
	// AdaptiveRetransmission: a requester retransmits earlier than its transport timer, and more often than its retry counter says.
	AdaptiveRetransmission bool
	// SelectiveRepeat: a responder keeps what comes after a gap, and a requester retransmits only what was lost.
	SelectiveRepeat bool
	// AdaptiveRouting: the network delivers packets out of order on purpose, and a receiver puts them where they belong.
	AdaptiveRouting bool
	// HardwareTimers: a timer of a requester is over within four times its value, with nothing added for the ticks of an operating system.
	HardwareTimers bool
	// Answer is how long a responder with HardwareTimers may take where the transport timer of its requester is not known; 0: not known.
	Answer time.Duration
	// CNPs says how congestion notification packets are spaced.
	CNPs Pacing
	// DSCP is that of congestion notification packets, while HasDSCP.
	DSCP    uint8
	HasDSCP bool
}

// Pacing is how a receiver spaces the congestion notification packets that it sends: at most one in an interval to each of what By says.
type Pacing struct {
	By    PacedBy
	Every time.Duration
}

// Most is how long something of CNPs takes at most, in nanoseconds: t, where their interval is not longer than that.
func (p Pacing) Most(t time.Duration) int64 { return int64(max(t, 2*p.Every)) }

// PacedBy is what has a timer of its own for congestion notification packets.
type PacedBy uint8

// What may have one. Of adapters that are known, some have a timer for each QP, some for each address, some one for the whole port.
const (
	PacingUnknown PacedBy = iota
	PacedByQP
	PacedByAddress
	PacedByPort
)

// LeastPacing is the interval between congestion notification packets where none is given: that of the devices that send most.
const LeastPacing = 4 * time.Microsecond

// profiles are the names of what a profile is made of; value is what follows a name and "=".
var profiles = []struct {
	name, value string
	set         func(p *Profile, value string) error
}{
	{"strict", "", func(p *Profile, _ string) error { *p = Profile{}; return nil }},
	{"adaptive-retransmission", "", func(p *Profile, _ string) error {
		p.AdaptiveRetransmission = true
		return nil
	}},
	{"selective-repeat", "", func(p *Profile, _ string) error { p.SelectiveRepeat = true; return nil }},
	{"adaptive-routing", "", func(p *Profile, _ string) error { p.AdaptiveRouting = true; return nil }},
	{"hardware-timers", "TIME", func(p *Profile, value string) error {
		p.HardwareTimers, p.Answer = true, 0
		if value == "" {
			return nil
		}
		d, err := parseTime(value)
		p.Answer = d
		return err
	}},
	{"cnp-per-qp", "TIME", paced(PacedByQP)},
	{"cnp-per-ip", "TIME", paced(PacedByAddress)},
	{"cnp-per-port", "TIME", paced(PacedByPort)},
	{"cnp-dscp", "N", func(p *Profile, value string) error {
		n, err := strconv.ParseUint(value, 0, 6)
		if err != nil {
			return fmt.Errorf("%q is no DSCP: give 0 to 63", value)
		}
		p.DSCP, p.HasDSCP = uint8(n), true
		return nil
	}},
}

func paced(by PacedBy) func(*Profile, string) error {
	return func(p *Profile, value string) error {
		p.CNPs = Pacing{by, LeastPacing}
		if value == "" {
			return nil
		}
		d, err := parseTime(value)
		p.CNPs.Every = d
		return err
	}
}

func parseTime(value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is no time: give one like 50us", value)
	}
	return d, nil
}

// ProfileNames are the names that ParseProfile takes, without their values.
func ProfileNames() (names []string) {
	for _, k := range profiles {
		names = append(names, k.name)
	}
	return names
}

// ParseProfile reads the names of what devices do: "selective-repeat", "cnp-per-qp=50us". One word may have several, separated by commas.
func ParseProfile(words ...string) (p Profile, err error) {
	for _, word := range strings.Split(strings.Join(words, ","), ",") {
		name, value, given := strings.Cut(strings.TrimSpace(word), "=")
		if name == "" && !given {
			continue
		}
		i := slices.Index(ProfileNames(), name)
		if i < 0 {
			return p, fmt.Errorf("no profile %q: give %s", name, strings.Join(ProfileNames(), ", "))
		}
		if given && profiles[i].value == "" {
			return p, fmt.Errorf("profile %s takes no value", name)
		}
		if err := profiles[i].set(&p, value); err != nil {
			return p, fmt.Errorf("profile %s: %w", name, err)
		}
	}
	return p, nil
}

// excuses reports whether devices of the profile break a rule on purpose. What they do only in part is asked where it is judged.
func (p *Profile) excuses(id rule.ID) bool {
	switch id {
	case rule.RCRTY001:
		return p.AdaptiveRetransmission
	case rule.RCRTY006:
		return p.SelectiveRepeat
	}
	return false
}

// Keeps reports whether responders keep what comes after a gap.
func (p *Profile) Keeps() bool { return p.SelectiveRepeat || p.AdaptiveRouting }

// Unordered reports whether the order in which packets of end from of c came to the tap may differ from that in which they left.
func (v *Verifier) Unordered(c *qp.Pair, from int) bool {
	return v.Profile.AdaptiveRouting && !c.Sees(from)
}

// Late reports whether p, of end from, was overtaken on its way by what came before it, rather than retransmitted.
func (v *Verifier) Late(c *qp.Pair, from int, p *packet.Packet) bool {
	q := &c.Ends[from].SQ
	if Numbered(p) {
		return v.Unordered(c, from) && (LeftBefore(p, q.Last.ID) || LeftBefore(p, q.LeftAs()))
	}
	return v.Unordered(c, from) && c.RQ(1-from).State == qp.Expecting && p.Time-q.Last.Time < int64(InFlight)
}
