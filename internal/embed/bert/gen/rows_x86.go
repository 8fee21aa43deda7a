package main

import (
	"fmt"
	"math"
)

// The constants of exp (a polynomial for 2^f, |f| <= 1/2, through Chebyshev's
// points, within 1.1e-7) and of the error function (Abramowitz and Stegun
// 7.1.26, within 1.5e-7).
func mathConstants() []constant {
	var list []constant
	for _, c := range []struct {
		name  string
		value float64
	}{
		{"log2e", math.Log2E}, {"e5", 1.339086336e-3}, {"e4", 9.676031918e-3}, {"e3", 5.550357114e-2},
		{"e2", 2.402210749e-1}, {"e1", 6.931471880e-1}, {"e0", 1.000000075}, {"lowest", -87},
		{"half", 0.5}, {"one", 1}, {"rsqrt2", math.Sqrt2 / 2}, {"p", 0.3275911},
		{"a5", 1.061405429}, {"a4", -1.453152027}, {"a3", 1.421413741}, {"a2", -0.284496736}, {"a1", 0.254829592},
	} {
		list = append(list, constant{c.name, math.Float32bits(float32(c.value)), fmt.Sprint(c.value)})
	}
	return append(list,
		constant{"bias127", 127, "exponent of 1"},
		constant{"magic", 0x4b400000, "1.5*2^23"},
		constant{"absolute", 0x7fffffff, "all but the sign"})
}

func rowsAMD64() string {
	a := newAsm(mathConstants()...)
	a.WriteString("DATA order<>+0(SB)/8, $0x0000000400000000\nDATA order<>+8(SB)/8, $0x0000000500000001\n")
	a.WriteString("DATA order<>+16(SB)/8, $0x0000000600000002\nDATA order<>+24(SB)/8, $0x0000000700000003\n")
	a.WriteString("GLOBL order<>(SB), RODATA|NOPTR, $32\n\n")
	a.remark("n is a positive multiple of 16 (of 32 for quantise).\n")
	for _, w := range []wide{{"AVX2", "Y", 8}, {"AVX512", "Z", 16}} {
		w.softmax(a)
		w.gelu(a)
		w.addSum(a)
		w.normalise(a)
		w.extremes(a)
		w.quantise(a)
	}
	return a.String()
}

// A wide writes row functions for one width of register.
type wide struct {
	name, reg string
	lanes     int
}

func (w wide) r(i int) string { return fmt.Sprintf("%s%d", w.reg, i) }

// v writes an instruction whose register numbers are given.
func (w wide) v(a *asm, name, source string, regs ...int) {
	line := name
	if source != "" {
		line += " " + source + ","
	}
	for i, r := range regs {
		if i > 0 {
			line += ","
		}
		line += " " + w.r(r)
	}
	a.op("%s", line)
}

func (w wide) zero(a *asm, i int) {
	if w.reg == "Z" {
		w.v(a, "VPXORD", "", i, i, i)
	} else {
		w.v(a, "VPXOR", "", i, i, i)
	}
}

func (w wide) and(a *asm, source string, regs ...int) {
	if w.reg == "Z" {
		w.v(a, "VPANDD", source, regs...)
	} else {
		w.v(a, "VPAND", source, regs...)
	}
}

func (w wide) constant(a *asm, name string, i int) {
	a.op("VBROADCASTSS %s<>(SB), %s", name, w.r(i))
}

// fold reduces register i to one number in X i, by op (VADDPS, VMAXPS, ...).
// It overwrites register 1.
func (w wide) fold(a *asm, op string, i int) {
	if w.reg == "Z" {
		a.op("VEXTRACTF64X4 $1, Z%d, Y1", i)
		a.op("%s Y1, Y%d, Y%d", op, i, i)
	}
	a.op("VEXTRACTF128 $1, Y%d, X1", i)
	a.op("%s X1, X%d, X%d", op, i, i)
	a.op("VPSHUFD $0x4e, X%d, X1", i)
	a.op("%s X1, X%d, X%d", op, i, i)
	a.op("VPSHUFD $0xb1, X%d, X1", i)
	a.op("%s X1, X%d, X%d", op, i, i)
}

// next ends a loop over CX numbers at the pointers given.
func (w wide) next(a *asm, label string, pointers ...string) {
	for _, p := range pointers {
		a.op("ADDQ $%d, %s", w.lanes*4, p)
	}
	a.op("SUBQ $%d, CX", w.lanes)
	a.op("JNZ %s", label)
}

// loadExp fills registers 8 to 15 for exp.
func (w wide) loadExp(a *asm) {
	for i, c := range []string{"magic", "log2e", "e5", "e4", "e3", "e2", "e1", "e0"} {
		w.constant(a, c, 8+i)
	}
}

