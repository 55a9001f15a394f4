//! A program gives back what it was allowed (RFC 7009).

use jiff::Timestamp;
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::params::Params;
use super::tokens::is_well_formed;
use super::{ACCESS, ACCESS_MARK, ErrorCode, OAuthError, REFRESH, REFRESH_MARK};
use crate::identity::secret;
use crate::oauth::OAuth;
use crate::{AccountId, ServiceError};

/// What became of it.
enum Revoked {
    /// It is good for nothing any more.
    Done(AccountId),
    /// It is another program's.
    OfAnother,
    /// It was good for nothing before.
    Nothing,
}

/// What a program gives back.
#[derive(Clone, Copy)]
enum Token {
    /// All that it was allowed.
    Refresh([u8; 32]),
    /// This, and nothing else.
    Access([u8; 32]),
}

impl OAuth {
    /// Takes a token back: with a refresh token all that came of its grant, with an access token that one alone. What is not
    /// known is not there any more, which is what was wanted.
    ///
    /// # Errors
    /// [`OAuthError`]
    pub async fn revoke_token(&self, params: &[(String, String)]) -> Result<(), OAuthError> {
        let params = Params(params);
        let (text, client) = (params.required("token")?, params.one("client_id")?);
        // What a token is, it says itself, so that the hint is not needed.
        let token = if is_well_formed(text, REFRESH_MARK) {
            Token::Refresh(secret::hash(REFRESH, "", text))
        } else if is_well_formed(text, ACCESS_MARK) {
            Token::Access(secret::hash(ACCESS, "", text))
        } else {
            return Ok(());
        };
        let work = Revoke {
            token,
            client: client.map(str::to_owned),
            now: self.ports.clock.now(),
        };
        match self.ports.store.write(work).await? {
            Revoked::Done(account) => self.reception.forget(account),
            Revoked::Nothing => {}
            Revoked::OfAnother => {
                let description = "this token is another client's";
                return Err(OAuthError::new(ErrorCode::InvalidGrant, description));
            }
        }
        Ok(())
    }
}

struct Revoke {
    token: Token,
    /// Whoever has a token may take it back; who says who they are has to be right about it.
    client: Option<String>,
    now: Timestamp,
}

impl Transaction for Revoke {
    type Output = Revoked;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<Revoked, Abort<ServiceError>>> {
        Box::pin(async move {
            let grant = match self.token {
                Token::Refresh(hash) => unit.grant_of_refresh_token(hash).await?.map(|(grant, _)| grant),
                Token::Access(hash) => unit.grant_of_access_token(hash).await?,
            };
            let Some(grant) = grant else {
                return Ok(Revoked::Nothing);
            };
            if self.client.as_ref().is_some_and(|client| *client != grant.client_id) {
                return Ok(Revoked::OfAnother);
            }
            match self.token {
                Token::Refresh(_) => unit.end_grant(grant.account, grant.id, self.now).await?,
                Token::Access(hash) => unit.delete_grant_access_token(hash).await?,
            };
            Ok(Revoked::Done(grant.account))
        })
    }
}
