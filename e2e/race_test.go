//go:build race

package e2e

// raced says that the tests run under the race detector.
const raced = true
