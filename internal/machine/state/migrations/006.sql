-- Conversations with a mind. What a row holds beside its keys is JSON, because
-- what it must hold differs from provider to provider.
CREATE TABLE chat (
  id      TEXT    PRIMARY KEY,
  changed INTEGER NOT NULL, -- nanoseconds
  body    TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX chat_changed ON chat (changed);

CREATE TABLE message (
  chat TEXT    NOT NULL,
  seq  INTEGER NOT NULL, -- from 1
  body TEXT    NOT NULL,
  PRIMARY KEY (chat, seq)
) STRICT, WITHOUT ROWID;

-- One request of a person and everything that was done for it. The process that
-- works on it renews its hold; one whose time is over is anybody's.
CREATE TABLE run (
  id     TEXT    PRIMARY KEY,
  chat   TEXT    NOT NULL,
  status TEXT    NOT NULL,
  holder TEXT    NOT NULL, -- '' when nobody works on it
  until  INTEGER NOT NULL, -- nanoseconds
  body   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX run_chat ON run (chat);
CREATE INDEX run_status ON run (status);

-- The calls of tools that a run wants, wanted or made.
CREATE TABLE run_call (
  run   TEXT    NOT NULL,
  seq   INTEGER NOT NULL, -- from 1
  state TEXT    NOT NULL,
  body  TEXT    NOT NULL,
  PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
