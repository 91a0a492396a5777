#include "textflag.h"

// The ICRC of RoCEv2 over IPv4 by carry-less multiplication: a CRC of packets of 40 to some thousand bytes in one pass, the fields of table T6
// masked on the way. Method and constants: Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
// Instruction", Intel 2009, in the bit-reflected form for the polynomial of IEEE 802.3.
//
// The packet is taken as if zero bytes stood before it, as many as make its length a multiple of 16. From state zero they change nothing.

// folds carries 16 bytes over as many bytes as its offset says.
DATA folds<>+0(SB)/8, $0x01db710640
DATA folds<>+8(SB)/8, $0x00b66b1fa6
DATA folds<>+16(SB)/8, $0x01751997d0
DATA folds<>+24(SB)/8, $0x00ccaa009e
DATA folds<>+32(SB)/8, $0x00f1da05aa
DATA folds<>+40(SB)/8, $0x015a546366
DATA folds<>+48(SB)/8, $0x003db1ecdc
DATA folds<>+56(SB)/8, $0x0174359406
DATA folds<>+64(SB)/8, $0x0154442bd4
DATA folds<>+72(SB)/8, $0x01c6e41596
DATA folds<>+80(SB)/8, $0x01c7569e54
DATA folds<>+88(SB)/8, $0x00ae0b5394
DATA folds<>+96(SB)/8, $0x00df068dc2
DATA folds<>+104(SB)/8, $0x018cb44e58
DATA folds<>+112(SB)/8, $0x01ea89367e
DATA folds<>+120(SB)/8, $0x01d7cfc6ac
DATA folds<>+128(SB)/8, $0x01e88ef372
DATA folds<>+136(SB)/8, $0x014a7fe880
DATA folds<>+144(SB)/8, $0x01fdc60a7c
DATA folds<>+152(SB)/8, $0x003f41287a
DATA folds<>+160(SB)/8, $0x00e3543be0
DATA folds<>+168(SB)/8, $0x014b57d3f0
DATA folds<>+176(SB)/8, $0x01816ab61c
DATA folds<>+184(SB)/8, $0x010aae2566
DATA folds<>+192(SB)/8, $0x01821d8bc0
DATA folds<>+200(SB)/8, $0x012e958ac4
DATA folds<>+208(SB)/8, $0x01b35adb0e
DATA folds<>+216(SB)/8, $0x01e7146aac
DATA folds<>+224(SB)/8, $0x019159bb02
DATA folds<>+232(SB)/8, $0x0125f17dfc
DATA folds<>+240(SB)/8, $0x01db06f64c
DATA folds<>+248(SB)/8, $0x01c47d2a9c
GLOBL folds<>(SB), RODATA|NOPTR, $256

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

// The three tables are read at 16 minus the number of leading zero bytes.

// shift moves 16 bytes behind the leading zeros.
DATA shift<>+0(SB)/8, $0x8080808080808080
DATA shift<>+8(SB)/8, $0x8080808080808080
DATA shift<>+16(SB)/8, $0x0706050403020100
DATA shift<>+24(SB)/8, $0x0f0e0d0c0b0a0908
GLOBL shift<>(SB), RODATA|NOPTR, $32

// masks has ones where the IPv4, UDP and BTH headers may change on the way: type of service, time to live, both checksums, byte 4 of the BTH.
DATA masks<>+0(SB)/8, $0
DATA masks<>+8(SB)/8, $0
DATA masks<>+16(SB)/8, $0x000000000000ff00
DATA masks<>+24(SB)/8, $0x00000000ffff00ff
DATA masks<>+32(SB)/8, $0
DATA masks<>+40(SB)/8, $0x00000000ffff0000
DATA masks<>+48(SB)/8, $0x00000000000000ff
DATA masks<>+56(SB)/8, $0
GLOBL masks<>(SB), RODATA|NOPTR, $64

// start is the state behind the ones that stand for the LRH: afterOnes.
DATA start<>+0(SB)/8, $0
DATA start<>+8(SB)/8, $0
DATA start<>+16(SB)/8, $0x00000000debb20e3
DATA start<>+24(SB)/8, $0
DATA start<>+32(SB)/8, $0
DATA start<>+40(SB)/8, $0
GLOBL start<>(SB), RODATA|NOPTR, $48

