# The words of all pages, in alphabetical order within each part.

## Every page

account-menu = Account
any = Any
api-reference = API reference
apply = Apply
charts-by = TradingView Lightweight Charts™, Copyright (c) 2025 TradingView, Inc.,
close = Close
command-hint = ↑ and ↓ choose, Enter opens. A symbol or a rule works, too.
command-label = Command, symbol or rule
command-palette = Command palette
command-placeholder = Alerts, { $symbol }, or { $rule }
command-placeholder-without-stocks = Page, symbol or rule
commands = Commands
key-change = Pause, resume or snooze the selected alerts
key-decide = Approve or deny the change that has the focus
key-escape = Close messages about firings and the menu
key-level = Move the level that has the focus
key-move = Move in the table of alerts
key-select = Select the alert
keyboard-shortcuts = Keyboard shortcuts
keys-hint = Single keys can be switched off in the
nav-alerts = Alerts
nav-deliveries = Deliveries
nav-fired = Fired
nav-main = Main
nav-settings = Settings
nav-today = Today
nav-watchlist = Watchlist
recent-changes = Recent changes
recent-changes-hint = Each can be undone for ten minutes, as long as nothing else changes the alert.
rising-green = Green
rising-prices = Rising prices
rising-red = Red
search-label = Search or add
search-placeholder = { $symbol }, or { $rule }
search-placeholder-without-stocks = Symbol or rule
sign-out = Sign out
skip-to-content = Skip to content
single-keys = Single keys
sound = Sound at a firing
theme = Theme
theme-dark = Dark
theme-light = Light
theme-system = System
undo = Undo
unseen = new

## Sign in, register, first account

create-account = Create account
create-first-account = Create the first account
email = Email
first-account-code = Code
first-account-code-hint = The server has written it to its log at the start.
first-account-intro = This service has no account yet. The first account operates the service.
forgotten-password = I have forgotten my password
have-account = Do you have an account?
no-account = No account yet?
password = Password
register-intro = We will email you a link to confirm your address.
sign-in = Sign in
sign-in-by-link = Email me a sign-in link

## Alerts

alerts-count = { $count ->
    [one] 1 alert
   *[other] { $count } alerts
}
alerts-deleted = { $count ->
    [one] 1 alert deleted.
   *[other] { $count } alerts deleted.
}
alerts-empty = You have no alerts yet.
alerts-empty-hint = Type a rule into the search box above, for example
alerts-none-match = No alert matches these filters.
alerts-none-selected = Select at least one alert first.
alerts-paused = { $count ->
    [one] 1 alert paused.
   *[other] { $count } alerts paused.
}
alerts-refused = { $count ->
    [one] 1 was not: { $reason }
   *[other] { $count } were not, the first because: { $reason }
}
alerts-all-refused = { $count ->
    [one] 1 alert is unchanged: { $reason }
   *[other] { $count } alerts are unchanged, the first because: { $reason }
}
alerts-already = { $count ->
    [one] 1 alert already has this state.
   *[other] { $count } alerts already have this state.
}
alerts-resumed = { $count ->
    [one] 1 alert resumed.
   *[other] { $count } alerts resumed.
}
alerts-snoozed-before = { $count ->
    [one] 1 alert snoozed.
   *[other] { $count } alerts snoozed.
}
alerts-snoozed = { $count ->
    [one] 1 alert snoozed until { $until }.
   *[other] { $count } alerts snoozed until { $until }.
}
alerts-undone = { $count ->
    [one] 1 alert is as it was before.
   *[other] { $count } alerts are as they were before.
}
clear-filters = Clear filters
column-alert = Alert
column-distance = Distance
column-fired = Last fired
column-price = Price
column-state = State
column-stock = Stock
delete = Delete
export-csv = Export as CSV
filter-condition = Condition
filter-search = Search
filter-status = Status
filter-symbol = Symbol
filter-tag = Tag
new-alert = New alert
next-page = Next page
pages = Pages
pause = Pause
previous-page = Previous page
resume = Resume
select = Select
select-all = { $count ->
    [one] The 1 alert of all pages
   *[other] All { $count } alerts of all pages
}
select-page = Select all alerts on this page
selected-alerts = Selected alerts
snooze = Snooze
snooze-day = for a day
snooze-for = Snooze
snooze-hour = for an hour
snooze-week = for a week
sort-by = Sort by
sort-created = Newest
sort-distance = Nearest to firing
sort-fired = Last fired
sort-symbol = Symbol
state-active = Active
state-blind = Cannot be evaluated
state-expired = Expired
state-inactive = Inactive
state-paused = Paused
state-snoozed = Snoozed until
state-triggered = Fired
state-waiting = Waiting for data

