package incident

// What to look at next where an NVMe controller refuses a connection, by its status.
const (
	nvmeVersions = "the versions and settings of the NVMe host on {to} and of the target on {by}: " +
		"the private data of the REQ is not what the target expects"
	nvmeReads = "how many outstanding READs the adapters of {to} and {by} allow (max_qp_rd_atom and max_qp_init_rd_atom of ibv_devinfo -v), " +
		"against those of the REQ"
)

var nvmeNext = [...]string{
	1: nvmeVersions, 2: nvmeVersions,
	3: "how many I/O queues {to} asks for (nvme connect --nr-io-queues), against how many the target on {by} allows",
	4: "a shorter queue on {to} (nvme connect --queue-size for I/O queues), or the limit of the target on {by}, and its log; Linux's target " +
		"takes 32 entries on the admin queue, queue 0: hsqsize 31",
	5: "a shorter queue on {to} (nvme connect --queue-size for I/O queues), or the limit of the target on {by}, and its log",
	6: "memory, queue pairs and the limits of the target on {by}, and its log",
	7: nvmeReads, 8: nvmeReads,
}
