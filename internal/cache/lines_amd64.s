#include "textflag.h"

// func prefetch(at *[room]uintptr, n uint)
TEXT ·prefetch(SB), NOSPLIT, $0-16
	MOVQ at+0(FP), SI
	MOVQ n+8(FP), CX
	SUBQ $2, CX
	JLT last

two:
	MOVQ (SI), AX
	MOVQ 8(SI), BX
	PREFETCHT0 (AX)
	PREFETCHT0 (BX)
	ADDQ $16, SI
	SUBQ $2, CX
	JGE two

last:
	TESTQ $1, CX
	JEQ done
	MOVQ (SI), AX
	PREFETCHT0 (AX)

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
