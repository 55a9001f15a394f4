//! What programs find out before anything else.

use super::{ISSUER, RESOURCE};
use crate::world::{Answer, World};

const PROTECTED: [&str; 2] = [
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-protected-resource",
];
const SERVER: [&str; 2] = [
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-authorization-server/mcp",
];

fn pretty(answer: &Answer) -> String {
    serde_json::to_string_pretty(&answer.body).unwrap()
}

#[tokio::test]
async fn the_resource_says_who_gives_out_tokens_for_it() {
    let world = World::new().await;
    for path in PROTECTED {
        let answer = world.stranger("GET", path).send().await;
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (200, "application/json")
        );
        assert_eq!(answer.header("access-control-allow-origin"), "*");
        insta::assert_snapshot!("protected_resource", pretty(&answer));
    }
}

#[tokio::test]
async fn the_issuer_says_how_tokens_are_to_be_had() {
    let world = World::new().await;
    for path in SERVER {
        let answer = world.stranger("GET", path).send().await;
        assert_eq!(answer.header("access-control-allow-origin"), "*");
        insta::assert_snapshot!("authorization_server", pretty(&answer));
    }
}

#[tokio::test]
async fn an_issuer_whose_address_is_set_with_a_slash_has_none() {
    let world = World::on(testkit::Database::sqlite(), server::Settings::default(), |house| {
        house.public_url = format!("{ISSUER}/");
    })
    .await;
    let server = world.stranger("GET", SERVER[0]).send().await;
    assert_eq!(server.body["issuer"], ISSUER);
    assert_eq!(server.body["token_endpoint"], format!("{ISSUER}/oauth/token"));
    let resource = world.stranger("GET", PROTECTED[0]).send().await;
    assert_eq!(resource.body["resource"], RESOURCE);
}

#[tokio::test]
async fn programs_in_browsers_may_ask_what_is_for_programs_and_nothing_else() {
    let world = World::new().await;
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
        let request = world
            .stranger("OPTIONS", path)
            .header("origin", "https://agent.example.com");
        let answer = request.header("access-control-request-method", method).send().await;
        assert_eq!((answer.status, answer.text.as_str()), (204, ""), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), "*");
        assert!(answer.header("access-control-allow-methods").contains(method));
        assert!(answer.header("access-control-allow-headers").contains("Content-Type"));
        assert!(answer.headers.get("access-control-allow-credentials").is_none());
    }
    for path in ["/oauth/authorize", "/api/v1/oauth/grants", "/sign-in"] {
        for method in ["OPTIONS", "GET"] {
            let answer = world
                .stranger(method, path)
                .header("origin", "https://agent.example.com")
                .send()
                .await;
            assert!(
                answer.headers.get("access-control-allow-origin").is_none(),
                "{method} {path}"
            );
        }
    }
}
