package upper

import "fmt"

// nvmeNames names a command by its opcode, the kind of the queue that it goes to, and where it is one of Fabrics its type. known is false where no such command is specified.
func nvmeNames(opcode, queue, fctype uint8) (name string, known bool) {
	if opcode == fabrics {
		if name, known = nvmeFabrics[fctype]; !known {
			name = fmt.Sprintf("Fabrics command type 0x%02x", fctype)
		}
		return name, known
	}
	admin, isAdmin := nvmeAdmin[opcode]
	io, isIO := nvmeIO[opcode]
	switch {
	case queue == queueAdmin && isAdmin:
		return admin, true
	case queue == queueIO && isIO:
		return io, true
	case queue == queueUnknown && isAdmin && isIO:
		return fmt.Sprintf("command 0x%02x (%s, or %s of an admin queue)", opcode, io, admin), true
	case queue == queueUnknown && isIO:
		return io, true
	case queue == queueUnknown && isAdmin:
		return admin, true
	}
	return fmt.Sprintf("command 0x%02x", opcode), false
}

// The commands (Base Specification 2.0, figures 138, 390 and 451, NVM Command Set Specification 1.0, figure 15).
var (
	nvmeFabrics = map[uint8]string{
		0x00: "Property Set", 0x01: "Connect", 0x04: "Property Get", 0x05: "Authentication Send", 0x06: "Authentication Receive", 0x08: "Disconnect",
	}
	nvmeAdmin = map[uint8]string{
		0x02: "Get Log Page", 0x06: "Identify", 0x08: "Abort", 0x09: "Set Features", 0x0A: "Get Features", 0x0C: "Asynchronous Event Request",
		0x0D: "Namespace Management", 0x10: "Firmware Commit", 0x11: "Firmware Image Download", 0x14: "Device Self-test", 0x15: "Namespace Attachment", 0x18: "Keep Alive",
		0x19: "Directive Send", 0x1A: "Directive Receive", 0x1C: "Virtualization Management", 0x1D: "NVMe-MI Send", 0x1E: "NVMe-MI Receive", 0x20: "Capacity Management", 0x24: "Lockdown",
		0x80: "Format NVM", 0x81: "Security Send", 0x82: "Security Receive", 0x84: "Sanitize", 0x86: "Get LBA Status",
	}
	nvmeIO = map[uint8]string{
		0x00: "Flush", 0x01: "Write", 0x02: "Read", 0x04: "Write Uncorrectable", 0x05: "Compare", 0x08: "Write Zeroes", 0x09: "Dataset Management", 0x0C: "Verify",
		0x0D: "Reservation Register", 0x0E: "Reservation Report", 0x11: "Reservation Acquire", 0x15: "Reservation Release", 0x19: "Copy",
		0x79: "Zone Management Send", 0x7A: "Zone Management Receive", 0x7D: "Zone Append",
	}
)

// nvmeStatus is by status code type (in the upper byte) and status code: those that hosts meet.
var nvmeStatus = map[uint32]string{
	0x001: "Invalid Command Opcode", 0x002: "Invalid Field in Command", 0x003: "Command ID Conflict", 0x004: "Data Transfer Error",
	0x005: "Commands Aborted due to Power Loss Notification", 0x006: "Internal Error", 0x007: "Command Abort Requested", 0x008: "Command Aborted due to SQ Deletion",
	0x00B: "Invalid Namespace or Format", 0x00C: "Command Sequence Error", 0x00F: "Data SGL Length Invalid", 0x011: "SGL Descriptor Type Invalid", 0x013: "Operation Denied",
	0x018: "Keep Alive Timeout Expired", 0x01D: "Sanitize In Progress", 0x021: "Transient Transport Error",
	0x080: "LBA Out of Range", 0x081: "Capacity Exceeded", 0x082: "Namespace Not Ready", 0x083: "Reservation Conflict",
	0x109: "Invalid Log Page", 0x10D: "Feature Identifier Not Saveable", 0x180: "Incompatible Format, or Conflicting Attributes", 0x181: "Controller Busy",
	0x182: "Connect Invalid Parameters", 0x183: "Connect Restart Discovery", 0x184: "Connect Invalid Host", 0x191: "Authentication Required",
	0x280: "Write Fault", 0x281: "Unrecovered Read Error", 0x282: "End-to-end Guard Check Error", 0x285: "Compare Failure", 0x286: "Access Denied",
	0x300: "Internal Path Error", 0x301: "Asymmetric Access Persistent Loss", 0x302: "Asymmetric Access Inaccessible", 0x303: "Asymmetric Access Transition",
	0x360: "Controller Pathing Error", 0x370: "Host Pathing Error", 0x371: "Command Aborted By Host",
}
