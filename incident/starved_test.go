package incident_test

import (
	"encoding/binary"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/upper"
)

// TestStarved: a client of SMB Direct that has used up its send credits, as its server granted it none with its last answers, is told, with
// who owes it more, and that for its server, whose own are used up after each answer, is not; nothing is told where the server still grants,
// though its own are used up, and where the silence is short.
func TestStarved(t *testing.T) {
	negotiates, firstGrants := true, uint16(1)
	scene := func(until int, quiet time.Duration) []fabricagent.Frame {
		q := new(queue)
		if negotiates {
			q.send(0, words(binary.LittleEndian, 0x01000100, 255<<16, 1364, 8192, 1048576))
			q.send(1, words(binary.LittleEndian, 0x01000100, 0x0100, 255|8<<16, 0, 8388608, 1364, 8192, 1048576))
		}
		say := func(from, n int, b []byte) {
			granted := uint16(1)
			if from == 1 && n >= until {
				granted = 0
			}
			if from == 0 && n == 0 {
				granted = firstGrants
			}
			binary.LittleEndian.PutUint16(b[2:], granted)
			q.send(from, b)
		}
		for n := range 60 {
			say(0, n, smbMessages.command(uint32(n+5)))
			say(1, n, smbMessages.answer(uint32(n+5)))
			q.now += 5 * time.Millisecond
		}
		other := q.list[4:8]
		for k := range other { // others go on
			f := other[k]
			f.Time += int64(300*time.Millisecond + quiet)
			f.Data = append([]byte(nil), f.Data...)
			f.Data[29] += 7
			q.list = append(q.list, f)
		}
		return q.list
	}
	talk := func(until int, quiet time.Duration) string { return toldReasons(t, scene(until, quiet)) }
	const (
		told = "10.0.0.1 QP 0x1f has no send credit of SMB Direct left: 10.0.0.2 QP 0x20 granted it the last in frame 211, " +
			"at +0.256 s, and none with what it sent after that. Both were silent from +"
		sent = "credits: 10.0.0.1 sent 8 messages after frame 211, the last in frame 241, each of which asked for 10 or more; " +
			"the last message of 10.0.0.2, in frame 243, granted none either"
		all    = "answered, and acknowledged, without a retransmission or a NAK: it is not the network"
		one    = "10.0.0.1 QP 0x1f has one send credit of SMB Direct left, which it has to keep for a message that grants credits itself: "
		fits   = "fits: a program of 10.0.0.2 that counts send credits wrong"
		server = "10.0.0.2 QP 0x20 has no send credit"
	)
	contains(t, "no more grants", talk(52, 8*time.Second), []string{told, sent, fits, all}, []string{server})
	contains(t, "one is left", talk(53, 8*time.Second), []string{one}, []string{server})
	contains(t, "grants", talk(60, 8*time.Second), nil, []string{"send credit"})
	contains(t, "one credit more than is reserved", talk(54, 8*time.Second), nil, []string{"send credit"})
	contains(t, "no more grants, for a moment", talk(52, 100*time.Millisecond), nil, []string{"send credit"})
	measured := judged(t, scene(52, 8*time.Second), agent.Options{Timing: true})
	cut := judged(t, snapped(scene(52, 8*time.Second), 150), agent.Options{})
	contains(t, "cut by the snap length", reasonsOf(incident.Of(cut)), []string{told, sent, fits}, []string{server})
	cut.Dropped = 1
	contains(t, "cut, and packets are lost", reasonsOf(incident.Of(cut)), nil, []string{"send credit"})
	contains(t, "cut, and it grants", reasonsOf(incident.Of(judged(t, snapped(scene(60, 8*time.Second), 150), agent.Options{}))), nil,
		[]string{"send credit"})
	dated := "and none with what it sent from +0.261 s on. Both were silent from +"
	contains(t, "measured", reasonsOf(incident.Of(measured)), []string{dated}, []string{"after that", "went on granting"})
	other := measured.Connections[0]
	other.Ends[0].Addr, other.Upper = packet.IPv4Addr([]byte{10, 0, 0, 7}), new(agent.Upper)
	*other.Upper = *measured.Connections[0].Upper
	credits := *other.Upper.Credits
	credits.Granted[0] = upper.Grant{Count: 1, Time: measured.Last - 1, Frame: 244}
	credits.Left[0] = 9
	other.Upper.Credits = &credits
	measured.Connections = append(measured.Connections, other)
	contains(t, "others are granted some", reasonsOf(incident.Of(measured)),
		[]string{"others: 10.0.0.2 went on granting credits to 10.0.0.7, the last in frame 244"}, nil)
	credits.Granted[0].Time = measured.First
	contains(t, "others were granted some before", reasonsOf(incident.Of(measured)), []string{dated}, []string{"went on granting"})
	firstGrants = 0
	contains(t, "the server sends more than it is granted", talk(52, 8*time.Second), []string{told, sent, fits}, []string{server})
	contains(t, "it does, and grants", talk(60, 8*time.Second), nil, []string{"send credit"})
	negotiates, firstGrants = false, 1
	const seems = " 10.0.0.1 QP 0x1f seems to have no send credit of SMB Direct left: 10.0.0.2 QP 0x20 granted it the last in frame "
	for _, k := range []struct {
		name   string
		until  int
		others bool
		is     string
	}{
		{"it began before", 30, true, "(likely):"},
		{"it began before, and no other is granted any", 30, false, "(possible):"},
		{"it began before, and few messages came without a grant", 50, true, ""},
		{"it began before, few messages came without a grant, and no other is granted any", 50, false, ""},
	} {
		r := judged(t, scene(k.until, 8*time.Second), agent.Options{Timing: true})
		if k.others {
			d := r.Connections[0]
			d.Ends[0].Addr, d.Upper = packet.IPv4Addr([]byte{10, 0, 0, 7}), new(agent.Upper)
			*d.Upper = *r.Connections[0].Upper
			grants := *d.Upper.Grants
			grants.Granted[0] = upper.Grant{Count: 1, Time: r.Last - 1, Frame: 244}
			d.Upper.Grants = &grants
			r.Connections = append(r.Connections, d)
		}
		want, not := []string{k.is + seems, "before: it was granted some after 1 message at most"}, []string(nil)
		if k.is == "" {
			want, not = nil, []string{"send credit"}
		}
		contains(t, k.name, reasonsOf(incident.Of(r)), want, not)
	}
}
