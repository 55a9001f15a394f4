//! Tests of valid and invalid settings, and of the error messages.

use std::fs;

use super::*;

/// Asserts which texts a type accepts. A shown value can be read again.
pub(super) fn assert_format<T: Setting + PartialEq + std::fmt::Debug>(valid: &[&str], invalid: &[&str]) {
    for text in valid {
        let value = T::from_text(text).unwrap_or_else(|| panic!("{text} is valid"));
        assert_eq!(T::from_toml(&value.to_toml()), Some(value), "{text}");
    }
    for text in invalid {
        assert_eq!(T::from_text(text), None, "{text}");
    }
}

/// Loads a file called `bellwether.toml`. Its folder is removed from error messages.
pub(super) fn with_file(text: &str) -> Result<Settings, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bellwether.toml");
    fs::write(&path, text).unwrap();
    let folder = format!("{}/", dir.path().display());
    Settings::load(Some(&path), []).map_err(|error| error.to_string().replace(&folder, ""))
}

fn refused(variables: &[(&str, &str)]) -> String {
    Settings::with_overrides(variables).unwrap_err().to_string()
}

#[test]
fn defaults_contain_exactly_all_settings() {
    let settings = Settings::load(None, []).unwrap();
    let [mut defaults, mut known] = [Layers::default(), Layers::default()];
    defaults.add_toml(&Origin::Default, DEFAULTS);
    known.add_toml(&Origin::Default, &settings.to_toml());
    assert_eq!(defaults.keys(), known.keys());
    assert_eq!(settings.server.listen.to_string(), "127.0.0.1:8080");
}

#[test]
fn every_default_has_a_comment() {
    // A key is below its comment, or below another key that shares the comment.
    let mut explained = false;
    for line in DEFAULTS.lines() {
        match line.chars().next() {
            Some('#') => explained = true,
            Some('[') | None => explained = false,
            Some(_) => assert!(explained, "nothing explains: {line}"),
        }
    }
}

#[test]
fn file_overrides_defaults_and_variable_overrides_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bellwether.toml");
    fs::write(&path, "[market]\nseed = 3\nalways_open = true\n").unwrap();
    let settings = Settings::load(Some(&path), [("BELLWETHER_MARKET__SEED".to_owned(), "5".to_owned())]).unwrap();
    assert_eq!((settings.market.seed, settings.market.always_open), (5, true));
    assert_eq!(settings.database.max_connections.get(), 8);
}

#[test]
fn key_of_push_messages_must_be_a_private_key() {
    let key = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw";
    let settings = Settings::with_overrides(&[("WEB_PUSH__VAPID_PRIVATE_KEY", key)]).unwrap();
    assert_eq!(settings.web_push.vapid_private_key.unwrap().expose(), key);
    let message = refused(&[("WEB_PUSH__VAPID_PRIVATE_KEY", "not-a-private-key")]);
    for part in ["web_push.vapid_private_key", "must be a P-256 private key"] {
        assert!(message.contains(part), "{message}");
    }
    assert!(!message.contains("not-a-private-key"), "{message}");
}

#[test]
fn empty_variable_is_ignored() {
    let settings = Settings::with_overrides(&[("MARKET__SEED", "")]).unwrap();
    assert_eq!(settings.market.seed, 7);
}

#[test]
fn variable_holds_a_comma_separated_list() {
    let settings = Settings::with_overrides(&[("SERVER__TRUSTED_PROXIES", "10.0.0.0/8, ::1")]).unwrap();
    let proxies: Vec<_> = settings
        .server
        .trusted_proxies
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(proxies, ["10.0.0.0/8", "::1/128"]);
}

#[test]
fn rejects_unknown_setting_and_lists_known_ones() {
    let refused = with_file("[log]\nlevle = \"debug\"\n").unwrap_err();
    assert_eq!(
        refused,
        "setting log.levle (in bellwether.toml): there is no such setting; those of [log] are format, level"
    );
}

#[test]
fn rejects_unknown_section_and_lists_known_ones() {
    let refused = with_file("[serve]\nlisten = \"127.0.0.1:1\"\n").unwrap_err();
    assert!(
        refused.contains("setting serve.listen (in bellwether.toml)"),
        "{refused}"
    );
    assert!(
        refused.contains("analyst, auth, cluster, database, email, limits, log, market"),
        "{refused}"
    );
}

#[test]
fn rejects_setting_outside_a_section() {
    let refused = with_file("listen = \"127.0.0.1:1\"\n").unwrap_err();
    assert!(refused.starts_with("setting listen (in bellwether.toml)"), "{refused}");
}

#[test]
fn rejects_unknown_variable_by_name() {
    let refused = refused(&[("LOG__LEVLE", "debug")]);
    assert_eq!(
        refused,
        "setting log.levle (from the environment, BELLWETHER_LOG__LEVLE): there is no such setting; \
         those of [log] are format, level"
    );
}

#[test]
fn variable_with_one_underscore_gets_the_right_name() {
    let refused = refused(&[("SERVER_TRUSTED_PROXIES", "::1")]);
    assert!(
        refused.ends_with("the variable must be called BELLWETHER_SERVER__TRUSTED_PROXIES"),
        "{refused}"
    );
}

#[test]
fn ignores_variables_of_an_orchestrator() {
    let variables = ["BELLWETHER_PORT", "BELLWETHER_SERVICE_HOST", "OTHER__LOG"];
    let variables = variables.map(|name| (name.to_owned(), "10.0.0.7".to_owned()));
    assert_eq!(
        Settings::load(None, variables).unwrap(),
        Settings::load(None, []).unwrap()
    );
}