## One alert

accepted = Accepted
acknowledge = Acknowledge
acknowledged-by = Acknowledged by
acknowledged-via-api = dashboard or API
after-sessions = { $count ->
    [one] After 1 session
   *[other] After { $count } sessions
}
column-comparison = Comparison
column-ended = Accepted or given up
column-error = Error
column-holds = Now
column-left = Left
column-right = Right
column-sent = Sent
comparisons = Comparisons
explain = Explain
explain-now = Explain now
fact-channel = Channel
fact-created = Created
fact-default-route = default route
fact-fired = Last fired
fact-initial-price = Price at the start
fact-issue = Not evaluated because
fact-note = Note
fact-tags = Tags
fact-urgent = Urgent
fact-urgent-hint = Sent during quiet hours, too
fact-template-title = Template of the title
fact-template-text = Template of the text
fact-template-payload = Template of the webhook body
facts = Details
firing-acknowledged = The firing is acknowledged.
firing-no-messages = No message about this firing was sent.
held-back-by = Held back by
history = History
hours = { $count ->
    [one] 1 hour
   *[other] { $count } hours
}
late = late
latest-firings = Latest firings
latest-firings-hint = Each message with its times after the firing, in milliseconds.
members = Stocks
message-held = Held back
minutes = { $count ->
    [one] 1 minute
   *[other] { $count } minutes
}
next-check = Next check without a new price:
outcomes = What followed
outcomes-hint = The move of the stock since the close of the day it fired, and in parentheses that of the benchmark.
route-sentence-all = { $channels }, at the same time
route-sentence-failure = { $channels } if the one before fails
route-sentence-timeout = { $count ->
    [2] { $channels } after { $time } without an acknowledgement
   *[other] { $channels }, each after { $time } without an acknowledgement
}
route-then = then
sent-empty = Nothing has been sent about this alert yet. Each firing goes to its channel and to your webhooks.
term-fails = no
term-holds = yes
term-unknown = unknown
until = until
why = Why
why-at = At
why-at-stored = Calculated from stored bars.
why-changed = The condition has changed since, at
why-false = It does not fire, because the condition is not true:
why-held-back = It does not fire:
why-then = Why not at another time?
why-true = The condition is true:
why-true-held-back = The condition is true, but something else holds the alert back:
why-unknown = It depends on a date or on a change:

## Approvals

approval-after = After:
approval-before = Now:
approvals-empty = No changes are waiting for your approval.
approvals-empty-hint = Changes that agents request in your account appear here if you want to approve them.
approvals-title = Pending approvals
approve = Approve
deny = Deny
requested-by = Requested by

## Today

all-unseen = All { $count } new firings
blind-alerts = Cannot be evaluated
blind-alerts-hint = Their data is missing or too old, so they cannot fire.
fired-empty = Nothing has fired yet.
fired-since-last-visit = Fired since your last visit
last-firings = Earlier firings
mark-seen = Mark as seen
market-closed = The market is closed until
market-open = The market is open until
near-empty = No active alert can show how near it is. See their states under
near-true = its next price fires it
near-waiting = True, but waiting
nearest-to-firing = Nearest to firing
no-earlier-firings = Nothing fired before.
paper-return = Paper trades

## Fired

new-level = New level
rearm = Re-arm
rearmed = { $symbol } is armed again.
since-then = since then

## New alert

