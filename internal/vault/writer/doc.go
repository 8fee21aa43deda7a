// Package writer changes the files of a vault: it applies sets of edits whole or
// not at all, and takes care that no word a person wrote is lost on the way. It
// is the only code that writes into a vault; who asks, what the edits mean and
// whether they are allowed it does not know.
package writer