// CARRY carries x as far as the constants in k say.
#define CARRY(x, k) \
	MOVO x, X5; \
	PCLMULQDQ $0x00, k, x; \
	PCLMULQDQ $0x11, k, X5; \
	PXOR X5, x

// func icrcIPv4(data *byte, n int) uint32
TEXT ·icrcIPv4(SB), NOSPLIT, $0-20
	MOVQ data+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ CX, AX
	NEGQ AX
	ANDQ $15, AX
	MOVQ $16, BX
	SUBQ AX, BX
	LEAQ shift<>(SB), DX
	LEAQ masks<>(SB), DI
	LEAQ start<>(SB), R8

	MOVOU (SI), X0
	MOVOU (DX)(BX*1), X5
	PSHUFB X5, X0
	MOVOU (DI)(BX*1), X6
	POR X6, X0
	MOVOU (R8)(BX*1), X7
	PXOR X7, X0

	SUBQ AX, SI
	ADDQ AX, CX
	MOVOU 16(SI), X1
	MOVOU 16(DI)(BX*1), X6
	POR X6, X1
	MOVOU 16(R8)(BX*1), X7
	PXOR X7, X1

	MOVOU 32(SI), X2
	MOVOU 32(DI)(BX*1), X6
	POR X6, X2

	LEAQ folds<>(SB), R9
	CMPQ CX, $256
	JAE long

	// Each block is carried to the end at once: they need not wait for each other. R9 at CX is where 16 bytes behind the rest are carried from.
	MOVOU -16(R9)(CX*1), X4
	CARRY(X0, X4)
	MOVOU -32(R9)(CX*1), X4
	CARRY(X1, X4)
	MOVOU -48(R9)(CX*1), X4
	CARRY(X2, X4)
	PXOR X1, X0
	PXOR X2, X0
	ADDQ $48, SI
	SUBQ $48, CX
	JMP rest

long:
	MOVOU 48(SI), X3
	MOVOU 64(R9), X4
	ADDQ $64, SI
	SUBQ $64, CX

four:
	MOVOU (SI), X8
	MOVOU 16(SI), X9
	MOVOU 32(SI), X10
	MOVOU 48(SI), X11
	CARRY(X0, X4)
	CARRY(X1, X4)
	CARRY(X2, X4)
	CARRY(X3, X4)
	PXOR X8, X0
	PXOR X9, X1
	PXOR X10, X2
	PXOR X11, X3
	ADDQ $64, SI
	SUBQ $64, CX
	CMPQ CX, $64
	JAE four
	MOVOU 48(R9)(CX*1), X4
	CARRY(X0, X4)
	MOVOU 32(R9)(CX*1), X4
	CARRY(X1, X4)
	MOVOU 16(R9)(CX*1), X4
	CARRY(X2, X4)
	MOVOU (R9)(CX*1), X4
	CARRY(X3, X4)
	PXOR X1, X0
	PXOR X3, X2
	PXOR X2, X0

rest:
	TESTQ CX, CX
	JZ reduce

one:
	MOVOU (SI), X1
	MOVOU -16(R9)(CX*1), X4
	CARRY(X1, X4)
	PXOR X1, X0
	ADDQ $16, SI
	SUBQ $16, CX
	JNZ one

reduce:
	// 16 bytes to 8: the first three words are carried to the last two.
	MOVOU low32<>(SB), X6
	MOVOU ends<>(SB), X4
	MOVOU ends<>+16(SB), X7
	MOVO X0, X1
	PAND X6, X0
	PSRLQ $32, X1
	MOVO X0, X2
	PCLMULQDQ $0x00, X4, X0
	PCLMULQDQ $0x11, X4, X2
	MOVO X1, X3
	PCLMULQDQ $0x00, X7, X3
	PSRLDQ $8, X1
	PXOR X3, X1
	PXOR X2, X0
	PXOR X1, X0

	// Barrett reduction to 4 bytes.
	MOVOU barrett<>(SB), X4
	MOVO X0, X1
	PAND X6, X1
	PCLMULQDQ $0x10, X4, X1
	PAND X6, X1
	PCLMULQDQ $0x00, X4, X1
	PXOR X1, X0
	PEXTRD $1, X0, AX
	NOTL AX
	MOVL AX, ret+16(FP)
	RET
