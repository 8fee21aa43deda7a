package serve

// BrowserName is browserName for tests.
func BrowserName(agent string) string { return browserName(agent) }
