//! Runs batches of transactions: together if possible, else one by one.

use std::sync::Arc;
use std::time::Duration;

use super::Counters;
use super::queued_transaction::{QueuedTransaction, RunOutcome};
use crate::database::WriteConnection;
use crate::open::{self, Address};
use crate::queue::WakeHandles;
use crate::unit_of_work::TransactionError;
use crate::{StoreError, UnitOfWork, availability};

/// Maximum attempts of a transaction that the database asks to retry.
const MAX_TRANSACTION_ATTEMPTS: usize = 5;
/// Delay before a retry, so that the conflicting transaction can finish.
const CONFLICT_RETRY_DELAY: Duration = Duration::from_millis(10);

/// Runs batches on the connection that writes, and reconnects if needed.
pub(super) struct BatchRunner {
    address: Address,
    unit: UnitOfWork,
    /// Whether the state of the connection is unknown.
    is_broken: bool,
    counters: Arc<Counters>,
    wake_handles: WakeHandles,
}

/// The outcome of a database transaction.
enum CommitOutcome {
    /// It is on disk.
    Committed,
    /// It was rolled back.
    RolledBack {
        /// Whether a retry might succeed.
        is_retryable: bool,
        /// The cause, if the transactions themselves do not know it.
        cause: Option<TransactionError>,
    },
    /// It could not be begun.
    NotBegun(Arc<sqlx::Error>),
    /// It is unknown whether it is on disk.
    Unconfirmed(Arc<sqlx::Error>),
}

/// The error for a transaction that failed in the database.
fn store_error(failure: &TransactionError) -> StoreError {
    let message = failure.message.clone();
    if failure.is_unavailable {
        StoreError::Unavailable(message)
    } else {
        StoreError::Aborted(message)
    }
}

impl BatchRunner {
    pub(super) fn new(
        address: Address,
        connection: WriteConnection,
        counters: Arc<Counters>,
        wake_handles: WakeHandles,
    ) -> Self {
        Self {
            address,
            unit: UnitOfWork::new(connection),
            is_broken: false,
            counters,
            wake_handles,
        }
    }

    pub(super) async fn close(self) {
        open::close(self.unit.into_connection()).await;
    }

    /// Runs transactions and sends their results.
    pub(super) async fn run(&mut self, mut transactions: Vec<Box<dyn QueuedTransaction>>) {
        match self.transact(&mut transactions).await {
            CommitOutcome::Committed => self.confirm(&mut transactions),
            CommitOutcome::NotBegun(error) => {
                self.fail(&mut transactions, || StoreError::Unwritable(Arc::clone(&error)))
            }
            CommitOutcome::Unconfirmed(error) => {
                self.fail(&mut transactions, || StoreError::Unconfirmed(Arc::clone(&error)))
            }
            CommitOutcome::RolledBack { .. } => self.run_one_by_one(&mut transactions).await,
        }
    }

    async fn run_one_by_one(&mut self, transactions: &mut [Box<dyn QueuedTransaction>]) {
        for index in 0..transactions.len() {
            let transaction = &mut transactions[index..=index];
            match self.transact_with_retries(transaction).await {
                CommitOutcome::Committed => self.confirm(transaction),
                // The transaction knows the cause: it refused, or got the database error.
                CommitOutcome::RolledBack { cause: None, .. } => {
                    Counters::add(&self.counters.transactions, 1);
                    transaction[0].send_result();
                }
                CommitOutcome::RolledBack { cause: Some(cause), .. } => self.fail(transaction, || store_error(&cause)),
                CommitOutcome::Unconfirmed(error) => {
                    self.fail(transaction, || StoreError::Unconfirmed(Arc::clone(&error)))
                }
                CommitOutcome::NotBegun(error) => {
                    // The next ones could not begin either. Fail them at once instead of letting each wait.
                    self.fail(&mut transactions[index..], || {
                        StoreError::Unwritable(Arc::clone(&error))
                    });
                    return;
                }
            }
        }
    }

