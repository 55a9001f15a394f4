//! Validation of authorization requests.
//!
//! The order of the checks matters. Until the client and its redirect URI are validated, errors are shown only to the
//! user: redirecting to unvalidated addresses would be an open redirect. After that, errors go to the client, each with
//! the issuer (RFC 9207), so that the client cannot mistake it for another server's response.
//!
//! Anyone can register a client with any redirect URI on the web, and send a request that is invalid on purpose. So
//! users who are not signed in are not redirected at once; they see the destination of a link instead
//! ([`RedirectTarget`], RFC 9700, 4.11.2).

use std::net::IpAddr;

use url::Url;

use super::client::ClientError;
use super::params::RequestParams;
use super::{OAuthClient, OAuthError, OAuthErrorCode, pkce, redirect_uri, scopes};
use crate::oauth::OAuth;
use foundation::{Scope, ServiceError};

/// Maximum length of `state`, in bytes.
const MAX_STATE_BYTES: usize = 4_096;

/// A valid authorization request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuthorizationRequest {
    /// Client.
    pub client: OAuthClient,
    /// Redirect URI.
    pub(super) redirect_uri: String,
    /// The client's `state`.
    pub(super) state: Option<String>,
    /// PKCE code challenge.
    pub(super) challenge: String,
    /// Requested scopes.
    pub scopes: Vec<Scope>,
}

impl AuthorizationRequest {
    /// Returns the redirect URI.
    #[must_use]
    pub fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    /// Returns the host, or the custom scheme, of the redirect URI.
    #[must_use]
    pub fn redirect_destination(&self) -> String {
        redirect_uri::destination(&self.redirect_uri)
    }

    /// Returns whether the redirect URI leads to an app on the user's own device.
    #[must_use]
    pub fn redirects_to_local_app(&self) -> bool {
        redirect_uri::is_local(&self.redirect_uri)
    }
}

/// Reason why an authorization request is rejected.
#[derive(Debug)]
pub enum AuthorizationError {
    /// Shown only to the user: the client or its redirect URI is invalid.
    ShowToUser(String),
    /// Sent to the client by redirect.
    RedirectToClient(RedirectTarget),
    /// Internal failure.
    Failed(ServiceError),
}

/// Redirect that reports an error to a client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RedirectTarget {
    /// Redirect URI with the error parameters.
    pub location: String,
    /// Host or custom scheme.
    pub destination: String,
    /// Error description.
    pub reason: String,
    /// Whether it leads to a host on the web. Users who are not signed in are not redirected there automatically.
    pub is_web_host: bool,
}

impl From<ClientError> for AuthorizationError {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Failed(failure) => Self::Failed(failure),
            error @ (ClientError::Unknown | ClientError::Metadata(_)) => Self::ShowToUser(error.to_string()),
        }
    }
}

impl OAuth {
    /// Validates the parameters of an authorization request from the client address `address`.
    ///
    /// # Errors
    /// [`AuthorizationError`]
    pub async fn check_authorization(
        &self,
        params: &[(String, String)],
        address: IpAddr,
    ) -> Result<AuthorizationRequest, AuthorizationError> {
        let params = RequestParams(params);
        let only_one = |name| match params.single(name) {
            Ok(Some(value)) => Ok(value),
            Ok(None) => Err(AuthorizationError::ShowToUser(format!(
                "the app's request has no {name}"
            ))),
            Err(error) => Err(AuthorizationError::ShowToUser(error.to_string())),
        };
        let (client_id, redirect_uri) = (only_one("client_id")?, only_one("redirect_uri")?);
        let client = self.find_client(client_id, address).await?;
        if !client.allows_redirect(redirect_uri) {
            let text = "the app's redirect_uri is not registered";
            return Err(AuthorizationError::ShowToUser(text.to_owned()));
        }
        // A duplicate `state` is reported with the other parameters' errors.
        let state = params.single("state").unwrap_or_default();
        if state.is_some_and(|state| state.len() > MAX_STATE_BYTES) {
            return Err(AuthorizationError::ShowToUser(
                "the app's state parameter is too long".to_owned(),
            ));
        }
        match self.validate_parameters(params) {
            Ok((challenge, scopes)) => Ok(AuthorizationRequest {
                client,
                redirect_uri: redirect_uri.to_owned(),
                state: state.map(str::to_owned),
                challenge,
                scopes,
            }),
            Err(OAuthError::Failed(failure)) => Err(AuthorizationError::Failed(failure)),
            Err(OAuthError::Refused { code, description }) => {
                let parameters = [("error", code.name()), ("error_description", &description)];
                Err(AuthorizationError::RedirectToClient(RedirectTarget {
                    location: self.redirect_with(redirect_uri, state, &parameters),
                    destination: redirect_uri::destination(redirect_uri),
                    is_web_host: !redirect_uri::is_local(redirect_uri),
                    reason: description,
                }))
            }
        }
    }

    /// Validates the remaining parameters. Returns the code challenge and the scopes.
    fn validate_parameters(&self, params: RequestParams<'_>) -> Result<(String, Vec<Scope>), OAuthError> {
        params.single("state")?;
        if params.required("response_type")? != "code" {
            let description = "response_type must be code";
            return Err(OAuthError::new(OAuthErrorCode::UnsupportedResponseType, description));
        }
        if params.single("response_mode")?.is_some_and(|mode| mode != "query") {
            return Err(OAuthError::request("response_mode must be query"));
        }
        let challenge = params.required("code_challenge")?;
        if params.single("code_challenge_method")? != Some(pkce::METHOD) {
            return Err(OAuthError::request(
                "code_challenge_method is required and must be S256",
            ));
        }
        if !pkce::is_challenge(challenge) {
            let description = "code_challenge must be the SHA-256 of the verifier in base64url, 43 characters";
            return Err(OAuthError::request(description));
        }
        self.require_mcp_resource(params)?;
        Ok((challenge.to_owned(), scopes::requested(params.single("scope")?)?))
    }

    /// Checks that `resource`, if present, is the MCP endpoint.
    pub(super) fn require_mcp_resource(&self, params: RequestParams<'_>) -> Result<(), OAuthError> {
        let resource = self.mcp_resource();
        // Some clients send the normalized form of the URL.
        let normalized = Url::parse(&resource).map_or_else(|_| resource.clone(), String::from);
        if params
            .all("resource")
            .all(|requested| requested == resource || requested == normalized)
        {
            return Ok(());
        }
        let description = format!("resource must be {resource}");
        Err(OAuthError::new(OAuthErrorCode::InvalidTarget, description))
    }

    /// Returns the redirect URI with response parameters, `state` and `iss`.
    pub(super) fn redirect_with(&self, redirect_uri: &str, state: Option<&str>, parameters: &[(&str, &str)]) -> String {
        let mut pairs = parameters.to_vec();
        pairs.extend(state.map(|state| ("state", state)));
        pairs.push(("iss", self.identity.public_url()));
        redirect_uri::with_query(redirect_uri, &pairs)
    }
}
