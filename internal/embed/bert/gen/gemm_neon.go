package main

import "fmt"

// The assembler knows few instructions on vectors of floats, so they are
// written as words. All work on four lanes of 32 bits unless said otherwise;
// the last argument is the target, as elsewhere in Go's assembly.
func (a *asm) word(code uint32, text string, args ...any) {
	a.op("WORD $0x%08x // %s", code, fmt.Sprintf(text, args...))
}

// three writes an instruction of three registers by its code and name.
func (a *asm) three(code uint32, name string, m, n, d int) {
	a.word(code|uint32(m)<<16|uint32(n)<<5|uint32(d), "%s v%d.4s, v%d.4s, v%d.4s", name, d, n, m)
}

// two writes an instruction of two registers.
func (a *asm) two(code uint32, name string, n, d int) {
	a.word(code|uint32(n)<<5|uint32(d), "%s v%d, v%d", name, d, n)
}

func (a *asm) fadd(m, n, d int) { a.three(0x4e20d400, "fadd", m, n, d) }
func (a *asm) fsub(m, n, d int) { a.three(0x4ea0d400, "fsub", m, n, d) } // d = n - m
func (a *asm) fmul(m, n, d int) { a.three(0x6e20dc00, "fmul", m, n, d) }
func (a *asm) fdiv(m, n, d int) { a.three(0x6e20fc00, "fdiv", m, n, d) } // d = n / m
func (a *asm) fmax(m, n, d int) { a.three(0x4e20f400, "fmax", m, n, d) }
func (a *asm) fmin(m, n, d int) { a.three(0x4ea0f400, "fmin", m, n, d) }
func (a *asm) fmla(m, n, d int) { a.three(0x4e20cc00, "fmla", m, n, d) } // d += n * m
func (a *asm) fmls(m, n, d int) { a.three(0x4ea0cc00, "fmls", m, n, d) } // d -= n * m
func (a *asm) addi(m, n, d int) { a.three(0x4ea08400, "add", m, n, d) }
func (a *asm) addp(m, n, d int) { a.three(0x6e20d400, "faddp", m, n, d) }

func (a *asm) frintn(n, d int) { a.two(0x4e218800, "frintn.4s", n, d) }
func (a *asm) fcvtns(n, d int) { a.two(0x4e21a800, "fcvtns.4s", n, d) }
func (a *asm) scvtf(n, d int)  { a.two(0x4e21d800, "scvtf.4s", n, d) }
func (a *asm) fabs(n, d int)   { a.two(0x4ea0f800, "fabs.4s", n, d) }
func (a *asm) fneg(n, d int)   { a.two(0x6ea0f800, "fneg.4s", n, d) }
func (a *asm) shl23(n, d int)  { a.two(0x4f375400, "shl.4s #23", n, d) }
func (a *asm) dup(n, d int)    { a.two(0x4e040400, "dup.4s [0]", n, d) }
func (a *asm) copy(n, d int)   { a.op("VMOV V%d.B16, V%d.B16", n, d) }
func (a *asm) clear(d int)     { a.op("VEOR V%d.B16, V%d.B16, V%d.B16", d, d, d) }

// element is the part of a code that names lane i of register m.
func element(m, i int) uint32 { return uint32(i&1)<<21 | uint32(m)<<16 | uint32(i>>1)<<11 }

func (a *asm) fmlaLane(m, lane, n, d int) {
	a.word(0x4f801000|element(m, lane)|uint32(n)<<5|uint32(d), "fmla v%d.4s, v%d.4s, v%d.s[%d]", d, n, m, lane)
}

func (a *asm) sdotLane(m, lane, n, d int) {
	a.word(0x4f80e000|element(m, lane)|uint32(n)<<5|uint32(d), "sdot v%d.4s, v%d.16b, v%d.4b[%d]", d, n, m, lane)
}

func gemmARM64() string {
	a := newAsm()
	floatGemmARM(a)
	byteGemmARM(a)
	return a.String()
}

