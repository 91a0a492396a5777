package upper

import "fmt"

// SetQueue notes which queue of its controller a connection of NVMe over RDMA is.
func (t *Tracker) SetQueue(id uint16) { t.queue = uint32(id) + 1 }

// Queue names the queue of its controller that the connection is; "": that is not known, or its protocol has none.
func (t *Tracker) Queue() string {
	if _, is := t.protocol.(nvme); !is || t.queue == 0 {
		return ""
	}
	return fmt.Sprintf("queue %d", t.queue-1)
}
