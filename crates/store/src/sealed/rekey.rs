//! Sealing everything anew, with the database to oneself.

use jiff::Timestamp;

use super::values::Kind;
use super::{SealedPlace, SealedValue};
use crate::open::{self, Address};
use crate::unit::write;
use crate::{Options, StoreError, Unit};

/// Why sealed values were not sealed anew. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum RekeyingError<E> {
    /// Another program uses the database.
    #[error("another program uses the database; stop the service and every other bellwether command first")]
    InUse,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A value could not be sealed anew.
    #[error(transparent)]
    Refused(E),
}

/// The new state of a sealed value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Resealed {
    /// It is sealed with the new key.
    Sealed(Vec<u8>),
    /// It is lost. A webhook's secret needs another one in its place; everything else is discarded.
    Lost {
        /// Another secret for the webhook, sealed with the new key.
        replacement: Option<Vec<u8>>,
    },
    /// It stays as it is.
    Kept,
}

/// The database, held by this program alone, in one transaction.
#[derive(Debug)]
pub struct Rekeying {
    unit: Unit,
}

impl Rekeying {
    /// Takes the database for this program alone.
    ///
    /// # Errors
    /// [`RekeyingError::InUse`], [`RekeyingError::Store`]
    pub async fn begin<E>(options: &Options) -> Result<Self, RekeyingError<E>> {
        let address = Address::parse(&options.url)?;
        let link = address.exclusive_link().await?.ok_or(RekeyingError::InUse)?;
        let mut unit = Unit::new(link);
        unit.begin().await.map_err(StoreError::Database)?;
        Ok(Self { unit })
    }

    /// The key check value, if it was made.
    ///
    /// # Errors
    /// [`StoreError`], if the database fails.
    pub async fn key_check(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        self.unit.key_check().await
    }

    /// Seals every value anew as `reseal` says, puts `check` in the place of the key check value and commits. On any error
    /// nothing was changed.
    ///
    /// # Errors
    /// [`RekeyingError`]
    pub async fn reseal<E>(
        &mut self,
        check: &[u8],
        now: Timestamp,
        reseal: &mut (dyn FnMut(&SealedValue) -> Result<Resealed, E> + Send),
    ) -> Result<(), RekeyingError<E>> {
        let done = self.reseal_all(check, now, reseal).await;
        if done.is_err() {
            // Closing the connection does it as well.
            let _ = self.unit.roll_back().await;
        }
        done
    }

    /// Releases the database for others.
    pub async fn close(self) {
        open::close(self.unit.into_link()).await;
    }

    async fn reseal_all<E>(
        &mut self,
        check: &[u8],
        now: Timestamp,
        reseal: &mut (dyn FnMut(&SealedValue) -> Result<Resealed, E> + Send),
    ) -> Result<(), RekeyingError<E>> {
        for kind in Kind::ALL {
            let mut cursor = kind.start();
            loop {
                let page = self.unit.sealed_page(kind, &cursor).await?;
                let Some((last, _)) = page.last() else { break };
                cursor = last.clone();
                for (_, value) in page {
                    let resealed = reseal(&value).map_err(RekeyingError::Refused)?;
                    self.put(&value.place, resealed, now).await?;
                }
            }
        }
        self.put_check(check, now).await?;
        Ok(self.unit.commit().await.map_err(StoreError::Database)?)
    }

    async fn put(&mut self, place: &SealedPlace, resealed: Resealed, now: Timestamp) -> Result<(), StoreError> {
        match (resealed, place) {
            (Resealed::Sealed(sealed), _) => self.unit.replace_sealed(place, &sealed).await,
            (
                Resealed::Lost {
                    replacement: Some(sealed),
                },
                SealedPlace::WebhookSecret(webhook),
            ) => self.unit.replace_lost_webhook_secret(*webhook, &sealed, now).await,
            (Resealed::Lost { .. }, _) => self.unit.discard_sealed(place).await,
            (Resealed::Kept, _) => Ok(()),
        }
    }

    async fn put_check(&mut self, check: &[u8], now: Timestamp) -> Result<(), StoreError> {
        let unit = &mut self.unit;
        let sql = "INSERT INTO key_check (id, sealed, made_at) VALUES (1, $1, $2)
                   ON CONFLICT (id) DO UPDATE SET sealed = excluded.sealed, made_at = excluded.made_at";
        write!(unit, sql, check, now.as_microsecond());
        Ok(())
    }
}
