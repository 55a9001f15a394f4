//! Access tokens: JWTs that whoever has signed in shows with each request (RFC 9068).
//!
//! They are signed with Ed25519. The key is made of the vault's, so it is the same after a restart and in each process.
//! A token says who it is for and which session it came from; whether the session goes on is asked of the database, so
//! that signing out ends it. The time is a parameter here, so the library is told not to look at its own clock.

use std::fmt;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::{SignedDuration, Timestamp};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::model::{AccountId, SessionId};
use uuid::Uuid;

use crate::vault::Vault;
use crate::{Chance, ServiceError};

/// How long a token is good for.
pub const TOKEN_LIFE: SignedDuration = SignedDuration::from_mins(15);
/// How far the clocks of two processes may differ.
const CLOCKS_DIFFER_S: i64 = 30;
/// What a token says it is: an access token, so that no other JWT can stand for one.
const KIND: &str = "at+jwt";
/// Longer texts are no tokens of ours.
const MAX_LEN: usize = 4096;

/// Makes tokens and reads them.
pub(crate) struct Tokens {
    signs: EncodingKey,
    verifies: DecodingKey,
    /// The public key, in base64url.
    public: String,
    kid: String,
    issuer: String,
    audience: String,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens")
            .field("kid", &self.kid)
            .field("issuer", &self.issuer)
            .finish_non_exhaustive()
    }
}

/// What a token claims.
#[derive(Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    /// The account.
    sub: Uuid,
    exp: i64,
    iat: i64,
    jti: Uuid,
    /// The session.
    sid: Uuid,
}

/// What a token that is good says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Claimed {
    pub(crate) account: AccountId,
    pub(crate) session: SessionId,
}

/// The key that tokens are verified with, as RFC 8037 writes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublicKey {
    /// The name of the key in the tokens' heads.
    pub kid: String,
    /// The key, in base64url.
    pub x: String,
}

impl Tokens {
    /// With the vault's key, for the service at that address.
    ///
    /// # Errors
    /// If the library does not take the key, which it does.
    pub(crate) fn new(vault: &Vault, public_url: &str) -> Result<Self, ServiceError> {
        let seed = vault.derive("access tokens: ed25519");
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).map_err(|error| internal(&error))?;
        let document = pair.to_pkcs8v1().map_err(|error| internal(&error))?;
        let public = pair.public_key().as_ref();
        let issuer = public_url.trim_end_matches('/').to_owned();
        Ok(Self {
            signs: EncodingKey::from_ed_der(document.as_ref()),
            verifies: DecodingKey::from_ed_der(public),
            public: URL_SAFE_NO_PAD.encode(public),
            kid: URL_SAFE_NO_PAD.encode(&Sha256::digest(public)[..12]),
            audience: format!("{issuer}/api/v1"),
            issuer,
        })
    }

    pub(crate) fn public_key(&self) -> PublicKey {
        PublicKey {
            kid: self.kid.clone(),
            x: self.public.clone(),
        }
    }

    /// A new token.
    ///
    /// # Errors
    /// If the library cannot sign, which it can.
    pub(crate) fn issue(
        &self,
        chance: &Chance,
        account: AccountId,
        session: SessionId,
        now: Timestamp,
    ) -> Result<String, ServiceError> {
        let head = Header {
            typ: Some(KIND.to_owned()),
            kid: Some(self.kid.clone()),
            ..Header::new(Algorithm::EdDSA)
        };
        let claims = Claims {
            iss: self.issuer.clone(),
            aud: self.audience.clone(),
            sub: account.0,
            exp: now.as_second().saturating_add(TOKEN_LIFE.as_secs()),
            iat: now.as_second(),
            jti: chance.uuid(),
            sid: session.0,
        };
        jsonwebtoken::encode(&head, &claims, &self.signs).map_err(ServiceError::internal)
    }

    /// What a token says, if it is one of ours and its time is not over.
    pub(crate) fn read(&self, token: &str, now: Timestamp) -> Option<Claimed> {
        if token.len() > MAX_LEN {
            return None;
        }
        let head = jsonwebtoken::decode_header(token).ok()?;
        let is_ours = head.typ.as_deref() == Some(KIND) && head.kid.as_deref() == Some(&self.kid);
        // The key is never one that the token brings along, and nothing that we do not know may be critical.
        if !is_ours || head.alg != Algorithm::EdDSA || head.crit.is_some() {
            return None;
        }
        let mut rules = Validation::new(Algorithm::EdDSA);
        rules.set_audience(&[&self.audience]);
        rules.set_issuer(&[&self.issuer]);
        // Without this, a token that has no audience at all would do.
        rules.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
        rules.validate_exp = false;
        let claims = jsonwebtoken::decode::<Claims>(token, &self.verifies, &rules)
            .ok()?
            .claims;
        let now = now.as_second();
        let is_current = now < claims.exp && claims.iat <= now.saturating_add(CLOCKS_DIFFER_S);
        is_current.then_some(Claimed {
            account: AccountId(claims.sub),
            session: SessionId(claims.sid),
        })
    }
}

fn internal(error: &impl ToString) -> ServiceError {
    ServiceError::internal(error.to_string())
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