    /// Notifies all transactions that they are on disk, then sends their results.
    fn confirm(&self, transactions: &mut [Box<dyn QueuedTransaction>]) {
        Counters::add(&self.counters.commits, 1);
        Counters::add(&self.counters.transactions, transactions.len());
        for transaction in transactions.iter() {
            transaction.committed();
        }
        self.wake_handles.wake(&self.unit.wakes);
        for transaction in transactions {
            transaction.send_result();
        }
    }

    fn fail(&self, transactions: &mut [Box<dyn QueuedTransaction>], error: impl Fn() -> StoreError) {
        Counters::add(&self.counters.transactions, transactions.len());
        for transaction in transactions {
            transaction.fail(error());
        }
    }

    /// Retries a database transaction until it needs no retry.
    async fn transact_with_retries(&mut self, transactions: &mut [Box<dyn QueuedTransaction>]) -> CommitOutcome {
        for _ in 1..MAX_TRANSACTION_ATTEMPTS {
            match self.transact(transactions).await {
                CommitOutcome::RolledBack { is_retryable: true, .. } => {}
                outcome => return outcome,
            }
        }
        self.transact(transactions).await
    }

    /// Runs queued transactions in one database transaction.
    async fn transact(&mut self, transactions: &mut [Box<dyn QueuedTransaction>]) -> CommitOutcome {
        if let Err(error) = self.begin().await {
            return CommitOutcome::NotBegun(Arc::new(error));
        }
        for transaction in transactions {
            self.unit.reset();
            let outcome = transaction.run(&mut self.unit).await;
            let failure = self.unit.failure();
            let continues = match outcome {
                RunOutcome::Done => failure.is_none(),
                RunOutcome::Refused => failure.is_none() && !self.unit.has_written(),
                RunOutcome::Failed => false,
            };
            if !continues {
                return self.roll_back(outcome, failure).await;
            }
        }
        self.unit.reset();
        if self.unit.write_alert_totals().await.is_err() {
            let failure = self.unit.failure();
            return self.roll_back(RunOutcome::Done, failure).await;
        }
        match self.unit.commit().await {
            Ok(()) => CommitOutcome::Committed,
            Err(error) => {
                let failure = TransactionError::from_sqlx(&error);
                self.is_broken = true;
                if failure.is_conflict || availability::is_out_of_space(&error) {
                    let is_retryable = failure.is_conflict;
                    let cause = Some(failure);
                    return CommitOutcome::RolledBack { is_retryable, cause };
                }
                CommitOutcome::Unconfirmed(Arc::new(error))
            }
        }
    }

    /// Begins a database transaction, on a new connection if the current one is broken.
    async fn begin(&mut self) -> Result<(), sqlx::Error> {
        if !self.is_broken {
            match self.unit.begin().await {
                Err(error) if TransactionError::from_sqlx(&error).is_connection_failure => {}
                other => return other,
            }
        }
        self.is_broken = true;
        self.unit = UnitOfWork::new(self.address.connect().await?);
        self.unit.begin().await?;
        self.is_broken = false;
        Ok(())
    }

    async fn roll_back(&mut self, outcome: RunOutcome, failure: Option<TransactionError>) -> CommitOutcome {
        let is_connection_usable = !failure.as_ref().is_some_and(|failure| failure.is_connection_failure);
        if !is_connection_usable || self.unit.roll_back().await.is_err() {
            self.is_broken = true;
        }
        if failure.as_ref().is_some_and(|failure| failure.is_conflict) {
            // The other transaction of a deadlock must finish first, or both conflict again.
            tokio::time::sleep(CONFLICT_RETRY_DELAY).await;
        }
        // The commit was not requested yet, so a broken connection leaves no doubt either.
        let is_retryable = failure
            .as_ref()
            .is_some_and(|failure| failure.is_conflict || failure.is_connection_failure);
        // A transaction that ignored the failure, or refused because of it, does not know the cause.
        let cause = failure.filter(|_| outcome != RunOutcome::Failed);
        CommitOutcome::RolledBack { is_retryable, cause }
    }
}
