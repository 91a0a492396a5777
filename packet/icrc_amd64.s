#include "textflag.h"

// The ICRC of RoCEv2 over IPv4 by carry-less multiplication: a CRC of packets of 40 to some thousand bytes in one pass, the fields of table T6
// masked on the way. Method and constants: Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
// Instruction", Intel 2009, in the bit-reflected form for the polynomial of IEEE 802.3.
//
// Each block of 16 bytes is carried to the end of the packet and eight bytes further. What that makes of all of them is 12 bytes long, and one Barrett reduction takes it to
// the CRC.
//
// icrcIPv4 takes the packet as if zero bytes stood before it, as many as make its length a multiple of 16. From state zero they change nothing.

// folds carries 16 bytes over as many bytes as its offset says, less 80, and the eight behind the end: before it stand zeros, which make nothing of what is behind the end.
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
DATA folds<>+80(SB)/8, $0x00ccaa009e
DATA folds<>+88(SB)/8, $0x01db710640
DATA folds<>+96(SB)/8, $0x015a546366
DATA folds<>+104(SB)/8, $0x01751997d0
DATA folds<>+112(SB)/8, $0x0174359406
DATA folds<>+120(SB)/8, $0x00f1da05aa
DATA folds<>+128(SB)/8, $0x01c6e41596
DATA folds<>+136(SB)/8, $0x003db1ecdc
DATA folds<>+144(SB)/8, $0x00ae0b5394
DATA folds<>+152(SB)/8, $0x0154442bd4
DATA folds<>+160(SB)/8, $0x018cb44e58
DATA folds<>+168(SB)/8, $0x01c7569e54
DATA folds<>+176(SB)/8, $0x01d7cfc6ac
DATA folds<>+184(SB)/8, $0x00df068dc2
DATA folds<>+192(SB)/8, $0x014a7fe880
DATA folds<>+200(SB)/8, $0x01ea89367e
DATA folds<>+208(SB)/8, $0x003f41287a
DATA folds<>+216(SB)/8, $0x01e88ef372
DATA folds<>+224(SB)/8, $0x014b57d3f0
DATA folds<>+232(SB)/8, $0x01fdc60a7c
DATA folds<>+240(SB)/8, $0x010aae2566
DATA folds<>+248(SB)/8, $0x00e3543be0
DATA folds<>+256(SB)/8, $0x012e958ac4
DATA folds<>+264(SB)/8, $0x01816ab61c
DATA folds<>+272(SB)/8, $0x01e7146aac
DATA folds<>+280(SB)/8, $0x01821d8bc0
DATA folds<>+288(SB)/8, $0x0125f17dfc
DATA folds<>+296(SB)/8, $0x01b35adb0e
DATA folds<>+304(SB)/8, $0x01c47d2a9c
DATA folds<>+312(SB)/8, $0x019159bb02
DATA folds<>+320(SB)/8, $0x01322d1430
DATA folds<>+328(SB)/8, $0x01db06f64c
GLOBL folds<>(SB), RODATA|NOPTR, $336

// over128 carries 16 bytes over 128.
DATA over128<>+0(SB)/8, $0x01e88ef372
DATA over128<>+8(SB)/8, $0x014a7fe880
GLOBL over128<>(SB), RODATA|NOPTR, $16

// barrett is the inverse of the polynomial, modulo x to the 64th, and the polynomial.
DATA barrett<>+0(SB)/8, $0xb4e5b025f7011641
DATA barrett<>+8(SB)/8, $0x01db710641
GLOBL barrett<>(SB), RODATA|NOPTR, $16

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

// STEP carries x 128 bytes on, to the bytes at d, by the constants in k.
#define STEP(d, x, k, t) \
	VPCLMULQDQ $0x00, k, x, t; \
	VPCLMULQDQ $0x11, k, x, x; \
	VPXOR d, t, t; \
	VPXOR t, x, x

// WITHIN is the address i bytes into the packet, or that of its last block where it ends before.
#define WITHIN(i) \
	LEAQ i(SI), R12; \
	CMPQ R12, R11; \
	CMOVQHI R11, R12

// REDUCE makes the CRC in AX of the 12 bytes in X0, by Barrett reduction with a quotient of 64 bits: the first eight become zeros, the last four are the CRC.
#define REDUCE \
	VMOVDQU barrett<>(SB), X4; \
	VPCLMULQDQ $0x00, X4, X0, X1; \
	VPCLMULQDQ $0x10, X4, X1, X1; \
	VPXOR X1, X0, X0; \
	VPEXTRD $2, X0, AX; \
	NOTL AX

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
	VMOVDQU 48(SI), X3
	VMOVDQU 64(SI), X4
	VMOVDQU 80(SI), X5
	VMOVDQU 96(SI), X6
	VMOVDQU 112(SI), X7
	VMOVDQU over128<>(SB), X10
	ADDQ $128, SI
	SUBQ $128, CX

