#include "textflag.h"

// func prefetch(at *[room]unsafe.Pointer, n uint)
TEXT ·prefetch(SB), NOSPLIT, $0-16
	MOVQ at+0(FP), SI
	MOVQ n+8(FP), CX
	TESTQ CX, CX
	JLE done

next:
	MOVQ (SI), AX
	PREFETCHT0 (AX)
	ADDQ $8, SI
	DECQ CX
	JNZ next

done:
	RET

// func prefetchBytes(p *byte, n int)
TEXT ·prefetchBytes(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
	TESTQ CX, CX
	JLE end

line:
	PREFETCHT0 (SI)
	ADDQ $64, SI
	SUBQ $64, CX
	JG line

end:
	RET
