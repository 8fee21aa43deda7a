-- What is known about one vault. Derived from its files and nothing else: the
-- file has a version and no migrations; a wrong version is built anew.

-- One row for each file. Attachments and conflict files have a row and names,
-- and nothing more.
CREATE TABLE notes (
  id       INTEGER PRIMARY KEY,
  path     TEXT    NOT NULL UNIQUE,
  kind     TEXT    NOT NULL,
  title    TEXT    NOT NULL,
  type     TEXT    NOT NULL,
  node     TEXT    NOT NULL, -- its id as a node, '' when it has none
  sure     REAL,             -- its confidence, if it states one
  date     INTEGER NOT NULL, -- seconds; 0 when the note gives none
  size     INTEGER NOT NULL,
  mtime    INTEGER NOT NULL, -- nanoseconds
  ctime    INTEGER NOT NULL, -- nanoseconds; 0 where the system does not tell
  inode    INTEGER NOT NULL,
  hash     BLOB    NOT NULL,
  seen     INTEGER NOT NULL, -- nanoseconds; when the content was read
  words    INTEGER NOT NULL,
  lines    INTEGER NOT NULL,
  tasks    INTEGER NOT NULL,
  done     INTEGER NOT NULL,
  readonly INTEGER NOT NULL,
  tags     TEXT    NOT NULL, -- JSON, as written
  aliases  TEXT    NOT NULL, -- JSON
  props    TEXT    NOT NULL, -- JSON
  problems TEXT    NOT NULL  -- JSON, '' when there are none
) STRICT;

-- How many files of a kind state a type, kept with every batch: every list of
-- nodes says it, and counting reads them all.
CREATE TABLE types (
  type  TEXT    NOT NULL, -- as written
  kind  TEXT    NOT NULL,
  notes INTEGER NOT NULL,
  PRIMARY KEY (type, kind)
) STRICT, WITHOUT ROWID;

-- Every name a file answers to. Links are stored by the key of their target and
-- meet this table when they are read, so nothing has to be repaired when a
-- target appears, moves or goes. (The names, tags and properties of a note can be
-- told from its row, so these tables need no index by note to be cleaned.)
CREATE TABLE names (
  key  TEXT    NOT NULL,
  kind INTEGER NOT NULL,
  note INTEGER NOT NULL,
  PRIMARY KEY (key, kind, note)
) STRICT, WITHOUT ROWID;

-- Ids by how they begin, without the names of files that begin so too.
CREATE INDEX names_node ON names (key) WHERE kind = 4;

-- Tags by their lower-case form; the row of a note keeps them as written.
CREATE TABLE tags (
  tag  TEXT    NOT NULL,
  note INTEGER NOT NULL,
  PRIMARY KEY (tag, note)
) STRICT, WITHOUT ROWID;

CREATE TABLE props (
  key   TEXT    NOT NULL, -- lower case
  note  INTEGER NOT NULL,
  seq   INTEGER NOT NULL,
  value TEXT    NOT NULL, -- lower case
  PRIMARY KEY (key, note, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE links (
  note     INTEGER NOT NULL,
  seq      INTEGER NOT NULL,
  key      TEXT    NOT NULL, -- of the target
  kind     TEXT    NOT NULL,
  target   TEXT    NOT NULL,
  fragment TEXT    NOT NULL,
  text     TEXT    NOT NULL,
  field    TEXT    NOT NULL,
  line     INTEGER NOT NULL,
  start    INTEGER NOT NULL,
  stop     INTEGER NOT NULL,
  PRIMARY KEY (note, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE relations (
  note     INTEGER NOT NULL,
  seq      INTEGER NOT NULL,
  type     TEXT    NOT NULL,
  key      TEXT    NOT NULL, -- of the target
  kind     TEXT    NOT NULL,
  target   TEXT    NOT NULL,
  fragment TEXT    NOT NULL,
  sure     REAL,
  notes    TEXT    NOT NULL,
  edge     TEXT    NOT NULL, -- its block id, '' when it has none
  form     TEXT    NOT NULL,
  line     INTEGER NOT NULL,
  start    INTEGER NOT NULL,
  stop     INTEGER NOT NULL,
  PRIMARY KEY (note, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE chunks (
  note    INTEGER NOT NULL,
  seq     INTEGER NOT NULL,
  heading TEXT    NOT NULL,
  line    INTEGER NOT NULL,
  hash    BLOB    NOT NULL,
  text    TEXT    NOT NULL,
  PRIMARY KEY (note, seq)
) STRICT, WITHOUT ROWID;

-- The words of a note, one row for each, by the id of the note. The text itself
-- is in chunks, so this table keeps none.
CREATE VIRTUAL TABLE words USING fts5 (
  title, names, headings, tags, body,
  content = '', contentless_delete = 1,
  tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);

-- The names of a note cut in threes, to forgive typing mistakes in them.
CREATE VIRTUAL TABLE spellings USING fts5 (
  names,
  content = '', contentless_delete = 1,
  tokenize = 'trigram', detail = none
);

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
