package incident

import (
	"fmt"

	"ibwitness/packet"
)

// restarts is what fits where a host that answers nothing connects once more.
const restarts = "a host that restarted, or was cut off: it is back with its next connection"

// wentDown is what fits where a host that had answered others too answers nothing any more.
func wentDown(host packet.Addr) string {
	return fmt.Sprintf("a host, adapter or link of %v that went down", host)
}

// pathFails is what fits where nothing is known of where something fails.
const pathFails = "a path that fails: a link, a switch, a route"
