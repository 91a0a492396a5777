package timing

import (
	"testing"
	"time"
)

// rounds are those of a ring of hosts, in each of which a host begins late, or none (-1): each sends data to the next, and has an answer of a few bytes, some while after the round began.
func rounds(hosts int, late []int, answers bool) (list []Link) {
	const compute, lag, step = 5 * time.Millisecond, 3 * time.Millisecond, 20 * time.Microsecond
	for h := range hosts {
		list = append(list, Link{Hosts: [2]int{h, (h + 1) % hosts}, Bytes: [2]uint64{128 << 10, 64}})
	}
	send := func(link, way int, at time.Duration) time.Duration {
		l := &list[link]
		l.Sent[way] = append(l.Sent[way], Sent{Begin: int64(at), End: int64(at + step)})
		return at + step
	}
	now := time.Second
	for _, x := range late {
		now += compute
		last := now
		for h := range hosts {
			at := now + time.Duration(h)*time.Microsecond
			if h == x {
				at += lag
			}
			last = max(last, send(h, 0, at))
			if answers {
				last = max(last, send(h, 1, now+2*step))
			}
		}
		now = last
	}
	return list
}

// TestLast: the host is told that sends its first data last in many rounds, long after all others; not where none is late, where it is another
// one each time, or where it is so seldom that it may be by chance, or where
// there are only two.
func TestLast(t *testing.T) {
	repeat := func(n int, of ...int) (list []int) {
		for range n {
			list = append(list, of...)
		}
		return list
	}
	for name, tt := range map[string]struct {
		hosts int
		late  []int
		want  Last
	}{
		"always":         {4, repeat(20, 2), Last{Host: 2, Others: 3, Count: 20, Rounds: 20}},
		"from then on":   {4, append(repeat(8, -1), repeat(12, 1)...), Last{Host: 1, Others: 3, Count: 12, Rounds: 20, Since: true}},
		"none":           {4, repeat(20, -1), Last{}},
		"each in turn":   {4, repeat(10, 0, 1, 2, 3), Last{}},
		"one other time": {4, append(repeat(16, 3), 1), Last{Host: 3, Others: 3, Count: 16, Rounds: 17}},
		"by chance":      {4, append(repeat(40, -1), repeat(3, 3)...), Last{}},
		"seldom":         {4, append(repeat(40, -1), repeat(5, 3)...), Last{Host: 3, Others: 3, Count: 5, Rounds: 45, Since: true, Few: true}},
		"in all of few":  {4, repeat(5, 3), Last{}},
		"hardly chance":  {4, append(repeat(40, -1), repeat(7, 3)...), Last{Host: 3, Others: 3, Count: 7, Rounds: 47, Since: true}},
		"two hosts":      {2, repeat(20, 1), Last{}},
	} {
		for _, answers := range []bool{false, true} {
			got, ok := LastOf(tt.hosts, rounds(tt.hosts, tt.late, answers))
			if ok != (tt.want.Count > 0) {
				t.Errorf("%s, answers %v: %+v, %v", name, answers, got, ok)
				continue
			}
			if got.Host != tt.want.Host || got.Others != tt.want.Others || got.Count != tt.want.Count || got.Rounds != tt.want.Rounds || got.Since != tt.want.Since ||
				got.Few != tt.want.Few {
				t.Errorf("%s, answers %v: %+v", name, answers, got)
			}
			if ok && (got.Least < 2*time.Millisecond || got.Most > 3*time.Millisecond || got.Sum < time.Duration(got.Count)*got.Least) {
				t.Errorf("%s, answers %v: %+v", name, answers, got)
			}
		}
	}
}

// TestLastOfGroup: what other hosts do, which exchange nothing with a group, does not hide who is late in it.
func TestLastOfGroup(t *testing.T) {
	list := rounds(4, []int{2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, false)
	busy := Link{Hosts: [2]int{4, 5}, Bytes: [2]uint64{64, 64}}
	for at := time.Second; at < 2*time.Second; at += 100 * time.Microsecond {
		busy.Sent[0] = append(busy.Sent[0], Sent{Begin: int64(at), End: int64(at) + 1000})
	}
	if got, ok := LastOf(6, append(list, busy)); !ok || got.Host != 2 {
		t.Errorf("%+v, %v", got, ok)
	}
}

// TestLastReady: a host is told, too, that sends nothing for long while all others have posted what they can: whom it sends data to has only asked for it, and who sends it data may not; not where it has sent something itself.
func TestLastReady(t *testing.T) {
	const hosts = 4
	for asks, want := range map[bool]bool{false: true, true: false} {
		list := make([]Link, hosts) // of the data that each sends to the next, which asks for it
		for h := range list {
			list[h] = Link{Hosts: [2]int{h, (h + 1) % hosts}, Bytes: [2]uint64{1 << 17, 32}}
		}
		now := time.Second
		send := func(h, end int, at time.Duration) {
			list[h].Sent[end] = append(list[h].Sent[end], Sent{Begin: int64(at), End: int64(at + time.Microsecond)})
		}
		for range 2 * lastLeast {
			now += 9 * time.Millisecond
			for h := range hosts {
				if from := (h + 3) % hosts; h != 2 || asks {
					send(from, 1, now)
				}
				if h != 2 && h != 1 {
					send(h, 0, now+10*time.Microsecond)
				}
			}
			now += 30 * time.Millisecond
			send(1, 1, now)
			send(2, 0, now+10*time.Microsecond)
			send(1, 0, now+20*time.Microsecond)
		}
		got, ok := LastOf(hosts, list)
		if ok != want || ok && (got.Host != 2 || got.Others != 3 || got.Count != 2*lastLeast) {
			t.Errorf("asks %v: %+v, %v", asks, got, ok)
		}
	}
}

// TestLastOfTransfers: a host that sends less often than others, which go on by themselves meanwhile, is not one that they wait for; it is where they
// do not.
func TestLastOfTransfers(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, resume := range []bool{false, true} {
		late := make([]int, 20)
		for n := range late {
			late[n] = 2
		}
		list := rounds(4, late, false)
		if resume { // in the middle of the silence
			for i := range list {
				for k := range list[i].Sent {
					if list[i].Hosts[k] != 0 {
						continue
					}
					var more []Sent
					for _, x := range list[i].Sent[k] {
						more = append(more, x, Sent{Begin: x.Begin + 3*ms/2, End: x.End + 3*ms/2})
					}
					list[i].Sent[k] = more
				}
			}
		}
		if l, ok := LastOf(4, list); ok == resume || ok && l.Host != 2 {
			t.Errorf("others go on %v: %+v, %v", resume, l, ok)
		}
	}
}
