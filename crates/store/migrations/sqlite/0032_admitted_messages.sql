-- How many messages of each channel were admitted on the current day, which the limits of all messages count: account messages, and
-- firings with other news about alerts. Without the row of a day, the messages are counted.
CREATE TABLE admitted_messages (
    channel TEXT NOT NULL PRIMARY KEY,
    day_start INTEGER NOT NULL,
    account_messages INTEGER NOT NULL,
    firings INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Each admission counts the messages of the day to a recipient by their kinds.
DROP INDEX messages_admitted_to;
CREATE INDEX messages_admitted_to ON messages (recipient, channel, admitted_at, kind) WHERE admitted_at IS NOT NULL;
