// Package connect is the part of the HTTP interface for connections: tokens and
// clients that call Lore, other MCP servers whose tools Lore calls, and API keys
// of model providers. Tokens cannot use it, and the only secret that it returns is
// a token that was just created.
package connect

import (
	"maps"
	"net/http"
	"reflect"
	"sync"

	"lore/internal/surface"
	"lore/internal/surface/http/rest"
	"lore/internal/surface/http/serve"
	"lore/internal/tool/access"
	"lore/internal/tool/token"
)

// Options say what the interface stands on.
type Options struct {
	Vault  string // the folder that is served
	Tokens *token.Store
	Host   surface.Host
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
		"Servers": reflect.TypeFor[Servers](), "Server": reflect.TypeFor[surface.Server](), "NewServer": reflect.TypeFor[surface.NewServer](), "Trust": reflect.TypeFor[Trust](),
		"ServerTools": reflect.TypeFor[ServerTools](), "ServerTool": reflect.TypeFor[surface.Tool](), "Acceptance": reflect.TypeFor[Acceptance](), "Login": reflect.TypeFor[Login](),
		"Importing": reflect.TypeFor[Importing](), "Import": reflect.TypeFor[surface.Import](),
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
		{Route: get("/tokens", a.listTokens), ID: "listTokens", Summary: "List tokens (person only)", Out: "Tokens", Status: ok},
		{Route: post("/tokens", a.makeToken), ID: "makeToken", Summary: "Create a token; it is shown once (person only)", In: "NewToken", Out: "MadeToken", Status: ok},
		{Route: post("/tokens/{id}/revoke", a.revokeToken), ID: "revokeToken", Summary: "Revoke a token immediately (person only)", Out: "Token", Status: ok},
		{Route: get("/sessions", a.listSessions), ID: "listSessions", Summary: "List signed-in browsers (person only)", Out: "Sessions", Status: ok},
		{Route: post("/sessions/{id}/end", a.endSession), ID: "endSession", Summary: "Sign a browser out immediately (person only)", Status: none},
		{Route: post("/unlock", a.unlock), ID: "unlock", Summary: "Enter the approval PIN; this browser can then approve for ten minutes (person only)", In: "PIN", Status: none},
		{Route: get("/keys", a.listKeys), ID: "listKeys", Summary: "List providers that have a key and where it is stored, never the key (person only)", Out: "Keys", Status: ok},
		{Route: post("/keys", a.keepKey), ID: "keepKey", Summary: "Store a provider's key (person only)", In: "NewKey", Out: "Key", Status: ok},
		{Route: post("/keys/{provider}/forget", a.forgetKey), ID: "forgetKey", Summary: "Delete a provider's key (person only)", Status: none},
		{Route: get("/servers", a.listServers), ID: "listServers", Summary: "List other MCP servers (person only)", Out: "Servers", Status: ok,
			Query: map[string]string{"try": "1: connect to every allowed server"}},
		{Route: post("/servers", a.addServer), ID: "addServer", Summary: "Add a server (person only)", In: "NewServer", Out: "Server", Status: ok},
		{Route: post("/servers/import", a.importServers), ID: "importServers", Summary: "Preview the servers from another app, or copy them; copying needs the digest from the preview (person only)", In: "Importing", Out: "Import", Status: ok},
		{Route: post("/servers/{name}/remove", a.removeServer), ID: "removeServer", Summary: "Remove a server; only those defined in Lore's own file (person only)", In: "Trust", Status: none},
		{Route: post("/servers/{name}/decide", a.decideServer), ID: "decideServer", Summary: "Allow a server exactly as it was shown, or deny it (person only)", In: "Trust", Out: "Server", Status: ok},
		{Route: get("/servers/{name}/tools", a.serverTools), ID: "listServerTools", Summary: "List a server's tools and their changes (person only)", Out: "ServerTools", Status: ok,
			Query: map[string]string{"try": "1: connect to it"}},
		{Route: post("/servers/{name}/accept", a.acceptTool), ID: "acceptServerTool", Summary: "Accept a changed tool as it was shown (person only)", In: "Acceptance", Status: none},
		{Route: post("/servers/{name}/login", a.login), ID: "loginServer", Summary: "Begin to log in to it; answers with where the person goes (persons)", Out: "Login", Status: ok},
		{Route: post("/servers/{name}/logout", a.logout), ID: "logoutServer", Summary: "Sign out of a server (person only)", Status: none},
		{Route: get("/clients", a.listClients), ID: "listClients", Summary: "List apps that can use Lore, with their settings files and status (person only)", Out: "Clients", Status: ok},
		{Route: post("/clients/{id}", a.joinClient), ID: "joinClient", Summary: "Preview adding Lore to an app's settings or removing it, or apply it; applying needs the digest from the preview (person only)", In: "Joining", Out: "Joined", Status: ok},
	}
}
