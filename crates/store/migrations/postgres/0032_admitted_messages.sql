-- How many messages of each channel were admitted on the current day, which the limits of all messages count: account messages, and
-- firings with other news about alerts. Without the row of a day, the messages are counted.
CREATE TABLE admitted_messages (
    channel TEXT NOT NULL PRIMARY KEY,
    day_start BIGINT NOT NULL,
    account_messages BIGINT NOT NULL,
    firings BIGINT NOT NULL
);

-- Each admission counts the messages of the day to a recipient by their kinds.
DROP INDEX messages_admitted_to;
CREATE INDEX messages_admitted_to ON messages (recipient, channel, admitted_at, kind) WHERE admitted_at IS NOT NULL;
