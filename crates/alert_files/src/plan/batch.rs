//! The requests that carry out a plan.

use serde_json::{Map, Value, json};

use super::{Plan, PlannedChange, PlannedKind};

/// The maximum number of changes in a batch of the API.
pub(super) const MAX_BATCH_CHANGES: usize = 1_000;

impl Plan {
    /// Returns the number of changes in the requests: a replacement is a delete and a create.
    #[must_use]
    pub fn request_count(&self) -> usize {
        self.changes.iter().map(PlannedChange::request_count).sum()
    }

    /// Whether one transaction takes all changes.
    #[must_use]
    pub fn fits_one_batch(&self) -> bool {
        self.request_count() <= MAX_BATCH_CHANGES
    }

    /// Returns the plan in parts, each of which one transaction takes. Deletes come first, so that limits of the server count after
    /// them.
    #[must_use]
    pub fn parts(&self) -> Vec<Self> {
        let (deletes, others): (Vec<_>, Vec<_>) = self
            .changes
            .iter()
            .cloned()
            .partition(|change| matches!(change.kind, PlannedKind::Delete { .. }));
        let mut parts: Vec<Self> = Vec::new();
        let mut count = MAX_BATCH_CHANGES;
        for change in deletes.into_iter().chain(others) {
            count += change.request_count();
            if count > MAX_BATCH_CHANGES {
                count = change.request_count();
                parts.push(Self {
                    changes: Vec::new(),
                    ..self.clone()
                });
            }
            if let Some(part) = parts.last_mut() {
                part.changes.push(change);
            }
        }
        parts
    }

    /// Returns the body of the batch that carries out the plan if the source still has a revision.
    #[must_use]
    pub fn to_batch(&self, source_revision: i64) -> Map<String, Value> {
        let (mut create, mut update, mut delete) = (Vec::new(), Vec::new(), Vec::new());
        for change in &self.changes {
            match &change.kind {
                PlannedKind::Create { body, .. } => create.push(body.clone()),
                PlannedKind::Update { id, body, .. } => update.push(json!({"id": id, "alert": body})),
                PlannedKind::Replace { id, body, .. } => {
                    delete.push(json!(id));
                    create.push(body.clone());
                }
                PlannedKind::Delete { id } => delete.push(json!(id)),
            }
        }
        Map::from_iter([
            ("create".to_owned(), create.into()),
            ("update".to_owned(), update.into()),
            ("delete".to_owned(), delete.into()),
            ("source".to_owned(), self.source.as_str().into()),
            ("expected_source_revision".to_owned(), source_revision.into()),
        ])
    }

    /// Returns the change to which an item of the batch belongs.
    #[must_use]
    pub fn change_of_item(&self, list: &str, index: usize) -> Option<&PlannedChange> {
        let is_in_list = |change: &&PlannedChange| match change.kind {
            PlannedKind::Create { .. } => list == "create",
            PlannedKind::Update { .. } => list == "update",
            PlannedKind::Replace { .. } => list == "create" || list == "delete",
            PlannedKind::Delete { .. } => list == "delete",
        };
        self.changes.iter().filter(is_in_list).nth(index)
    }
}

impl PlannedChange {
    const fn request_count(&self) -> usize {
        match self.kind {
            PlannedKind::Replace { .. } => 2,
            PlannedKind::Create { .. } | PlannedKind::Update { .. } | PlannedKind::Delete { .. } => 1,
        }
    }
}
