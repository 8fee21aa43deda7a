-- A content that differs little from another is kept as the difference: base is
-- the id of the other, which counts it among its uses, and depth how many such
-- steps lie between it and a content that is kept whole.
ALTER TABLE image ADD COLUMN base INTEGER NOT NULL DEFAULT 0;
ALTER TABLE image ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;
