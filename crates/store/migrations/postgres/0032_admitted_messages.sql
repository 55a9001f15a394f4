-- How many messages of each channel were admitted on the current day, which the limits of all messages count: account messages, and
-- firings with other news about alerts. Without the row of a day, the messages are counted.
CREATE TABLE admitted_messages (
    channel TEXT NOT NULL PRIMARY KEY,
    day_start BIGINT NOT NULL,
    account_messages BIGINT NOT NULL,
    firings BIGINT NOT NULL
);
