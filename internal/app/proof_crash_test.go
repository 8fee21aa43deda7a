//go:build crash && linux

package app

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestCrashKilledAtEveryPoint kills the program at each point at which it
// touches the vault's files, and the starts after it too. Where there are many
// points they are sampled; TORTURE=n takes n times as many.
func TestCrashKilledAtEveryPoint(t *testing.T) {
	const most = 30
	for _, s := range scenes() {
		t.Run(s.name, func(t *testing.T) {
			k := newKilling(t, s)
			points := len(k.points("CRASH_LOG", "CRASH_AT=0"))
			random := rand.New(rand.NewPCG(3, uint64(len(s.name))))
			samples := min(points, most*torture())
			if points > most {
				samples = min(points, most*2/3*torture()) // each of them takes longer
			}
			kills := 0
			for i := range samples {
				at := 1 + i*points/samples
				if points > samples {
					at += random.IntN(max(1, points/samples))
				}
				var recoveries []string
				switch i % 3 { // the recovery is killed too, and the one after it
				case 1:
					recoveries = []string{fmt.Sprint("CRASH_AT=", 1+random.IntN(12))}
				case 2:
					recoveries = []string{fmt.Sprint("CRASH_AT=", 1+random.IntN(40)), fmt.Sprint("CRASH_AT=", 1+random.IntN(12))}
				}
				if k.run(fmt.Sprintf("killed at %d of %d, then %v", at, points, recoveries), fmt.Sprint("CRASH_AT=", at), recoveries...) {
					kills++
				}
				if t.Failed() {
					return
				}
			}
			t.Logf("%d kills among %d points, %d kills of a recovery", kills, points, k.again)
		})
	}
}
