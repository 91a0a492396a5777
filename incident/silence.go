package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// still is a time in which the capture holds no frame of any host, and what it says of the connections that waited for as long.
type still struct {
	agent.Silence
	waited  int                 // connections whose requester made no progress meanwhile, and then did
	missing int                 // of them, those that went on with a later PSN
	hosts   map[packet.Addr]int // on how many of them a host is
	told    bool
	stepped bool // it is that the clock stepped ahead
}

// most is how much of a stall the capture must have been silent for, in tenths, for the silence to be what it shows.
const most = 8

// covers reports whether stall s is that the capture was silent.
func (k *still) covers(s *qp.Stall) bool {
	return s.Since <= k.From && k.To <= max(s.Ended, s.Last) && 10*(k.To-k.From) >= most*s.Lost()
}

// tells reports whether the silence is the capture's: no host is part of all connections that waited, or the traffic of more than one connection went on unseen.
func (k *still) tells() bool {
	if k.missing > 1 {
		return true
	}
	for _, n := range k.hosts {
		if n == k.waited {
			return false
		}
	}
	return k.waited > 1
}

// silences tells of times in which the capture recorded nothing, though the traffic of several hosts went on.
func (t *teller) silences() {
	for _, s := range t.run.Silences {
		if s.To-s.From >= interruption && t.timed() {
			t.still = append(t.still, still{Silence: s, hosts: map[packet.Addr]int{}})
		}
	}
	for i := range t.run.Connections {
		t.waited(&t.run.Connections[i])
	}
	for i := range t.still {
		k := &t.still[i]
		w, stepped := t.steps(k)
		switch {
		case k.Flushed.Frames > 0:
			k.told = true
			t.flushed(k)
		case stepped:
			k.told, k.stepped = true, true
			t.stepped(k, &w)
		case k.tells():
			k.told = true
			t.silence(k)
		case t.blackout(k):
			k.told = true
		}
	}
}

// waited notes for which silences a connection waited.
func (t *teller) waited(c *agent.Connection) {
	var waited, missing [agent.MostSilences]bool
	for from := range c.Ends {
		e := &c.Ends[from]
		if e.Trouble == nil {
			continue
		}
		settled := e.Trouble.Settled(e.Stalled)
		for j := range settled.Longest {
			s := &settled.Longest[j]
			for i := range t.still {
				if interrupts(s) && t.still[i].covers(s) {
					waited[i], missing[i] = true, missing[i] || s.Before && s.Total() == 0
				}
			}
		}
	}
	for i := range t.still {
		if !waited[i] {
			continue
		}
		k := &t.still[i]
		k.waited++
		if missing[i] {
			k.missing++
		}
		for from := range c.Ends {
			k.hosts[c.Ends[from].Addr]++
		}
	}
}

// sawNothing reports whether the capture holds no frame of any host while stall s lasted.
func (t *teller) sawNothing(s *qp.Stall) bool {
	return slices.ContainsFunc(t.still, func(k still) bool { return k.covers(s) })
}

// recordedNothing reports whether stall s is told as a time in which the capture recorded nothing.
func (t *teller) recordedNothing(s *qp.Stall) bool {
	for i := range t.still {
		if k := &t.still[i]; k.told && k.covers(s) {
			return true
		}
	}
	return false
}

// silence tells that the capture recorded nothing for a time.
func (t *teller) silence(k *still) {
	i := &Incident{Kind: Untrusted, Certainty: Likely, Begin: k.From, End: k.To, Tap: k.Tap}
	i.show(k.Frame)
	i.What = fmt.Sprintf("For %s the capture holds no frame of any host; then %s of %s went on", span(k.To-k.From), count(uint64(k.waited), "connection"), count(uint64(len(k.hosts)), "host"))
	if k.missing > 0 {
		i.What += fmt.Sprintf(", %s with a later PSN: what was sent meanwhile is missing.", number(uint64(k.missing)))
	} else {
		i.What += " that had waited for as long."
	}
	i.FitsWith = []string{"a capturing host that stopped (a virtual machine that was paused, a disk that was full)", "a mirror port or a link of the tap that was down", "a switch that all of this traffic passes, and that stopped"}
	i.Next = []string{"the logs of the capturing host and its port at that time", "whether the counters of the hosts show timeouts then: if they do not, only the capture stopped"}
	t.order = append(t.order, i)
}

// flushed tells that the frames after a silence had queued before the tap, which stamped them when it went on.
func (t *teller) flushed(k *still) {
	f := &k.Flushed
	i := &Incident{Kind: Untrusted, Certainty: Likely, Begin: k.From, End: k.To, Tap: k.Tap}
	i.show(k.Frame)
	frames := count(uint64(f.Frames), "frame")
	if f.More {
		frames = "more than " + frames
	}
	i.What = fmt.Sprintf("For %s the capture stamped no frame, and then %s within %s, answers among them that came too soon after their requests: they had queued, and nothing shows when they came.",
		span(k.To-k.From), frames, span(int64(f.Span)))
	i.fact("answers", fmt.Sprintf("%s came within %s of their requests; no other that was looked at took less than %s", number(uint64(f.Answers)), span(int64(f.Within)), span(int64(f.Least))))
	i.fact("times", "waits and slow commands that span it are not told; latencies that do mean nothing")
	i.FitsWith = []string{"a capturing host or driver that stopped, and stamped what had queued when it went on", "a mirror, tap or aggregation device that held frames back"}
	i.Next = []string{"the logs of the capturing host at that time", "time stamps of the adapter or of the tap (tcpdump -j adapter_unsynced), and not of the capturing host"}
	t.order = append(t.order, i)
}

// flushedOver reports whether a good part of a time is one in which the capture stamped nothing, and then what had queued, or that its clock stepped.
func (t *teller) flushedOver(since, until int64) bool {
	for i := range t.still {
		if k := &t.still[i]; (k.Flushed.Frames > 0 || k.stepped) && 2*(min(k.To, until)-max(k.From, since)) >= until-since {
			return true
		}
	}
	return false
}
