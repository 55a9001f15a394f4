//! Tests of each side of each rule.

use super::*;
use crate::settings::CommandLineOption;
use crate::settings::tests::{assert_format, assert_rejected, with_file};

const NATS: (&str, &str) = ("CLUSTER__NATS_URLS", "nats://127.0.0.1:4222");

fn settings(variables: &[(&str, &str)]) -> Settings {
    Settings::with_overrides(variables).unwrap()
}

fn refused(variables: &[(&str, &str)]) -> String {
    Settings::with_overrides(variables).unwrap_err().to_string()
}

#[test]
fn single_process_is_the_default() {
    let settings = settings(&[]);
    assert!(!settings.cluster.is_node() && settings.cluster.roles == Roles::ALL);
    assert_eq!(settings.check_node(), Ok(()));
}

#[test]
fn rejects_malformed_values() {
    assert_rejected(
        r#"
        cluster.nats_urls = "nats://a" | a list
        cluster.nats_urls = ["http://a"] | each a URL like nats://HOST:4222
        cluster.roles = ["api", "worker"] | each one of "api", "evaluator", "dispatcher", "feed", "jobs"
        cluster.roles = [] | a list
        cluster.roles = "api" | a list
        cluster.node_id = "two words" | 1 to 64 letters
        cluster.lease_ttl = 3 | a duration above zero with its unit
        cluster.unsafe_without_fence = 1 | true or false
        "#,
    );
}

#[test]
fn roles_are_a_list_of_names() {
    let expected = Roles::new([Role::Api, Role::Jobs]);
    assert_eq!(
        Some(settings(&[NATS, ("CLUSTER__ROLES", "jobs, api")]).cluster.roles),
        expected
    );
    let file = "[cluster]\nnats_urls = [\"nats://a\"]\nroles = [\"jobs\", \"api\"]\n";
    assert_eq!(Some(with_file(file).unwrap().cluster.roles), expected);
    assert!(refused(&[NATS, ("CLUSTER__ROLES", "api,worker")]).contains("BELLWETHER_CLUSTER__ROLES): must be a list"));
}

#[test]
fn roles_need_a_cluster_unless_they_are_all() {
    let without = refused(&[("CLUSTER__ROLES", "api,evaluator,dispatcher,feed")]);
    assert!(
        without.contains("must be all roles unless cluster.nats_urls is set"),
        "{without}"
    );
    settings(&[("CLUSTER__ROLES", "jobs,feed,dispatcher,evaluator,api")]);
    settings(&[NATS, ("CLUSTER__ROLES", "api")]);
}

#[test]
fn command_line_overrides_roles() {
    let load = |variables: &[(&str, &str)], value| {
        let variables = variables
            .iter()
            .map(|(name, value)| (format!("BELLWETHER_{name}"), (*value).to_owned()));
        let (name, key) = ("--roles", "cluster.roles");
        Settings::load_with_options(None, variables, &[CommandLineOption { name, key, value }])
    };
    let loaded = load(&[NATS, ("CLUSTER__ROLES", "api")], "feed,jobs").unwrap();
    assert_eq!(loaded.cluster.roles.to_string(), "feed,jobs");
    assert!(load(&[("CLUSTER__ROLES", "api")], "api,evaluator,dispatcher,feed,jobs").is_ok());
    let refused = load(&[NATS], "worker").unwrap_err().to_string();
    assert!(
        refused.starts_with("setting cluster.roles (from the command line, --roles): must be a list"),
        "{refused}"
    );
}

#[test]
fn lease_lasts_from_a_second_to_a_minute_and_longer_than_the_standby_waits() {
    let load = |lease, standby| {
        let settings = Settings::with_overrides(&[("CLUSTER__LEASE_TTL", lease), ("CLUSTER__STANDBY_DELAY", standby)]);
        settings.map(|_| ()).map_err(|error| error.to_string())
    };
    for (lease, standby) in [("1s", "100ms"), ("1m", "59999ms"), ("3s", "2999ms")] {
        assert_eq!(load(lease, standby), Ok(()), "{lease} {standby}");
    }
    for (lease, standby, message) in [
        ("999ms", "100ms", "must be from 1s to 1m"),
        ("60001ms", "2s", "must be from 1s to 1m"),
        ("3s", "3s", "less than cluster.lease_ttl"),
        ("3s", "99ms", "at least 100ms"),
    ] {
        let refused = load(lease, standby).unwrap_err();
        assert!(
            refused.contains(message) && refused.lines().count() == 1,
            "{lease} {standby}: {refused}"
        );
    }
}

#[test]
fn credentials_of_nats_are_masked_and_the_same_in_all_urls() {
    for (url, shown) in [
        ("nats://a:4222", "nats://a:4222"),
        ("tls://bw:open@a:4222", "tls://bw:********@a:4222"),
        ("nats://opentoken@a", "nats://********@a"),
    ] {
        let parsed = NatsUrl::from_text(url).unwrap();
        assert_eq!((parsed.to_string().as_str(), parsed.expose()), (shown, url));
        assert!(NatsUrl::from_text(shown).is_some());
    }
    settings(&[("CLUSTER__NATS_URLS", "nats://u:p@a,nats://u:p@b")]);
    let refused = refused(&[("CLUSTER__NATS_URLS", "nats://u:open@a,nats://u:sesame@b")]);
    assert!(refused.contains("must have the same user and password"), "{refused}");
    assert!(!refused.contains("sesame"), "{refused}");
}

#[test]
fn node_is_named_by_the_setting_or_by_the_host() {
    assert_format::<NodeId>(
        &["a", "node-1.example_x", &"n".repeat(64)],
        &["", "two words", "ü", &"n".repeat(65)],
    );
    assert_eq!(
        settings(&[("CLUSTER__NODE_ID", "one")]).cluster.node_name(),
        Ok("one".to_owned())
    );
    assert_eq!(node_name_of_host("web-1.local"), Ok("web-1.local".to_owned()));
    let host_name = "ä".to_owned();
    assert_eq!(node_name_of_host("ä"), Err(ClusterError::InvalidHostName { host_name }));
}

#[test]
fn node_needs_a_key_a_public_url_and_postgresql() {
    let complete = [
        NATS,
        ("CLUSTER__NODE_ID", "one"),
        ("AUTH__SECRET_KEY", "a secret that is long enough"),
        ("SERVER__PUBLIC_URL", "https://alerts.example.com"),
        ("DATABASE__URL", "postgresql://bw@db/bw"),
    ];
    assert_eq!(settings(&complete).check_node(), Ok(()));
    for (at, setting) in [(2, "auth.secret_key"), (3, "server.public_url"), (4, "database.url")] {
        let mut incomplete = complete.to_vec();
        incomplete.remove(at);
        let error = settings(&incomplete).check_node().unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("with cluster.nats_urls, {setting} must be set")),
            "{error}"
        );
    }
    let error = settings(&[NATS]).check_node().unwrap_err().to_string();
    assert_eq!(error.matches(" must be set").count(), 3, "{error}");
}
