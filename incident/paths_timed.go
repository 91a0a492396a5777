package incident

import (
	"fmt"
	"slices"
	"strconv"

	"ibwitness/agent"
	"ibwitness/qp"
)

// timedPort is the UDP source port of a queue pair that retransmitted once or twice, by a timer only: nothing shows that its
// packets were lost, and not their answers, which take another path.
type timedPort struct {
	port   uint16
	rounds uint32
}

// timedOnly reports whether only a timer had an end retransmit, so few times, and what it retransmitted had passed the tap.
func timedOnly(e *agent.End, rounds uint32) bool {
	s := e.Trouble.Settled(e.Stalled).Sum
	return rounds < tellingRounds && s.Rounds[qp.TimerExpired] == rounds && s.Before == 0
}

// withTimed adds those ports to others.
func (f *fates) withTimed(ports []uint16) []uint16 {
	for _, p := range f.timed {
		ports = withPorts(ports, []uint16{p.port})
	}
	return ports
}

// onPorts names UDP source ports of what was lost, and apart those of which only a timer says so, where the others tell more.
func (f *fates) onPorts(ports []uint16) string {
	if len(ports) == 0 {
		return onPorts(f.withTimed(nil))
	}
	said := onPorts(ports)
	timed := slices.DeleteFunc(slices.Clone(f.timed), func(p timedPort) bool { return slices.Contains(ports, p.port) })
	if len(timed) == 0 {
		return said
	}
	var names []string
	for _, p := range timed[:min(len(timed), portsShown)] {
		names = append(names, strconv.Itoa(int(p.port))+" "+times(uint64(p.rounds)))
	}
	if n := len(timed) - portsShown; n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	what := "its answer"
	if len(timed) > 1 {
		what = "their answers"
	}
	return fmt.Sprintf("%s; %s, by a timer only: %s may have been lost)", said[:len(said)-1], enumerate(names), what)
}
