package main

func rowsARM64() string {
	a := newAsm(mathConstants()...)
	a.remark("n is a positive multiple of 4 (of 16 for quantise).\n")
	softmaxARM(a)
	geluARM(a)
	addSumARM(a)
	normaliseARM(a)
	extremesARM(a)
	quantiseARM(a)
	return a.String()
}

// constantARM fills all lanes of a register.
func (a *asm) constantARM(name string, d int) {
	a.op("MOVD $%s<>(SB), R10", name)
	a.op("VLD1R (R10), [V%d.S4]", d)
}

func (a *asm) loadExpARM() {
	a.constantARM("bias127", 8)
	for i, c := range []string{"log2e", "e5", "e4", "e3", "e2", "e1", "e0"} {
		a.constantARM(c, 16+i)
	}
}

// expARM replaces register x by its exponential; t, u and v are overwritten.
func (a *asm) expARM(x, t, u, v int) {
	a.fmul(16, x, x)
	a.frintn(x, t)
	a.fsub(t, x, x)
	a.fcvtns(t, t)
	a.addi(8, t, t)
	a.shl23(t, t)
	a.copy(17, u)
	for c := 18; c <= 22; c++ { // u = u*x + c
		a.copy(c, v)
		a.fmla(x, u, v)
		u, v = v, u
	}
	a.fmul(t, u, x)
}

func (a *asm) nextARM(label string) {
	a.ops("SUBS $4, R1, R1; BNE " + label)
}

func (a *asm) retARM() { a.WriteString("\tRET\n\n") }

// sumARM adds the lanes of a register into all of them.
func (a *asm) sumARM(d int) {
	a.addp(d, d, d)
	a.addp(d, d, d)
}

func softmaxARM(a *asm) {
	a.fn("softmaxNEON", "(x *float32, n int)", 16)
	a.ops("MOVD x+0(FP), R0; MOVD n+8(FP), R1; MOVD R0, R2; MOVD R1, R3; VLD1 (R0), [V7.S4]")
	a.label("largest")
	a.op("VLD1.P 16(R0), [V0.S4]")
	a.fmax(0, 7, 7)
	a.nextARM("largest")
	a.two(0x6e30f800, "fmaxv.4s", 7, 7)
	a.dup(7, 7)
	a.loadExpARM()
	a.constantARM("lowest", 6)
	a.clear(5)
	a.ops("MOVD R2, R0; MOVD R3, R1")
	a.label("exponent")
	a.op("VLD1 (R0), [V0.S4]")
	a.fsub(7, 0, 0)
	a.fmax(6, 0, 0)
	a.expARM(0, 1, 2, 3)
	a.fadd(0, 5, 5)
	a.op("VST1.P [V0.S4], 16(R0)")
	a.nextARM("exponent")
	a.sumARM(5)
	a.constantARM("one", 1)
	a.fdiv(5, 1, 5)
	a.ops("MOVD R2, R0; MOVD R3, R1")
	a.label("scale")
	a.op("VLD1 (R0), [V0.S4]")
	a.fmul(5, 0, 0)
	a.op("VST1.P [V0.S4], 16(R0)")
	a.nextARM("scale")
	a.retARM()
}

// geluARM: see wide.gelu.
func geluARM(a *asm) {
	a.fn("geluNEON", "(x *float32, n int)", 16)
	a.ops("MOVD x+0(FP), R0; MOVD n+8(FP), R1")
	a.loadExpARM()
	for i, c := range []string{"rsqrt2", "p", "one", "a5", "a4", "a3", "a2", "a1", "half"} {
		a.constantARM(c, 23+i)
	}
	a.constantARM("lowest", 9)
	a.clear(10)
	a.label("loop")
	a.op("VLD1 (R0), [V3.S4]")
	a.fabs(3, 4)
	a.fmul(23, 4, 5)
	a.fmul(5, 5, 0)
	a.fneg(0, 0)
	a.fmax(9, 0, 0)
	a.expARM(0, 1, 2, 7)
	a.copy(25, 6)
	a.fmla(24, 5, 6)
	a.fdiv(6, 25, 6)
	from, to := 7, 2
	a.copy(26, from)
	for c := 27; c <= 30; c++ {
		a.copy(c, to)
		a.fmla(6, from, to)
		from, to = to, from
	}
	a.fmul(6, from, from)
	a.fmul(0, from, from)
	a.fmul(31, 4, 4)
	a.fmax(10, 3, 3)
	a.fmls(4, from, 3)
	a.op("VST1.P [V3.S4], 16(R0)")
	a.nextARM("loop")
	a.retARM()
}