// exp replaces register x, which is above -87.3, by its exponential; t and u
// are overwritten. Adding 1.5*2^23 to x*log2(e) rounds it to an integer in the
// low bits of t, which are then added to the exponent of 2 to the rest.
func (w wide) exp(a *asm, x, t, u int) {
	w.v(a, "VMOVAPS", "", 8, t)
	w.v(a, "VFMADD231PS", "", 9, x, t)
	w.v(a, "VSUBPS", "", 8, t, u)
	w.v(a, "VFMSUB213PS", "", u, 9, x)
	w.v(a, "VMOVAPS", "", 10, u)
	for c := 11; c <= 15; c++ {
		w.v(a, "VFMADD213PS", "", c, x, u)
	}
	w.v(a, "VPSLLD", "$23", t, t)
	w.v(a, "VPADDD", "", t, u, x)
}

func (w wide) softmax(a *asm) {
	a.fn("softmax"+w.name, "(x *float32, n int)", 16)
	a.ops("MOVQ x+0(FP), SI; MOVQ n+8(FP), CX; MOVQ SI, DI; MOVQ CX, DX")
	w.v(a, "VMOVUPS", "(SI)", 7)
	a.label("largest")
	w.v(a, "VMAXPS", "(SI)", 7, 7)
	w.next(a, "largest", "SI")
	w.fold(a, "VMAXPS", 7)
	a.op("VBROADCASTSS X7, %s", w.r(7))
	w.loadExp(a)
	w.constant(a, "lowest", 6)
	w.zero(a, 5)
	a.ops("MOVQ DI, SI; MOVQ DX, CX")
	a.label("exponent")
	w.v(a, "VMOVUPS", "(SI)", 0)
	w.v(a, "VSUBPS", "", 7, 0, 0)
	w.v(a, "VMAXPS", "", 6, 0, 0)
	w.exp(a, 0, 1, 2)
	w.v(a, "VADDPS", "", 0, 5, 5)
	a.op("VMOVUPS %s, (SI)", w.r(0))
	w.next(a, "exponent", "SI")
	w.fold(a, "VADDPS", 5)
	a.ops("VMOVSS one<>(SB), X1; VDIVSS X5, X1, X5")
	a.op("VBROADCASTSS X5, %s", w.r(5))
	a.label("scale")
	w.v(a, "VMULPS", "(DI)", 5, 0)
	a.op("VMOVUPS %s, (DI)", w.r(0))
	a.ops(fmt.Sprintf("ADDQ $%d, DI; SUBQ $%d, DX; JNZ scale", w.lanes*4, w.lanes))
	a.ret()
}

// gelu: x/2 * (1 + erf(x/sqrt 2)), where erf(|z|) = 1 - poly(t) exp(-z*z) and
// t = 1/(1 + p|z|). With e = poly(t) exp(-z*z) it is x - x*e/2 for positive x
// and x*e/2 for negative x, that is max(x,0) - |x|*e/2.
func (w wide) gelu(a *asm) {
	a.fn("gelu"+w.name, "(x *float32, n int)", 16)
	a.ops("MOVQ x+0(FP), SI; MOVQ n+8(FP), CX")
	w.loadExp(a)
	high := 16 // registers of constants, where there are 32
	names := []string{"absolute", "rsqrt2", "p", "one", "a5", "a4", "a3", "a2", "a1", "half", "lowest"}
	use := func(name string, to int) int {
		for i, n := range names {
			if n == name && w.reg == "Z" {
				return high + i
			}
		}
		w.constant(a, name, to)
		return to
	}
	if w.reg == "Z" {
		for i, n := range names {
			w.constant(a, n, high+i)
		}
	}
	a.label("loop")
	w.v(a, "VMOVUPS", "(SI)", 3)
	w.and(a, "", use("absolute", 0), 3, 4)       // |x|
	w.v(a, "VMULPS", "", use("rsqrt2", 0), 4, 5) // |z|
	w.v(a, "VMULPS", "", 5, 5, 0)
	w.zero(a, 1)
	w.v(a, "VSUBPS", "", 0, 1, 0) // -z*z
	w.v(a, "VMAXPS", "", use("lowest", 2), 0, 0)
	w.exp(a, 0, 1, 2)
	one := use("one", 1)
	w.v(a, "VMOVAPS", "", one, 6)
	w.v(a, "VFMADD231PS", "", use("p", 2), 5, 6)
	if w.reg == "Z" { // a division by its estimate, made better by one step
		w.v(a, "VRCP14PS", "", 6, 7)
		w.v(a, "VMOVAPS", "", one, 1)
		w.v(a, "VFNMADD231PS", "", 6, 7, 1)
		w.v(a, "VFMADD213PS", "", 7, 7, 1)
		w.v(a, "VMOVAPS", "", 1, 6)
	} else {
		w.v(a, "VDIVPS", "", 6, one, 6)
	}
	if w.reg == "Z" {
		w.v(a, "VMOVAPS", "", use("a5", 7), 7)
	} else {
		use("a5", 7)
	}
	for _, c := range []string{"a4", "a3", "a2", "a1"} {
		w.v(a, "VFMADD213PS", "", use(c, 2), 6, 7)
	}
	w.v(a, "VMULPS", "", 6, 7, 7)
	w.v(a, "VMULPS", "", 0, 7, 7) // e
	w.v(a, "VMULPS", "", use("half", 2), 4, 4)
	w.zero(a, 1)
	w.v(a, "VMAXPS", "", 1, 3, 3)
	w.v(a, "VFNMADD231PS", "", 4, 7, 3)
	a.op("VMOVUPS %s, (SI)", w.r(3))
	w.next(a, "loop", "SI")
	a.ret()
}

