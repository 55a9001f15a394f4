//! Links that lead on.

use crate::world::{Answer, World};

async fn follow(world: &World, link: &str) -> Answer {
    let path = link.strip_prefix("https://alerts.example.com").unwrap_or(link);
    world.stranger("GET", path).send().await
}

#[tokio::test]
async fn a_link_that_the_service_has_made_leads_on() {
    let world = World::new().await;
    for (target, location) in [
        ("https://example.com/a?b=c&d=e#f", "https://example.com/a?b=c&d=e#f"),
        ("http://example.com", "http://example.com/"),
        (
            "https://example.com/\r\nSet-Cookie: a=b",
            "https://example.com/Set-Cookie:%20a=b",
        ),
        (
            "https://example.com/?q=\"<script>",
            "https://example.com/?q=%22%3Cscript%3E",
        ),
    ] {
        let link = world.service.redirects.signed_redirect(target).unwrap();
        assert!(
            link.starts_with("https://alerts.example.com/api/v1/redirect?u="),
            "{link}"
        );
        let answer = follow(&world, &link).await.ok(302);
        assert_eq!(answer.header("location"), location);
        assert_eq!(answer.body["data"]["location"], location);
        assert_eq!(
            (answer.header("referrer-policy"), answer.header("cache-control")),
            ("no-referrer", "no-store")
        );
        assert!(!answer.headers.contains_key("set-cookie"));
    }
}

#[tokio::test]
async fn any_other_link_leads_nowhere() {
    let world = World::new().await;
    let link = world.service.redirects.signed_redirect("https://example.com/").unwrap();
    let (_, signature) = link.split_once("&sig=").unwrap();
    let other = world.service.redirects.signed_redirect("https://example.org/").unwrap();
    let (_, others) = other.split_once("&sig=").unwrap();
    let mut changed = signature.to_owned();
    changed.replace_range(..1, if signature.starts_with('A') { "B" } else { "A" });
    for path in [
        "/v1/redirect".to_owned(),
        "/v1/redirect?u=https://example.com/".to_owned(),
        format!("/v1/redirect?sig={signature}"),
        format!("/v1/redirect?u=https://example.org/&sig={signature}"),
        format!("/v1/redirect?u=https://example.com/&sig={others}"),
        format!("/v1/redirect?u=https://example.com/&sig={changed}"),
        format!("/v1/redirect?u=https://example.com/&sig={}", &signature[1..]),
        format!("/v1/redirect?u=https://example.com/&sig={signature}A"),
        format!("/v1/redirect?u=https://example.com/x&sig={signature}"),
        "/v1/redirect?u=javascript:alert(1)&sig=".to_owned(),
        format!("/v1/redirect?u={}&sig=%00", "a".repeat(5000)),
    ] {
        let refused = follow(&world, &path).await.refused(400, "BAD_REQUEST");
        assert!(!refused.headers.contains_key("location"), "{path}");
    }
    let _ = follow(&world, &link).await.ok(302);
    for target in ["javascript:alert(1)", "data:text/html,x", "//example.com", "/local", ""] {
        assert!(world.service.redirects.signed_redirect(target).is_err(), "{target}");
    }
}
