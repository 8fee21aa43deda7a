// Package minds holds the proofs that Lore works with minds that are not ours: its
// tests run the program with a real llama-server (build tag servers), and the
// adapters with a program that speaks like each provider (build tag clients).
package minds