func addSumARM(a *asm) {
	a.fn("addSumNEON", "(x, t *float32, n int) (sum, squares float32)", 32)
	a.ops("MOVD x+0(FP), R0; MOVD t+8(FP), R2; MOVD n+16(FP), R1")
	a.clear(5)
	a.clear(6)
	a.label("loop")
	a.ops("VLD1 (R0), [V0.S4]; VLD1.P 16(R2), [V1.S4]")
	a.fadd(1, 0, 0)
	a.op("VST1.P [V0.S4], 16(R0)")
	a.fadd(0, 5, 5)
	a.fmla(0, 0, 6)
	a.nextARM("loop")
	a.sumARM(5)
	a.sumARM(6)
	a.ops("FMOVS F5, sum+24(FP); FMOVS F6, squares+28(FP)")
	a.retARM()
}

func normaliseARM(a *asm) {
	a.fn("normaliseNEON", "(x, weight, bias *float32, n int, mean, inverse float32)", 40)
	a.ops("MOVD x+0(FP), R0; MOVD weight+8(FP), R2; MOVD bias+16(FP), R3; MOVD n+24(FP), R1")
	a.ops("FMOVS mean+32(FP), F5; FMOVS inverse+36(FP), F6")
	a.dup(5, 5)
	a.dup(6, 6)
	a.label("loop")
	a.ops("VLD1 (R0), [V0.S4]; VLD1.P 16(R2), [V1.S4]; VLD1.P 16(R3), [V2.S4]")
	a.fsub(5, 0, 0)
	a.fmul(6, 0, 0)
	a.fmla(1, 0, 2)
	a.op("VST1.P [V2.S4], 16(R0)")
	a.nextARM("loop")
	a.retARM()
}

func extremesARM(a *asm) {
	a.fn("extremesNEON", "(x *float32, n int) (low, high float32)", 24)
	a.ops("MOVD x+0(FP), R0; MOVD n+8(FP), R1; VLD1 (R0), [V5.S4]")
	a.copy(5, 6)
	a.label("loop")
	a.op("VLD1.P 16(R0), [V0.S4]")
	a.fmin(0, 5, 5)
	a.fmax(0, 6, 6)
	a.nextARM("loop")
	a.two(0x6eb0f800, "fminv.4s", 5, 5)
	a.two(0x6e30f800, "fmaxv.4s", 6, 6)
	a.ops("FMOVS F5, low+16(FP); FMOVS F6, high+20(FP)")
	a.retARM()
}

// quantiseARM writes signed bytes: 128 less than the others write.
func quantiseARM(a *asm) {
	a.fn("quantiseNEON", "(dst *uint8, x *float32, n int, low, inverse float32)", 32)
	a.ops("MOVD dst+0(FP), R2; MOVD x+8(FP), R0; MOVD n+16(FP), R1")
	a.ops("FMOVS low+24(FP), F5; FMOVS inverse+28(FP), F6")
	a.dup(5, 5)
	a.dup(6, 6)
	a.op("VMOVI $128, V7.B16")
	a.label("loop")
	a.op("VLD1.P 64(R0), [V0.S4, V1.S4, V2.S4, V3.S4]")
	for i := range 4 {
		a.fsub(5, i, i)
		a.fmul(6, i, i)
		a.fcvtns(i, i)
	}
	a.two(0x2e612800, "sqxtun 4h <- 4s", 0, 0)
	a.two(0x6e612800, "sqxtun2 8h <- 4s", 1, 0)
	a.two(0x2e612800, "sqxtun 4h <- 4s", 2, 2)
	a.two(0x6e612800, "sqxtun2 8h <- 4s", 3, 2)
	a.two(0x2e214800, "uqxtn 8b <- 8h", 0, 0)
	a.two(0x6e214800, "uqxtn2 16b <- 8h", 2, 0)
	a.ops("VEOR V7.B16, V0.B16, V0.B16; VST1.P [V0.B16], 16(R2); SUBS $16, R1, R1; BNE loop")
	a.retARM()
}
