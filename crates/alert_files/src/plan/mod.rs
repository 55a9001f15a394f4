//! The plan: the changes that make the managed alerts of a server equal to those of the files.
//!
//! Only alerts that the source manages are compared. What people made by hand has no source, and is not read.

mod batch;
mod compare;

use std::collections::{HashMap, HashSet};

use alerts::request::ParseContext;
use client::RemoteAlert;
use serde_json::Value;
use uuid::Uuid;

use crate::declaration::{ChannelIds, FileSet, ValidAlert, long_ago};
use crate::error::FileErrors;
use crate::normal_form::NormalForm;
pub(crate) use compare::FIELDS;
use compare::{PresentAlert, field_changes, update_body};

/// The plan of a set of files.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The source.
    pub source: String,
    /// The changes: creates and updates in the order of the files, then deletes in the order of names.
    pub changes: Vec<PlannedChange>,
    /// The number of alerts that are as in the files.
    pub unchanged: usize,
    /// The names of alerts that are in no file and are kept, because the plan does not prune.
    pub kept: Vec<String>,
}

/// A change of an alert.
#[derive(Clone, PartialEq, Debug)]
pub struct PlannedChange {
    /// The name of the alert.
    pub name: String,
    /// The stock, or the stocks, in words.
    pub stocks: String,
    /// The place of the alert in its file, such as `alerts.yaml:12`; `None` for a delete.
    pub place: Option<String>,
    /// The change.
    pub kind: PlannedKind,
}

/// The kind of a planned change.
#[derive(Clone, PartialEq, Debug)]
pub enum PlannedKind {
    /// A new alert.
    Create {
        /// The body of the request.
        body: Value,
        /// The fields that are shown.
        fields: Vec<FieldChange>,
    },
    /// Other values of an alert.
    Update {
        /// The alert.
        id: Uuid,
        /// The body of the request.
        body: Value,
        /// The fields that change.
        fields: Vec<FieldChange>,
        /// The former name, if the alert gets another one.
        former_name: Option<String>,
    },
    /// A new alert in place of another one, because the stock of an alert cannot be changed.
    Replace {
        /// The alert that is deleted.
        id: Uuid,
        /// The body of the request that creates the new one.
        body: Value,
        /// The fields that differ.
        fields: Vec<FieldChange>,
    },
    /// An alert that is in no file is deleted.
    Delete {
        /// The alert.
        id: Uuid,
    },
}

/// A field that changes.
#[derive(Clone, PartialEq, Debug)]
pub struct FieldChange {
    /// The key in the file, such as `when` or `options`.
    pub field: String,
    /// The value on the server; null if there is none.
    pub before: Value,
    /// The value in the file; null if there is none. Variables have their names.
    pub after: Value,
}

impl Plan {
    /// Compares files with the alerts that the server has of the source. `prune` deletes those that are in no file.
    ///
    /// # Errors
    /// All errors of the files, each with its place.
    pub fn new(
        source: &str,
        files: &FileSet,
        present: &[RemoteAlert],
        channels: &ChannelIds,
        prune: bool,
        context: &ParseContext<'_>,
    ) -> Result<Self, FileErrors> {
        let present = present
            .iter()
            .filter_map(|alert| PresentAlert::read(alert, &long_ago(context)));
        let present: Vec<PresentAlert<'_>> = present.filter(|present| present.managed_by.source == source).collect();
        let by_name: HashMap<&str, &PresentAlert<'_>> = present.iter().map(|alert| (alert.name(), alert)).collect();
        let forms: HashMap<&str, &NormalForm> = by_name
            .iter()
            .filter_map(|(name, alert)| Some((*name, alert.normal.as_ref()?)))
            .collect();
        let declared = files.validated(channels, context, &forms)?;
        let names: HashSet<&str> = declared.iter().map(|alert| alert.declared.name.as_str()).collect();
        let mut orphans: Vec<&PresentAlert<'_>> =
            present.iter().filter(|alert| !names.contains(alert.name())).collect();
        orphans.sort_by_key(|alert| alert.name());
        let mut plan = Self {
            source: source.to_owned(),
            changes: Vec::new(),
            unchanged: 0,
            kept: Vec::new(),
        };
        for alert in &declared {
            let change = match by_name.get(alert.declared.name.as_str()) {
                Some(present) => changed(alert, present),
                None => Some(match take_renamed(alert, &mut orphans) {
                    Some(renamed) => rename(source, alert, renamed),
                    None => create(alert),
                }),
            };
            match change {
                Some(kind) => plan.changes.push(planned(alert, kind.with_source(source, alert))),
                None => plan.unchanged += 1,
            }
        }
        for orphan in orphans {
            if prune {
                plan.changes.push(PlannedChange {
                    name: orphan.name().to_owned(),
                    stocks: orphan.stocks(),
                    place: None,
                    kind: PlannedKind::Delete { id: orphan.alert.id },
                });
            } else {
                plan.kept.push(orphan.name().to_owned());
            }
        }
        Ok(plan)
    }

