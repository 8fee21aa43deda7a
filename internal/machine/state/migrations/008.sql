-- Callers that have read text from outside, so that the next process knows. Who
-- is a hash of the name that sharing knows the caller by.
CREATE TABLE taint (
  who BLOB    PRIMARY KEY,
  at  INTEGER NOT NULL -- nanoseconds
) STRICT, WITHOUT ROWID;
