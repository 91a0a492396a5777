package agent

import "ibwitness/agent/internal/connection"

// PairedBy says how the pair of QPs of a connection became known.
type PairedBy = connection.PairedBy

// The ways.
const (
	NotPaired = connection.NotPaired // one direction only, or no response matched: the sender's QPN is not known
	ByCM      = connection.ByCM      // from the communication management exchange
	ByPSN     = connection.ByPSN     // by matching the responses' PSNs with the requests
	ByAgent   = connection.ByAgent   // from an HCA agent
	ByPacket  = connection.ByPacket  // UD: every packet names both QPs
)
