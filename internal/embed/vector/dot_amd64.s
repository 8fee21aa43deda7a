#include "textflag.h"

// Each function walks count rows of dim bytes that follow each other, and
// stores one int32 per row. dim and count are at least 1.

// func dotsAVX2(q, rows *int8, dim, count int, out *int32)
TEXT ·dotsAVX2(SB), NOSPLIT, $0-40
	MOVQ q+0(FP), SI
	MOVQ rows+8(FP), DI
	MOVQ dim+16(FP), R8
	MOVQ count+24(FP), R9
	MOVQ out+32(FP), R10

row:
	MOVQ  SI, AX
	MOVQ  R8, CX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	SUBQ  $32, CX
	JLT   sixteen

by32:
	VPMOVSXBW (AX), Y4
	VPMOVSXBW (DI), Y5
	VPMOVSXBW 16(AX), Y6
	VPMOVSXBW 16(DI), Y7
	VPMADDWD  Y4, Y5, Y4
	VPMADDWD  Y6, Y7, Y6
	VPADDD    Y4, Y0, Y0
	VPADDD    Y6, Y1, Y1
	ADDQ      $32, AX
	ADDQ      $32, DI
	SUBQ      $32, CX
	JGE       by32

sixteen:
	ADDQ      $32, CX
	CMPQ      CX, $16
	JLT       reduce
	VPMOVSXBW (AX), Y4
	VPMOVSXBW (DI), Y5
	VPMADDWD  Y4, Y5, Y4
	VPADDD    Y4, Y0, Y0
	ADDQ      $16, AX
	ADDQ      $16, DI
	SUBQ      $16, CX

reduce:
	VPADDD       Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4e, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xb1, X0, X1
	VPADDD       X1, X0, X0
	VMOVD        X0, DX
	TESTQ        CX, CX
	JZ           store

single:
	MOVBLSX (AX), R11
	MOVBLSX (DI), R12
	IMULL   R12, R11
	ADDL    R11, DX
	INCQ    AX
	INCQ    DI
	DECQ    CX
	JNZ     single

store:
	MOVL DX, (R10)
	ADDQ $4, R10
	DECQ R9
	JNZ  row
	VZEROUPPER
	RET

DATA flip<>+0(SB)/4, $0x80808080
GLOBL flip<>(SB), RODATA|NOPTR, $4

// func dotsVNNI(q, rows *int8, dim, count int, out *int32, bias int32)
TEXT ·dotsVNNI(SB), NOSPLIT, $0-44
	MOVQ q+0(FP), SI
	MOVQ rows+8(FP), DI
	MOVQ dim+16(FP), R8
	MOVQ count+24(FP), R9
	MOVQ out+32(FP), R10
	MOVL bias+40(FP), R11
	VPBROADCASTD flip<>(SB), Z8

	// K1 masks the last dim%64 bytes; a masked byte of q is 0, so that the
	// shifted byte of the row beside it adds nothing.
	MOVQ  R8, CX
	ANDQ  $63, CX
	MOVQ  $1, R12
	SHLQ  CX, R12
	DECQ  R12
	KMOVQ R12, K1
	SHRQ  $6, R8

vrow:
	MOVQ   SI, AX
	MOVQ   R8, DX
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	SUBQ   $2, DX
	JLT    one

by128:
	VPXORD   (DI), Z8, Z4
	VPXORD   64(DI), Z8, Z5
	VPDPBUSD (AX), Z4, Z0
	VPDPBUSD 64(AX), Z5, Z1
	ADDQ     $128, AX
	ADDQ     $128, DI
	SUBQ     $2, DX
	JGE      by128

one:
	ADDQ     $2, DX
	JZ       last
	VPXORD   (DI), Z8, Z4
	VPDPBUSD (AX), Z4, Z0
	ADDQ     $64, AX
	ADDQ     $64, DI

last:
	TESTQ       CX, CX
	JZ          vreduce
	VMOVDQU8.Z  (DI), K1, Z4
	VMOVDQU8.Z  (AX), K1, Z5
	VPXORD      Z8, Z4, Z4
	VPDPBUSD    Z5, Z4, Z1
	ADDQ        CX, DI

vreduce:
	VPADDD        Z1, Z0, Z0
	VEXTRACTI64X4 $1, Z0, Y1
	VPADDD        Y1, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPADDD        X1, X0, X0
	VPSHUFD       $0x4e, X0, X1
	VPADDD        X1, X0, X0
	VPSHUFD       $0xb1, X0, X1
	VPADDD        X1, X0, X0
	VMOVD         X0, DX
	SUBL          R11, DX
	MOVL          DX, (R10)
	ADDQ          $4, R10
	DECQ          R9
	JNZ           vrow
	VZEROUPPER
	RET
