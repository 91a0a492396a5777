package upper

import (
	"encoding/binary"
	"fmt"
)

// Commands of an I/O queue that name blocks, and where: the first block, and how many there are, less one.
const (
	nvmeWrite       = 0x01
	nvmeReadBlocks  = 0x02
	nvmeCompare     = 0x05
	nvmeWriteZeroes = 0x08
	sqeFirst        = 40
	sqeCount        = 48
	noBlocks        = 0xFFFFFFFF // of the first: it is not known, or does not fit
)

// blocksOf returns the first block that a submission queue entry names, and how many less one.
func blocksOf(b []byte) (first uint64, blocks uint32) {
	switch b[0] {
	case nvmeWrite, nvmeReadBlocks, nvmeCompare, nvmeWriteZeroes:
		if len(b) >= sqeBlocks {
			return min(binary.LittleEndian.Uint64(b[sqeFirst:]), noBlocks), uint32(binary.LittleEndian.Uint16(b[sqeCount:]))
		}
		return noBlocks, 0
	}
	return 0, 0
}

// Blocks says which blocks a command of an I/O queue names; "": none, or that is not known.
func (d *nvmeDecoder) Blocks(c *Command) string {
	queue := c.Code >> 8 & 0xFF
	if queue == queueUnknown {
		queue = uint32(d.queue)
	}
	first, blocks := c.Arg>>32, c.Code>>16+1
	switch uint8(c.Code) {
	case nvmeWrite, nvmeReadBlocks, nvmeCompare, nvmeWriteZeroes:
		if queue != queueIO || first == noBlocks {
			return ""
		}
		if blocks == 1 {
			return fmt.Sprintf("1 block, LBA %d", first)
		}
		return fmt.Sprintf("%d blocks from LBA %d on", blocks, first)
	}
	return ""
}