// floatGemmARM: C[8x8] (+)= A[8 x k] * B. Accumulators are V0 to V15, rows of
// A V16 to V23, rows of B V24 to V31.
func floatGemmARM(a *asm) {
	a.fn("gemmNEON", "(k int, a *float32, lda int, b, c *float32, ldc, accumulate int)", 56)
	a.ops(`MOVD k+0(FP), R0; MOVD a+8(FP), R4; MOVD lda+16(FP), R2; LSL $2, R2; MOVD b+24(FP), R3
		; MOVD c+32(FP), R12; MOVD ldc+40(FP), R13; LSL $2, R13; MOVD accumulate+48(FP), R14`)
	for r := 1; r < 8; r++ {
		a.op("ADD R2, R%d, R%d", 3+r, 4+r)
	}
	for i := range 16 {
		a.clear(i)
	}
	a.ops("SUBS $4, R0, R0; BLT tail")
	a.label("loop")
	for r := range 8 {
		a.op("VLD1.P 16(R%d), [V%d.S4]", 4+r, 16+r)
	}
	a.op("VLD1.P 64(R3), [V24.S4, V25.S4, V26.S4, V27.S4]")
	a.op("VLD1.P 64(R3), [V28.S4, V29.S4, V30.S4, V31.S4]")
	for k := range 4 {
		for r := range 8 {
			a.fmlaLane(16+r, k, 24+2*k, 2*r)
			a.fmlaLane(16+r, k, 25+2*k, 2*r+1)
		}
	}
	a.ops("SUBS $4, R0, R0; BGE loop")
	a.label("tail")
	a.ops("ADDS $4, R0, R0; BEQ done")
	a.label("single")
	a.op("VLD1.P 32(R3), [V24.S4, V25.S4]")
	for r := range 8 {
		a.op("VLD1R.P 4(R%d), [V%d.S4]", 4+r, 16+r)
	}
	for r := range 8 {
		a.fmla(16+r, 24, 2*r)
		a.fmla(16+r, 25, 2*r+1)
	}
	a.ops("SUBS $1, R0, R0; BNE single")
	a.label("done")
	a.ops("CBZ R14, store; MOVD R12, R15")
	for r := range 8 {
		a.op("VLD1 (R15), [V24.S4, V25.S4]")
		a.fadd(24, 2*r, 2*r)
		a.fadd(25, 2*r+1, 2*r+1)
		a.op("ADD R13, R15, R15")
	}
	a.label("store")
	for r := range 8 {
		a.op("VST1 [V%d.S4, V%d.S4], (R12)", 2*r, 2*r+1)
		a.op("ADD R13, R12, R12")
	}
	a.WriteString("\tRET\n\n")
}

// byteGemmARM: 6 rows of A (signed bytes, a multiple of 16 of them) times one
// panel. Accumulators are V0 to V23, four to a row; rows of A are V24 to V29.
func byteGemmARM(a *asm) {
	a.fn("bytesSDOT", "(k4 int, a *uint8, lda int, b *int8, panel int, c *float32, ldc int, f *finish)", 64)
	a.ops(`MOVD k4+0(FP), R0; MOVD a+8(FP), R4; MOVD lda+16(FP), R2; MOVD b+24(FP), R3
		; MOVD c+40(FP), R12; MOVD ldc+48(FP), R13; LSL $2, R13; MOVD f+56(FP), R14`)
	for r := 1; r < 6; r++ {
		a.op("ADD R2, R%d, R%d", 3+r, 4+r)
	}
	for i := range 24 {
		a.clear(i)
	}
	a.label("loop")
	for r := range 6 {
		a.op("VLD1.P 16(R%d), [V%d.B16]", 4+r, 24+r)
	}
	for k := range 4 {
		for pair := range 2 {
			a.op("VLD1.P 32(R3), [V30.B16, V31.B16]")
			for r := range 6 {
				a.sdotLane(24+r, k, 30, 4*r+2*pair)
				a.sdotLane(24+r, k, 31, 4*r+2*pair+1)
			}
		}
	}
	a.ops("SUBS $4, R0, R0; BNE loop")
	a.ops("MOVD 0(R14), R4; MOVD 8(R14), R5; MOVD 16(R14), R6; MOVD 24(R14), R7; MOVD 32(R14), R8")
	for q := range 4 {
		a.op("VLD1.P 16(R6), [V24.S4]")
		a.op("VLD1.P 16(R7), [V25.S4]")
		a.op("VLD1.P 16(R8), [V26.S4]")
		a.ops("MOVD R4, R9; MOVD R5, R10; MOVD R12, R11")
		for r := range 6 {
			x := 4*r + q
			a.ops("VLD1R.P 4(R9), [V27.S4]; VLD1R.P 4(R10), [V28.S4]")
			a.scvtf(x, x)
			a.fmul(24, x, x)
			a.copy(26, 29)
			a.fmla(27, x, 29)
			a.fmla(28, 25, 29)
			a.ops("VST1 [V29.S4], (R11); ADD R13, R11, R11")
		}
		a.op("ADD $16, R12, R12")
	}
	a.WriteString("\tRET\n\n")
}
