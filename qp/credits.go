package qp

import "ibwitness/packet"

// Credits are the end-to-end credits of a requester.
type Credits struct {
	Limit   uint32 // message number up to which they allow SENDs, while Limited
	Limited bool
}

// Give notes that credits allow SENDs up to a message number.
func (c *Credits) Give(limit uint32) { c.Limited, c.Limit = true, limit&packet.PSNMask }

// Close notes that credits limit nothing that is known.
func (c *Credits) Close() { c.Limited = false }