#[test]
fn rejects_invalid_value_without_showing_it() {
    let refused = refused(&[("OPERATOR__CRON_SECRET", "hunter2")]);
    assert_eq!(
        refused,
        "setting operator.cron_secret (from the environment, BELLWETHER_OPERATOR__CRON_SECRET): \
         must be a secret text of at least 16 characters, or \"\" for none"
    );
}

/// Asserts that each line's setting is rejected with a message that names the allowed values: `SETTING | ALLOWED`.
pub(super) fn assert_rejected(lines: &str) {
    for line in lines.trim().lines() {
        let (setting, allowed) = line.trim().split_once(" | ").unwrap();
        let (key, _) = setting.split_once(" = ").unwrap();
        let refused = with_file(setting).unwrap_err();
        let expected = format!("setting {key} (in bellwether.toml): must be ");
        assert!(refused.starts_with(&expected) && refused.contains(allowed), "{refused}");
    }
}

#[test]
fn rejects_values_of_the_wrong_type() {
    assert_rejected(
        r#"
        server.listen = 8080 | an address and a port
        server.listen = "localhost" | an address and a port
        server.header_timeout = 10 | a duration above zero with its unit
        server.trusted_proxies = "::1" | a list
        server.trusted_proxies = ["10.0.0.0/33"] | each an address or a range of addresses
        server.public_url = "alerts.example" | a URL like https://
        database.max_connections = 0 | from 1 to
        database.url = "mysql://a/b" | sqlite://FILE or postgres://
        market.source = "yahoo" | one of "simulated", "file", "push", "providers"
        market.always_open = "yes" | true or false
        market.benchmark = "S&P 500" | a symbol
        market.extra_closures = ["2025-02-30"] | each a date
        market.buzz_rising_ratio = -1 | a number above 0
        log.level = "loud" | error, warn, info
        analyst.kind = "oracle" | one of "rules", "openai"
        analyst.base_url = "https://key@a.example/v1" | without query or user info
        analyst.calls_per_day = 0 | from 1 to
        "#,
    );
}

#[test]
fn rejects_contradictory_settings() {
    let no_folder = refused(&[("MARKET__SOURCE", "file")]);
    assert!(
        no_folder.starts_with("setting market.data_dir (by default)"),
        "{no_folder}"
    );
    let same = refused(&[("SERVER__OPS_LISTEN", "127.0.0.1:8080")]);
    assert!(same.contains("must differ from server.listen"), "{same}");
    let endpoint = refused(&[("TELEMETRY__OTLP_ENDPOINT", "localhost:4318")]);
    assert!(
        endpoint.contains("must be a URL like http://localhost:4318"),
        "{endpoint}"
    );
    let no_model = refused(&[("ANALYST__KIND", "openai")]);
    assert_eq!(
        no_model,
        "setting analyst.model (by default): must name the model when analyst.kind is \"openai\"\n\
         setting analyst.api_key (by default): must be given for api.openai.com; other servers may not need one"
    );
    let too_long = refused(&[("ANALYST__TIMEOUT", "601s")]);
    assert!(too_long.ends_with("must be at most 10m"), "{too_long}");
    assert!(Settings::with_overrides(&[("ANALYST__TIMEOUT", "600s")]).is_ok());
    let local = [
        ("ANALYST__KIND", "openai"),
        ("ANALYST__MODEL", "qwen3"),
        ("ANALYST__BASE_URL", "http://localhost:11434/v1"),
    ];
    assert!(Settings::with_overrides(&local).is_ok());
}

#[test]
fn reports_all_problems_at_once() {
    let refused = with_file("[log]\nlevel = 1\nlevle = 2\n[market]\nseed = \"x\"\n").unwrap_err();
    assert_eq!(refused.lines().count(), 3, "{refused}");
}

#[test]
fn rejects_invalid_toml_with_line_number() {
    let refused = with_file("[log]\nlevel = debug\n").unwrap_err();
    assert!(
        refused.starts_with("in bellwether.toml: line 2 is not valid TOML: "),
        "{refused}"
    );
}

#[test]
fn missing_file_is_named() {
    let error = Settings::load(Some(Path::new("no/such.toml")), [])
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("cannot read the settings file no/such.toml: "),
        "{error}"
    );
}

#[test]
fn shown_settings_are_masked_and_readable() {
    let settings = Settings::with_overrides(&[
        ("AUTH__SECRET_KEY", "a secret that is long enough"),
        ("DATABASE__URL", "postgres://bw:open@db/bw"),
        ("SERVER__TRUSTED_PROXIES", "10.0.0.0/8"),
        ("MARKET__EXTRA_CLOSURES", "2025-01-09"),
        ("ANALYST__API_KEY", "sk-long-enough"),
    ])
    .unwrap();
    let shown = settings.to_toml();
    assert!(!shown.contains("long enough") && !shown.contains("open@"), "{shown}");
    assert!(
        !shown.contains("sk-long") && !format!("{settings:?}").contains("sk-long"),
        "{shown}"
    );
    assert!(!format!("{settings:?}").contains("long enough"));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("shown.toml");
    let readable = shown.replace("\"********\"", "\"another-one-of-sixteen\"");
    fs::write(&path, readable).unwrap();
    let again = Settings::load(Some(&path), []).unwrap();
    assert_eq!(again.to_toml(), shown);
}
