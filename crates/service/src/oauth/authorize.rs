//! What a program wants, as it comes with somebody's browser.
//!
//! The order is what matters. Until it is known who asks and that the browser may be sent there, nobody but the person is told
//! that anything is wrong: a service that sends browsers wherever it is asked to is a tool for deceivers. From then on
//! the program is told, and with each answer whose it is (RFC 9207), so that it cannot take it for another service's.
//!
//! Anybody can register a program, with any address on the web to go back to, and a request of its that is wrong on purpose. So
//! who has not signed in is not sent there at once, but sees where a link leads ([`WayBack`], RFC 9700, 4.11.2).

use std::net::IpAddr;

use url::Url;

use super::client::ClientError;
use super::params::Params;
use super::{Client, ErrorCode, OAuthError, pkce, redirect_uri, scopes};
use crate::oauth::OAuth;
use crate::{Scope, ServiceError};

/// The longest `state`.
const MAX_STATE_CHARS: usize = 4_096;

/// What a program asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// Who asks.
    pub client: Client,
    /// Where the browser goes back to.
    pub(super) redirect_uri: String,
    /// What the program knows its own request by.
    pub(super) state: Option<String>,
    /// What it has to know the origin of, to exchange the code.
    pub(super) challenge: String,
    /// What it wants.
    pub scopes: Vec<Scope>,
}

impl Asked {
    /// The host, or the scheme of a program's own, that the browser goes back to.
    #[must_use]
    pub fn leads_to(&self) -> String {
        redirect_uri::place(&self.redirect_uri)
    }

    /// Whether it goes back to a program on the person's own machine.
    #[must_use]
    pub fn leads_to_own_machine(&self) -> bool {
        redirect_uri::is_local(&self.redirect_uri)
    }
}

/// Why nobody is asked.
#[derive(Debug)]
pub enum NotAsked {
    /// For a reason that only the person is told: it is not known who asks, or where they may be answered.
    Shown(String),
    /// For a reason that the program is told.
    Sent(WayBack),
    /// For a reason that is not the program's.
    Failed(ServiceError),
}

/// Where a browser goes, to tell a program what is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WayBack {
    /// The redirect URI, with what the program is told.
    pub location: String,
    /// The host, or the scheme of a program's own.
    pub leads_to: String,
    /// What is wrong.
    pub why: String,
    /// Whether it leads to a host on the web: nobody is to be sent there who has not come to this service for something.
    pub is_on_the_web: bool,
}

impl From<ClientError> for NotAsked {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Failed(failure) => Self::Failed(failure),
            error @ (ClientError::Unknown | ClientError::Document(_)) => Self::Shown(error.to_string()),
        }
    }
}

impl OAuth {
    /// Finds out what a program wants, from the parameters that it has sent a browser with, which has come from `address`.
    ///
    /// # Errors
    /// [`NotAsked`]
    pub async fn check_authorization(&self, params: &[(String, String)], address: IpAddr) -> Result<Asked, NotAsked> {
        let params = Params(params);
        let only_one = |name| match params.one(name) {
            Ok(Some(value)) => Ok(value),
            Ok(None) => Err(NotAsked::Shown(format!("the app has sent you here without a {name}"))),
            Err(error) => Err(NotAsked::Shown(error.to_string())),
        };
        let (client_id, redirect_uri) = (only_one("client_id")?, only_one("redirect_uri")?);
        let client = self.oauth_client(client_id, address).await?;
        if !client.has(redirect_uri) {
            let text = "the app wants you to be sent back to an address (redirect_uri) that it has not registered";
            return Err(NotAsked::Shown(text.to_owned()));
        }
        // What is wrong with this is told with what can be said of it.
        let state = params.one("state").unwrap_or_default();
        if state.is_some_and(|state| state.len() > MAX_STATE_CHARS) {
            return Err(NotAsked::Shown("the app has sent a state that is too long".to_owned()));
        }
        match self.wish(params) {
            Ok((challenge, scopes)) => Ok(Asked {
                client,
                redirect_uri: redirect_uri.to_owned(),
                state: state.map(str::to_owned),
                challenge,
                scopes,
            }),
            Err(OAuthError::Failed(failure)) => Err(NotAsked::Failed(failure)),
            Err(OAuthError::Refused { code, description }) => {
                let said = [("error", code.name()), ("error_description", &description)];
                Err(NotAsked::Sent(WayBack {
                    location: self.answer_to(redirect_uri, state, &said),
                    leads_to: redirect_uri::place(redirect_uri),
                    is_on_the_web: !redirect_uri::is_local(redirect_uri),
                    why: description,
                }))
            }
        }
    }

    /// The challenge, and what is wanted.
    fn wish(&self, params: Params<'_>) -> Result<(String, Vec<Scope>), OAuthError> {
        params.one("state")?;
        if params.required("response_type")? != "code" {
            let description = "response_type must be code";
            return Err(OAuthError::new(ErrorCode::UnsupportedResponseType, description));
        }
        if params.one("response_mode")?.is_some_and(|mode| mode != "query") {
            return Err(OAuthError::request("response_mode must be query"));
        }
        let challenge = params.required("code_challenge")?;
        if params.one("code_challenge_method")? != Some(pkce::METHOD) {
            return Err(OAuthError::request(
                "code_challenge_method is required and must be S256",
            ));
        }
        if !pkce::is_challenge(challenge) {
            let description = "code_challenge must be the SHA-256 of the verifier in base64url, 43 characters";
            return Err(OAuthError::request(description));
        }
        self.must_be_for_mcp(params)?;
        Ok((challenge.to_owned(), scopes::asked(params.one("scope")?)?))
    }

    /// Tokens are for the MCP endpoint. Whoever names nothing means that.
    pub(super) fn must_be_for_mcp(&self, params: Params<'_>) -> Result<(), OAuthError> {
        let resource = self.mcp_resource();
        // As a program writes it that reads the URL first.
        let read = Url::parse(&resource).map_or_else(|_| resource.clone(), String::from);
        if params.all("resource").all(|asked| asked == resource || asked == read) {
            return Ok(());
        }
        let description = format!("resource must be {resource}");
        Err(OAuthError::new(ErrorCode::InvalidTarget, description))
    }

    /// Where a browser is sent to tell a program something.
    pub(super) fn answer_to(&self, redirect_uri: &str, state: Option<&str>, said: &[(&str, &str)]) -> String {
        let mut pairs = said.to_vec();
        pairs.extend(state.map(|state| ("state", state)));
        pairs.push(("iss", self.identity.public_url()));
        redirect_uri::with(redirect_uri, &pairs)
    }
}