eight:
	STEP((SI), X0, X10, X8)
	STEP(16(SI), X1, X10, X9)
	STEP(32(SI), X2, X10, X11)
	STEP(48(SI), X3, X10, X12)
	STEP(64(SI), X4, X10, X8)
	STEP(80(SI), X5, X10, X9)
	STEP(96(SI), X6, X10, X11)
	STEP(112(SI), X7, X10, X12)
	ADDQ $128, SI
	SUBQ $128, CX
	CMPQ CX, $128
	JAE eight

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
	REDUCE
	MOVL AX, ret+16(FP)
	RET

// changing is, by bit, the bytes of the IPv4, UDP and BTH headers that may change on the way: type of service, time to live, both checksums, byte 4 of the BTH.
#define changing 0x10C000D02

// fixed is what is added to the first bytes without those: afterOnes, and ones in their place.
DATA fixed<>+0(SB)/8, $0x00000000debbdfe3
DATA fixed<>+8(SB)/8, $0x00000000ffff00ff
DATA fixed<>+16(SB)/8, $0
DATA fixed<>+24(SB)/8, $0x00000000ffff0000
DATA fixed<>+32(SB)/8, $0x00000000000000ff
DATA fixed<>+40(SB)/8, $0
DATA fixed<>+48(SB)/8, $0
DATA fixed<>+56(SB)/8, $0
GLOBL fixed<>(SB), RODATA|NOPTR, $64

// places is the numbers of 256 bytes.
DATA places<>+0(SB)/8, $0x0706050403020100
DATA places<>+8(SB)/8, $0x0f0e0d0c0b0a0908
DATA places<>+16(SB)/8, $0x1716151413121110
DATA places<>+24(SB)/8, $0x1f1e1d1c1b1a1918
DATA places<>+32(SB)/8, $0x2726252423222120
DATA places<>+40(SB)/8, $0x2f2e2d2c2b2a2928
DATA places<>+48(SB)/8, $0x3736353433323130
DATA places<>+56(SB)/8, $0x3f3e3d3c3b3a3938
DATA places<>+64(SB)/8, $0x4746454443424140
DATA places<>+72(SB)/8, $0x4f4e4d4c4b4a4948
DATA places<>+80(SB)/8, $0x5756555453525150
DATA places<>+88(SB)/8, $0x5f5e5d5c5b5a5958
DATA places<>+96(SB)/8, $0x6766656463626160
DATA places<>+104(SB)/8, $0x6f6e6d6c6b6a6968
DATA places<>+112(SB)/8, $0x7776757473727170
DATA places<>+120(SB)/8, $0x7f7e7d7c7b7a7978
DATA places<>+128(SB)/8, $0x8786858483828180
DATA places<>+136(SB)/8, $0x8f8e8d8c8b8a8988
DATA places<>+144(SB)/8, $0x9796959493929190
DATA places<>+152(SB)/8, $0x9f9e9d9c9b9a9998
DATA places<>+160(SB)/8, $0xa7a6a5a4a3a2a1a0
DATA places<>+168(SB)/8, $0xafaeadacabaaa9a8
DATA places<>+176(SB)/8, $0xb7b6b5b4b3b2b1b0
DATA places<>+184(SB)/8, $0xbfbebdbcbbbab9b8
DATA places<>+192(SB)/8, $0xc7c6c5c4c3c2c1c0
DATA places<>+200(SB)/8, $0xcfcecdcccbcac9c8
DATA places<>+208(SB)/8, $0xd7d6d5d4d3d2d1d0
DATA places<>+216(SB)/8, $0xdfdedddcdbdad9d8
DATA places<>+224(SB)/8, $0xe7e6e5e4e3e2e1e0
DATA places<>+232(SB)/8, $0xefeeedecebeae9e8
DATA places<>+240(SB)/8, $0xf7f6f5f4f3f2f1f0
DATA places<>+248(SB)/8, $0xfffefdfcfbfaf9f8
GLOBL places<>(SB), RODATA|NOPTR, $256

// FURTHER carries x as far as the constants in Z10 say, to the bytes in d.
#define FURTHER(d, x) \
	VPCLMULQDQ $0x00, Z10, x, Z8; \
	VPCLMULQDQ $0x11, Z10, x, x; \
	VPTERNLOGQ $0x96, d, Z8, x

