// Package torture tests the finished program from outside: real disks, killed
// processes, editors that save at the wrong moment, damaged files. It knows
// nothing of how Lore works inside; it starts the binary, breaks something, and
// compares what the program says with what is true.
//
// The tests have the build tag "torture" and need Linux. TORTURE=n repeats the
// random ones n times as often, LORE_BIN=path examines another binary.
package torture
