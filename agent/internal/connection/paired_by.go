package connection

// PairedBy says how the pair of QPs of a connection became known.
type PairedBy uint8

// The ways.
const (
	NotPaired PairedBy = iota // one direction only, or no response matched: the sender's QPN is not known
	ByCM                      // from the communication management exchange
	ByPSN                     // by matching the responses' PSNs with the requests
	ByAgent                   // from an HCA agent
	ByPacket                  // UD: every packet names both QPs
)

func (l PairedBy) String() string {
	return [...]string{"not learned", "CM", "PSN match", "HCA agent", "packet"}[l]
}
