package upper

// What statuses of RPC, SMB2 and iSCSI mean trouble, and which say that the peer does not know the session or state of its client. Many others
// are usual: a name that does not exist yet,
// a delay, what a client probes for.

// nfsTrouble are statuses of NFS: I/O, device, space and quota, a file handle that is no more, and what the server has lost.
var nfsTrouble = map[uint32]bool{
	5: true, 6: true, 19: true, 28: true, 30: true, 69: true, 70: true, 10006: true, 10011: true, 10014: true, 10022: true, 10023: true, 10052: true,
}

// nfsLost are BADSESSION, STALE_CLIENTID and STALE_STATEID.
var nfsLost = map[uint32]bool{10022: true, 10023: true, 10052: true}

func (d *rpcDecoder) Trouble(c *Command) bool {
	switch n := c.Status & 0xFFFF; c.Status &^ 0xFFFF {
	case statusNFS:
		return nfsTrouble[n]
	case statusAccept:
		return n == 4 || n == 5 // GARBAGE_ARGS, SYSTEM_ERR
	case statusError:
		return true
	}
	return false
}

func (d *rpcDecoder) Opens(*Command) bool { return false }

func (d *rpcDecoder) Lost(c *Command) bool {
	return c.Status&^0xFFFF == statusNFS && nfsLost[c.Status&0xFFFF]
}

// smbTrouble are statuses of SMB2.
var smbTrouble = map[uint32]bool{
	0xC000003E: true, 0xC000006D: true, 0xC000007F: true, 0xC000009A: true, 0xC000009C: true, 0xC00000B5: true, 0xC00000C9: true, 0xC00000CC: true, 0xC00000E9: true,
	0xC0000185: true, 0xC0000203: true,
}

func (s *smbDecoder) Trouble(c *Command) bool { return smbTrouble[c.Status] }

func (s *smbDecoder) Opens(*Command) bool { return false }

// Lost is STATUS_USER_SESSION_DELETED: a share whose name was deleted may be that.
func (s *smbDecoder) Lost(c *Command) bool { return c.Status == 0xC0000203 }

// scsiData are the SCSI commands that move data or flush it: of others targets are asked what they lack.
var scsiData = map[uint32]bool{0x08: true, 0x0A: true, 0x28: true, 0x2A: true, 0x35: true, 0x88: true, 0x8A: true, 0x91: true, 0xA8: true, 0xAA: true}

// Trouble is each failure of a login but a redirection, of a target, or of a command that moves data.
func (d *iserDecoder) Trouble(c *Command) bool {
	switch {
	case d.Opens(c):
		return c.Status>>8 != 1
	case uint8(c.Code) != scsiCommand:
		return false
	}
	return c.Status>>8 != 0 || c.Status != 0x04 && (c.Status != 0x02 || scsiData[c.Code>>8]) // CONDITION MET, CHECK CONDITION
}

func (d *iserDecoder) Opens(c *Command) bool { return uint8(c.Code) == loginRequest }

func (d *iserDecoder) Lost(*Command) bool { return false }

// loginStatus are by status class and detail (RFC 7143, 11.13.5).
var loginStatus = map[uint32]string{
	0x200: "Initiator error", 0x201: "Authentication failure", 0x202: "Authorization failure", 0x203: "Not found", 0x204: "Target removed", 0x205: "Unsupported version",
	0x206: "Too many connections", 0x207: "Missing parameter", 0x208: "Can't include in session", 0x209: "Session type not supported", 0x20A: "Session does not exist",
	0x20B: "Invalid during login", 0x300: "Target error", 0x301: "Service unavailable", 0x302: "Out of resources",
}
