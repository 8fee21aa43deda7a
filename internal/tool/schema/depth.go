package schema

// IsDeeper reports whether the brackets of a JSON text are nested deeper than
// most. It looks at bytes alone: what is deep must not reach a parser.
func IsDeeper(data []byte, most int) bool {
	level, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if level++; level > most {
				return true
			}
		case c == ']' || c == '}':
			level--
		}
	}
	return false
}
