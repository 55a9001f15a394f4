//! Validation of alerts by the rules of the server.

use std::collections::HashMap;

use alerts::request::{FieldErrors, ParseContext, RequestError, parse_create, parse_template};
use alerts::{AlertScope, NewAlert};
use jiff::Timestamp;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{ChannelIds, DeclaredAlert, FileSet};
use crate::error::{FileError, FileErrors};
use crate::normal_form::{NormalForm, Part};

/// An alert that the rules of the server accept.
#[derive(Clone, Debug)]
pub struct ValidAlert<'a> {
    /// The alert of the file.
    pub declared: &'a DeclaredAlert,
    /// The body of the create request.
    pub body: Map<String, Value>,
    /// The alert; of one over many stocks what its members have in common.
    pub alert: NewAlert,
    /// The stocks of an alert over many stocks.
    pub scope: Option<AlertScope>,
    pub(crate) normal: NormalForm,
}

/// An alert as the rules of the server read it.
#[derive(Clone, Debug)]
pub(crate) struct ReadAlert {
    alert: NewAlert,
    scope: Option<AlertScope>,
    pub(crate) normal: NormalForm,
}

/// How the notification channels of alerts are validated.
#[derive(Clone, Copy, Debug)]
enum Channels<'a> {
    /// Their names are those of the account.
    Of(&'a ChannelIds),
    /// They do not matter, as in a test.
    Ignored,
}

impl FileSet {
    /// Validates all alerts. `present` has the normal forms of the server's alerts by their names: an alert that is unchanged may have
    /// a moment in the past.
    ///
    /// # Errors
    /// All errors of all alerts, each with its place.
    pub(crate) fn validated(
        &self,
        channels: &ChannelIds,
        context: &ParseContext<'_>,
        present: &HashMap<&str, &NormalForm>,
    ) -> Result<Vec<ValidAlert<'_>>, FileErrors> {
        let mut valid = Vec::with_capacity(self.alerts.len());
        let mut errors = Vec::new();
        for alert in &self.alerts {
            let present = present.get(alert.name.as_str()).copied();
            match alert.validate(Channels::Of(channels), context, present) {
                Ok(alert) => valid.push(alert),
                Err(found) => errors.extend(found),
            }
        }
        result(valid, errors)
    }

    /// Validates all alerts without their notification channels, for which a server is needed.
    ///
    /// # Errors
    /// All errors of all alerts, each with its place.
    pub fn validate_for_test(&self, context: &ParseContext<'_>) -> Result<Vec<ValidAlert<'_>>, FileErrors> {
        let mut valid = Vec::with_capacity(self.alerts.len());
        let mut errors = Vec::new();
        for alert in &self.alerts {
            match alert.validate(Channels::Ignored, context, None) {
                Ok(alert) => valid.push(alert),
                Err(found) => errors.extend(found),
            }
        }
        result(valid, errors)
    }

    /// Validates all alerts, without comparing them with those of a server.
    ///
    /// # Errors
    /// All errors of all alerts, each with its place.
    pub fn validate(
        &self,
        channels: &ChannelIds,
        context: &ParseContext<'_>,
    ) -> Result<Vec<ValidAlert<'_>>, FileErrors> {
        self.validated(channels, context, &HashMap::new())
    }
}

fn result<T>(valid: Vec<T>, mut errors: Vec<FileError>) -> Result<Vec<T>, FileErrors> {
    if errors.is_empty() {
        return Ok(valid);
    }
    errors.sort();
    Err(FileErrors(errors))
}

impl DeclaredAlert {
    fn validate(
        &self,
        channels: Channels<'_>,
        context: &ParseContext<'_>,
        present: Option<&NormalForm>,
    ) -> Result<ValidAlert<'_>, Vec<FileError>> {
        let mut body = self.body(false);
        let mut errors = match channels {
            Channels::Of(ids) => self.set_channels(&mut body, ids),
            Channels::Ignored => {
                for field in Part::Route.fields() {
                    body.remove(*field);
                }
                Vec::new()
            }
        };
        let value = Value::Object(body);
        let read = read_alert(&value, context);
        let read = match (read, present) {
            (Ok(read), _) => Some(read),
            // Its moment may have passed since it was created.
            (Err(found), Some(present)) => match read_alert(&value, &long_ago(context)) {
                Ok(read) if read.normal.is_same(present) => Some(read),
                _ => {
                    errors.extend(self.field_errors(&found));
                    None
                }
            },
            (Err(found), None) => {
                errors.extend(self.field_errors(&found));
                None
            }
        };
        match (read, value) {
            (Some(read), Value::Object(body)) if errors.is_empty() => Ok(ValidAlert {
                declared: self,
                body,
                alert: read.alert,
                scope: read.scope,
                normal: read.normal,
            }),
            _ => Err(errors),
        }
    }

    /// Adds the ids of the notification channels to a body.
    fn set_channels(&self, body: &mut Map<String, Value>, ids: &ChannelIds) -> Vec<FileError> {
        let mut errors = Vec::new();
        let mut channels = Vec::new();
        for (index, channel) in self.channels().into_iter().enumerate() {
            let found = match (Uuid::try_parse(channel), ids.get(channel).map(Vec::as_slice)) {
                (Ok(id), _) => Ok(id),
                (Err(_), Some([id])) => Ok(*id),
                (Err(_), Some([_, ..])) => Err(format!(
                    "the account has several notification channels with the name `{channel}`; give the id of one"
                )),
                (Err(_), _) => {
                    let mut names: Vec<&str> = ids.keys().map(String::as_str).collect();
                    names.sort_unstable();
                    Err(format!(
                        "the account has no notification channel `{channel}`; it has {}",
                        if names.is_empty() {
                            "none".to_owned()
                        } else {
                            names.join(", ")
                        }
                    ))
                }
            };
            match found {
                Ok(id) => channels.push(Value::from(id.to_string())),
                Err(message) => errors.push(self.error(&format!("channels.{index}"), message)),
            }
        }
        if !channels.is_empty() {
            body.insert("channels".to_owned(), channels.into());
        }
        errors
    }

    /// Returns errors of the fields of a request at their places in the file.
    fn field_errors(&self, errors: &RequestError) -> Vec<FileError> {
        let RequestError::Invalid(errors) = errors else {
            return vec![self.error("", errors.to_string())];
        };
        let errors = errors.iter().flat_map(|(field, messages)| {
            let key = self.key_of(field);
            messages
                .iter()
                .map(move |message| self.error(field, format!("{key}: {message}")))
        });
        errors.collect()
    }
}

/// Reads the body of a create request.
pub(crate) fn read_alert(body: &Value, context: &ParseContext<'_>) -> Result<ReadAlert, RequestError> {
    let (alert, scope) = match body.get("scope").filter(|scope| !scope.is_null()) {
        None => (parse_create(body, context)?, None),
        Some(scope) => {
            let scope = AlertScope::read(scope).map_err(|errors: FieldErrors| RequestError::Invalid(errors))?;
            (parse_template(body, context)?, Some(scope))
        }
    };
    let normal = NormalForm::new(&alert, scope.clone());
    Ok(ReadAlert { alert, scope, normal })
}

/// Returns a context in which no moment has passed.
pub(crate) const fn long_ago<'a>(context: &ParseContext<'a>) -> ParseContext<'a> {
    ParseContext {
        now: Timestamp::UNIX_EPOCH,
        time_zone: context.time_zone,
        calendar: context.calendar,
    }
}