// func icrcWide(data *byte, n int) uint32
//
// The packet is taken 256 bytes at a time, as if zeros came after it that make it as many. What they do to the CRC is undone by the last constants: those of
// minus as many bytes.
TEXT ·icrcWide(SB), NOSPLIT, $0-20
	MOVQ data+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ $~changing, AX
	KMOVQ AX, K1
	CMPQ CX, $256
	JAE more

	VPBROADCASTB CX, Z9
	VPCMPUB $6, places<>+0(SB), Z9, K1, K1
	VPCMPUB $6, places<>+64(SB), Z9, K2
	VPCMPUB $6, places<>+128(SB), Z9, K3
	VPCMPUB $6, places<>+192(SB), Z9, K4
	VMOVDQU8.Z (SI), K1, Z0
	VMOVDQU8.Z 64(SI), K2, Z1
	VMOVDQU8.Z 128(SI), K3, Z2
	VMOVDQU8.Z 192(SI), K4, Z3
	VPXORQ fixed<>(SB), Z0, Z0
	JMP last

more:
	VMOVDQU8.Z (SI), K1, Z0
	VMOVDQU64 64(SI), Z1
	VMOVDQU64 128(SI), Z2
	VMOVDQU64 192(SI), Z3
	VPXORQ fixed<>(SB), Z0, Z0
	VBROADCASTI32X4 ·carry256(SB), Z10
	ADDQ $256, SI
	SUBQ $256, CX
	CMPQ CX, $256
	JB end

loop:
	FURTHER((SI), Z0)
	FURTHER(64(SI), Z1)
	FURTHER(128(SI), Z2)
	FURTHER(192(SI), Z3)
	ADDQ $256, SI
	SUBQ $256, CX
	CMPQ CX, $256
	JAE loop

end:
	VPBROADCASTB CX, Z9
	VPCMPUB $6, places<>+0(SB), Z9, K1
	VPCMPUB $6, places<>+64(SB), Z9, K2
	VPCMPUB $6, places<>+128(SB), Z9, K3
	VPCMPUB $6, places<>+192(SB), Z9, K4
	VMOVDQU8.Z (SI), K1, Z4
	VMOVDQU8.Z 64(SI), K2, Z5
	VMOVDQU8.Z 128(SI), K3, Z6
	VMOVDQU8.Z 192(SI), K4, Z7
	FURTHER(Z4, Z0)
	FURTHER(Z5, Z1)
	FURTHER(Z6, Z2)
	FURTHER(Z7, Z3)

last:
	// All are carried to the end at once. R9 is where the constants for so many bytes begin: see carries.
	MOVQ CX, R9
	ANDQ $15, R9
	SHLQ $9, R9
	ANDQ $-16, CX
	LEAQ ·carries+240(SB), R10
	ADDQ R10, R9
	SUBQ CX, R9
	VPCLMULQDQ $0x00, (R9), Z0, Z4
	VPCLMULQDQ $0x11, (R9), Z0, Z0
	VPCLMULQDQ $0x00, 64(R9), Z1, Z5
	VPCLMULQDQ $0x11, 64(R9), Z1, Z1
	VPCLMULQDQ $0x00, 128(R9), Z2, Z6
	VPCLMULQDQ $0x11, 128(R9), Z2, Z2
	VPCLMULQDQ $0x00, 192(R9), Z3, Z7
	VPCLMULQDQ $0x11, 192(R9), Z3, Z3
	VPTERNLOGQ $0x96, Z4, Z5, Z0
	VPTERNLOGQ $0x96, Z6, Z7, Z1
	VPTERNLOGQ $0x96, Z2, Z3, Z0
	VPXORQ Z1, Z0, Z0
	VEXTRACTI64X4 $1, Z0, Y1
	VPXOR Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPXOR X1, X0, X0
	VZEROUPPER
	REDUCE
	MOVL AX, ret+16(FP)
	RET

// first is two tables for the first eight bytes, which stand behind 24 zeros.
//
// At 0: ones where they count, which is not for the type of service. At 32: what is added, afterOnes and ones in place of that.
DATA first<>+0(SB)/8, $0
DATA first<>+8(SB)/8, $0
DATA first<>+16(SB)/8, $0
DATA first<>+24(SB)/8, $0xffffffffffff00ff
DATA first<>+32(SB)/8, $0
DATA first<>+40(SB)/8, $0
DATA first<>+48(SB)/8, $0
DATA first<>+56(SB)/8, $0x00000000debbdfe3
GLOBL first<>(SB), RODATA|NOPTR, $64

