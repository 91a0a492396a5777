#include "textflag.h"

// The ICRC of RoCEv2 over IPv4 by carry-less multiplication: a CRC of packets of 40 to some thousand bytes in one pass, the fields of table T6
// masked on the way. Method and constants: Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
// Instruction", Intel 2009, in the bit-reflected form for the polynomial of IEEE 802.3.
//
// The packet is taken as if zero bytes stood before it, as many as make its length a multiple of 16. From state zero they change nothing.

// folds carries 16 bytes over as many bytes as its offset says, less 80: before it stand zeros, which make nothing of what is behind the end.
DATA folds<>+0(SB)/8, $0
DATA folds<>+8(SB)/8, $0
DATA folds<>+16(SB)/8, $0
DATA folds<>+24(SB)/8, $0
DATA folds<>+32(SB)/8, $0
DATA folds<>+40(SB)/8, $0
DATA folds<>+48(SB)/8, $0
DATA folds<>+56(SB)/8, $0
DATA folds<>+64(SB)/8, $0
DATA folds<>+72(SB)/8, $0
DATA folds<>+80(SB)/8, $0x01db710640
DATA folds<>+88(SB)/8, $0x00b66b1fa6
DATA folds<>+96(SB)/8, $0x01751997d0
DATA folds<>+104(SB)/8, $0x00ccaa009e
DATA folds<>+112(SB)/8, $0x00f1da05aa
DATA folds<>+120(SB)/8, $0x015a546366
DATA folds<>+128(SB)/8, $0x003db1ecdc
DATA folds<>+136(SB)/8, $0x0174359406
DATA folds<>+144(SB)/8, $0x0154442bd4
DATA folds<>+152(SB)/8, $0x01c6e41596
DATA folds<>+160(SB)/8, $0x01c7569e54
DATA folds<>+168(SB)/8, $0x00ae0b5394
DATA folds<>+176(SB)/8, $0x00df068dc2
DATA folds<>+184(SB)/8, $0x018cb44e58
DATA folds<>+192(SB)/8, $0x01ea89367e
DATA folds<>+200(SB)/8, $0x01d7cfc6ac
DATA folds<>+208(SB)/8, $0x01e88ef372
DATA folds<>+216(SB)/8, $0x014a7fe880
DATA folds<>+224(SB)/8, $0x01fdc60a7c
DATA folds<>+232(SB)/8, $0x003f41287a
DATA folds<>+240(SB)/8, $0x00e3543be0
DATA folds<>+248(SB)/8, $0x014b57d3f0
DATA folds<>+256(SB)/8, $0x01816ab61c
DATA folds<>+264(SB)/8, $0x010aae2566
DATA folds<>+272(SB)/8, $0x01821d8bc0
DATA folds<>+280(SB)/8, $0x012e958ac4
DATA folds<>+288(SB)/8, $0x01b35adb0e
DATA folds<>+296(SB)/8, $0x01e7146aac
DATA folds<>+304(SB)/8, $0x019159bb02
DATA folds<>+312(SB)/8, $0x0125f17dfc
DATA folds<>+320(SB)/8, $0x01db06f64c
DATA folds<>+328(SB)/8, $0x01c47d2a9c
GLOBL folds<>(SB), RODATA|NOPTR, $336

// ends carries the words of 16 bytes to the last but one.
DATA ends<>+0(SB)/8, $0x0140d44a2e
DATA ends<>+8(SB)/8, $0x0163cd6124
DATA ends<>+16(SB)/8, $0x00ccaa009e
DATA ends<>+24(SB)/8, $0
GLOBL ends<>(SB), RODATA|NOPTR, $32

// barrett is the polynomial and its inverse.
DATA barrett<>+0(SB)/8, $0x01db710641
DATA barrett<>+8(SB)/8, $0x01f7011641
GLOBL barrett<>(SB), RODATA|NOPTR, $16

DATA low32<>+0(SB)/8, $0x00000000ffffffff
DATA low32<>+8(SB)/8, $0x00000000ffffffff
GLOBL low32<>(SB), RODATA|NOPTR, $16