edit = Edit
edit-alert = Edit alert
family-alternative = Insiders and discussion
family-dividend = Earnings and dividends
family-expression = Any combination
family-fundamental = Fundamental
family-price = Price
family-technical = Technical
family-time = Time
family-volume = Volume
form-channel = Channel
form-condition = Condition
form-default = Default
form-expression = Expression
form-expression-hint = For example price < sma(200) and rsi < 30
form-heading = As a form
form-hint = The rule and the form follow each other.
form-no-channels = Add a notification channel to choose where this alert is sent.
form-notification = Notification
form-options = Options
form-route-hint = Without a channel, firings go to the default route, or else to the email address or phone number of the form.
form-stocks = Stocks
form-symbol = Symbol
form-symbols = Symbols, separated by commas
form-threshold = Threshold
form-urgent = Urgent: send its messages during quiet hours, too
level-former = now
level-new = new
no = No
option-base = Percentages are measured from
option-cooldown = Cooldown after a firing
option-cooldown-refire = Fire again after the cooldown if it still holds
option-expires-at = Ends on
option-hold = Must hold for
option-max-firings = Number of firings
option-notify-on-expiry = Notify me when it ends
option-rearm-at = Re-arm at a level
option-rearm-percent = Re-arm after percent of the level
option-repeat = Fires
option-session = Trading hours that are judged
option-snoozed-until = Snoozed until
option-trigger = Price that is judged
save-changes = Save changes
stocks-one = One stock
stocks-several = Several stocks
stocks-watchlist = The whole watchlist
stocks-watchlist-buy = The watchlist: intention buy
stocks-watchlist-sell = The watchlist: intention sell
yes = Yes
check-hint = Type a rule or fill in the form. Its meaning and its past firings are shown here.
check-result = Meaning and past firings
check-rule = Check
create-alert = Create alert
example-dip = A dip in an oversold stock
example-level = A price level
example-move = A large move of the day, each time
example-trailing = A trailing stop, 8% below the high since now
example-volume = Three times the usual volume
examples = Examples
newer = Newer
noise = { $count ->
    [one] It fires about once a year{ $most ->
        [0] .
        [one] .
       *[other] , and up to { $most } times in one session.
    }
   *[other] It fires about { $count } times a year{ $most ->
        [0] .
        [one] .
       *[other] , and up to { $most } times in one session.
    }
}
noise-cooldown = Choose a stricter level, or set “Cooldown after a firing” to a time such as 7d.
noise-longer-cooldown = Choose a stricter level, or a longer “Cooldown after a firing”.
noise-once-per-day = Set “Fires” to “Once per day”.
noise-rearm-above-zero = Set “Re-arm at a level” to a value above 0, so that it fires again only after the value has moved away.
noise-rearm-below-zero = Set “Re-arm at a level” to a value below 0, so that it fires again only after the value has moved away.
noise-rearm-percent = Set “Re-arm after percent of the level” to 2, so that it fires again only after the value has moved away.
noise-single-reminder = A daily reminder fires on every trading day; use a reminder for a single day.
older = Older
preview = Preview
preview-after = After a firing the stock moved on average (the benchmark in parentheses):
preview-count = { $count ->
    [0] It would not have fired on the stored bars.
    [one] It would have fired once.
   *[other] It would have fired { $count } times, { $per_year } times a year.
}
preview-firings = The newest of these firings
preview-never-true = This can never be true: { $reasons }
preview-no-history = There is no stored history of this stock to try the rule on.
preview-no-extended-hours = Prices of extended hours are not stored, so only the regular session was tried.
preview-unknown = These figures never had a value: { $metrics }
rule = Rule
rule-incomplete = The rule is not complete
rule-hint = A stock and a condition, then options such as “each time”, “cooldown 1h” or “to sms”.
sentence = Sentence
tags-hint = Separated by commas

## One stock

chart = Chart
chart-empty = No bars of this stock are stored yet.
chart-label = Price chart of
chart-placeholder = A rule about one stock shows its chart here.
chart-table = The last sessions as a table
column-close = Close
column-date = Date
column-high = High
column-low = Low
column-open = Open
column-volume = Volume
figure-dividend = Annual dividend
figure-earnings = Next earnings
figure-eps = Earnings per share
figure-ex-dividend = Ex-dividend date
figure-high = 52-week high
figure-low = 52-week low
figure-ma-200 = 200-day average
figure-ma-50 = 50-day average
figure-pe = P/E
figure-rsi = RSI (14)
figure-volume = Volume
figures = Figures
figures-hint = Select a figure to create an alert on it.
flip-above = Flip to above
flip-below = Flip to below
level-add = New alert at this price
level-label = Alert level
level-passed = { $symbol } is at { $price }, so this would fire at once. Choose another level, or flip the alert.
level-preview = Would have fired { $count } times a year.
level-unreachable = The level is not stored, because the service cannot be reached. Try again in a moment.
mark-dividend = Dividend
mark-earnings = Earnings
mark-firing = Fired
mark-split = Split
no-price = No price yet
own-alerts = Your alerts on this stock
own-alerts-empty = You have no alert on this stock yet. Press “+” at the price axis of the chart, select one of the figures, or start here:

