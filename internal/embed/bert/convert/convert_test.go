package main

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

func TestHalf(t *testing.T) {
	for bits, want := range map[uint16]float32{
		0x0000: 0, 0x3c00: 1, 0xc000: -2, 0x3555: 0.33325195, 0x7bff: 65504,
		0x0001: 1.0 / (1 << 24), 0x83ff: -1023.0 / (1 << 24), 0x0400: 1.0 / (1 << 14),
		0x7c00: float32(math.Inf(1)), 0xfc00: float32(math.Inf(-1)),
	} {
		if got := half(bits); got != want {
			t.Errorf("%04x is %v, want %v", bits, got, want)
		}
	}
	if math.Signbit(float64(half(0x8000))) != true || half(0x7e00) == half(0x7e00) {
		t.Error("minus zero or not a number")
	}
}

func safetensors(header string, data ...byte) []byte {
	raw := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(raw, header...), data...)
}

func TestReadSafetensors(t *testing.T) {
	got, err := readSafetensors(safetensors(
		`{"__metadata__":{"format":"pt"},"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1,1],"data_offsets":[4,8]}}`,
		0x00, 0x3c, 0x00, 0xc0, 0, 0, 0x80, 0x3f))
	if err != nil || !slices.Equal(got["a"].values, []float32{1, -2}) || !slices.Equal(got["b"].values, []float32{1}) {
		t.Errorf("%v %v", got, err)
	}
	for _, raw := range [][]byte{
		nil, {1, 2, 3}, {255, 255, 255, 255, 255, 255, 255, 255}, safetensors(`{`),
		safetensors(`{"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}}`, 1, 2),
		safetensors(`{"a":{"dtype":"F16","shape":[2],"data_offsets":[3,1]}}`, 1, 2, 3, 4),
		safetensors(`{"a":{"dtype":"F16","shape":[2],"data_offsets":[-1,1]}}`, 1, 2, 3, 4),
		safetensors(`{"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}`, 1, 2),
		safetensors(`{"a":[]}`),
	} {
		if _, err := readSafetensors(raw); err == nil {
			t.Errorf("%q was read", raw)
		}
	}
}

func ebm(header string, data ...byte) []byte {
	raw := binary.LittleEndian.AppendUint32([]byte("EBM1"), uint32(len(header)))
	return append(append(raw, header...), data...)
}

func TestParseEBM(t *testing.T) {
	got, err := parseEBM(ebm(`[{"Name":"a","Shape":[2,2],"Type":"i8","Off":0,"Scale":4},{"Name":"b","Shape":[1],"Type":"f32","Off":4}]`,
		1, 0xff, 2, 3, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40))
	if err != nil || !slices.Equal(got["a"].values, []float32{1, -1, 4, 6}) || !slices.Equal(got["b"].values, []float32{1}) {
		t.Errorf("%v %v", got, err)
	}
	for _, raw := range [][]byte{
		nil, []byte("EBM1"), []byte("EBM2\x00\x00\x00\x00"), []byte("EBM1\xff\xff\xff\xff"), ebm(`{`),
		ebm(`[{"Name":"a","Shape":[2],"Type":"f32","Off":0}]`, 1, 2, 3, 4),
		ebm(`[{"Name":"a","Shape":[1],"Type":"f32","Off":-1}]`, 1, 2, 3, 4),
		ebm(`[{"Name":"a","Shape":[-1],"Type":"f32","Off":0}]`, 1, 2, 3, 4),
		ebm(`[{"Name":"a","Shape":[1,1],"Type":"i8","Off":0,"Scale":2}]`, 1, 2, 3, 4),
		ebm(`[{"Name":"a","Shape":[1],"Type":"f16","Off":0}]`, 1, 2, 3, 4),
	} {
		if _, err := parseEBM(raw); err == nil {
			t.Errorf("%q was read", raw)
		}
	}
}
