//! The emails, compared with the firings, the acknowledgements and the mail server.

use std::collections::{BTreeMap, BTreeSet};

use super::{Model, RecordedAlert};
use crate::network::ReceivedEmails;

/// The number of firings that an email lists.
const MAX_LISTED: usize = 50;

/// An email in the database: about a firing, or a notice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RecordedEmail {
    pub(crate) id: String,
    /// The id of its firing. `None`: it is a notice.
    pub(crate) firing: Option<String>,
    /// The id of its alert.
    pub(crate) alert: Option<String>,
    pub(crate) status: String,
    /// The reason of its failure, if it has failed.
    pub(crate) outcome: Option<String>,
    /// The id of the email with several firings that it went into.
    pub(crate) folded_into: Option<String>,
    /// The address of its account.
    pub(crate) recipient: String,
    /// The reason of its firing.
    pub(crate) reason: Option<String>,
}

/// A result of an email in the history of its alert.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct EmailResult {
    /// The id of the alert.
    pub(crate) alert: String,
    /// The id under which the email was sent.
    pub(crate) email: String,
    pub(crate) is_sent: bool,
}

impl RecordedEmail {
    /// Whether nothing more happens to it.
    pub(crate) fn is_finished(&self) -> bool {
        matches!(self.status.as_str(), "sent" | "failed")
    }

    /// Whether it was not sent because its firing was acknowledged.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.outcome.as_deref() == Some("acknowledged")
    }

    /// The id under which it is sent.
    fn sent_as(&self) -> &str {
        self.folded_into.as_deref().unwrap_or(&self.id)
    }

    /// Its result that the history of its alert should have.
    fn expected_result(&self) -> Option<EmailResult> {
        let has_result = self.is_finished() && !self.is_acknowledged();
        Some(EmailResult {
            alert: self.alert.clone().filter(|_| has_result)?,
            email: self.sent_as().to_owned(),
            is_sent: self.status == "sent",
        })
    }
}

impl Model {
    /// Compares the emails of the database with the firings and with the mail server, if there is one. Each firing has one email. The mail
    /// server has accepted each email at least once under one id, for its recipient, unless it refused it for good or its firing was
    /// acknowledged before.
    pub(crate) fn check_emails(
        &mut self,
        recorded: &BTreeMap<usize, RecordedAlert>,
        (emails, results): (&[RecordedEmail], &[EmailResult]),
        received: Option<&ReceivedEmails>,
    ) {
        for (slot, alert) in recorded {
            let of_alert = emails.iter().filter(|email| email.alert.as_ref() == Some(&alert.id));
            let firings: Vec<&String> = of_alert.filter_map(|email| email.firing.as_ref()).collect();
            let count = firings.iter().collect::<BTreeSet<_>>().len();
            let due = alert.firings.len();
            if (count, firings.len()) != (due, due) {
                let emails = firings.len();
                let text = format!("alert {slot} has {emails} emails about {count} firings, but {due} firings");
                self.violations.push(text);
            }
        }
        self.check_email_results(emails, results);
        let mut firings_by_id: BTreeMap<&str, usize> = BTreeMap::new();
        for email in emails {
            *firings_by_id.entry(email.sent_as()).or_default() += 1;
        }
        let wrong = emails.iter().filter_map(|email| {
            let violation = self.violation_of(email, firings_by_id[email.sent_as()], received)?;
            Some(format!(
                "the email {} about firing {:?}: {violation}",
                email.id, email.firing
            ))
        });
        let mut wrong: Vec<String> = wrong.collect();
        let accepted = received.iter().flat_map(|received| received.accepted.keys());
        let unknown = accepted.filter(|id| !firings_by_id.contains_key(id.as_str()));
        wrong.extend(unknown.map(|id| format!("the mail server got the unknown email {id}")));
        self.violations.extend(wrong);
    }

    /// The history of an alert has one result of each of its emails, but not of those that an acknowledgement made needless.
    fn check_email_results(&mut self, emails: &[RecordedEmail], results: &[EmailResult]) {
        let mut missing: BTreeMap<EmailResult, i64> = BTreeMap::new();
        for result in emails.iter().filter_map(RecordedEmail::expected_result) {
            *missing.entry(result).or_default() += 1;
        }
        for result in results {
            *missing.entry(result.clone()).or_default() -= 1;
        }
        for (result, count) in missing.into_iter().filter(|(_, count)| *count != 0) {
            self.violations.push(format!("the history lacks {count} of {result:?}"));
        }
    }

    /// Whether an email was not sent because its firing was acknowledged.
    fn was_needless(&self, email: &RecordedEmail) -> bool {
        let may_be_acknowledged = |firing: &String| self.acknowledged.may_be(firing, true);
        email.is_acknowledged() && email.firing.as_ref().is_some_and(may_be_acknowledged)
    }

    /// Returns what is wrong with an email that is sent with those of this number of firings.
    fn violation_of(&self, email: &RecordedEmail, firings: usize, received: Option<&ReceivedEmails>) -> Option<String> {
        match email.status.as_str() {
            "sent" => {
                let Some(accepted) = received?.accepted.get(email.sent_as()) else {
                    return Some("it counts as sent, but the mail server has not accepted it".to_owned());
                };
                if let Some((other, _)) = accepted.iter().find(|(recipient, _)| *recipient != email.recipient) {
                    return Some(format!("it went to {other}, not to {}", email.recipient));
                }
                let (Some(alert), Some(reason)) = (&email.alert, &email.reason) else {
                    return None;
                };
                let mut expected = vec![if firings > 1 {
                    format!("Subject: {firings} alerts have fired")
                } else {
                    format!("/alerts/{alert}")
                }];
                if firings <= MAX_LISTED {
                    expected.push(reason.clone());
                }
                let has_all = |(_, text): &(String, String)| expected.iter().all(|part| text.contains(part));
                (!accepted.iter().any(has_all)).then(|| format!("no accepted text of it has {expected:?}"))
            }
            "failed" if self.was_needless(email) => None,
            "failed" if received.is_some_and(|received| received.refused.contains(email.sent_as())) => None,
            status => Some(format!("it is {status} at the end ({:?})", email.outcome)),
        }
    }
}
