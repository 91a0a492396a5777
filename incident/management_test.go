package incident_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet"
)

// queries are the frames of a capture in which lid:6 asks the subnet administrator at lid:1, and it answers. Of one query it holds no answer.
func queries(t *testing.T) (list []fabricagent.Frame) {
	t.Helper()
	src, err := fabricagent.Open([]string{"../testdata/captures/small-multipath.pcap.zst"})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	link := src.Taps()[0].Link
	for {
		b, err := src.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range b.Frames {
			f.Data, f.Link = bytes.Clone(f.Data), link
			list = append(list, f)
		}
		b.Release()
	}
}

// answers reports whether a frame is a response of the subnet administrator: a MAD follows LRH, BTH and DETH.
func answers(f *fabricagent.Frame) bool {
	const at = 8 + 12 + 8
	return len(f.Data) >= at+mad.Size && mad.Class(f.Data[at+1]) == mad.ClassSubnetAdmin && f.Data[at+3]&0x80 != 0
}

// TestQueriesUnanswered: a subnet administrator that answers nothing, or nothing more, is told; one that leaves out a single query is not.
func TestQueriesUnanswered(t *testing.T) {
	whole := queries(t)
	without := func(left int) (list []fabricagent.Frame) {
		for _, f := range whole {
			if answers(&f) {
				if left--; left < 0 {
					continue
				}
			}
			list = append(list, f)
		}
		return list
	}
	for _, k := range []struct {
		name string
		list []fabricagent.Frame
		want []string
	}{
		{"whole", whole, nil},
		{"nothing answered", without(0), []string{"mad-unanswered proven The subnet administrator (SA) at lid:1 answered none of 35 requests of lid:6."}},
		{"nothing more answered", without(20), []string{"mad-unanswered likely The subnet administrator (SA) at lid:1 has not answered 30 of 35 requests of lid:6, and none in the last 21.5s of the capture."}},
	} {
		var got []string
		for _, i := range incident.Of(judged(t, k.list, agent.Options{Workers: 1})) {
			if i.Kind == incident.Unserved {
				got = append(got, i.Kind.String()+" "+i.Certainty.String()+" "+i.What)
			}
		}
		if len(got) != len(k.want) {
			t.Errorf("%s: %q, want %q", k.name, got, k.want)
			continue
		}
		for n := range got {
			if !strings.HasPrefix(got[n], k.want[n]) {
				t.Errorf("%s: %q, want %q", k.name, got[n], k.want[n])
			}
		}
	}
}

// TestUnserved: which management requests without an answer are told of, and how certain that is.
func TestUnserved(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	one := func(class mad.Class) subnet.Unanswered {
		return subnet.Unanswered{
			From: packet.LIDAddr(6), To: packet.LIDAddr(1), Class: class, Asked: 9, Requests: 1, Names: []subnet.AttributeCount{{Name: "X", Count: 1}}, First: at(100), Last: at(100), Answered: at(50), Frame: 7, Newest: 7,
		}
	}
	for _, k := range []struct {
		name    string
		class   mad.Class
		set     func(u *subnet.Unanswered)
		dropped uint64
		want    string
	}{
		{"one of nine", mad.ClassPerformance, func(*subnet.Unanswered) {}, 0, ""},
		{"one, retransmitted", mad.ClassPerformance, func(u *subnet.Unanswered) { u.Again, u.Last = 2, at(400) }, 0, "proven lid:1 has not answered 1 of 9 performance requests of lid:6, and none in the last 4.9s of the capture."},
		{"one, retransmitted, of a capture that lost packets", mad.ClassPerformance, func(u *subnet.Unanswered) { u.Again = 2 }, 3, "likely lid:1 has not answered 1 of 9"},
		{"the only one", mad.ClassPerformance, func(u *subnet.Unanswered) { u.Asked, u.Answered = 1, 0 }, 0, ""},
		{"the only one, retransmitted", 0x32, func(u *subnet.Unanswered) { u.Asked, u.Answered, u.Again, u.Last = 1, 0, 1, at(300) }, 0, "proven lid:1 has not answered the class 0x32 request of lid:6, sent twice in 200ms."},
		{"three of nine, others meanwhile", mad.ClassSubnetAdmin, func(u *subnet.Unanswered) { u.Requests, u.Answered = 3, at(900) }, 0, "likely The subnet administrator (SA) at lid:1 has not answered 3 of 9 requests of lid:6, though others meanwhile."},
		{"three of a hundred", mad.ClassSubnetAdmin, func(u *subnet.Unanswered) { u.Requests, u.Asked, u.Answered = 3, 100, at(900) }, 0, ""},
		{"two, and none since", mad.ClassSubnetAdmin, func(u *subnet.Unanswered) { u.Requests = 2 }, 0, "likely The subnet administrator (SA) at lid:1 has not answered 2 of 9 requests of lid:6, and none in the last 4.9s of the capture."},
		{"on a route", mad.ClassSubnetDirected, func(u *subnet.Unanswered) { u.Asked, u.Route = 0, "0,1,5" }, 0, ""},
		{"on a route, retransmitted", mad.ClassSubnetDirected, func(u *subnet.Unanswered) { u.Asked, u.Route, u.Again, u.Last = 0, "0,1,5", 1, at(600) }, 0, "likely The port on directed route 0,1,5 has not answered 1 subnet management request, sent twice in 500ms."},
	} {
		u := one(k.class)
		k.set(&u)
		got := ""
		for _, i := range incident.Of(&agent.Result{First: at(0), Last: at(5000), Dropped: k.dropped, MADs: []subnet.Unanswered{u}}) {
			if i.Kind == incident.Unserved {
				got = i.Certainty.String() + " " + i.What
			}
		}
		if !strings.HasPrefix(got, k.want) || k.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", k.name, got, k.want)
		}
	}
}

