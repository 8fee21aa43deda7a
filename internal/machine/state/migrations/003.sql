-- Which call made an operation: an operation without one was interrupted.
CREATE INDEX call_operation ON call (operation) WHERE operation <> '';
