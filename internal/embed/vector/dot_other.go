//go:build !amd64 && !arm64

package vector

func detect() []kernel { return []kernel{scalar} }
