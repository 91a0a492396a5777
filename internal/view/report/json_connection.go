package report

import "ibwitness/agent"

type jsonTraffic struct {
	Packets         uint64 `json:"packets"`
	Bytes           uint64 `json:"bytes"`
	Messages        uint64 `json:"messages"`
	Retransmissions uint64 `json:"retransmissions"`
	Duplicates      uint64 `json:"duplicates"`
	NAKs            uint64 `json:"naks"`
	SequenceNAKs    uint64 `json:"sequence_naks"`
	RNRNAKs         uint64 `json:"rnr_naks"`
}

type jsonEnd struct {
	Address string  `json:"address"`
	QPN     *uint32 `json:"qpn,omitempty"`
	Near    bool    `json:"near"`
	Open    uint32  `json:"open,omitempty"`
	OpenAt  uint64  `json:"open_frame,omitempty"`
	jsonTraffic
	Last     string        `json:"last,omitempty"`
	Settings *jsonSettings `json:"settings,omitempty"`
	Path     *jsonPath     `json:"path,omitempty"`
	Trouble  *jsonTrouble  `json:"trouble,omitempty"`
	Timing   *jsonTiming   `json:"timing,omitempty"` // where it was measured
}

type jsonConnection struct {
	Kind          string `json:"kind"`
	Service       string `json:"service"`
	Encapsulation string `json:"encapsulation"`
	PMTU          uint32 `json:"pmtu,omitempty"`
	Learned       string `json:"learned"`
	Time          string `json:"time"`
	Tap           uint16 `json:"tap"`
	Frame         uint64 `json:"frame"`
	jsonTraffic
	Ends  [2]jsonEnd `json:"ends"`
	Upper *jsonUpper `json:"upper,omitempty"`

	qpns [2]uint32 // that Ends point to
}

// set makes the line that of connection c.
func (line *jsonConnection) set(c *agent.Connection) {
	*line = jsonConnection{
		Kind: "connection", Service: c.Service.String(), Encapsulation: c.Encap.String(), PMTU: c.PMTU,
		Learned: c.PairedBy.String(), Time: stamp(c.First), Tap: c.FirstTap, Frame: c.FirstFrame, Upper: upperLine(c.Upper),
	}
	for i := range c.Ends {
		e := &c.Ends[i]
		sent := jsonTraffic{
			Packets: e.Packets, Bytes: e.Bytes, Messages: e.Messages, Retransmissions: uint64(e.Retransmissions),
			Duplicates: uint64(e.Duplicates), NAKs: uint64(e.NAKs), SequenceNAKs: uint64(e.SequenceNAKs), RNRNAKs: uint64(e.RNRNAKs),
		}
		line.Ends[i] = jsonEnd{
			Address: e.Addr.String(), Near: e.Near, Open: e.Open, OpenAt: e.OpenFrame, jsonTraffic: sent,
			Settings: settingsOf(&e.Settings), Path: pathOf(e, c.Encap), Trouble: troubleOf(e), Timing: timingOf(c, i),
		}
		if e.Last != 0 {
			line.Ends[i].Last = stamp(e.Last)
		}
		if e.QPNKnown {
			line.qpns[i] = e.QPN
			line.Ends[i].QPN = &line.qpns[i]
		}
		line.Packets += sent.Packets
		line.Bytes += sent.Bytes
		line.Messages += sent.Messages
		line.Retransmissions += sent.Retransmissions
		line.Duplicates += sent.Duplicates
		line.NAKs += sent.NAKs
		line.SequenceNAKs += sent.SequenceNAKs
		line.RNRNAKs += sent.RNRNAKs
	}
}

// ConnectionLine is what a line of JSON says of a connection.
type ConnectionLine = jsonConnection

// ConnectionLineOf returns what a line of JSON says of a connection.
func ConnectionLineOf(c *agent.Connection) *ConnectionLine {
	line := new(jsonConnection)
	line.set(c)
	return line
}

// EndpointLine is an end of a connection by its address and number.
type EndpointLine struct {
	Address string  `json:"address"`
	QPN     *uint32 `json:"qpn,omitempty"`
}

// EndpointLineOf returns what a line of JSON names an end by.
func EndpointLineOf(e *agent.End) EndpointLine {
	return EndpointLine{e.Addr.String(), known(e.QPN, e.QPNKnown)}
}
