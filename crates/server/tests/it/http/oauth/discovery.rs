//! OAuth metadata discovery.

use super::{ISSUER, RESOURCE};
use crate::http::test_server::{TestResponse, TestServer};

const PROTECTED: [&str; 2] = [
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-protected-resource",
];
const SERVER: [&str; 2] = [
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-authorization-server/mcp",
];

fn pretty(response: &TestResponse) -> String {
    serde_json::to_string_pretty(&response.body).unwrap()
}

#[tokio::test]
async fn protected_resource_metadata_names_the_authorization_server() {
    let server = TestServer::new().await;
    for path in PROTECTED {
        let response = server.anonymous("GET", path).send().await;
        assert_eq!(
            (response.status, response.header("content-type")),
            (200, "application/json")
        );
        assert_eq!(response.header("access-control-allow-origin"), "*");
        insta::assert_snapshot!("protected_resource", pretty(&response));
    }
}

#[tokio::test]
async fn authorization_server_metadata_matches_snapshot() {
    let server = TestServer::new().await;
    for path in SERVER {
        let response = server.anonymous("GET", path).send().await;
        assert_eq!(response.header("access-control-allow-origin"), "*");
        insta::assert_snapshot!("authorization_server", pretty(&response));
    }
}

#[tokio::test]
async fn issuer_has_no_trailing_slash() {
    let server = TestServer::with_database(testkit::Database::sqlite(), server::HttpConfig::default(), |settings| {
        settings.delivery.public_url = format!("{ISSUER}/");
    })
    .await;
    let metadata = server.anonymous("GET", SERVER[0]).send().await;
    assert_eq!(metadata.body["issuer"], ISSUER);
    assert_eq!(metadata.body["token_endpoint"], format!("{ISSUER}/oauth/token"));
    let resource = server.anonymous("GET", PROTECTED[0]).send().await;
    assert_eq!(resource.body["resource"], RESOURCE);
}

#[tokio::test]
async fn cors_allows_only_client_routes() {
    let server = TestServer::new().await;
    let asks = [
        (PROTECTED[0], "GET"),
        (PROTECTED[1], "GET"),
        (SERVER[0], "GET"),
        (SERVER[1], "GET"),
        ("/oauth/token", "POST"),
        ("/oauth/register", "POST"),
        ("/oauth/revoke", "POST"),
    ];
    for (path, method) in asks {
        let request = server
            .anonymous("OPTIONS", path)
            .header("origin", "https://agent.example.com");
        let response = request.header("access-control-request-method", method).send().await;
        assert_eq!((response.status, response.text.as_str()), (204, ""), "{path}");
        assert_eq!(response.header("access-control-allow-origin"), "*");
        assert!(response.header("access-control-allow-methods").contains(method));
        assert!(response.header("access-control-allow-headers").contains("Content-Type"));
        assert!(response.headers.get("access-control-allow-credentials").is_none());
    }
    for path in ["/oauth/authorize", "/api/v1/oauth/grants", "/sign-in"] {
        for method in ["OPTIONS", "GET"] {
            let response = server
                .anonymous(method, path)
                .header("origin", "https://agent.example.com")
                .send()
                .await;
            assert!(
                response.headers.get("access-control-allow-origin").is_none(),
                "{method} {path}"
            );
        }
    }
}
