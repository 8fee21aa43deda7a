//go:build !unix

package files

// noWait is nothing where no name leads to a pipe.
const noWait = 0
