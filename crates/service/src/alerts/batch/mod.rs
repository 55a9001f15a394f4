//! Many changes of alerts in one transaction: all of them, or none.
//!
//! Each change is prepared and run by the same code as a single request. All changes are judged, so that a client learns of all errors
//! at once. Deletes come first, then updates, then creates: the quota of the plan and the names of managed alerts count as they are
//! after the batch.

mod request;

use alerts::AlertId;
use foundation::account::lock_active_account;
use foundation::scope_members::MemberChanges;
use foundation::{Actor, MadeBy, ServiceError};
use futures_util::stream::{self, StreamExt};
use serde_json::Value;
use store::model::{AccountId, SourceRevision, StoredAlert};
use store::{Abort, UnitOfWork};

use super::AlertDetail;
use super::change::ChangeAlert;
use super::create::CreateAlert;
use super::delete::DeleteAlert;
use crate::alerts::Alerts;
use request::BatchRequest;
pub use request::MAX_BATCH_CHANGES;

/// The number of changes that are prepared at the same time. Each may wait for a source of market data.
const CONCURRENT_PREPARATIONS: usize = 64;

/// The list of a batch that a change is in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum BatchList {
    /// `create`
    Create,
    /// `update`
    Update,
    /// `delete`
    Delete,
}

impl BatchList {
    /// Returns the name in the request.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

/// A change of a batch that is refused, as it would be alone.
#[derive(Debug)]
pub struct RefusedChange {
    /// Its list.
    pub list: BatchList,
    /// Its place in the list, from 0.
    pub index: usize,
    /// The error.
    pub error: ServiceError,
}

impl RefusedChange {
    const fn new(list: BatchList, index: usize, error: ServiceError) -> Self {
        Self { list, index, error }
    }
}

/// An error: nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// Some changes are refused: at least one, in the order of the request.
    #[error("{} of the changes are refused, so nothing was changed", .0.len())]
    Refused(Vec<RefusedChange>),
    /// The batch as a whole is refused.
    #[error(transparent)]
    Whole(#[from] ServiceError),
}

/// The result of a batch. The changes of each list are in the order of the request.
#[derive(Clone, PartialEq, Debug)]
pub struct BatchResult {
    /// The created alerts, or those that existed already and are unchanged.
    pub create: Vec<BatchedAlert>,
    /// The updated alerts.
    pub update: Vec<BatchedAlert>,
    /// The deleted alerts.
    pub delete: Vec<AlertId>,
    /// Whether nothing was written, because the request was a dry run.
    pub is_dry_run: bool,
    /// The revision of the source after the batch, if the request names one.
    pub source_revision: Option<SourceRevision>,
}

/// An alert after a batch.
#[derive(Clone, PartialEq, Debug)]
pub struct BatchedAlert {
    /// Whether the batch created or changed it.
    pub is_changed: bool,
    /// The alert.
    pub detail: AlertDetail,
}

/// The changes of a batch with their places in the request: everything that its transaction needs.
struct Batch {
    account: AccountId,
    create: Vec<(usize, CreateAlert)>,
    update: Vec<(usize, ChangeAlert)>,
    delete: Vec<(usize, DeleteAlert)>,
    /// Whether some changes are refused already. The others are judged, and undone.
    has_refused: bool,
    is_dry_run: bool,
    source: Option<String>,
    expected_source_revision: Option<SourceRevision>,
}

/// The outcome of the transaction of a batch.
#[derive(Default)]
struct BatchOutcome {
    create: Vec<(bool, StoredAlert)>,
    update: Vec<(bool, StoredAlert)>,
    delete: Vec<AlertId>,
    changes: MemberChanges,
    source_revision: Option<SourceRevision>,
}

/// The reason why the transaction of a batch is undone.
enum BatchAbort {
    Refused(Vec<RefusedChange>),
    Whole(ServiceError),
    DryRun(Box<BatchOutcome>),
}

impl Alerts {
    /// Creates, updates and deletes alerts in one transaction.
    ///
    /// # Errors
    /// [`BatchError::Refused`] with the errors of all refused changes; [`BatchError::Whole`] for a wrong form, for a source that has
    /// changed since the expected revision, and if the database fails. Nothing was changed then.
    pub async fn change_batch(&self, actor: &Actor, body: &Value) -> Result<BatchResult, BatchError> {
        let (request, refused) = BatchRequest::read(body)?;
        let is_dry_run = request.is_dry_run;
        let (batch, mut refused) = self.prepare_batch(actor, request, refused).await;
        let alerts = self.clone();
        let transaction = self.ports.store.transaction_then(
            batch,
            |batch, unit| Box::pin(batch.run(unit)),
            move |outcome: &BatchOutcome| alerts.apply_changes(&outcome.changes),
        );
        let outcome = match transaction.await {
            Ok(outcome) => outcome,
            Err(Abort::Refused(BatchAbort::DryRun(outcome))) => *outcome,
            Err(Abort::Refused(BatchAbort::Refused(more))) => {
                refused.extend(more);
                refused.sort_by_key(|refused| (refused.list, refused.index));
                return Err(BatchError::Refused(refused));
            }
            Err(Abort::Refused(BatchAbort::Whole(error))) => return Err(error.into()),
            Err(Abort::Store(error)) => return Err(ServiceError::from(error).into()),
        };
        Ok(BatchResult {
            create: self.batched(actor, outcome.create, is_dry_run).await?,
            update: self.batched(actor, outcome.update, is_dry_run).await?,
            delete: outcome.delete,
            is_dry_run,
            source_revision: outcome.source_revision,
        })
    }