// head is three tables, all read at 16 minus the number of leading zero bytes.
//
// At 0: moves 16 bytes behind the leading zeros.
DATA head<>+0(SB)/8, $0x8080808080808080
DATA head<>+8(SB)/8, $0x8080808080808080
DATA head<>+16(SB)/8, $0x0706050403020100
DATA head<>+24(SB)/8, $0x0f0e0d0c0b0a0908

// At 32: ones where the IPv4, UDP and BTH headers may change on the way: type of service, time to live, both checksums, byte 4 of the BTH.
DATA head<>+32(SB)/8, $0
DATA head<>+40(SB)/8, $0
DATA head<>+48(SB)/8, $0x000000000000ff00
DATA head<>+56(SB)/8, $0x00000000ffff00ff
DATA head<>+64(SB)/8, $0
DATA head<>+72(SB)/8, $0x00000000ffff0000
DATA head<>+80(SB)/8, $0x00000000000000ff
DATA head<>+88(SB)/8, $0

// At 96: the state behind the ones that stand for the LRH: afterOnes.
DATA head<>+96(SB)/8, $0
DATA head<>+104(SB)/8, $0
DATA head<>+112(SB)/8, $0x00000000debb20e3
DATA head<>+120(SB)/8, $0
DATA head<>+128(SB)/8, $0
DATA head<>+136(SB)/8, $0
GLOBL head<>(SB), RODATA|NOPTR, $144

// CARRY carries x as far as the constants at k say.
#define CARRY(k, x) \
	VPCLMULQDQ $0x00, k, x, X8; \
	VPCLMULQDQ $0x11, k, x, x; \
	VPXOR X8, x, x

// STEP carries x 128 bytes on, to the bytes at d.
#define STEP(d, x, t) \
	VPCLMULQDQ $0x00, X10, x, t; \
	VPCLMULQDQ $0x11, X10, x, x; \
	VPXOR d, t, t; \
	VPXOR t, x, x

// WITHIN is the address i bytes into the packet, or that of its last block where it ends before.
#define WITHIN(i) \
	LEAQ i(SI), R12; \
	CMPQ R12, R11; \
	CMOVQHI R11, R12

// func icrcIPv4(data *byte, n int) uint32
TEXT ·icrcIPv4(SB), NOSPLIT, $0-20
	MOVQ data+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ CX, AX
	NEGQ AX
	ANDQ $15, AX
	LEAQ head<>+16(SB), DX
	SUBQ AX, DX

	VMOVDQU (SI), X0
	VPSHUFB (DX), X0, X0
	VPOR 32(DX), X0, X0
	VPXOR 96(DX), X0, X0

	SUBQ AX, SI
	ADDQ AX, CX
	VMOVDQU 16(SI), X1
	VPOR 48(DX), X1, X1
	VPXOR 112(DX), X1, X1

	VMOVDQU 32(SI), X2
	VPOR 64(DX), X2, X2

	LEAQ folds<>+80(SB), R9
	CMPQ CX, $256
	JAE long

	// Each block is carried to the end at once: they need not wait for each other. R10 is the end of the constants for all of them.
	LEAQ (R9)(CX*1), R10
	CARRY(-16(R10), X0)
	CARRY(-32(R10), X1)
	CARRY(-48(R10), X2)
	VPXOR X1, X0, X0
	VPXOR X2, X0, X0

	// No branch asks how many of the next five blocks there are: packets of many lengths take turns, and a wrong guess costs more than the
	// blocks. What is behind the last counts for nothing.
	LEAQ -16(SI)(CX*1), R11
	WITHIN(48)
	VMOVDQU (R12), X3
	CARRY(-64(R10), X3)
	WITHIN(64)
	VMOVDQU (R12), X4
	CARRY(-80(R10), X4)
	WITHIN(80)
	VMOVDQU (R12), X5
	CARRY(-96(R10), X5)
	WITHIN(96)
	VMOVDQU (R12), X6
	CARRY(-112(R10), X6)
	WITHIN(112)
	VMOVDQU (R12), X7
	CARRY(-128(R10), X7)
	VPXOR X3, X4, X4
	VPXOR X5, X6, X6
	VPXOR X4, X0, X0
	VPXOR X6, X7, X7
	VPXOR X7, X0, X0
	ADDQ $128, SI
	SUBQ $128, CX
	JA rest
	JMP reduce