// second is ones where the 32 bytes after those may change on the way.
DATA second<>+0(SB)/8, $0x00000000ffff00ff
DATA second<>+8(SB)/8, $0
DATA second<>+16(SB)/8, $0x00000000ffff0000
DATA second<>+24(SB)/8, $0x00000000000000ff
GLOBL second<>(SB), RODATA|NOPTR, $32

// keep is, read at a number of bytes, ones for as many of the last of 32.
DATA keep<>+0(SB)/8, $0
DATA keep<>+8(SB)/8, $0
DATA keep<>+16(SB)/8, $0
DATA keep<>+24(SB)/8, $0
DATA keep<>+32(SB)/8, $~0
DATA keep<>+40(SB)/8, $~0
DATA keep<>+48(SB)/8, $~0
DATA keep<>+56(SB)/8, $~0
GLOBL keep<>(SB), RODATA|NOPTR, $64

// BOTH carries x, a pair of blocks, as far as the constants at k say.
#define BOTH(k, x, t) \
	VPCLMULQDQ $0x00, k, x, t; \
	VPCLMULQDQ $0x11, k, x, x; \
	VPXOR t, x, x

// ROW makes R9 the place of the constants that carry a pair over CX bytes, and DX the number of those that whole pairs leave: see pairs.
#define ROW \
	MOVL CX, DX; \
	ANDL $31, DX; \
	SUBQ DX, CX; \
	LEAQ (DX)(DX*4), R9; \
	SHLQ $6, R9; \
	SUBQ CX, R9; \
	LEAQ ·pairs+192(SB), R10; \
	ADDQ R10, R9

// func icrcPairs(data *byte, n int) uint32
//
// The packet is taken 32 bytes at a time, as if 24 zeros stood before it: so all that may change is in the first two pairs of blocks, at the same place whatever the length.
// The bytes behind the last whole pair are taken as the end of the last 32, without those before them.
TEXT ·icrcPairs(SB), NOSPLIT, $0-20
	MOVQ data+0(FP), SI
	MOVQ n+8(FP), CX
	LEAQ -32(SI)(CX*1), R11
	VPBROADCASTQ (SI), Y0
	VPAND first<>+0(SB), Y0, Y0
	VPXOR first<>+32(SB), Y0, Y0
	VMOVDQU 8(SI), Y1
	VPOR second<>(SB), Y1, Y1
	SUBQ $40, CX
	CMPQ CX, $128
	JAE long

	ROW
	VPCLMULQDQ $0x11, -32(R9), Y0, Y0
	BOTH((R9), Y1, Y8)
	VPXOR Y1, Y0, Y0
	ADDQ $40, SI

ends:
	// As in icrcIPv4, no branch asks how many pairs there are.
	WITHIN(0)
	VMOVDQU (R12), Y2
	BOTH(32(R9), Y2, Y8)
	WITHIN(32)
	VMOVDQU (R12), Y3
	BOTH(64(R9), Y3, Y9)
	WITHIN(64)
	VMOVDQU (R12), Y4
	BOTH(96(R9), Y4, Y8)
	LEAQ keep<>(SB), R10
	VMOVDQU (R10)(DX*1), Y5
	VPAND (R11), Y5, Y5
	BOTH(·pairs+192(SB), Y5, Y9)
	VPXOR Y2, Y0, Y0
	VPXOR Y3, Y4, Y4
	VPXOR Y5, Y0, Y0
	VPXOR Y4, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPXOR X1, X0, X0
	VZEROUPPER
	REDUCE
	MOVL AX, ret+16(FP)
	RET

long:
	VMOVDQU 40(SI), Y2
	VMOVDQU 72(SI), Y3
	VBROADCASTI128 over128<>(SB), Y10
	ADDQ $104, SI
	SUBQ $64, CX
	CMPQ CX, $128
	JB past

loop:
	STEP((SI), Y0, Y10, Y4)
	STEP(32(SI), Y1, Y10, Y5)
	STEP(64(SI), Y2, Y10, Y6)
	STEP(96(SI), Y3, Y10, Y7)
	ADDQ $128, SI
	SUBQ $128, CX
	CMPQ CX, $128
	JAE loop

past:
	ROW
	BOTH(-96(R9), Y0, Y4)
	BOTH(-64(R9), Y1, Y5)
	BOTH(-32(R9), Y2, Y6)
	BOTH((R9), Y3, Y7)
	VPXOR Y1, Y0, Y0
	VPXOR Y3, Y2, Y2
	VPXOR Y2, Y0, Y0
	JMP ends

// func leaf7() (ecx uint32)
TEXT ·leaf7(SB), NOSPLIT, $0-4
	MOVL $7, AX
	XORL CX, CX
	CPUID
	MOVL CX, ecx+0(FP)
	RET