## Deliveries

channel-email = Email
channel-sms = Text message
channel-deleted = Deleted channel
deleted-alert = Deleted alert
attempts-empty = Nothing has been sent yet.
column-attempts = Attempts
column-channel = Channel
column-delay = Time
column-kind = Kind
column-outcome = Last answer
column-recipient = Recipient
create-webhook = Create a webhook
deliveries-empty = No delivery matches. Deliveries appear here when an alert fires.
deliveries-no-webhook = You have no webhook, so firings are not posted anywhere.
delivery = Delivery
delivery-body = Body of the request
delivery-delays = From the firing to the accepted answer:
delivery-delivered = Delivered
delivery-failed = Failed
delivery-pending = Waiting
message-resent = The message is sent again. It appears here once it is on its way.
message-sent = Sent
messages = Messages
messages-empty = No message about an alert has been sent yet. Check where they go:
messages-resend-hint = Messages about firings can be sent again. The texts of other messages are not kept.
next-attempt = next attempt
resend = Resend
resend-all-since = Resend all since…
resent = The delivery is sent again.
resent-many = { $count ->
    [0] No failed delivery since then.
    [one] 1 failed delivery is sent again.
   *[other] { $count } failed deliveries are sent again.
}
since = Failed since
webhook = Webhook

## Watchlist

add = Add
advice = Advice
alert-over-all = One alert over all of them
alert-over-all-hint = The rule is checked for each stock on the list, also for those you add later.
auto-alerts = Create alerts by the analyst
change = Change
closed = Closed
direction = Direction
entry-price = Entry price
inactive = inactive
intention = Intention
intention-buy = Buy
intention-sell = Sell
item-active = Active, with a paper trade
item-added = { $symbol } is on your watchlist.
item-changed = { $symbol } is changed.
item-removed = { $symbol } is removed from your watchlist.
no-advice = No advice yet
notes = Notes
opened = Opened
performance = Performance
performance-table = The last days as a table
performance-label = Performance of your paper trades against
profit = Profit
proposal-accepted = The alert is created: { $sentence }
proposal-change = Change in the builder
proposal-exists = You have this alert already: { $sentence }
proposals = The analyst’s proposals for
proposals-none = The rules propose no alert at the present price.
proposals-made = Alerts made from it
proposals-show = Proposals of the analyst
remove = Remove
save = Save
since-added = Since added
since-day = since
stocks = Stocks
target-price = Target price
watchlist-empty = Your watchlist is empty.
watchlist-empty-hint = Add a stock that you want to buy or sell. A paper trade shows how the intention performs, and the analyst proposes alerts.

## Settings

