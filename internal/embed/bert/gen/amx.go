package main

import "fmt"

// The assembler does not know the tile instructions, so they are written as
// bytes. Registers of addresses are the first eight only.
var number = map[string]int{"AX": 0, "CX": 1, "DX": 2, "BX": 3, "SI": 6, "DI": 7}

const (
	prefixNone = iota
	prefix66
	prefixF3
	prefixF2
)

// vex writes a three-byte VEX instruction of map 0F38.
func (a *asm) vex(text string, prefix, vvvv int, rest ...int) {
	line := fmt.Sprintf("BYTE $0xc4; BYTE $0xe2; BYTE $0x%02x", (^vvvv&15)<<3|prefix)
	for _, b := range rest {
		line += fmt.Sprintf("; BYTE $0x%02x", b)
	}
	a.op("%s // %s", line, text)
}

func (a *asm) tileConfig(base string) {
	a.vex("LDTILECFG ("+base+")", prefixNone, 0, 0x49, number[base])
}

func (a *asm) tileRelease() { a.vex("TILERELEASE", prefixNone, 0, 0x49, 0xc0) }

func (a *asm) tileZero(t int) { a.vex(fmt.Sprintf("TILEZERO TMM%d", t), prefixF2, 0, 0x49, 0xc0|t<<3) }

// tileLoad reads rows that begin at base and are stride bytes apart.
func (a *asm) tileLoad(t int, base, stride string) {
	a.vex(fmt.Sprintf("TILELOADD (%s)(%s*1), TMM%d", base, stride, t), prefixF2, 0, 0x4b, 4|t<<3, number[stride]<<3|number[base])
}

func (a *asm) tileStore(t int, base, stride string) {
	a.vex(fmt.Sprintf("TILESTORED TMM%d, (%s)(%s*1)", t, base, stride), prefixF3, 0, 0x4b, 4|t<<3, number[stride]<<3|number[base])
}

// tileDot: acc += unsigned · signed.
func (a *asm) tileDot(acc, unsigned, signed int) {
	a.vex(fmt.Sprintf("TDPBUSD TMM%d, TMM%d, TMM%d", signed, unsigned, acc), prefix66, signed, 0x5e, 0xc0|acc<<3|unsigned)
}

// bytesAMX multiplies all rows of A by two panels, 32 rows at a time. Tiles 0
// to 3 are sums, 4 and 5 rows of A, 6 and 7 the panels. The sums go through
// memory to become floats.
func bytesAMX(a *asm) {
	a.WriteString("// The shape of the tiles: all 16 rows of 64 bytes.\n")
	a.WriteString("DATA tiles<>+0(SB)/8, $1\nDATA tiles<>+8(SB)/8, $0\n")
	for i := range 4 {
		a.WriteString(fmt.Sprintf("DATA tiles<>+%d(SB)/8, $0x%016x\n", 16+8*i, [4]uint64{0x0040004000400040, 0x0040004000400040, 0, 0}[i]))
	}
	a.WriteString("DATA tiles<>+48(SB)/8, $0x1010101010101010\nDATA tiles<>+56(SB)/8, $0\n")
	a.WriteString("GLOBL tiles<>(SB), RODATA|NOPTR, $64\n\n")
	a.fn("bytesAMX", "(rows, k64 int, a *uint8, lda int, b *int8, panel int, c *float32, ldc int, f *finish)", 72)
	a.op("LEAQ tiles<>(SB), AX")
	a.tileConfig("AX")
	a.ops(`MOVQ rows+0(FP), R15; MOVQ a+16(FP), R8; MOVQ lda+24(FP), AX; MOVQ c+48(FP), R12
		; MOVQ ldc+56(FP), R13; SHLQ $2, R13; MOVQ f+64(FP), R14; MOVQ 0(R14), R9; MOVQ 8(R14), R10`)
	a.label("rows")
	a.ops("MOVQ k64+8(FP), R11; MOVQ R8, SI; MOVQ AX, DI; SHLQ $4, DI; ADDQ SI, DI")
	a.ops("MOVQ b+32(FP), DX; MOVQ panel+40(FP), CX; ADDQ DX, CX; MOVQ $64, BX")
	for t := range 4 {
		a.tileZero(t)
	}
	a.label("depth")
	a.tileLoad(4, "SI", "AX")
	a.tileLoad(6, "DX", "BX")
	a.tileLoad(5, "DI", "AX")
	a.tileLoad(7, "CX", "BX")
	a.tileDot(0, 4, 6)
	a.tileDot(1, 4, 7)
	a.tileDot(2, 5, 6)
	a.tileDot(3, 5, 7)
	a.ops("ADDQ $64, SI; ADDQ $64, DI; ADDQ $1024, DX; ADDQ $1024, CX; DECQ R11; JNZ depth")
	a.op("MOVQ 40(R14), SI")
	a.op("MOVQ $128, BX") // a row of the scratch is 32 sums
	a.ops("LEAQ 64(SI), DI; LEAQ 2048(SI), DX; LEAQ 2112(SI), CX")
	a.tileStore(0, "SI", "BX")
	a.tileStore(1, "DI", "BX")
	a.tileStore(2, "DX", "BX")
	a.tileStore(3, "CX", "BX")
	a.ops("MOVQ 16(R14), DX; MOVQ 24(R14), DI; MOVQ 32(R14), CX")
	for i, base := range []string{"DX", "DI", "CX"} {
		a.op("VMOVUPS (%s), Z%d", base, 16+2*i)
		a.op("VMOVUPS 64(%s), Z%d", base, 17+2*i)
	}
	a.ops("MOVQ R12, DX; MOVQ $32, CX")
	a.label("finish")
	a.ops("VBROADCASTSS (R9), Z4; VBROADCASTSS (R10), Z5")
	for j := range 2 {
		a.op("VCVTDQ2PS %d(SI), Z%d", 64*j, j)
	}
	for j := range 2 {
		a.op("VMULPS Z%d, Z%d, Z%d", 16+j, j, j)
		a.op("VFMADD213PS Z%d, Z4, Z%d", 20+j, j)
		a.op("VFMADD231PS Z%d, Z5, Z%d", 18+j, j)
		a.op("VMOVUPS Z%d, %d(DX)", j, 64*j)
	}
	a.ops("ADDQ $4, R9; ADDQ $4, R10; ADDQ $128, SI; ADDQ R13, DX; DECQ CX; JNZ finish")
	a.ops("MOVQ DX, R12; MOVQ AX, DI; SHLQ $5, DI; ADDQ DI, R8; SUBQ $32, R15; JGT rows")
	a.tileRelease()
	a.ret()
}
