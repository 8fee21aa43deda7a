package main

import "fmt"

// A tile is a block of the result that stays in registers: rows of A by two
// registers of columns.
type tile struct {
	name  string
	rows  int
	reg   string // Y or Z
	lanes int
}

func (t tile) acc(row, col int) string { return fmt.Sprintf("%s%d", t.reg, row*2+col) }

// free is the i-th register that is no accumulator.
func (t tile) free(i int) string { return fmt.Sprintf("%s%d", t.reg, t.rows*2+i) }

func (t tile) zero(a *asm) {
	for i := range t.rows * 2 {
		r := fmt.Sprintf("%s%d", t.reg, i)
		if t.reg == "Z" {
			a.op("VPXORD %s, %s, %s", r, r, r)
		} else {
			a.op("VPXOR %s, %s, %s", r, r, r)
		}
	}
}

// bases are pointers to every third row of A: with an index of one or two
// strides they reach the two rows between.
var bases = []string{"SI", "R9", "R10", "R11"}

func (t tile) setBases(a *asm) {
	a.op("LEAQ (R8)(R8*2), AX")
	for i := 1; i < t.rows/3; i++ {
		a.op("LEAQ (%s)(AX*1), %s", bases[i-1], bases[i])
	}
}

func (t tile) row(r, offset int) string {
	if r%3 == 0 {
		return fmt.Sprintf("%d(%s)", offset, bases[r/3])
	}
	return fmt.Sprintf("%d(%s)(R8*%d)", offset, bases[r/3], r%3)
}

func (t tile) advance(a *asm, bytes int) {
	for _, b := range bases[:t.rows/3] {
		a.op("ADDQ $%d, %s", bytes, b)
	}
}

func gemmAMD64() string {
	a := newAsm()
	for _, t := range []tile{{"AVX2", 6, "Y", 8}, {"AVX512", 12, "Z", 16}} {
		floatGemm(a, t)
		unpack(a, t)
		byteGemm(a, t)
	}
	bytesAMX(a)
	return a.String()
}

// floatGemm: C[rows x 2 lanes] (+)= A[rows x k] * B, where B is k rows of the
// tile's columns.
func floatGemm(a *asm, t tile) {
	name := "gemm" + t.name
	a.fn(name, "(k int, a *float32, lda int, b, c *float32, ldc, accumulate int)", 56)
	a.ops(`MOVQ k+0(FP), CX; MOVQ a+8(FP), SI; MOVQ lda+16(FP), R8; SHLQ $2, R8
		; MOVQ b+24(FP), DI; MOVQ c+32(FP), DX; MOVQ ldc+40(FP), R12; SHLQ $2, R12
		; MOVQ accumulate+48(FP), BX`)
	t.setBases(a)
	t.zero(a)
	width := t.lanes * 4
	step := func(offset, bOffset int) {
		a.op("VMOVUPS %d(DI), %s", bOffset, t.free(0))
		a.op("VMOVUPS %d(DI), %s", bOffset+width, t.free(1))
		for r := range t.rows {
			source := t.free(2 + r%2)
			if t.reg == "Y" {
				a.op("VBROADCASTSS %s, %s", t.row(r, offset), source)
			}
			for j := range 2 {
				if t.reg == "Z" {
					a.op("VFMADD231PS.BCST %s, %s, %s", t.row(r, offset), t.free(j), t.acc(r, j))
				} else {
					a.op("VFMADD231PS %s, %s, %s", t.free(j), source, t.acc(r, j))
				}
			}
		}
	}
	const unroll = 4
	a.ops(fmt.Sprintf("SUBQ $%d, CX; JLT tail", unroll))
	a.label("loop")
	for u := range unroll {
		step(u*4, u*2*width)
	}
	t.advance(a, unroll*4)
	a.ops(fmt.Sprintf("ADDQ $%d, DI; SUBQ $%d, CX; JGE loop", unroll*2*width, unroll))
	a.label("tail")
	a.ops(fmt.Sprintf("ADDQ $%d, CX; JZ done", unroll))
	a.label("single")
	step(0, 0)
	t.advance(a, 4)
	a.ops(fmt.Sprintf("ADDQ $%d, DI; DECQ CX; JNZ single", 2*width))
	a.label("done")
	a.ops("TESTQ BX, BX; JZ store; MOVQ DX, AX")
	for r := range t.rows {
		for j := range 2 {
			a.op("VADDPS %d(AX), %s, %s", j*width, t.acc(r, j), t.acc(r, j))
		}
		a.op("ADDQ R12, AX")
	}
	a.label("store")
	for r := range t.rows {
		for j := range 2 {
			a.op("VMOVUPS %s, %d(DX)", t.acc(r, j), j*width)
		}
		a.op("ADDQ R12, DX")
	}
	a.ret()
}

