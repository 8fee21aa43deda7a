#include "textflag.h"

// Each function walks count rows of dim bytes that follow each other, and
// stores one int32 per row. dim and count are at least 1. Instructions the
// assembler has no name for are written as words, with their text beside.

#define ROWSTART \
	MOVD R0, R5; \
	MOVD R2, R6; \
	VEOR V0.B16, V0.B16, V0.B16; \
	VEOR V1.B16, V1.B16, V1.B16

// ROWEND sums V0, adds the last R6 products one by one and stores.
#define ROWEND(single, store) \
	VADDV V0.S4, V0; \
	FMOVS F0, R7; \
	CBZ   R6, store; \
single: \
	MOVB.P 1(R5), R8; \
	MOVB.P 1(R1), R9; \
	MADDW  R8, R7, R9, R7; \
	SUBS   $1, R6, R6; \
	BNE    single; \
store: \
	MOVW.P R7, 4(R4); \
	SUBS   $1, R3, R3

// func dotsNEON(q, rows *int8, dim, count int, out *int32)
TEXT ·dotsNEON(SB), NOSPLIT, $0-40
	MOVD q+0(FP), R0
	MOVD rows+8(FP), R1
	MOVD dim+16(FP), R2
	MOVD count+24(FP), R3
	MOVD out+32(FP), R4

row:
	ROWSTART
	SUBS $16, R6, R6
	BLT  rest

by16:
	VLD1.P 16(R5), [V2.B16]
	VLD1.P 16(R1), [V3.B16]
	WORD   $0x0e23c044            // smull v4.8h, v2.8b, v3.8b
	WORD   $0x4e23c045            // smull2 v5.8h, v2.16b, v3.16b
	WORD   $0x4e606880            // sadalp v0.4s, v4.8h
	WORD   $0x4e6068a1            // sadalp v1.4s, v5.8h
	SUBS   $16, R6, R6
	BGE    by16

rest:
	ADD  $16, R6, R6
	VADD V1.S4, V0.S4, V0.S4
	ROWEND(single, store)
	BNE  row
	RET

// func dotsSDOT(q, rows *int8, dim, count int, out *int32)
TEXT ·dotsSDOT(SB), NOSPLIT, $0-40
	MOVD q+0(FP), R0
	MOVD rows+8(FP), R1
	MOVD dim+16(FP), R2
	MOVD count+24(FP), R3
	MOVD out+32(FP), R4

row:
	ROWSTART
	SUBS $32, R6, R6
	BLT  half

by32:
	VLD1.P 32(R5), [V2.B16, V3.B16]
	VLD1.P 32(R1), [V4.B16, V5.B16]
	WORD   $0x4e849440             // sdot v0.4s, v2.16b, v4.16b
	WORD   $0x4e859461             // sdot v1.4s, v3.16b, v5.16b
	SUBS   $32, R6, R6
	BGE    by32

half:
	ADD    $32, R6, R6
	CMP    $16, R6
	BLT    rest
	VLD1.P 16(R5), [V2.B16]
	VLD1.P 16(R1), [V4.B16]
	WORD   $0x4e849440             // sdot v0.4s, v2.16b, v4.16b
	SUB    $16, R6, R6

rest:
	VADD V1.S4, V0.S4, V0.S4
	ROWEND(single, store)
	BNE  row
	RET
