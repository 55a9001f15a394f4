//! Reseals all values with exclusive access to the database.

use std::sync::Arc;

use jiff::Timestamp;

use super::values::SealedColumn;
use super::{SealedLocation, SealedValue};
use crate::open::{self, Address};
use crate::unit_of_work::{TransactionError, write_rows};
use crate::{StoreError, StoreOptions, UnitOfWork};

/// Why a key rotation failed. Nothing was changed, unless the error is [`StoreError::Unconfirmed`].
#[derive(Debug, thiserror::Error)]
pub enum KeyRotationError<E> {
    /// Another program uses the database.
    #[error("another program uses the database; stop the service and every other bellwether command first")]
    InUse,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A value could not be resealed.
    #[error(transparent)]
    Refused(E),
}

/// The new state of a sealed value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ResealOutcome {
    /// Sealed with the new key.
    Sealed(Vec<u8>),
    /// Lost. A webhook's secret is replaced; everything else is discarded.
    Lost {
        /// A replacement secret for the webhook, sealed with the new key.
        replacement: Option<Vec<u8>>,
    },
    /// Unchanged.
    Kept,
}

/// A key rotation: one transaction with exclusive access to the database.
#[derive(Debug)]
pub struct KeyRotation {
    unit: UnitOfWork,
}

impl KeyRotation {
    /// Takes exclusive access to the database and begins the transaction.
    ///
    /// # Errors
    ///
    /// [`KeyRotationError::InUse`], [`KeyRotationError::Store`]
    pub async fn begin<E>(options: &StoreOptions) -> Result<Self, KeyRotationError<E>> {
        let address = Address::parse(&options.url)?;
        let connection = address.connect_exclusively().await?.ok_or(KeyRotationError::InUse)?;
        let mut unit = UnitOfWork::new(connection);
        unit.begin().await.map_err(StoreError::Database)?;
        Ok(Self { unit })
    }

    /// Returns the key check value, if it exists.
    pub async fn key_check(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        self.unit.key_check().await
    }

    /// Reseals every value with `reseal`, replaces the key check value by `check` and commits. On any error but
    /// [`StoreError::Unconfirmed`] nothing is changed.
    pub async fn reseal<E>(
        &mut self,
        check: &[u8],
        now: Timestamp,
        reseal: &mut (dyn FnMut(&SealedValue) -> Result<ResealOutcome, E> + Send),
    ) -> Result<(), KeyRotationError<E>> {
        let done = self.reseal_all(check, now, reseal).await;
        match &done {
            Ok(()) | Err(KeyRotationError::Store(StoreError::Unconfirmed(_))) => {}
            // Closing the connection also rolls back.
            Err(_) => drop(self.unit.roll_back().await),
        }
        done
    }

    /// Releases the database for others.
    pub async fn close(self) {
        open::close(self.unit.into_connection()).await;
    }

    async fn reseal_all<E>(
        &mut self,
        check: &[u8],
        now: Timestamp,
        reseal: &mut (dyn FnMut(&SealedValue) -> Result<ResealOutcome, E> + Send),
    ) -> Result<(), KeyRotationError<E>> {
        for column in SealedColumn::ALL {
            let mut cursor = column.start();
            loop {
                let page = self.unit.sealed_page(column, &cursor).await?;
                let Some((last, _)) = page.last() else { break };
                cursor = last.clone();
                for (_, value) in page {
                    let resealed = reseal(&value).map_err(KeyRotationError::Refused)?;
                    self.apply(&value.location, resealed, now).await?;
                }
            }
        }
        self.replace_key_check(check, now).await?;
        let committed = self.unit.commit().await;
        committed.map_err(|error| {
            let is_unconfirmed = TransactionError::from_sqlx(&error).is_connection_failure;
            KeyRotationError::Store(match is_unconfirmed {
                true => StoreError::Unconfirmed(Arc::new(error)),
                false => StoreError::Database(error),
            })
        })
    }

    async fn apply(
        &mut self,
        location: &SealedLocation,
        resealed: ResealOutcome,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        match (resealed, location) {
            (ResealOutcome::Sealed(sealed), _) => self.unit.replace_sealed(location, &sealed).await,
            (
                ResealOutcome::Lost {
                    replacement: Some(sealed),
                },
                SealedLocation::WebhookSecret(webhook),
            ) => self.unit.replace_lost_webhook_secret(*webhook, &sealed, now).await,
            (ResealOutcome::Lost { .. }, _) => self.unit.discard_sealed(location).await,
            (ResealOutcome::Kept, _) => Ok(()),
        }
    }

    async fn replace_key_check(&mut self, check: &[u8], now: Timestamp) -> Result<(), StoreError> {
        let unit = &mut self.unit;
        let sql = "INSERT INTO key_check (id, sealed, made_at) VALUES (1, $1, $2)
                   ON CONFLICT (id) DO UPDATE SET sealed = excluded.sealed, made_at = excluded.made_at";
        write_rows!(unit, sql, check, now.as_microsecond());
        Ok(())
    }
}