// unpack writes one panel of 16 columns as k rows of floats, stride bytes
// apart. A lane of 32 bits holds four numbers of one column: each is shifted
// to the top and back to extend its sign.
func unpack(a *asm, t tile) {
	a.fn("unpack"+t.name, "(dst *float32, stride int, panel *int8, k4 int, scales *float32)", 40)
	a.ops(`MOVQ dst+0(FP), DI; MOVQ stride+8(FP), R8; MOVQ panel+16(FP), SI
		; MOVQ k4+24(FP), CX; MOVQ scales+32(FP), DX`)
	halves := 16 / t.lanes
	for h := range halves {
		a.op("VMOVUPS %d(DX), %s%d", h*t.lanes*4, t.reg, 8+h)
	}
	a.label("loop")
	for h := range halves {
		load := "VMOVDQU"
		if t.reg == "Z" {
			load = "VMOVDQU32"
		}
		a.op("%s %d(SI), %s%d", load, h*t.lanes*4, t.reg, h)
	}
	for b := range 4 {
		for h := range halves {
			x := fmt.Sprintf("%s%d", t.reg, 2+h)
			a.op("VPSLLD $%d, %s%d, %s", 24-8*b, t.reg, h, x)
			a.op("VPSRAD $24, %s, %s", x, x)
			a.op("VCVTDQ2PS %s, %s", x, x)
			a.op("VMULPS %s%d, %s, %s", t.reg, 8+h, x, x)
			a.op("VMOVUPS %s, %d(DI)", x, h*t.lanes*4)
		}
		a.op("ADDQ R8, DI")
	}
	a.ops("ADDQ $64, SI; DECQ CX; JNZ loop")
	a.ret()
}

// byteGemm: the tile of A (unsigned bytes) times B (signed bytes in panels of
// 16 columns, four numbers of a column side by side), turned into floats:
//
//	c = sum * rowScale * colScale + rowZero * colSum + bias
func byteGemm(a *asm, t tile) {
	a.fn("bytes"+t.name, "(k4 int, a *uint8, lda int, b *int8, panel int, c *float32, ldc int, f *finish)", 64)
	a.ops(`MOVQ k4+0(FP), CX; MOVQ a+8(FP), SI; MOVQ lda+16(FP), R8; MOVQ b+24(FP), DI
		; MOVQ panel+32(FP), R13; MOVQ c+40(FP), DX; MOVQ ldc+48(FP), R12; SHLQ $2, R12
		; MOVQ f+56(FP), BX`)
	t.setBases(a)
	t.zero(a)
	width := t.lanes * 4
	load := "VMOVDQU"
	if t.reg == "Z" {
		load = "VMOVDQU32"
	}
	step := func(u int) {
		a.op("%s %d(DI), %s", load, u*64, t.free(0))
		if t.reg == "Z" { // the second register of columns is the next panel
			a.op("%s %d(DI)(R13*1), %s", load, u*64, t.free(1))
		} else {
			a.op("%s %d(DI), %s", load, u*64+32, t.free(1))
		}
		for r := range t.rows {
			source := t.free(2 + r%2)
			a.op("VPBROADCASTD %s, %s", t.row(r, u*4), source)
			for j := range 2 {
				if t.reg == "Z" {
					a.op("VPDPBUSD %s, %s, %s", t.free(j), source, t.acc(r, j))
				} else {
					vexDot(a, t.free(j), source, t.acc(r, j))
				}
			}
		}
	}
	a.ops("SUBQ $2, CX; JLT tail")
	a.label("loop")
	step(0)
	step(1)
	t.advance(a, 8)
	a.ops("ADDQ $128, DI; SUBQ $2, CX; JGE loop")
	a.label("tail")
	a.ops("ADDQ $2, CX; JZ done")
	step(0)
	a.label("done")
	a.ops("MOVQ 0(BX), SI; MOVQ 8(BX), DI; MOVQ 16(BX), R9; MOVQ 24(BX), R10; MOVQ 32(BX), R11")
	for r := range t.rows {
		a.op("VBROADCASTSS %d(SI), %s", r*4, t.free(0))
		a.op("VBROADCASTSS %d(DI), %s", r*4, t.free(1))
		for j := range 2 {
			x := t.acc(r, j)
			a.op("VCVTDQ2PS %s, %s", x, x)
			a.op("VMULPS %d(R9), %s, %s", j*width, x, x)
			a.op("VFMADD213PS %d(R11), %s, %s", j*width, t.free(0), x)
			a.op("VFMADD231PS %d(R10), %s, %s", j*width, t.free(1), x)
			a.op("VMOVUPS %s, %d(DX)", x, j*width)
		}
		a.op("ADDQ R12, DX")
	}
	a.ret()
}

// vexDot is VPDPBUSD in its 256-bit form without AVX-512, which the assembler
// does not know: acc += unsigned · signed.
func vexDot(a *asm, signed, unsigned, acc string) {
	number := func(reg string) (n int) {
		if _, err := fmt.Sscanf(reg, "Y%d", &n); err != nil {
			panic(err) // a name that this file wrote
		}
		return n
	}
	s, u, d := number(signed), number(unsigned), number(acc)
	second := 0x42 | (^d>>3&1)<<7 | (^s>>3&1)<<5
	third := (^u&15)<<3 | 1<<2 | 1
	a.op("BYTE $0xc4; BYTE $0x%02x; BYTE $0x%02x; BYTE $0x50; BYTE $0x%02x // VPDPBUSD %s, %s, %s",
		second, third, 0xc0|(d&7)<<3|s&7, signed, unsigned, acc)
}