access-token = Access token
account-deactivated = Your account is deactivated. { $count ->
    [one] 1 alert is paused.
   *[other] { $count } alerts are paused.
}
account-reactivated = Your account is active again. Paused alerts stay paused.
agents-wait = Changes by agents wait for my approval
appearance = Appearance
appearance-hint = For this browser.
bot-token = Token of your bot
bot-token-hint = Only for a bot of your own, created with @BotFather. Leave it empty to use the bot of this service.
change-email = Change email address
change-email-hint = We send a link to the new address. It changes when you open the link.
change-password = Change password
change-password-hint = At least 8 characters. Other sessions are signed out.
channel-browser = A browser
channel-budget-default = any number
channel-burst-default = the usual
channel-burst-limit = Separate messages a minute
channel-changed = The channel is changed.
channel-created = The channel “{ $name }” is added. Send a test to see that messages arrive.
channel-created-email = The channel “{ $name }” is added. Open the link in the email that we sent to the address.
channel-daily-budget = Messages a day
channel-deleted-notice = The channel is deleted.
channel-digest = Digest
channel-digest-daily = Once a day
channel-digest-hourly = Each hour
channel-digest-none = None: at once
channel-digest-time = Time of the daily digest
channel-disabled = Disabled
channel-email-link-sent = We sent a link to the address.
channel-failing = Last message failed
channel-fix-credentials = Check the token or the URL: the service rejects it. If it is right, create another one at the service and add the channel again.
channel-fix-gone = The URL or its target no longer exists at the service. Create another one there, and add the channel again.
channel-fix-redirect = The URL redirects. Add the channel again with its new address.
channel-fix-subscription = Open this page in that browser, and select “Notify this browser” again.
channel-fix-url = Check the URL: its host must exist, be reachable from this service and have a valid certificate.
channel-fix-wait = The service does not accept messages now. Wait, and send the test again.
channel-incomplete = Its configuration is lost; delete the channel and add it again
channel-last-error = Last error:
channel-limits-hint = More alerts come in one message. Urgent alerts do not wait.
channel-more = Rename, limit or delete
channel-name = Name (optional)
channel-no-number = No verified phone number
channel-no-webhook = Deleted webhook
channel-own-bot = Your own bot
channel-secret-url = Secret URL
channel-secret-user = Secret user key
channel-service-bot = The bot of this service
channel-setup-apprise = The whole address for notifications of your Apprise API server, such as https://apprise.example.com/notify/KEY.
channel-setup-discord = In the settings of the Discord channel, open “Integrations”, “Webhooks”, select “New Webhook”, and copy its URL.
channel-setup-email = The address gets a link. After it was opened, messages are sent there.
channel-setup-ntfy = Choose a topic that cannot be guessed, and subscribe to it in the ntfy app.
channel-setup-pushover = Your user key is on pushover.net after signing in. The key of a group works, too.
channel-setup-slack = Create an app at api.slack.com/apps, activate “Incoming Webhooks”, add a webhook for the Slack channel, and copy its URL.
channel-setup-sms = Messages go to the verified phone number of your account.
channel-setup-teams = In the Teams channel, open “Workflows”, choose “Send webhook alerts to a channel”, permit anyone to trigger it, and copy its URL.
channel-setup-telegram = After this step you get a code. Send it to the bot in Telegram to link the chat.
channel-setup-webhook = In a route, this channel stands for the delivery to the webhook. Webhooks get each firing in any case.
channel-setup-web-push = Open the page “Channels” in the browser, and select “Notify this browser” there. The values are those of a subscription of that browser.
channel-test = Result of the test
channel-test-failed = Not accepted
channel-type = Type
channel-type-apprise = Apprise
channel-type-discord = Discord
channel-type-email = Email
channel-type-ntfy = ntfy
channel-type-pushover = Pushover
channel-type-slack = Slack
channel-type-sms = Text message
channel-type-teams = Microsoft Teams
channel-type-telegram = Telegram
channel-type-web-push = Browser
channel-type-webhook = Webhook
channel-unknown-type = This type of channel does not exist. Choose one of the list.
channel-untested = Not tested yet
channel-unverified = Waits for verification
channel-verified = Verified
channels-empty = You have no notification channel yet. Add Slack, Telegram, ntfy or another service to get firings there.
choose = Choose
create-channel = Add channel
create-key = Create key
current-password = Current password
deactivate = Deactivate account
deactivate-hint = All alerts are paused, and nothing new is created until you reactivate it.
deactivated-since = Deactivated since
delete-account = Delete account
delete-account-hint = All alerts, webhooks, keys and personal data are deleted permanently.
delete-channel = Delete channel
delete-channel-hint = Routes no longer use it, and its configuration is deleted.
delete-confirmation = Type DELETE to confirm
disable = Disable
disabled-because = Disabled because of
email-channel-hint = Alerts with the channel “email” go here. To change the address:
email-link-sent = We sent a link to the new address, unless it already has an account.
enable = Enable
end-grant = Revoke
export = Export all data
export-hint = One JSON file with everything that is stored about you, without secrets.
failing-since = Failing since
former-secret-until = The former secret also signs until
full-name = Full name
grant-ended = The app has no access any more.
grants-empty = No app has access to your account. Connect one to the address above; it then asks you for permission.
key-deleted = The key is deleted.
key-prefix = Begins with
keys-empty = You have no API key yet. Create one below. Programs use keys to call the REST API and the MCP endpoint.
last-success = Last success
last-used = Last used
mcp-hint = Agents connect to
name = Name
never = never
new-channel = New channel
new-email = New email address
new-key = New API key
new-password = New password
notification-channels = Notification channels
notify-blind = Email me when alerts cannot be evaluated
notify-this-browser = Notify this browser
notify-this-browser-hint = Firings appear as notifications of this browser, also while no page of this service is open.
ntfy-server = Server
ntfy-server-hint = https://ntfy.sh, unless you use another server.
ntfy-token-hint = Only if the topic is protected.
ntfy-topic = Topic
password-changed = Your password is changed.
phone-code = Code
phone-code-sent = We sent a code to { $phone }.
phone-number = Phone number
phone-verified = Your phone number is verified.
plan = Plan
push-auth = Authentication secret (auth)
push-denied = This browser does not permit notifications of this page. Permit them in its settings for this page, and try again.
push-endpoint = Address of the subscription (endpoint)
push-failed = This browser could not subscribe at its push service. Check its connection, and try again.
push-public-key = Public key (p256dh)
pushover-token = Token of your application
pushover-token-hint = Only for an application of your own. Leave it empty to use that of this service.
pushover-user = User key
quiet-from = From
quiet-hours = Quiet hours
quiet-hours-hint = Messages wait until the end of the quiet hours. Leave both empty for none.
quiet-until = Until
reactivate = Reactivate account
receipt-accepted = Accepted for delivery
receipt-answered = Answered
receipt-claimed = Taken from the queue
receipt-given-up = Given up
receipt-hint = A test is sent at once, without the queue: its answer settles it. Each time is exact on hover.
receipt-queued = Queued
receipt-requested = Requested
receipt-signed = Signed and sent
receipt-unanswered = Ended without an answer
rename = Rename
request-email-link = Send the link again
request-telegram-code = New code
rotate-secret = Rotate secret
route = Default route
route-ack-timeout = Time for an acknowledgement
route-ack-timeout-hint = Only for one after the other: the next channel follows after this time without an acknowledgement, from 1m to 24h, such as 15m. Leave it empty to try it only after a failure.
route-all = All at the same time
route-channels = Channels
route-failover = One after the other
route-hint = Firings of alerts without a route of their own go to these channels.
route-none = Firings go to the email address or phone number that the alert names. Choose channels to send them there instead.
route-policy = Order
route-position = Position
route-remove = Remove the route
route-removed = The route is removed. Firings go to the email address or phone number that the alert names.
route-save = Save the route
route-saved = The route is saved.
route-select-channel = Select at least one channel, or remove the route.
scopes = Scopes
secret-once = Copy it now. It is not shown again.
send-code = Send code
send-test = Send a test
send-test-email = Send a test email
send-test-sms = Send a test message
settings-account = Account
settings-agents = Agents
settings-channels = Channels
settings-keys = API keys
settings-profile = Profile
settings-saved = Your settings are saved.
settings-sessions = Sessions
settings-webhooks = Webhooks
session-address = Last address
session-client = { $browser } on { $system }
session-device = Device
session-ended = The session is signed out.
session-own = this browser
session-program = A program
session-since = Signed in since
session-unknown = Unknown browser
sessions-agents = Apps and programs with their own access are under
sessions-ended = { $count ->
    [0] No other session was signed in.
    [one] 1 other session is signed out.
   *[other] { $count } other sessions are signed out.
}
sessions-hint = You are signed in here. The time of the last use is recorded about once an hour. If you do not know one of them, sign it out and change your password.
sign-out-others = Sign out everywhere else
sms-consent = I agree to receive text messages about my alerts
telegram-code-group = In a group, add the bot and send /start@NameOfTheBot with the code.
telegram-code-hint = Open a chat with the bot in Telegram and send this line before
test-receipt = Receipt of the test
text-messages = Text messages
time-zone = Time zone
url = URL
verified = verified
verify = Verify
webhook-channel-hint = Firings are also posted to your webhooks.
webhook-changed = The webhook is changed.
webhook-deleted = The webhook is deleted.
webhook-hint = Each firing is posted there as signed JSON. Slack's incoming webhooks work, too.
webhooks-empty = You have no webhook yet. Create one below to have firings posted to your own service or to Slack.

