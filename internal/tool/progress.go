package tool

import "context"

type progressKey struct{}

// WithProgress returns a context under which f hears how far a call is. A
// surface that waits for a call gives it, and f must be quick: the tool waits
// for it.
func WithProgress(ctx context.Context, f func(done, total int, message string)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// Progress tells whoever waits for a call how far it is; a total of 0 is not
// known. A tool that reads many files calls it for each: where nobody listens it
// costs a look, and whoever listens keeps the pace down.
func Progress(ctx context.Context, done, total int, message string) {
	if f, ok := ctx.Value(progressKey{}).(func(int, int, string)); ok {
		f(done, total, message)
	}
}
