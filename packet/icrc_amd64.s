#include "textflag.h"

// The ICRC of RoCEv2 over IPv4 by carry-less multiplication: a CRC of packets of 40 to some thousand bytes in one pass, the fields of table T6
// masked on the way. Method and constants: Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
// Instruction", Intel 2009, in the bit-reflected form for the polynomial of IEEE 802.3.
//
// The packet is taken as if zero bytes stood before it, as many as make its length a multiple of 16. From state zero they change nothing.

// fold64 carries 16 bytes over 64, fold16 over 16.
DATA fold64<>+0(SB)/8, $0x0154442bd4
DATA fold64<>+8(SB)/8, $0x01c6e41596
GLOBL fold64<>(SB), RODATA|NOPTR, $16

DATA fold16<>+0(SB)/8, $0x01751997d0
DATA fold16<>+8(SB)/8, $0x00ccaa009e
GLOBL fold16<>(SB), RODATA|NOPTR, $16

DATA fold8<>+0(SB)/8, $0x0163cd6124
DATA fold8<>+8(SB)/8, $0
GLOBL fold8<>(SB), RODATA|NOPTR, $16

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

// FOLD carries x over the distance of the constants in X4, and adds it to the data in next.
#define FOLD(x, next) \
	MOVO x, X5; \
	PCLMULQDQ $0x00, X4, x; \
	PCLMULQDQ $0x11, X4, X5; \
	PXOR X5, next; \
	PXOR x, next

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

	CMPQ CX, $128
	JAE long
	MOVOU fold16<>(SB), X4
	FOLD(X0, X1)
	FOLD(X1, X2)
	MOVO X2, X0
	ADDQ $48, SI
	SUBQ $48, CX
	JMP rest

long:
	MOVOU 48(SI), X3
	MOVOU fold64<>(SB), X4
	ADDQ $64, SI
	SUBQ $64, CX

four:
	MOVOU (SI), X8
	MOVOU 16(SI), X9
	MOVOU 32(SI), X10
	MOVOU 48(SI), X11
	FOLD(X0, X8)
	FOLD(X1, X9)
	FOLD(X2, X10)
	FOLD(X3, X11)
	MOVO X8, X0
	MOVO X9, X1
	MOVO X10, X2
	MOVO X11, X3
	ADDQ $64, SI
	SUBQ $64, CX
	CMPQ CX, $64
	JAE four
	MOVOU fold16<>(SB), X4
	FOLD(X0, X1)
	FOLD(X1, X2)
	FOLD(X2, X3)
	MOVO X3, X0

rest:
	TESTQ CX, CX
	JZ reduce

one:
	MOVOU (SI), X1
	FOLD(X0, X1)
	MOVO X1, X0
	ADDQ $16, SI
	SUBQ $16, CX
	JNZ one

reduce:
	// 16 bytes to 8 bytes and 4 more of remainder.
	MOVOU low32<>(SB), X6
	MOVO X0, X1
	PSRLDQ $8, X1
	PCLMULQDQ $0x10, X4, X0
	PXOR X1, X0
	MOVO X0, X1
	PSRLDQ $4, X1
	PAND X6, X0
	MOVOU fold8<>(SB), X4
	PCLMULQDQ $0x00, X4, X0
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
