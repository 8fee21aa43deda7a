-- Browsers that a person signed in. Of what a browser holds, only hashes are
-- here; files is the key that signs the addresses of attachments, and opens
-- nothing without the cookie.
CREATE TABLE session (
  seq     INTEGER PRIMARY KEY AUTOINCREMENT,
  id      TEXT    NOT NULL UNIQUE,
  cookie  BLOB    NOT NULL UNIQUE,
  secret  BLOB    NOT NULL,
  files   TEXT    NOT NULL,
  browser TEXT    NOT NULL,
  line    TEXT    NOT NULL, -- the processes that made the sign-in link, as JSON
  created INTEGER NOT NULL, -- nanoseconds
  used    INTEGER NOT NULL,
  unlocked INTEGER NOT NULL -- until when the PIN holds; 0 is locked
) STRICT;

-- A code knows which processes made it: see above.
ALTER TABLE login ADD COLUMN line TEXT NOT NULL DEFAULT '';

-- The PIN that answers need, if a person set one, and the wrong tries since.
CREATE TABLE pin (
  one    INTEGER PRIMARY KEY CHECK (one = 1),
  salt   BLOB    NOT NULL,
  hash   BLOB    NOT NULL,
  rounds INTEGER NOT NULL,
  wrong  INTEGER NOT NULL,
  until  INTEGER NOT NULL -- nanoseconds; no try counts before
) STRICT;
