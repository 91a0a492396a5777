package upper

import "fmt"

// SetQueue notes which queue of its controller a connection of NVMe over RDMA is, and its hsqsize.
func (t *Tracker) SetQueue(id, sends uint16) { t.queue, t.sends = uint32(id)+1, sends }

// HSQSize is the hsqsize with which the queue of Queue was asked for.
func (t *Tracker) HSQSize() uint16 { return t.sends }

// Queue names the queue of its controller that the connection is; "": that is not known, or its protocol has none.
func (t *Tracker) Queue() string {
	if _, is := t.protocol.(nvme); !is || t.queue == 0 {
		return ""
	}
	return fmt.Sprintf("queue %d", t.queue-1)
}
