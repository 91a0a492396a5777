#include "textflag.h"

// func prefetch(at *[room]uintptr, n uint)
TEXT ·prefetch(SB), NOSPLIT, $0-16
	MOVD at+0(FP), R0
	MOVD n+8(FP), R1
	CMP $0, R1
	BLE done

next:
	MOVD.P 8(R0), R2
	PRFM (R2), PLDL1KEEP
	SUBS $1, R1
	BNE next

done:
	RET

// func prefetchBytes(p *byte, n int)
TEXT ·prefetchBytes(SB), NOSPLIT, $0-16
	MOVD p+0(FP), R0
	MOVD n+8(FP), R1
	CMP $0, R1
	BLE end

line:
	PRFM (R0), PLDL1KEEP
	ADD $64, R0
	SUBS $64, R1
	BGT line

end:
	RET
