package surface

import "context"

// Servers are the other MCP servers whose tools Lore can use.
type Servers struct {
	// List reads the files; with try, every server that may be used is connected
	// to.
	List func(ctx context.Context, at Scope, try bool) ([]Server, []string, error)
	// Allow and Deny keep what a person decided about a server as it was shown.
	Allow, Deny func(ctx context.Context, at Scope, s Server) error
	// Tools connects to a server and lists its tools; without try, it lists what
	// is known of them.
	Tools func(ctx context.Context, at Scope, name string, try bool) (Server, []Tool, error)
	// Accept lets a changed tool be used as it was shown.
	Accept func(ctx context.Context, at Scope, server, tool, digest string) error
	// Login takes a person through the browser, Logout forgets that.
	Login  func(ctx context.Context, at Scope, name string, show func(address string)) (Server, error)
	Logout func(ctx context.Context, at Scope, name string) (bool, error)
	// Add names a server in Lore's own file, Remove deletes it there.
	Add    func(NewServer) error
	Remove func(Server) error
	// Import plans to copy the servers of a client.
	Import func(client string) (Import, error)
}

// A Scope says which vault is meant and how much to log.
type Scope struct {
	Vault, LogLevel string // flags; may be empty
}

// A Server is one server of a file, as a person sees it.
type Server struct {
	Name      string            `json:"name"`
	File      string            `json:"file"`
	InVault   bool              `json:"in_vault"`
	Transport string            `json:"transport"`
	State     string            `json:"state"`
	Why       string            `json:"why,omitempty"`
	Tools     int               `json:"tools"` // that are known, or were there when it was tried
	Changed   []string          `json:"changed_tools,omitempty"`
	LeftOut   []string          `json:"left_out,omitempty"`
	Software  string            `json:"software,omitempty"`
	Command   []string          `json:"command,omitempty"`
	Dir       string            `json:"cwd,omitempty"`
	URL       string            `json:"url,omitempty"`
	Env       map[string]string `json:"env,omitempty"`     // secrets left out
	Headers   map[string]string `json:"headers,omitempty"` // the same
	EnvFile   string            `json:"env_file,omitempty"`
	LoggedIn  bool              `json:"logged_in,omitempty"`
	Digest    string            `json:"digest"`
	Warnings  []string          `json:"warnings,omitempty"`
}

// A Tool is one tool of a server.
type Tool struct {
	Name        string `json:"name"` // in Lore
	Own         string `json:"own_name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// Change is set when the server says something else than it did.
	Change *Change `json:"change,omitempty"`
}

// A Change is what a tool was, and what it would be.
type Change struct {
	Digest string `json:"digest"` // of what it would be
	Old    string `json:"old"`
	New    string `json:"new"`
}

// An Import is what copying a client's servers would do.
type Import struct {
	Client  string       `json:"client"`
	From    string       `json:"from"`
	To      string       `json:"to"`
	Servers []Server     `json:"servers"`
	Skipped []string     `json:"skipped,omitempty"` // names, and why
	Digest  string       `json:"digest,omitempty"`  // of what is to be copied, for who agrees later
	Done    bool         `json:"done,omitempty"`
	Write   func() error `json:"-"`
}

// A NewServer is a server as a person names it: a program that is started, or an
// address that is called.
type NewServer struct {
	Name    string            `json:"name"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}
