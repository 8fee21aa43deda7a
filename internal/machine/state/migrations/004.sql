-- Tokens that programs call with. The secret itself is nowhere: only its SHA-256.
CREATE TABLE token (
  seq     INTEGER PRIMARY KEY AUTOINCREMENT,
  id      TEXT    NOT NULL UNIQUE,
  name    TEXT    NOT NULL,
  hash    BLOB    NOT NULL,
  scopes  TEXT    NOT NULL, -- JSON
  created INTEGER NOT NULL,
  used    INTEGER NOT NULL, -- 0: never
  expires INTEGER NOT NULL, -- 0: never
  revoked INTEGER NOT NULL  -- 0: in force
) STRICT;
-- Of the tokens in force, each has a name of its own.
CREATE UNIQUE INDEX token_name ON token (name) WHERE revoked = 0;
