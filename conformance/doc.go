// Package conformance lets the official SDKs of the providers judge our adapters to
// language models. It is a module of its own, so that nothing of them enters the
// program or its go.sum; only tests are here.
//
// Each test makes a request with our adapter and decodes it into the SDK's own
// types, in which required fields must be there; then the SDK's own client makes
// the same request. It must send the same to the same place: a field that the SDK
// does not know is lost on the way and shows as a difference. Both clients get the
// same recorded answer, and must read the same out of it.
package conformance
