package fabricagent

import (
	"bytes"
	"encoding/binary"
	"testing"

	"ibwitness/link"
	"ibwitness/packet"
)

// TestLinkTap writes a file of a link tap and reads it again: data packets decode as such, and what is seen of the link is told.
func TestLinkTap(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file, "test")
	tap, err := w.AddTap(Tap{Interface: "link", Link: LinkTap})
	if err != nil {
		t.Fatal(err)
	}
	fc := link.FlowControl{Op: link.Init, VL: 1, FCCL: 100}
	bytesOf := [][]byte{
		fc.Append(link.AppendHeader(nil, link.Packet, link.Mark{Link: 7, Symbol: 4000, Port: 1})),
		append(link.AppendHeader(nil, link.Data, link.Mark{Link: 7, Bad: true}), lrh()...),
		append(link.AppendHeader(nil, link.Physical, link.Mark{Link: 7}), 2),
		append(link.AppendHeader(nil, link.Data, link.Mark{Link: 7}), 1, 2, 3),
		link.AppendHeader(nil, link.Physical, link.Mark{Link: 7}),
		[]byte("something of another program"),
	}
	for i, b := range bytesOf {
		if err := w.Write(&Frame{Time: start + int64(i), Tap: tap, Link: LinkTap, Way: packet.WayOut, Data: b}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	frames, _, err := readBytes(t, file.Bytes())
	if err != nil || len(frames) != len(bytesOf) {
		t.Fatalf("%d frames, %v", len(frames), err)
	}
	for i, want := range []struct {
		out  Outcome
		seen bool
		kind link.Kind
	}{
		{LinkLevel, true, link.Packet},
		{RDMA, true, link.Data},
		{LinkLevel, true, link.Physical},
		{TooShort, true, link.Data},
		{LinkLevel, false, 0},
		{UnknownLink, false, 0},
	} {
		var p packet.Packet
		var e link.Event
		out := Decode(&frames[i], &p)
		seen := DecodeLink(&frames[i], &e)
		if out != want.out || seen != want.seen || seen && e.Kind != want.kind {
			t.Errorf("frame %d: %v, %v, kind %d; want %v, %v, kind %d", i+1, out, seen, e.Kind, want.out, want.seen, want.kind)
		}
		switch i {
		case 0:
			if fc.LPCRC = e.FC.LPCRC; !e.FC.Good || e.FC.FCCL != 100 || e.FC.VL != 1 || e.Mark != (link.Mark{Link: 7, Symbol: 4000, Port: 1}) || e.Size != link.Size || e.Way != packet.WayOut {
				t.Errorf("%+v", e)
			}
		case 1:
			if p.Flaws&packet.FlawDelimiter == 0 || !p.Src.IsLID() {
				t.Errorf("%+v", p)
			}
		case 2:
			if e.State != 2 {
				t.Errorf("state %d", e.State)
			}
		}
	}
}

// TestERFLink reads the records of a card on an InfiniBand link: once link packets are among them, its packets are those of a link.
func TestERFLink(t *testing.T) {
	fc := (&link.FlowControl{VL: 2, FCTBS: 9, FCCL: 8}).Append(nil)
	records := [][]byte{
		erfRecord(erfInfiniBand, 1, start, 0, len(lrh()), lrh(), 0),
		erfRecord(erfInfiniBandLink, 0, start, 0, link.Size, fc, 0),
		erfRecord(erfInfiniBand, 3, start, 0, len(lrh()), lrh(), 2),
		erfRecord(erfInfiniBandLink, 1, start, 0, link.Size, fc, 1),
	}
	pcap := newPcap(binary.LittleEndian, magicMicro, 65535, uint32(LinkERF))
	for _, r := range records {
		pcap.frame(start, len(r), r)
	}
	for name, file := range map[string][]byte{"raw": bytes.Join(records, nil), "pcap": pcap.b} {
		frames, taps, err := readBytes(t, file)
		if err != nil || len(frames) != len(records) || len(taps) != 4 {
			t.Fatalf("%s: %d frames, %d taps, %v", name, len(frames), len(taps), err)
		}
		var p packet.Packet
		if frames[0].Link != LinkInfiniBand || Decode(&frames[0], &p) != RDMA {
			t.Errorf("%s: %v", name, frames[0].Link)
		}
		for i, want := range []link.Mark{{}, {Port: 0}, {Link: 1, Port: 1}, {Port: 1}} {
			var e link.Event
			if i == 0 {
				continue
			}
			if !DecodeLink(&frames[i], &e) || e.Mark != want || e.Time != start {
				t.Errorf("%s: frame %d: %+v", name, i+1, e)
			}
			if out := Decode(&frames[i], &p); (e.Kind == link.Data) != (out == RDMA) || e.Kind == link.Packet && (!e.FC.Good || e.FC.FCTBS != 9) {
				t.Errorf("%s: frame %d: %v %+v", name, i+1, out, e.FC)
			}
		}
	}
}