func (w wide) addSum(a *asm) {
	a.fn("addSum"+w.name, "(x, t *float32, n int) (sum, squares float32)", 32)
	a.ops("MOVQ x+0(FP), SI; MOVQ t+8(FP), DI; MOVQ n+16(FP), CX")
	w.zero(a, 5)
	w.zero(a, 6)
	a.label("loop")
	w.v(a, "VMOVUPS", "(SI)", 0)
	w.v(a, "VADDPS", "(DI)", 0, 0)
	a.op("VMOVUPS %s, (SI)", w.r(0))
	w.v(a, "VADDPS", "", 0, 5, 5)
	w.v(a, "VFMADD231PS", "", 0, 0, 6)
	w.next(a, "loop", "SI", "DI")
	w.fold(a, "VADDPS", 5)
	w.fold(a, "VADDPS", 6)
	a.ops("VMOVSS X5, sum+24(FP); VMOVSS X6, squares+28(FP)")
	a.ret()
}

func (w wide) normalise(a *asm) {
	a.fn("normalise"+w.name, "(x, weight, bias *float32, n int, mean, inverse float32)", 40)
	a.ops("MOVQ x+0(FP), SI; MOVQ weight+8(FP), DI; MOVQ bias+16(FP), DX; MOVQ n+24(FP), CX")
	a.op("VBROADCASTSS mean+32(FP), %s", w.r(5))
	a.op("VBROADCASTSS inverse+36(FP), %s", w.r(6))
	a.label("loop")
	w.v(a, "VMOVUPS", "(SI)", 0)
	w.v(a, "VSUBPS", "", 5, 0, 0)
	w.v(a, "VMULPS", "", 6, 0, 0)
	w.v(a, "VMOVUPS", "(DI)", 1)
	w.v(a, "VFMADD213PS", "(DX)", 1, 0)
	a.op("VMOVUPS %s, (SI)", w.r(0))
	w.next(a, "loop", "SI", "DI", "DX")
	a.ret()
}

func (w wide) extremes(a *asm) {
	a.fn("extremes"+w.name, "(x *float32, n int) (low, high float32)", 24)
	a.ops("MOVQ x+0(FP), SI; MOVQ n+8(FP), CX")
	w.v(a, "VMOVUPS", "(SI)", 5)
	w.v(a, "VMOVAPS", "", 5, 6)
	a.label("loop")
	w.v(a, "VMOVUPS", "(SI)", 0)
	w.v(a, "VMINPS", "", 0, 5, 5)
	w.v(a, "VMAXPS", "", 0, 6, 6)
	w.next(a, "loop", "SI")
	w.fold(a, "VMINPS", 5)
	w.fold(a, "VMAXPS", 6)
	a.ops("VMOVSS X5, low+16(FP); VMOVSS X6, high+20(FP)")
	a.ret()
}

func (w wide) quantise(a *asm) {
	a.fn("quantise"+w.name, "(dst *uint8, x *float32, n int, low, inverse float32)", 32)
	a.ops("MOVQ dst+0(FP), DI; MOVQ x+8(FP), SI; MOVQ n+16(FP), CX")
	a.op("VBROADCASTSS low+24(FP), %s", w.r(5))
	a.op("VBROADCASTSS inverse+28(FP), %s", w.r(6))
	registers := 32 / w.lanes
	if w.reg == "Y" {
		a.op("VMOVDQU order<>(SB), Y7")
	}
	a.label("loop")
	for i := range registers {
		w.v(a, "VMOVUPS", fmt.Sprintf("%d(SI)", i*w.lanes*4), i)
		w.v(a, "VSUBPS", "", 5, i, i)
		w.v(a, "VMULPS", "", 6, i, i)
		w.v(a, "VCVTPS2DQ", "", i, i)
		if w.reg == "Z" {
			a.op("VPMOVUSDB Z%d, %d(DI)", i, i*16)
		}
	}
	if w.reg == "Y" {
		a.ops(`VPACKUSDW Y1, Y0, Y0; VPACKUSDW Y3, Y2, Y2; VPACKUSWB Y2, Y0, Y0
			; VPERMD Y0, Y7, Y0; VMOVDQU Y0, (DI)`)
	}
	a.ops("ADDQ $128, SI; ADDQ $32, DI; SUBQ $32, CX; JNZ loop")
	a.ret()
}