// TestUnservedRoCE: what RoCE does not have is not looked for there, and what others answered is told.
func TestUnservedRoCE(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	roce := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	one := func(class mad.Class, from, to packet.Addr) subnet.Unanswered {
		return subnet.Unanswered{
			From: from, To: to, Class: class, Asked: 8, Requests: 8, Again: 16, Names: []subnet.AttributeCount{{Name: "X", Count: 8}}, First: at(100), Last: at(3000), Frame: 7, Newest: 99,
		}
	}
	alive := agent.Connection{Service: packet.RC, First: at(0), FirstFrame: 1, Ends: [2]agent.End{{Addr: roce(3), Packets: 5, Last: at(4000)}, {Addr: roce(2), Packets: 5, Last: at(4000)}}}
	young := one(mad.ClassPerformance, roce(1), roce(2))
	young.Requests = 7
	answered := young
	for _, s := range []subnet.Served{
		{From: roce(1), To: roce(4), Class: mad.ClassPerformance, Asked: 8, Answered: at(3000)},
		{From: roce(1), To: roce(2), Class: mad.ClassPerformance, Asked: 8, Answered: at(3000)}, // asked itself
		{From: roce(1), To: roce(5), Class: mad.ClassPerformance, Asked: 8, Answered: at(50)},   // before
		{From: roce(6), To: roce(5), Class: mad.ClassPerformance, Asked: 8, Answered: at(3000)}, // another requester
		{From: roce(1), To: roce(5), Class: mad.ClassSubnetAdmin, Asked: 8, Answered: at(3000)}, // another class
	} {
		answered.Elsewhere(&s)
	}
	two := answered
	two.Elsewhere(&subnet.Served{From: roce(1), To: roce(7), Class: mad.ClassPerformance, Asked: 4, Answered: at(2000)})
	for _, k := range []struct {
		name string
		u    subnet.Unanswered
		of   []agent.Connection
		want []string
		not  []string
	}{
		{"SA on RoCE", one(mad.ClassSubnetAdmin, roce(1), roce(2)), nil, []string{"10.0.0.2 answered none of 8 SA requests of 10.0.0.1.", "no RDMA packet of 10.0.0.2 is in the capture", "where there is no subnet administrator", "one direction only"}, []string{"opensm", "LID", "others:"}},
		{"SA on RoCE, of a host that is there", one(mad.ClassSubnetAdmin, roce(1), roce(2)), []agent.Connection{alive}, []string{"where there is no subnet administrator"}, []string{"no RDMA packet", "one direction only"}},
		{"SA of InfiniBand", one(mad.ClassSubnetAdmin, packet.LIDAddr(1), packet.LIDAddr(2)), nil, []string{"The subnet administrator (SA) at lid:2 answered none of 8 requests of lid:1.", "opensm", "none to any request of theirs", "one direction only"}, []string{"RoCE", "no RDMA packet"}},
		{"performance on RoCE, the newest just sent", young, []agent.Connection{alive}, []string{"10.0.0.2 answered none of 8 performance requests of 10.0.0.1; 1 of them has not waited long.", "adapter without an agent"}, []string{"smpquery", "others:", "one direction only"}},
		{"another answers", answered, nil, []string{"others: 10.0.0.4 answered all 8 performance requests of 10.0.0.1"}, nil},
		{"two others answer", two, nil, []string{"others: 2 other ports answered all 12 performance requests of 10.0.0.1"}, nil},
		{"performance of InfiniBand", one(mad.ClassPerformance, packet.LIDAddr(1), packet.LIDAddr(2)), nil, []string{"smpquery nodeinfo and perfquery to lid:2"}, []string{"ethtool"}},
	} {
		list := incident.Of(&agent.Result{First: at(0), Last: at(5000), MADs: []subnet.Unanswered{k.u}, Connections: k.of})
		if len(list) != 1 {
			t.Fatalf("%s: %+v", k.name, list)
		}
		text := list[0].What + "\n" + strings.Join(list[0].FitsWith, "\n") + "\n" + strings.Join(list[0].Next, "\n")
		for _, f := range list[0].Facts {
			text += "\n" + f.Label + ": " + f.Text
		}
		for _, w := range k.want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: %s\nwant %q", k.name, text, w)
			}
		}
		for _, w := range k.not {
			if strings.Contains(text, w) {
				t.Errorf("%s: %s\nhas %q", k.name, text, w)
			}
		}
	}
}
