//! The members of a request's body, read with all their faults at once.

use market::{Decimal, Price};
use serde_json::{Map, Value};

use crate::{Fields, ServiceError};

/// Reads the members of a body and gathers what is wrong with them. A member that is null is as good as none.
#[derive(Debug)]
pub(crate) struct Members<'a> {
    members: &'a Map<String, Value>,
    faults: Fields,
}

impl<'a> Members<'a> {
    /// # Errors
    /// [`ServiceError::Malformed`] for a body that is no object.
    pub(crate) fn of(body: &'a Value) -> Result<Self, ServiceError> {
        let members = body.as_object();
        let members = members.ok_or_else(|| ServiceError::Malformed("the body must be a JSON object".to_owned()))?;
        Ok(Self {
            members,
            faults: Fields::new(),
        })
    }

    pub(crate) fn fault(&mut self, name: &str, fault: impl Into<String>) {
        self.faults.entry(name.to_owned()).or_default().push(fault.into());
    }

    /// Whether a member is there, be it null.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    pub(crate) fn value(&self, name: &str) -> Option<&'a Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    /// Notes that something is missing, unless it is there and wrong.
    pub(crate) fn missing(&mut self, name: &str) {
        if !self.faults.contains_key(name) {
            self.fault(name, "is required");
        }
    }

    /// A text, if it is there.
    pub(crate) fn text(&mut self, name: &str) -> Option<&'a str> {
        let text = self.value(name)?.as_str().filter(|text| !text.contains('\0'));
        if text.is_none() {
            self.fault(name, "must be a text without the character U+0000");
        }
        text
    }

    /// A text that has to be there.
    pub(crate) fn required(&mut self, name: &str) -> Option<&'a str> {
        let text = self.text(name);
        if text.is_none() {
            self.missing(name);
        }
        text
    }

    /// A text of `least` to `most` characters without the space around it.
    pub(crate) fn trimmed(&mut self, name: &str, least: usize, most: usize) -> Option<&'a str> {
        let text = self.text(name)?.trim();
        if (least..=most).contains(&text.chars().count()) {
            return Some(text);
        }
        self.fault(name, format!("must have {least} to {most} characters"));
        None
    }

    /// The same on one line: nothing in it breaks a line or does anything else that cannot be seen.
    pub(crate) fn line(&mut self, name: &str, least: usize, most: usize) -> Option<&'a str> {
        let text = self.text(name)?.trim();
        if (least..=most).contains(&text.chars().count()) && !text.chars().any(char::is_control) {
            return Some(text);
        }
        self.fault(name, format!("must have {least} to {most} characters on one line"));
        None
    }

    /// A price, if it is there.
    pub(crate) fn price(&mut self, name: &str) -> Option<Price> {
        let number = self.value(name)?.as_f64();
        let number = number.and_then(|number| Decimal::from_f64(number).ok());
        let price = number.and_then(|number| Price::try_from(number).ok());
        if price.is_none() {
            self.fault(name, "must be a price above 0 and at most 1000000000, or null");
        }
        price
    }

    /// `true` or `false`, if it is there.
    pub(crate) fn flag(&mut self, name: &str) -> Option<bool> {
        let flag = self.value(name)?.as_bool();
        if flag.is_none() {
            self.fault(name, "must be true or false");
        }
        flag
    }

    /// What a word out of a list stands for, if it is there.
    pub(crate) fn word<T: Copy>(
        &mut self,
        name: &str,
        all: &[T],
        from_name: impl FnOnce(&str) -> Option<T>,
        to_name: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        let found = self.value(name)?.as_str().and_then(from_name);
        if found.is_none() {
            let names: Vec<_> = all.iter().map(|one| to_name(*one)).collect();
            self.fault(name, format!("must be one of {}", names.join(", ")));
        }
        found
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] with all faults.
    pub(crate) fn finish(self) -> Result<(), ServiceError> {
        if self.faults.is_empty() {
            Ok(())
        } else {
            Err(ServiceError::fields(self.faults))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_faults_are_told_at_once_and_null_is_as_good_as_none() {
        let body = json!({"title": 5, "flag": "yes", "word": "c", "long": "abcd", "null": null});
        let mut members = Members::of(&body).unwrap();
        assert_eq!(members.required("title"), None);
        assert_eq!(members.required("null"), None);
        assert_eq!(members.flag("flag"), None);
        assert_eq!(members.trimmed("long", 1, 3), None);
        let from_name = |name: &str| ["a", "b"].into_iter().find(|word| *word == name);
        assert_eq!(members.word("word", &["a", "b"], from_name, |word| word), None);
        assert!(members.has("null") && !members.has("none"));
        let Err(ServiceError::Invalid { fields, .. }) = members.finish() else {
            panic!("there were faults");
        };
        let names: Vec<_> = fields.keys().map(String::as_str).collect();
        assert_eq!(names, ["flag", "long", "null", "title", "word"]);
        assert_eq!(fields["word"], ["must be one of a, b"]);
        assert_eq!(fields["title"].len(), 1);
    }

    #[test]
    fn what_is_no_object_is_no_body() {
        assert!(matches!(Members::of(&json!([])), Err(ServiceError::Malformed(_))));
    }
}