## Operator

accounts = Accounts
blind-none = Every alert can be evaluated.
cause = Cause
fix = What to do
feed-accepted = Accepted prices since the start
feed-behind = Behind: the last attempt to store its decisions failed
feed-evaluation = Evaluation
feed-future = Stocks that wait because their last price is dated in the future
feed-gaps-filled = Filled gaps
feed-gaps-given-up = Gaps that were given up
feed-gaps-open = Open gaps
feed-in-time = In time
feed-passed = Prices of providers that passed the checks
feed-polled = Last poll
feed-quotes-ahead = Prices dated in the future
feed-quotes-crossed = Prices with a bid above the ask
feed-quotes-duplicate = Repeated prices
feed-quotes-jump = Prices too far from the last one
feed-quotes-late = Prices that came late
feed-quotes-no-price = Quotes without a valid price
feed-quotes-out-of-order = Prices older than the last one
feed-quotes-stale = Prices that were too old
feed-stream = Stream of prices
feed-stream-live = Delivers prices
feed-stream-losses = Lost streams
feed-stream-lost = Lost or silent
feed-stream-message = Last message of the stream
feed-unanswered = Requests that no provider answered
fix-clock = Check the clock of the machine that pushed the price.
fix-date = Nothing to fix: the date is not announced yet. If it is, connect a source of dates (docs/data-sources.md).
fix-extended-hours = Connect a source of prices in extended hours (docs/data-sources.md), or wait for the regular session.
fix-initial-price = The next price becomes the initial price. If none comes, check the source of quotes.
fix-loss = Nothing to fix: a company with losses has no P/E. Its owner can choose another condition.
fix-mentions = Wait until eight days are covered, or check the source of mentions.
fix-movement = Nothing to fix: the stock has not moved or was not traded.
fix-history = Give the source more history, or wait for more sessions.
fix-quotes = Check the source of quotes for this stock.
fix-source = Connect a source that delivers this data (docs/data-sources.md).
gap-failures = { $count ->
    [one] 1 request failed
   *[other] { $count } requests failed
}
gap-filled = Filled
gap-from = From
gap-given-up = Given up
gap-more = and { $count } more
gap-no-provider = Not filled: connect a provider of minute bars (docs/data-sources.md)
gap-no-source = No source delivers it.
gap-not-running = The service was not running.
gap-of = Stocks or data
gap-open = Open, requested again at
gap-polls-failed = No provider answered the polls.
gap-session-closed = The session closed after the last poll.
gap-stream-lost = The stream of prices was lost.
gap-stream-silent = The stream of prices delivered nothing.
gap-to = To
gaps = Gaps in the market data
gaps-none = No prices were missed since the start of the service.
job = Job
job-analyst = Run the analyst
job-bars = Refresh daily bars
job-calendar = Refresh the exchange calendar
job-catalog = Refresh the list of stocks
job-cleanup = Delete expired data
job-daily-reminders = Evaluate reminders
job-deliveries = Send due webhooks and messages
job-evaluate = Evaluate due alerts
job-events = Refresh earnings, dividends and splits
job-fundamentals = Refresh fundamentals
job-paper-trades = Update paper trades
jobs = Jobs
not-ready = Not ready:
not-verified = not verified
operator = operator
operator-title = Operator
outbox = Outbox
operator-settings = Settings in effect
operator-settings-hint = As “bellwether config” prints them. Secrets are masked.
operator-settings-show = Show
outbox-hint = Without a mail server or text message provider, messages are kept here.
pending-deliveries = Deliveries that wait
pending-messages = Messages that wait
provider = Provider
provider-answer = Last answer
provider-data = Data
provider-delay = Delay
provider-error = Last error
provider-errors = Errors
provider-limit = { $count } per { $time }
provider-limits = Limits of the plan
provider-newest = Newest price
provider-paused = not used until
provider-requests = Answered
providers = Providers of market data
ready = Ready
run-now = Run now
sources = Sources and evaluation
sources-empty = No provider is connected: market data is pushed, read from a folder or simulated.
