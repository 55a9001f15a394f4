//! The body of a batch: which alerts to create, update and delete.

use std::collections::HashSet;

use alerts::{AlertId, check_managed_name};
use foundation::{ErrorsByField, ServiceError};
use serde_json::{Map, Value};
use store::model::SourceRevision;
use uuid::Uuid;

use super::{BatchList, RefusedChange};

/// The maximum number of changes in a batch.
pub const MAX_BATCH_CHANGES: usize = 1_000;

const MEMBERS: [&str; 6] = [
    "create",
    "update",
    "delete",
    "dry_run",
    "source",
    "expected_source_revision",
];

/// A valid batch, apart from the content of its changes.
#[derive(Debug, Default)]
pub(super) struct BatchRequest {
    /// Bodies of create requests.
    pub(super) create: Vec<Value>,
    /// Updates with their places in the list.
    pub(super) update: Vec<(usize, UpdateItem)>,
    /// Deletes with their places in the list.
    pub(super) delete: Vec<(usize, AlertId)>,
    pub(super) is_dry_run: bool,
    /// The source whose revision is returned.
    pub(super) source: Option<String>,
    /// The revision that the source must have.
    pub(super) expected_source_revision: Option<SourceRevision>,
}

/// An update of a batch.
#[derive(Debug)]
pub(super) struct UpdateItem {
    pub(super) id: AlertId,
    /// The body of an update request.
    pub(super) body: Value,
}

impl BatchRequest {
    /// Reads a body. Returns the changes whose form is wrong beside the others.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] if the body is no object; [`ServiceError::Invalid`] if its form is wrong apart from single changes.
    pub(super) fn read(body: &Value) -> Result<(Self, Vec<RefusedChange>), ServiceError> {
        let Some(body) = body.as_object() else {
            return Err(ServiceError::Malformed("the body must be a JSON object".to_owned()));
        };
        let mut errors = ErrorsByField::new();
        let mut refuse = |field: &str, message: String| {
            errors.insert(field.to_owned(), vec![message]);
        };
        for unknown in body.keys().filter(|name| !MEMBERS.contains(&name.as_str())) {
            // A misspelt member would leave changes out.
            refuse(unknown, format!("is not known; a batch has {}", MEMBERS.join(", ")));
        }
        let [create, update, delete] = ["create", "update", "delete"].map(|name| match list(body, name) {
            Ok(items) => items,
            Err(message) => {
                refuse(name, message);
                &[]
            }
        });
        let count = create.len() + update.len() + delete.len();
        if count > MAX_BATCH_CHANGES {
            let message =
                format!("a batch has at most {MAX_BATCH_CHANGES} changes, and this one has {count}; split it");
            refuse("create, update, delete", message);
        }
        let is_dry_run = match body.get("dry_run") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(is_dry_run)) => *is_dry_run,
            Some(_) => {
                refuse("dry_run", "must be true or false".to_owned());
                false
            }
        };
        let source = match body.get("source") {
            None | Some(Value::Null) => None,
            Some(Value::String(source)) => {
                if let Err(error) = check_managed_name(source) {
                    refuse("source", error.to_string());
                }
                Some(source.clone())
            }
            Some(_) => {
                refuse("source", "must be a string".to_owned());
                None
            }
        };
        let expected = match body.get("expected_source_revision") {
            None | Some(Value::Null) => None,
            Some(value) => match value.as_i64().filter(|revision| *revision >= 0) {
                Some(revision) if source.is_some() => Some(SourceRevision(revision)),
                Some(_) => {
                    refuse("source", "is required with expected_source_revision".to_owned());
                    None
                }
                None => {
                    let message = "must be a whole number of at least 0, as returned in source_revision";
                    refuse("expected_source_revision", message.to_owned());
                    None
                }
            },
        };
        if !errors.is_empty() {
            return Err(ServiceError::fields(errors));
        }
        let mut request = Self {
            create: create.to_vec(),
            is_dry_run,
            source,
            expected_source_revision: expected,
            ..Self::default()
        };
        let refused = request.read_targets(update, delete);
        Ok((request, refused))
    }

    /// Reads the updates and deletes. Each alert may occur once.
    fn read_targets(&mut self, update: &[Value], delete: &[Value]) -> Vec<RefusedChange> {
        let mut refused = Vec::new();
        let mut ids = HashSet::new();
        for (index, item) in update.iter().enumerate() {
            match update_item(item).and_then(|item| unique(&mut ids, item.id).map(|_| item)) {
                Ok(item) => self.update.push((index, item)),
                Err(error) => refused.push(RefusedChange::new(BatchList::Update, index, error)),
            }
        }
        for (index, item) in delete.iter().enumerate() {
            match id(Some(item)).and_then(|id| unique(&mut ids, id)) {
                Ok(id) => self.delete.push((index, id)),
                Err(error) => refused.push(RefusedChange::new(BatchList::Delete, index, error)),
            }
        }
        refused
    }
}

