package upper

import (
	"fmt"
	"strings"
)

// nfsProcedure names a procedure of NFS (RFC 1094, RFC 1813, RFC 7530).
func nfsProcedure(version, procedure uint32) string {
	names := nfs3Procedures[:]
	switch version {
	case 2:
		names = nfs2Procedures[:]
	case 4:
		names = nfs4Procedures[:]
	}
	if int(procedure) < len(names) && names[procedure] != "" {
		return names[procedure]
	}
	return fmt.Sprintf("procedure %d", procedure)
}

var (
	nfs2Procedures = [...]string{
		"NULL", "GETATTR", "SETATTR", "ROOT", "LOOKUP", "READLINK", "READ", "WRITECACHE", "WRITE", "CREATE", "REMOVE", "RENAME", "LINK", "SYMLINK", "MKDIR", "RMDIR", "READDIR", "STATFS",
	}
	nfs3Procedures = [...]string{
		"NULL", "GETATTR", "SETATTR", "LOOKUP", "ACCESS", "READLINK", "READ", "WRITE", "CREATE", "MKDIR", "SYMLINK", "MKNOD", "REMOVE", "RMDIR", "RENAME", "LINK", "READDIR",
		"READDIRPLUS", "FSSTAT", "FSINFO", "PATHCONF", "COMMIT",
	}
	nfs4Procedures = [...]string{"NULL", "COMPOUND"}
)

// nfs4Operations are the operations of NFSv4 from 3 on (RFC 7530, RFC 8881, RFC 7862, RFC 8276).
var nfs4Operations = [...]string{
	"ACCESS", "CLOSE", "COMMIT", "CREATE", "DELEGPURGE", "DELEGRETURN", "GETATTR", "GETFH", "LINK", "LOCK", "LOCKT", "LOCKU", "LOOKUP", "LOOKUPP", "NVERIFY", "OPEN", "OPENATTR",
	"OPEN_CONFIRM", "OPEN_DOWNGRADE", "PUTFH", "PUTPUBFH", "PUTROOTFH", "READ", "READDIR", "READLINK", "REMOVE", "RENAME", "RENEW", "RESTOREFH", "SAVEFH", "SECINFO", "SETATTR",
	"SETCLIENTID", "SETCLIENTID_CONFIRM", "VERIFY", "WRITE", "RELEASE_LOCKOWNER", "BACKCHANNEL_CTL", "BIND_CONN_TO_SESSION", "EXCHANGE_ID", "CREATE_SESSION", "DESTROY_SESSION",
	"FREE_STATEID", "GET_DIR_DELEGATION", "GETDEVICEINFO", "GETDEVICELIST", "LAYOUTCOMMIT", "LAYOUTGET", "LAYOUTRETURN", "SECINFO_NO_NAME", "SEQUENCE", "SET_SSV", "TEST_STATEID",
	"WANT_DELEGATION", "DESTROY_CLIENTID", "RECLAIM_COMPLETE", "ALLOCATE", "COPY", "COPY_NOTIFY", "DEALLOCATE", "IO_ADVISE", "LAYOUTERROR", "LAYOUTSTATS", "OFFLOAD_CANCEL",
	"OFFLOAD_STATUS", "READ_PLUS", "SEEK", "WRITE_SAME", "CLONE", "GETXATTR", "SETXATTR", "LISTXATTRS", "REMOVEXATTR",
}

const (
	firstOperation = 3
	mostOperations = 8 // that are kept of a COMPOUND, a byte each

	opGetfh, opLookupp, opPutfh, opPutpubfh, opPutrootfh, opRestorefh, opSavefh, opSequence = 10, 16, 22, 23, 24, 31, 32, 53

	mostTag        = 1024
	mostFileHandle = 128
)

// compound reads the first operations of a COMPOUND, the first one in the lowest byte, and the first file handle that it names: up to the first whose arguments are not skipped.
func compound(x *xdr) (ops uint64, handle []byte) {
	x.opaque(mostTag)
	x.word() // minor version
	n := x.word()
	for i := range min(n, mostOperations) {
		op := x.word()
		if x.short || op < firstOperation || op-firstOperation >= uint32(len(nfs4Operations)) {
			break
		}
		ops |= uint64(op) << (8 * i)
		switch op {
		case opSequence:
			x.skip(16 + 4*4) // session ID, sequence ID, slot ID, highest slot ID, cache this
		case opPutfh:
			if h := x.taken(mostFileHandle); handle == nil {
				handle = h
			}
		case opPutrootfh, opPutpubfh, opSavefh, opRestorefh, opGetfh, opLookupp:
		default:
			return ops, handle
		}
	}
	return ops, handle
}

// operations names the operations that compound has read.
func operations(ops uint64) string {
	var list []string
	for ; ops != 0; ops >>= 8 {
		list = append(list, nfs4Operations[(ops&0xFF-firstOperation)%uint64(len(nfs4Operations))])
	}
	return strings.Join(list, ", ")
}

// nfsStatus names the commoner errors of NFS versions 3 and 4.
var nfsStatus = map[uint32]string{
	1: "NFSERR_PERM", 2: "NFSERR_NOENT", 5: "NFSERR_IO", 6: "NFSERR_NXIO", 13: "NFSERR_ACCES", 17: "NFSERR_EXIST", 18: "NFSERR_XDEV", 19: "NFSERR_NODEV", 20: "NFSERR_NOTDIR",
	21: "NFSERR_ISDIR", 22: "NFSERR_INVAL", 27: "NFSERR_FBIG", 28: "NFSERR_NOSPC", 30: "NFSERR_ROFS", 31: "NFSERR_MLINK", 63: "NFSERR_NAMETOOLONG", 66: "NFSERR_NOTEMPTY",
	69: "NFSERR_DQUOT", 70: "NFSERR_STALE", 10001: "NFSERR_BADHANDLE", 10002: "NFSERR_NOT_SYNC", 10003: "NFSERR_BAD_COOKIE", 10004: "NFSERR_NOTSUPP", 10005: "NFSERR_TOOSMALL",
	10006: "NFSERR_SERVERFAULT", 10008: "NFSERR_DELAY", 10009: "NFSERR_SAME", 10010: "NFSERR_DENIED", 10011: "NFSERR_EXPIRED", 10012: "NFSERR_LOCKED", 10013: "NFSERR_GRACE", 10014: "NFSERR_FHEXPIRED",
	10022: "NFSERR_STALE_CLIENTID", 10023: "NFSERR_STALE_STATEID", 10024: "NFSERR_OLD_STATEID", 10025: "NFSERR_BAD_STATEID", 10026: "NFSERR_BAD_SEQID", 10052: "NFSERR_BADSESSION",
	10063: "NFSERR_SEQ_MISORDERED", 10066: "NFSERR_REQ_TOO_BIG", 10068: "NFSERR_RETRY_UNCACHED_REP",
}
