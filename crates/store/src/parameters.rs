//! Parameters of statements that are put together when they run.

use uuid::Uuid;

/// A value of a statement's parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Parameter {
    Uuid(Uuid),
    Text(String),
    Number(i64),
}

/// Binds parameters to a query, in their order.
macro_rules! bind_all {
    ($query:expr, $parameters:expr) => {{
        let mut query = $query;
        for parameter in $parameters {
            query = match parameter {
                $crate::parameters::Parameter::Uuid(id) => query.bind(*id),
                $crate::parameters::Parameter::Text(text) => query.bind(text.as_str()),
                $crate::parameters::Parameter::Number(number) => query.bind(*number),
            };
        }
        query
    }};
}
pub(crate) use bind_all;

/// Fetches the rows of a query with a list of parameters.
macro_rules! fetch_with {
    ($pools:expr, $row:ty, $sql:expr, $parameters:expr) => {{
        let sql = sqlx::AssertSqlSafe($sql);
        match $pools {
            $crate::database::Either::Lite(pool) => {
                $crate::parameters::bind_all!($crate::sqlite::query(sql), $parameters)
                    .fetch_all::<$row>(pool)
                    .await
            }
            $crate::database::Either::Pg(pool) => {
                let query = sqlx::query_as::<_, $row>(sql);
                let query = $crate::parameters::bind_all!(query, $parameters);
                $crate::timeouts::with_statement_timeout(query.fetch_all(pool)).await
            }
        }
    }};
}
pub(crate) use fetch_with;
