// Package connect is the part of the HTTP interface at which a person decides
// who comes in and what goes out: tokens and clients that call Lore, other
// servers whose tools it calls, and keys of providers of models. No token reaches
// it, and no secret leaves it but a token that was made this moment.
package connect

import (
	"maps"
	"net/http"
	"reflect"
	"sync"

	"lore/internal/access"
	"lore/internal/keys"
	"lore/internal/surface/install"
	"lore/internal/surface/rest"
	"lore/internal/surface/serve"
	"lore/internal/surface/servers"
	"lore/internal/token"
)

// Options say what the interface stands on.
type Options struct {
	Vault  string // the folder that is served
	Tokens *token.Store
	// Keys are kept for the providers that Providers names.
	Keys      func() keys.Store
	Providers func() ([]string, error)
	// Servers are others whose tools are used, Clients others that use Lore.
	Servers servers.Host
	Clients install.Host
	// Closing ends logins that wait; nil never does.
	Closing <-chan struct{}
}

// An API is the interface for one vault.
type API struct {
	o Options

	mu     sync.Mutex
	failed map[string]string // why a login did not work, by the name of the server
}

// New makes the interface.
func New(o Options) *API { return &API{o: o, failed: map[string]string{}} }

// Types are those that the routes name, beside those of others.
func Types(others map[string]reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{
		"Tokens": reflect.TypeFor[Tokens](), "Token": reflect.TypeFor[token.Token](), "NewToken": reflect.TypeFor[NewToken](), "MadeToken": reflect.TypeFor[MadeToken](),
		"Sessions": reflect.TypeFor[Sessions](), "Session": reflect.TypeFor[token.Session](), "PIN": reflect.TypeFor[PIN](),
		"Keys": reflect.TypeFor[Keys](), "Key": reflect.TypeFor[Key](), "NewKey": reflect.TypeFor[NewKey](),
		"Servers": reflect.TypeFor[Servers](), "Server": reflect.TypeFor[servers.Server](), "NewServer": reflect.TypeFor[servers.NewServer](), "Trust": reflect.TypeFor[Trust](),
		"ServerTools": reflect.TypeFor[ServerTools](), "ServerTool": reflect.TypeFor[servers.Tool](), "Acceptance": reflect.TypeFor[Acceptance](), "Login": reflect.TypeFor[Login](),
		"Importing": reflect.TypeFor[Importing](), "Import": reflect.TypeFor[servers.Import](),
		"Clients": reflect.TypeFor[Clients](), "Joining": reflect.TypeFor[Joining](), "Joined": reflect.TypeFor[Joined](),
	}
	maps.Copy(out, others)
	return out
}

// Routes lists what there is.
func (a *API) Routes() []rest.Route {
	at := func(method, path string, h serve.Handle) serve.Route {
		return serve.Route{Method: method, Pattern: rest.Prefix + path, Scope: access.Approve, Person: true, Handle: h}
	}
	get := func(path string, h serve.Handle) serve.Route { return at(http.MethodGet, path, h) }
	post := func(path string, h serve.Handle) serve.Route { return at(http.MethodPost, path, h) }
	ok, none := http.StatusOK, http.StatusNoContent
	return []rest.Route{
		{Route: get("/tokens", a.listTokens), ID: "listTokens", Summary: "The tokens that programs call with (persons)", Out: "Tokens", Status: ok},
		{Route: post("/tokens", a.makeToken), ID: "makeToken", Summary: "Make a token; it is told once (persons)", In: "NewToken", Out: "MadeToken", Status: ok},
		{Route: post("/tokens/{id}/revoke", a.revokeToken), ID: "revokeToken", Summary: "End a token, at once (persons)", Out: "Token", Status: ok},
		{Route: get("/sessions", a.listSessions), ID: "listSessions", Summary: "The browsers that are signed in (persons)", Out: "Sessions", Status: ok},
		{Route: post("/sessions/{id}/end", a.endSession), ID: "endSession", Summary: "Sign a browser out, at once (persons)", Status: none},
		{Route: post("/unlock", a.unlock), ID: "unlock", Summary: "Give the approval PIN; this browser may then approve for ten minutes (persons)", In: "PIN", Status: none},
		{Route: get("/keys", a.listKeys), ID: "listKeys", Summary: "Which providers of models have a key, and where it lies; never the key (persons)", Out: "Keys", Status: ok},
		{Route: post("/keys", a.keepKey), ID: "keepKey", Summary: "Keep the key of a provider (persons)", In: "NewKey", Out: "Key", Status: ok},
		{Route: post("/keys/{provider}/forget", a.forgetKey), ID: "forgetKey", Summary: "Forget the key of a provider (persons)", Status: none},
		{Route: get("/servers", a.listServers), ID: "listServers", Summary: "Other MCP servers whose tools can be used (persons)", Out: "Servers", Status: ok,
			Query: map[string]string{"try": "1: connect to each that may be used"}},
		{Route: post("/servers", a.addServer), ID: "addServer", Summary: "Name another server (persons)", In: "NewServer", Out: "Server", Status: ok},
		{Route: post("/servers/import", a.importServers), ID: "importServers", Summary: "What another client's servers are, and with what was shown of them, copy them (persons)", In: "Importing", Out: "Import", Status: ok},
		{Route: post("/servers/{name}/remove", a.removeServer), ID: "removeServer", Summary: "Name it no more; only those that are named in Lore's own file (persons)", In: "Trust", Status: none},
		{Route: post("/servers/{name}/decide", a.decideServer), ID: "decideServer", Summary: "Use it exactly as it was shown, or use it no more (persons)", In: "Trust", Out: "Server", Status: ok},
		{Route: get("/servers/{name}/tools", a.serverTools), ID: "listServerTools", Summary: "Its tools, with what changed about them (persons)", Out: "ServerTools", Status: ok,
			Query: map[string]string{"try": "1: connect to it"}},
		{Route: post("/servers/{name}/accept", a.acceptTool), ID: "acceptServerTool", Summary: "Use a changed tool as it was shown (persons)", In: "Acceptance", Status: none},
		{Route: post("/servers/{name}/login", a.login), ID: "loginServer", Summary: "Begin to log in to it; answers with where the person goes (persons)", Out: "Login", Status: ok},
		{Route: post("/servers/{name}/logout", a.logout), ID: "logoutServer", Summary: "Forget the login (persons)", Status: none},
		{Route: get("/clients", a.listClients), ID: "listClients", Summary: "Programs that can use Lore, where their files lie, and which of them do (persons)", Out: "Clients", Status: ok},
		{Route: post("/clients/{id}", a.joinClient), ID: "joinClient", Summary: "What putting Lore into a client's file, or taking it out, would change; and with what was shown, do it (persons)", In: "Joining", Out: "Joined", Status: ok},
	}
}
