-- Whether the record of a call can hold text from outside: its caller had read some,
-- or got some as the answer.
ALTER TABLE call ADD COLUMN outside INTEGER NOT NULL DEFAULT 0;
