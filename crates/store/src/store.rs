//! The store itself: opening, writing, closing. What is read lies in the files named after the subjects.

use std::sync::Arc;

use tokio::sync::Notify;

use crate::database::{Pools, query};
use crate::messages::Bells;
use crate::model::MessageChannel;
use crate::open::{Address, Options};
use crate::writer::{Door, Written};
use crate::{Abort, StoreError, Work};

/// The database. Cloning it is cheap and gives another handle of the same.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) pools: Pools,
    pub(crate) door: Arc<Door>,
    /// See [`Options::unsafe_without_compare_and_set`].
    pub(crate) compares: bool,
    /// Rings when deliveries were made.
    pub(crate) bell: Arc<Notify>,
    bells: Bells,
}

impl Store {
    /// Opens the database, makes it if it is a file that is not there, and brings its tables up to date.
    ///
    /// # Errors
    /// [`StoreError`], if it cannot be opened, is too old, or has the tables of a later version.
    pub async fn open(options: Options) -> Result<Self, StoreError> {
        let address = Address::parse(&options.url)?;
        let (pools, link) = address.open(options.max_connections).await?;
        let bells = Bells::default();
        Ok(Self {
            pools,
            door: Arc::new(Door::open(address, link, bells.clone())),
            compares: !options.unsafe_without_compare_and_set,
            bell: Arc::default(),
            bells,
        })
    }

    /// Answers if the database does.
    ///
    /// # Errors
    /// [`StoreError::Database`]
    pub async fn ping(&self) -> Result<(), StoreError> {
        query!(fetch_one(i64,), &self.pools, "SELECT CAST(1 AS BIGINT)")?;
        Ok(())
    }

    /// Whether other processes may be changing alerts in the same database: on PostgreSQL.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.pools.is_pg()
    }

    /// Finishes what is being written and closes all connections. What comes later is answered with
    /// [`StoreError::Closed`].
    pub async fn close(&self) {
        self.door.close().await;
        crate::database::on!(&self.pools, pool => pool.close().await);
    }

    /// Does a unit of work. What has been returned is on disk.
    ///
    /// If the caller is cancelled, the work is done all the same or not at all.
    ///
    /// # Errors
    /// [`Abort::Refused`] if the work refused, [`Abort::Store`] if the database failed; nothing was written then, but for
    /// [`StoreError::Unconfirmed`].
    pub async fn write<W: Work>(&self, work: W) -> Result<W::Done, Abort<W::Refusal>> {
        self.door.write(work).await
    }

    /// Rings after each transaction that has made deliveries, so that whoever delivers need not look all the time. It
    /// rings for this process only.
    #[must_use]
    pub fn bell(&self) -> Arc<Notify> {
        Arc::clone(&self.bell)
    }

    /// Rings after each transaction that has made messages, whoever made them; like [`Store::bell`].
    #[must_use]
    pub fn bell_of(&self, channel: MessageChannel) -> Arc<Notify> {
        self.bells.of(channel)
    }

    /// What has been written since the store was opened.
    #[must_use]
    pub fn written(&self) -> Written {
        self.door.written()
    }
}