fn list<'a>(body: &'a Map<String, Value>, name: &str) -> Result<&'a [Value], String> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err("must be an array".to_owned()),
    }
}

fn update_item(item: &Value) -> Result<UpdateItem, ServiceError> {
    let members = item.as_object();
    let unknown = members.and_then(|members| members.keys().find(|name| !["id", "alert"].contains(&name.as_str())));
    if let Some(unknown) = unknown {
        return Err(ServiceError::field(unknown, "is not known; an update has id and alert"));
    }
    let id = id(item.get("id"))?;
    match item.get("alert") {
        Some(body @ Value::Object(_)) => Ok(UpdateItem { id, body: body.clone() }),
        _ => Err(ServiceError::field(
            "alert",
            "must be an object with the fields to change",
        )),
    }
}

fn id(value: Option<&Value>) -> Result<AlertId, ServiceError> {
    let text = value.and_then(Value::as_str);
    let id = text.and_then(|text| Uuid::try_parse(text).ok()).map(AlertId);
    id.ok_or_else(|| ServiceError::field("id", "must be a UUID such as 0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11"))
}

fn unique(ids: &mut HashSet<AlertId>, id: AlertId) -> Result<AlertId, ServiceError> {
    if ids.insert(id) {
        return Ok(id);
    }
    let message = "occurs more than once in this batch; combine its changes";
    Err(ServiceError::field("id", message))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(body: &Value) -> Vec<String> {
        let Err(ServiceError::Invalid { fields, .. }) = BatchRequest::read(body) else {
            panic!("{body} was read");
        };
        fields.into_keys().collect()
    }

    #[test]
    fn form_of_a_batch_is_checked() {
        assert_eq!(fields(&json!({"creates": [], "dry_run": 1})), ["creates", "dry_run"]);
        assert_eq!(fields(&json!({"create": {}, "delete": "x"})), ["create", "delete"]);
        assert_eq!(fields(&json!({"expected_source_revision": 1})), ["source"]);
        let revision = json!({"source": "team", "expected_source_revision": -1});
        assert_eq!(fields(&revision), ["expected_source_revision"]);
        assert_eq!(fields(&json!({"source": " "})), ["source"]);
        assert!(matches!(
            BatchRequest::read(&json!([])),
            Err(ServiceError::Malformed(_))
        ));
    }

    #[test]
    fn batch_has_at_most_a_thousand_changes() {
        let body = |creates: usize| json!({"create": vec![json!({}); creates], "delete": ["x"]});
        assert!(BatchRequest::read(&body(999)).is_ok());
        assert_eq!(fields(&body(1_000)), ["create, update, delete"]);
    }

    #[test]
    fn change_of_an_alert_occurs_once() {
        let id = "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11";
        let body = json!({"update": [{"id": id, "alert": {}}], "delete": [id, "7"]});
        let (request, refused) = BatchRequest::read(&body).unwrap();
        assert_eq!((request.update.len(), request.delete.len()), (1, 0));
        let places: Vec<_> = refused.iter().map(|refused| (refused.list, refused.index)).collect();
        assert_eq!(places, [(BatchList::Delete, 0), (BatchList::Delete, 1)]);
    }

    #[test]
    fn misspelt_member_of_an_update_is_refused() {
        let id = "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11";
        for item in [
            json!({"id": id, "alert": {}, "alerts": {}}),
            json!({"id": id}),
            json!(3),
        ] {
            let (_, refused) = BatchRequest::read(&json!({"update": [item]})).unwrap();
            assert_eq!(refused.len(), 1, "{item}");
        }
    }
}
