package smp

import (
	"strings"
	"testing"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestNames: a node is named by its route, of as many hops as there may be.
func TestNames(t *testing.T) {
	for hops, want := range map[int]string{mad.MaxHops: "0" + strings.Repeat(",1", mad.MaxHops), mad.MaxHops + 1: ""} {
		s := mad.SMP{
			Header: mad.Header{BaseVersion: 2, Class: mad.ClassSubnetDirected, ClassVersion: 1, Method: mad.Get, TID: 1, Attribute: mad.AttrNodeInfo},
			DrSLID: permissive, DrDLID: permissive, Initial: []byte("\x00" + strings.Repeat("\x01", mad.MaxHops)), Return: make([]byte, 64), Data: make([]byte, mad.SMPDataSize),
		}
		s.SetHops(1, hops)
		talk := speaker{now: 1}
		talk.say(1, permissive, permissive, &s)
		rec := new(rule.Recorder)
		New(rec, func(packet.Addr) bool { return true }).Packet(&talk.list[0], true)
		if len(rec.Findings) == 0 {
			t.Fatalf("nothing found in a packet of another version over %d hops", hops)
		}
		if route := rec.Findings[0].Peer.Node.Route; route != want {
			t.Errorf("%d hops: to %q, want %q", hops, route, want)
		}
	}
}
