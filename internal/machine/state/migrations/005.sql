-- Codes that let one browser in, once, made by another process than the server.
-- The code itself is nowhere: only its SHA-256.
CREATE TABLE login (
  hash    BLOB    PRIMARY KEY,
  expires INTEGER NOT NULL
) STRICT;