    async fn prepare_batch(
        &self,
        actor: &Actor,
        request: BatchRequest,
        mut refused: Vec<RefusedChange>,
    ) -> (Batch, Vec<RefusedChange>) {
        let made_by = &MadeBy::of(actor);
        let creates: Vec<_> = request
            .create
            .iter()
            .enumerate()
            .map(|(index, body)| async move { (index, self.prepare_create(actor, body, made_by).await) })
            .collect();
        let updates: Vec<_> = request
            .update
            .iter()
            .map(|(index, item)| async move {
                let prepared = self.prepare_update(actor, item.id, &item.body, false, None).await;
                (*index, prepared)
            })
            .collect();
        let creates: Vec<_> = stream::iter(creates).buffered(CONCURRENT_PREPARATIONS).collect().await;
        let updates: Vec<_> = stream::iter(updates).buffered(CONCURRENT_PREPARATIONS).collect().await;
        let create = accepted(BatchList::Create, creates, &mut refused);
        let update = accepted(BatchList::Update, updates, &mut refused);
        let deletes = request.delete.into_iter();
        let batch = Batch {
            account: actor.account,
            create,
            update,
            delete: deletes
                .map(|(index, id)| (index, self.prepare_delete(actor, id, None)))
                .collect(),
            has_refused: !refused.is_empty(),
            is_dry_run: request.is_dry_run,
            source: request.source,
            expected_source_revision: request.expected_source_revision,
        };
        (batch, refused)
    }

    async fn batched(
        &self,
        actor: &Actor,
        alerts: Vec<(bool, StoredAlert)>,
        is_dry_run: bool,
    ) -> Result<Vec<BatchedAlert>, ServiceError> {
        let mut batched = Vec::with_capacity(alerts.len());
        for (is_changed, stored) in alerts {
            let detail = match is_dry_run {
                // It is not stored.
                true => self.detail(stored),
                false => self.shown(actor, stored).await?,
            };
            batched.push(BatchedAlert { is_changed, detail });
        }
        Ok(batched)
    }
}

/// Separates the changes that were prepared from those that are refused.
fn accepted<T>(
    list: BatchList,
    prepared: Vec<(usize, Result<T, ServiceError>)>,
    refused: &mut Vec<RefusedChange>,
) -> Vec<(usize, T)> {
    let mut accepted = Vec::with_capacity(prepared.len());
    for (index, result) in prepared {
        match result {
            Ok(change) => accepted.push((index, change)),
            Err(error) => refused.push(RefusedChange::new(list, index, error)),
        }
    }
    accepted
}

impl Batch {
    async fn run(&self, unit: &mut UnitOfWork) -> Result<BatchOutcome, Abort<BatchAbort>> {
        let locked = lock_active_account(unit, self.account).await;
        locked.map_err(whole)?;
        self.check_source_revision(unit).await?;
        let mut refused = Vec::new();
        let mut outcome = BatchOutcome::default();
        for (index, change) in &self.delete {
            let run = change.run(unit).await;
            if let Some(changes) = judged(BatchList::Delete, *index, run, &mut refused)? {
                outcome.delete.push(change.id());
                outcome.add(changes);
            }
        }
        for (index, change) in &self.update {
            let run = change.run(unit).await;
            if let Some(done) = judged(BatchList::Update, *index, run, &mut refused)? {
                outcome.update.push((done.is_changed, done.stored));
                outcome.add(done.changes);
            }
        }
        for (index, change) in &self.create {
            let run = change.run(unit).await;
            if let Some(done) = judged(BatchList::Create, *index, run, &mut refused)? {
                outcome.create.push((done.is_new, done.stored));
                outcome.add(done.changes);
            }
        }
        if self.has_refused || !refused.is_empty() {
            return Err(Abort::Refused(BatchAbort::Refused(refused)));
        }
        if let Some(source) = &self.source {
            outcome.source_revision = Some(unit.source_revision(self.account, source).await?);
        }
        if self.is_dry_run {
            return Err(Abort::Refused(BatchAbort::DryRun(Box::new(outcome))));
        }
        Ok(outcome)
    }

    /// Refuses the batch if the alerts of the source have changed since the client read them.
    async fn check_source_revision(&self, unit: &mut UnitOfWork) -> Result<(), Abort<BatchAbort>> {
        let (Some(source), Some(expected)) = (&self.source, self.expected_source_revision) else {
            return Ok(());
        };
        let SourceRevision(present) = unit.source_revision(self.account, source).await?;
        if present == expected.0 {
            return Ok(());
        }
        let message = format!(
            "somebody else has changed the alerts of {source} meanwhile (revision {present}, expected {}); read them again, and repeat",
            expected.0
        );
        Err(Abort::Refused(BatchAbort::Whole(ServiceError::Conflict(message))))
    }
}

impl BatchOutcome {
    fn add(&mut self, MemberChanges { changed, removed }: MemberChanges) {
        self.changes.changed.extend(changed);
        self.changes.removed.extend(removed);
    }
}

/// Notes a refusal, so that the other changes are judged as well. A failure of the database ends the batch.
fn judged<T>(
    list: BatchList,
    index: usize,
    run: Result<T, Abort<ServiceError>>,
    refused: &mut Vec<RefusedChange>,
) -> Result<Option<T>, Abort<BatchAbort>> {
    match run {
        Ok(done) => Ok(Some(done)),
        Err(Abort::Refused(error)) => {
            refused.push(RefusedChange::new(list, index, error));
            Ok(None)
        }
        Err(Abort::Store(error)) => Err(Abort::Store(error)),
    }
}

fn whole(abort: Abort<ServiceError>) -> Abort<BatchAbort> {
    match abort {
        Abort::Refused(error) => Abort::Refused(BatchAbort::Whole(error)),
        Abort::Store(error) => Abort::Store(error),
    }
}