    /// Whether nothing is to be done.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

impl PlannedKind {
    /// Adds the name to the body of an alert that is created.
    fn with_source(mut self, source: &str, alert: &ValidAlert<'_>) -> Self {
        if let Self::Create { body, .. } | Self::Replace { body, .. } = &mut self {
            body["managed_by"] = managed_by(source, alert);
        }
        self
    }
}

fn managed_by(source: &str, alert: &ValidAlert<'_>) -> Value {
    serde_json::json!({"source": source, "name": alert.declared.name})
}

fn planned(alert: &ValidAlert<'_>, kind: PlannedKind) -> PlannedChange {
    let declared = alert.declared;
    PlannedChange {
        name: declared.name.clone(),
        stocks: compare::stocks(&Value::Object(alert.body.clone())),
        place: Some(format!("{}:{}", declared.file, declared.position().line)),
        kind,
    }
}

fn create(alert: &ValidAlert<'_>) -> PlannedKind {
    PlannedKind::Create {
        body: Value::Object(alert.body.clone()),
        fields: field_changes(alert, None, None),
    }
}

/// Returns the change of an alert that exists; `None` if it is as in the file.
fn changed(alert: &ValidAlert<'_>, present: &PresentAlert<'_>) -> Option<PlannedKind> {
    let id = present.alert.id;
    let body = || Value::Object(alert.body.clone());
    let Some(normal) = &present.normal else {
        // A newer server has an alert of a kind that this program does not know.
        return Some(PlannedKind::Replace {
            id,
            body: body(),
            fields: field_changes(alert, Some(present), None),
        });
    };
    if !normal.can_become(&alert.normal) {
        return Some(PlannedKind::Replace {
            id,
            body: body(),
            fields: field_changes(alert, Some(present), None),
        });
    }
    let parts = normal.differences(&alert.normal);
    (!parts.is_empty()).then(|| PlannedKind::Update {
        id,
        body: update_body(alert, present, &parts),
        fields: field_changes(alert, Some(present), Some(&parts)),
        former_name: None,
    })
}

/// Takes the alert out of those without a file that is the same under another name, if there is exactly one.
fn take_renamed<'a, 'b>(
    alert: &ValidAlert<'_>,
    orphans: &mut Vec<&'a PresentAlert<'b>>,
) -> Option<&'a PresentAlert<'b>> {
    let is_same = |orphan: &PresentAlert<'_>| orphan.normal.as_ref().is_some_and(|form| form.is_same(&alert.normal));
    let mut same = orphans.iter().enumerate().filter(|(_, orphan)| is_same(orphan));
    let (index, _) = same.next()?;
    if same.next().is_some() {
        return None;
    }
    Some(orphans.remove(index))
}

fn rename(source: &str, alert: &ValidAlert<'_>, present: &PresentAlert<'_>) -> PlannedKind {
    PlannedKind::Update {
        id: present.alert.id,
        body: serde_json::json!({"managed_by": managed_by(source, alert)}),
        fields: Vec::new(),
        former_name: Some(present.name().to_owned()),
    }
}
