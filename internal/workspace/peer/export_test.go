package peer

// Protocol is the language of this version, for tests that play the other end.
const Protocol = protocol
