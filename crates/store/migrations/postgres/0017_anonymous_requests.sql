-- Requests without an account may be repeated, too. requester_id is the account's id, or a digest of the client's address and the
-- request; so it refers to no other table, and deleting an account deletes its rows by name.
ALTER TABLE repeatable_requests DROP CONSTRAINT repeatable_requests_account_id_fkey;
ALTER TABLE repeatable_requests RENAME COLUMN account_id TO requester_id;
