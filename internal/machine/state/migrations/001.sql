-- What was asked and done. Unlike the index it cannot be made again: every
-- change of these tables is a new file beside this one. Moments are nanoseconds
-- since 1970; order is by seq, because clocks go backwards.

-- Questions to persons. The body is the whole question as JSON; the columns are
-- what it is found by.
CREATE TABLE question (
  seq      INTEGER PRIMARY KEY AUTOINCREMENT,
  id       TEXT    NOT NULL UNIQUE,
  state    TEXT    NOT NULL,
  revision INTEGER NOT NULL,
  changed  INTEGER NOT NULL,
  body     TEXT    NOT NULL
) STRICT;
CREATE INDEX question_state ON question (state, seq);

-- Standing answers.
CREATE TABLE rule (
  seq   INTEGER PRIMARY KEY AUTOINCREMENT,
  id    TEXT    NOT NULL UNIQUE,
  until INTEGER NOT NULL, -- 0: for ever
  body  TEXT    NOT NULL
) STRICT;

-- Changes of the vault.
CREATE TABLE operation (
  seq       INTEGER PRIMARY KEY AUTOINCREMENT,
  id        TEXT    NOT NULL UNIQUE,
  time      INTEGER NOT NULL,
  finished  INTEGER NOT NULL, -- 0: nobody knows yet how it ended
  kind      TEXT    NOT NULL, -- of the principal
  who       TEXT    NOT NULL, -- the principal's id: a run, a token, a session
  principal TEXT    NOT NULL, -- JSON
  tool      TEXT    NOT NULL,
  args      TEXT    NOT NULL,
  args_hash TEXT    NOT NULL,
  summary   TEXT    NOT NULL,
  question  TEXT    NOT NULL,
  reverts   TEXT    NOT NULL, -- JSON; '' for a change of its own
  outcome   TEXT    NOT NULL,
  reason    TEXT    NOT NULL
) STRICT;
CREATE INDEX operation_who ON operation (who, seq);
CREATE INDEX operation_open ON operation (seq) WHERE outcome = 'intended';

-- The files of operations. A side that is no file has no hash. Kept says that
-- its images are counted in image.uses and can be read. Undone and toggled are
-- for edits of operations that revert nothing: whether the effect is out of the
-- vault now, and the operation that last took it out or put it back.
CREATE TABLE edit (
  op      INTEGER NOT NULL,
  n       INTEGER NOT NULL,
  path    TEXT    NOT NULL,
  source  TEXT    NOT NULL, -- the path that a moved file leaves, or ''
  before  BLOB,
  after   BLOB,
  kept    INTEGER NOT NULL,
  undone  INTEGER NOT NULL DEFAULT 0,
  toggled INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (op, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX edit_path ON edit (path, op);
CREATE INDEX edit_source ON edit (source, op) WHERE source <> '';
CREATE INDEX edit_toggled ON edit (toggled) WHERE toggled <> 0;

-- Which edits an operation took back or brought back, and by which edit of its
-- own; -1 where taking back needed none.
CREATE TABLE toggle (
  by   INTEGER NOT NULL,
  by_n INTEGER NOT NULL,
  op   INTEGER NOT NULL,
  n    INTEGER NOT NULL,
  PRIMARY KEY (by, op, n)
) STRICT, WITHOUT ROWID;

-- Contents of files, by SHA-256, each kept once.
CREATE TABLE image (
  id   INTEGER PRIMARY KEY,
  hash BLOB    NOT NULL UNIQUE,
  uses INTEGER NOT NULL,
  size INTEGER NOT NULL,
  raw  INTEGER NOT NULL, -- 1: data is the content itself, 0: deflated
  data BLOB    NOT NULL
) STRICT;

-- Every call, reads too.
CREATE TABLE call (
  seq       INTEGER PRIMARY KEY AUTOINCREMENT,
  id        TEXT    NOT NULL UNIQUE,
  time      INTEGER NOT NULL,
  kind      TEXT    NOT NULL,
  who       TEXT    NOT NULL,
  surface   TEXT    NOT NULL,
  tool      TEXT    NOT NULL,
  targets   TEXT    NOT NULL, -- JSON, '' for none
  args      TEXT    NOT NULL,
  args_hash TEXT    NOT NULL,
  decision  TEXT    NOT NULL,
  reason    TEXT    NOT NULL,
  status    TEXT    NOT NULL,
  summary   TEXT    NOT NULL,
  fault     TEXT    NOT NULL,
  error     TEXT    NOT NULL,
  duration  INTEGER NOT NULL,
  tokens    INTEGER NOT NULL,
  cost      REAL    NOT NULL,
  operation TEXT    NOT NULL,
  question  TEXT    NOT NULL
) STRICT;

-- Single values: image_bytes, pruned, and the last audit entry known to be on
-- disk (audit_seq, audit_mac).
CREATE TABLE fact (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
