//! Many firings in a table without statistics, as after a restore or while many alerts are created.

use alerts::AlertId;
use sqlx::{Connection, PgConnection};
use store::model::FiringResult;
use store::{Store, StoreOptions};
use testkit::Database;
use uuid::Uuid;

use crate::explain::whole_postgres_plan;
use crate::fixture::{fire, insert_rows};
use crate::recorder::Recorder;

/// Adds ten thousand alerts like the one of the fixture. Their ids are numbers from 1,000 on. They are changed once: only then PostgreSQL
/// expects so few that it would compare each with each firing.
const ADD_ALERTS: &str = "
    ALTER TABLE alerts SET (autovacuum_enabled = off);
    INSERT INTO alerts OVERRIDING SYSTEM VALUE
    SELECT copied.* FROM alerts, generate_series(1000, 10999) AS number, jsonb_populate_record(
        alerts, jsonb_build_object('seq', number, 'id', lpad(to_hex(number), 32, '0'))) AS copied;
    UPDATE alerts SET revision = revision";

#[tokio::test]
async fn many_firings_do_not_compare_each_alert_with_each_firing() {
    let database = Database::postgres().await;
    let recorder = Recorder::start().await;
    let store = Store::open(StoreOptions::new(database.url())).await.unwrap();
    store.commit((), |(), unit| Box::pin(insert_rows(unit))).await.unwrap();
    let mut connection = PgConnection::connect(database.url()).await.unwrap();
    sqlx::raw_sql(ADD_ALERTS).execute(&mut connection).await.unwrap();

    recorder.clear(&store).await;
    let results = fire(&store, (1_000..1_512).map(|number| AlertId(Uuid::from_u128(number)))).await;
    assert!(results.iter().all(|result| matches!(result, FiringResult::Fired(_))));

    let statements = recorder.statements(&store).await;
    let firing = statements
        .iter()
        .find(|statement| statement.sql.contains("UPDATE alerts"));
    let unknown_values = "SET plan_cache_mode = force_generic_plan";
    sqlx::raw_sql(unknown_values).execute(&mut connection).await.unwrap();
    let plan = whole_postgres_plan(&mut connection, &firing.unwrap().sql)
        .await
        .join("\n");
    assert!(!plan.contains("Join Filter"), "{plan}");
    store.close().await;
}