long:
	CMPB ·wide(SB), $0
	JNE wider
	VMOVDQU 48(SI), X3
	VMOVDQU 64(SI), X4
	VMOVDQU 80(SI), X5
	VMOVDQU 96(SI), X6
	VMOVDQU 112(SI), X7
	VMOVDQU 128(R9), X10
	ADDQ $128, SI
	SUBQ $128, CX

eight:
	STEP((SI), X0, X8)
	STEP(16(SI), X1, X9)
	STEP(32(SI), X2, X11)
	STEP(48(SI), X3, X12)
	STEP(64(SI), X4, X8)
	STEP(80(SI), X5, X9)
	STEP(96(SI), X6, X11)
	STEP(112(SI), X7, X12)
	ADDQ $128, SI
	SUBQ $128, CX
	CMPQ CX, $128
	JAE eight

together:
	LEAQ (R9)(CX*1), R10
	CARRY(112(R10), X0)
	CARRY(96(R10), X1)
	CARRY(80(R10), X2)
	CARRY(64(R10), X3)
	CARRY(48(R10), X4)
	CARRY(32(R10), X5)
	CARRY(16(R10), X6)
	CARRY((R10), X7)
	VPXOR X1, X0, X0
	VPXOR X3, X2, X2
	VPXOR X5, X4, X4
	VPXOR X7, X6, X6
	VPXOR X2, X0, X0
	VPXOR X6, X4, X4
	VPXOR X4, X0, X0
	TESTQ CX, CX
	JZ reduce

rest:
	VMOVDQU (SI), X1
	CARRY(-16(R9)(CX*1), X1)
	VPXOR X1, X0, X0
	ADDQ $16, SI
	SUBQ $16, CX
	JNZ rest

reduce:
	// 16 bytes to 8: the first three words are carried to the last two.
	VMOVDQU low32<>(SB), X6
	VMOVDQU ends<>(SB), X4
	VPSRLQ $32, X0, X1
	VPAND X6, X0, X0
	VPCLMULQDQ $0x00, ends<>+16(SB), X1, X3
	VPCLMULQDQ $0x00, X4, X0, X2
	VPCLMULQDQ $0x11, X4, X0, X0
	VPSRLDQ $8, X1, X1
	VPXOR X3, X1, X1
	VPXOR X2, X0, X0
	VPXOR X1, X0, X0

	// Barrett reduction to 4 bytes.
	VMOVDQU barrett<>(SB), X4
	VPAND X6, X0, X1
	VPCLMULQDQ $0x10, X4, X1, X1
	VPAND X6, X1, X1
	VPCLMULQDQ $0x00, X4, X1, X1
	VPXOR X1, X0, X0
	VPEXTRD $1, X0, AX
	NOTL AX
	MOVL AX, ret+16(FP)
	RET

wider:
	// The same with four blocks in a register.
	VINSERTI32X4 $1, X1, Z0, Z0
	VINSERTI32X4 $2, X2, Z0, Z0
	VINSERTI32X4 $3, 48(SI), Z0, Z0
	VMOVDQU64 64(SI), Z1
	VBROADCASTI32X4 128(R9), Z10
	ADDQ $128, SI
	SUBQ $128, CX

fours:
	VPCLMULQDQ $0x00, Z10, Z0, Z2
	VPCLMULQDQ $0x11, Z10, Z0, Z0
	VPCLMULQDQ $0x00, Z10, Z1, Z3
	VPCLMULQDQ $0x11, Z10, Z1, Z1
	VPTERNLOGQ $0x96, (SI), Z2, Z0
	VPTERNLOGQ $0x96, 64(SI), Z3, Z1
	ADDQ $128, SI
	SUBQ $128, CX
	CMPQ CX, $128
	JAE fours
	VEXTRACTI32X4 $1, Z1, X5
	VEXTRACTI32X4 $2, Z1, X6
	VEXTRACTI32X4 $3, Z1, X7
	VMOVDQU X1, X4
	VEXTRACTI32X4 $1, Z0, X1
	VEXTRACTI32X4 $2, Z0, X2
	VEXTRACTI32X4 $3, Z0, X3
	VZEROUPPER
	JMP together
