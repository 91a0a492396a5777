package timing

// ownPace tells hosts that send at their own pace from those that wait for others: one sends a second message of data on a connection in a round
// which another has not begun, after a pause in which nothing came to it.
type ownPace struct {
	sent, came []int64     // by host: when the newest of its data were sent, and when something came to it
	round      map[int]int // in which a connection carried data last, by roundMessage.way
	in         int         // the round in which a host did so last
	rounds     int         // in how many
}

func newOwnPace(hosts int) ownPace {
	return ownPace{sent: make([]int64, hosts), came: make([]int64, hosts), round: map[int]int{}}
}

// take takes a message of a round; open says that a host has not sent data in it.
func (o *ownPace) take(m *roundMessage, round int, open bool) {
	if m.data {
		sent := o.sent[m.from]
		if again := o.round[m.way] == round; again && open && m.Begin-sent >= LongSilence && o.came[m.from] <= sent && o.in != round {
			o.in = round
			o.rounds++
		}
		o.round[m.way], o.sent[m.from] = round, max(sent, m.End)
	}
	o.came[m.to] = max(o.came[m.to], m.came())
}
