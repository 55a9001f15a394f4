//! The account of an actor: locks and checks that use cases of every area share.

use store::model::{Account, AccountId};
use store::{Abort, Store, UnitOfWork};
use url::Host;

use crate::{Actor, ServiceError};

/// Time zone of accounts without a setting: that of the market.
pub const DEFAULT_TIME_ZONE: &str = "America/New_York";

/// Normalizes an email address: lower case, and the host name in ASCII form. Mail to `ann@ｅxample.com` and to
/// `ann@example.com` goes to the same mailbox.
pub fn normalize_email(email: &str) -> String {
    let email = email.trim().to_lowercase();
    let Some((mailbox, host)) = email.rsplit_once('@') else {
        return email;
    };
    // Percent-encoding is not valid in an email address; validation rejects the address as it is.
    if host.is_ascii() || host.contains('%') {
        return email;
    }
    match Host::parse(host) {
        Ok(Host::Domain(host)) => format!("{mailbox}@{host}"),
        _ => email,
    }
}

/// Returns the current state of the actor's account.
pub async fn load_account(store: &Store, actor: &Actor) -> Result<Account, ServiceError> {
    let found = store.account(actor.account).await?;
    found.ok_or_else(account_gone)
}

fn account_gone() -> ServiceError {
    let message = "this account no longer exists; sign in with another one";
    ServiceError::Unauthenticated(message.to_owned())
}

/// Locks the account until the end of the transaction, and checks that it is not deactivated. Required for everything
/// that creates or activates something.
pub async fn lock_active_account(unit: &mut UnitOfWork, account: AccountId) -> Result<Account, Abort<ServiceError>> {
    let account = lock_account(unit, account).await?;
    require_active(&account)?;
    Ok(account)
}

/// Locks the account until the end of the transaction.
pub async fn lock_account(unit: &mut UnitOfWork, account: AccountId) -> Result<Account, Abort<ServiceError>> {
    let found = unit.lock_account(account).await?;
    found.ok_or_else(|| Abort::Refused(account_gone()))
}

/// Checks that an account is not deactivated. A deactivated account is read-only.
pub fn require_active(account: &Account) -> Result<(), ServiceError> {
    if account.profile.deactivated_at.is_none() {
        return Ok(());
    }
    Err(ServiceError::Forbidden {
        reason: "deactivated",
        required: Some("active_account".to_owned()),
        message: "this account is deactivated; sign in and reactivate it first (POST /user/account/reactivate)"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalizes_case_and_white_space() {
        assert_eq!(normalize_email("  Ann@Example.COM\n"), "ann@example.com");
    }

    #[test]
    fn normalizes_host_to_ascii() {
        for (written, kept) in [
            ("ann@\u{ff45}xample.com", "ann@example.com"),
            ("ann@example\u{3002}com", "ann@example.com"),
            ("ann@ex\u{ad}ample.com", "ann@example.com"),
            ("ann@B\u{dc}CHER.example", "ann@xn--bcher-kva.example"),
            ("ann@xn--bcher-kva.example", "ann@xn--bcher-kva.example"),
            ("j\u{f6}rg@example.com", "j\u{f6}rg@example.com"),
            ("ann", "ann"),
            // Invalid addresses stay unchanged.
            ("ann@\u{ff11}27.0.0.1", "ann@\u{ff11}27.0.0.1"),
            ("ann@\u{ff45}x%61mple.com", "ann@\u{ff45}x%61mple.com"),
        ] {
            assert_eq!(normalize_email(written), kept, "{written}");
        }
    }
}
