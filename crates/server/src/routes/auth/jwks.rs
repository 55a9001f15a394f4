//! `GET /.well-known/jwks.json`

use crate::routes::prelude::*;

pub(crate) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(jwks))
}

/// The JSON Web Key Set for verifying access tokens (RFC 7517).
#[derive(Debug, Serialize, ToSchema)]
pub struct Jwks {
    /// The keys.
    pub keys: Vec<Jwk>,
}

/// A JSON Web Key (RFC 8037).
#[derive(Debug, Serialize, ToSchema)]
pub struct Jwk {
    /// Key type.
    #[schema(example = "OKP")]
    pub kty: &'static str,
    /// Curve.
    #[schema(example = "Ed25519")]
    pub crv: &'static str,
    /// Public key, base64url.
    pub x: String,
    /// Key id, as in the token header.
    pub kid: String,
    /// Signature algorithm.
    #[schema(example = "EdDSA")]
    pub alg: &'static str,
    /// Key usage.
    #[serde(rename = "use")]
    #[schema(rename = "use", example = "sig")]
    pub purpose: &'static str,
}

/// Get the keys of access tokens
///
/// Public keys for verifying access tokens offline. Offline verification does not detect that a session has ended.
#[utoipa::path(
    get,
    path = "/.well-known/jwks.json",
    tag = "Identity",
    responses((status = 200, description = "The keys", body = Jwks)),
)]
pub(super) async fn jwks(State(app): State<App>) -> Response {
    let key = app.service().identity.token_key();
    let keys = Jwks {
        keys: vec![Jwk {
            kty: "OKP",
            crv: "Ed25519",
            x: key.x,
            kid: key.kid,
            alg: "EdDSA",
            purpose: "sig",
        }],
    };
    let mut response = axum::Json(keys).into_response();
    let age = HeaderValue::from_static("public, max-age=300");
    response.headers_mut().insert(header::CACHE_CONTROL, age);
    response
}
