//! Records the statements that the store sends, from the logs of its drivers.

use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, OnceLock};

use store::Store;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// A statement as it was sent.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Statement {
    /// Its first four words.
    pub(crate) summary: String,
    pub(crate) sql: String,
}

impl Visit for Statement {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "summary" => self.summary = value.to_owned(),
            "db.statement" => self.sql = value.trim().to_owned(),
            // SQLite's driver logs the statement alone.
            "sql" => {
                self.summary = value.split_whitespace().take(4).collect::<Vec<_>>().join(" ");
                if value.split_whitespace().count() > 4 {
                    self.summary.push_str(" …");
                    value.trim().clone_into(&mut self.sql);
                }
            }
            _ => {}
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}

static RECORDED: Mutex<Vec<Statement>> = Mutex::new(Vec::new());

struct RecordStatements;

impl<S: Subscriber> Layer<S> for RecordStatements {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        ["sqlx::query", "store::sqlite"].contains(&metadata.target()) && *metadata.level() <= Level::TRACE
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut statement = Statement::default();
        event.record(&mut statement);
        // A statement of at most four words is its own summary; these begin and end transactions.
        if !statement.sql.is_empty() {
            RECORDED.lock().unwrap().push(statement);
        }
    }
}

/// Records while it exists. The log belongs to the process, so there is one at a time.
pub(crate) struct Recorder {
    _only: tokio::sync::MutexGuard<'static, ()>,
}

impl Recorder {
    pub(crate) async fn start() -> Self {
        static ONLY: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
        static SUBSCRIBER: OnceLock<()> = OnceLock::new();
        let only = ONLY.lock().await;
        SUBSCRIBER.get_or_init(|| {
            let subscriber = tracing_subscriber::registry().with(RecordStatements);
            tracing::subscriber::set_global_default(subscriber).unwrap();
        });
        Self { _only: only }
    }

    /// Forgets what was recorded.
    pub(crate) async fn clear(&self, store: &Store) {
        let _ = self.statements(store).await;
    }

    /// Takes what was recorded: each statement once, in order.
    pub(crate) async fn statements(&self, store: &Store) -> Vec<Statement> {
        // A driver may log a statement after it has returned its last row.
        store.ping().await.unwrap();
        store.commit((), |(), _| Box::pin(async { Ok(()) })).await.unwrap();
        let mut recorded: MutexGuard<'_, Vec<Statement>> = RECORDED.lock().unwrap();
        let mut statements = Vec::new();
        for statement in recorded.drain(..) {
            if !statements.contains(&statement) {
                statements.push(statement);
            }
        }
        statements
    }
}
