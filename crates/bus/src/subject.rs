//! Subjects: words separated by dots. Their rules are those of NATS, a little stricter, and hold in process too.

use crate::BusError;

/// The maximum length of a subject in bytes. A NATS server closes the connection after a line of more than 4,096 bytes.
const MAX_SUBJECT_BYTES: usize = 512;

/// The rules for subjects, for error messages.
pub(crate) const SUBJECT_RULES: &str = "it has at most 512 bytes and words separated by dots, does not begin with _ or $, and only \
                                        subscriptions may have the words * and, at the end, >";

/// Checks a subject to publish to.
pub(crate) fn check_subject(subject: &str) -> Result<(), BusError> {
    let is_valid = is_well_formed(subject) && subject.split('.').all(is_word);
    is_valid.then_some(()).ok_or_else(|| invalid(subject))
}

/// Returns whether a subject is the client's own: replies to requests. Other subscribers do not get such messages.
pub(crate) fn is_internal(subject: &str) -> bool {
    subject.starts_with(['_', '$'])
}

fn is_well_formed(subject: &str) -> bool {
    subject.len() <= MAX_SUBJECT_BYTES && !is_internal(subject)
}

/// Returns whether a part of a subject is a word without wildcards.
fn is_word(word: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'*' && byte != b'>';
    !word.is_empty() && word.bytes().all(is_allowed)
}

fn invalid(subject: &str) -> BusError {
    BusError::InvalidSubject {
        subject: subject.to_owned(),
    }
}

/// The subject of a subscription: `*` stands for one word, `>` at the end for one or more words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SubjectPattern(String);

impl SubjectPattern {
    pub(crate) fn new(pattern: &str) -> Result<Self, BusError> {
        let words = pattern.strip_suffix(".>").unwrap_or(pattern);
        let is_valid = pattern == ">" || words.split('.').all(|word| word == "*" || is_word(word));
        let pattern = (is_well_formed(pattern) && is_valid).then(|| Self(pattern.to_owned()));
        pattern.ok_or_else(|| invalid(words))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the pattern is a single subject.
    pub(crate) fn is_literal(&self) -> bool {
        !self.0.contains(['*', '>'])
    }

    /// Returns whether a message with this subject matches.
    pub(crate) fn matches(&self, subject: &str) -> bool {
        let mut words = subject.split('.');
        for expected in self.0.split('.') {
            match (expected, words.next()) {
                (">", Some(_)) => return true,
                ("*", Some(_)) => {}
                (expected, Some(word)) if expected == word => {}
                _ => return false,
            }
        }
        words.next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_subject_has_words_without_wildcards() {
        let longest = "s".repeat(MAX_SUBJECT_BYTES);
        for subject in ["q", "q.17", "market.bars.BRK-B", "a._b", longest.as_str()] {
            assert_eq!(check_subject(subject), Ok(()), "{subject}");
        }
        let too_long = "s".repeat(MAX_SUBJECT_BYTES + 1);
        let malformed = [
            "", ".", "a.", ".a", "a..b", "a b", "a\r\nb", "ä", "a.*", "a.>", "a*", "_INBOX.a", "$SYS", &too_long,
        ];
        for subject in malformed {
            let subject = subject.to_owned();
            assert_eq!(check_subject(&subject), Err(BusError::InvalidSubject { subject }));
        }
    }

    #[test]
    fn wildcards_of_a_subscription_are_whole_words() {
        for pattern in [">", "*", "a.>", "*.b.>", "a.*.c", "a.b"] {
            assert_eq!(SubjectPattern::new(pattern).unwrap().as_str(), pattern);
        }
        for pattern in [
            "", "a.", "a*", "a.>.b", ">.a", ">.>", "a>", "_INBOX.>", "$SYS.>", "a b.>",
        ] {
            assert!(SubjectPattern::new(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn wildcards_match_one_word_or_all_that_follow() {
        let matches = |pattern: &str, subject: &str| SubjectPattern::new(pattern).unwrap().matches(subject);
        for (pattern, subject) in [
            ("a.b", "a.b"),
            ("a.*", "a.b"),
            ("*.b", "a.b"),
            ("a.>", "a.b"),
            ("a.>", "a.b.c"),
            (">", "a"),
        ] {
            assert!(matches(pattern, subject), "{pattern} {subject}");
        }
        for (pattern, subject) in [
            ("a.b", "a"),
            ("a.b", "a.b.c"),
            ("a.*", "a"),
            ("a.*", "a.b.c"),
            ("a.>", "a"),
            ("*", "a.b"),
        ] {
            assert!(!matches(pattern, subject), "{pattern} {subject}");
        }
    }
}
