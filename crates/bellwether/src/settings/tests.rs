//! Tests of valid and invalid settings, and of the error messages.

use std::collections::BTreeSet;
use std::fs;

use super::error::SettingOrigin;
use super::*;

fn variable(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

fn with_variables(variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
    Settings::load(None, variables.iter().map(|(name, value)| variable(name, value)))
}

/// Loads a file called `bellwether.toml`. Its folder is removed from error messages.
fn with_file(text: &str) -> Result<Settings, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bellwether.toml");
    fs::write(&path, text).unwrap();
    let folder = format!("{}/", dir.path().display());
    Settings::load(Some(&path), []).map_err(|error| error.to_string().replace(&folder, ""))
}

fn refused(variables: &[(&str, &str)]) -> String {
    with_variables(variables).unwrap_err().to_string()
}

#[test]
fn defaults_contain_exactly_all_settings() {
    let mut layers = Layers::new();
    layers.add_toml(SettingOrigin::Default, DEFAULTS);
    let in_file: BTreeSet<_> = layers.keys().into_iter().collect();
    let known: BTreeSet<_> = Settings::keys().into_iter().collect();
    assert_eq!(in_file, known);
    assert_eq!(with_variables(&[]).unwrap().server.listen.to_string(), "127.0.0.1:8080");
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
    let settings = Settings::load(Some(&path), [variable("BELLWETHER_MARKET__SEED", "5")]).unwrap();
    assert_eq!((settings.market.seed, settings.market.always_open), (5, true));
    assert_eq!(settings.database.max_connections.get(), 8);
}

#[test]
fn empty_variable_is_ignored() {
    let settings = with_variables(&[("BELLWETHER_MARKET__SEED", "")]).unwrap();
    assert_eq!(settings.market.seed, 7);
}

#[test]
fn variable_holds_a_comma_separated_list() {
    let settings = with_variables(&[("BELLWETHER_SERVER__TRUSTED_PROXIES", "10.0.0.0/8, ::1")]).unwrap();
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
        refused.contains("analyst, auth, database, email, limits, log, market"),
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
    let refused = refused(&[("BELLWETHER_LOG__LEVLE", "debug")]);
    assert_eq!(
        refused,
        "setting log.levle (from the environment, BELLWETHER_LOG__LEVLE): there is no such setting; \
         those of [log] are format, level"
    );
}

#[test]
fn variable_with_one_underscore_gets_the_right_name() {
    let refused = refused(&[("BELLWETHER_SERVER_TRUSTED_PROXIES", "::1")]);
    assert!(
        refused.ends_with("the variable must be called BELLWETHER_SERVER__TRUSTED_PROXIES"),
        "{refused}"
    );
}

#[test]
fn ignores_variables_of_an_orchestrator() {
    let variables = [
        ("BELLWETHER_PORT", "tcp://10.0.0.7:8080"),
        ("BELLWETHER_SERVICE_HOST", "10.0.0.7"),
        ("OTHER__LOG", "x"),
    ];
    assert_eq!(with_variables(&variables).unwrap(), with_variables(&[]).unwrap());
}

#[test]
fn rejects_invalid_value_without_showing_it() {
    let refused = refused(&[("BELLWETHER_OPERATOR__CRON_SECRET", "hunter2")]);
    assert_eq!(
        refused,
        "setting operator.cron_secret (from the environment, BELLWETHER_OPERATOR__CRON_SECRET): \
         must be a secret text of at least 16 characters, or \"\" for none"
    );
}

#[test]
fn rejects_values_of_the_wrong_type() {
    for (text, key, allowed) in [
        ("[server]\nlisten = 8080", "server.listen", "an address and a port"),
        (
            "[server]\nlisten = \"localhost\"",
            "server.listen",
            "an address and a port",
        ),
        (
            "[server]\nheader_timeout = 10",
            "server.header_timeout",
            "a duration above zero with its unit",
        ),
        (
            "[server]\ntrusted_proxies = \"::1\"",
            "server.trusted_proxies",
            "a list",
        ),
        (
            "[server]\npublic_url = \"alerts.example\"",
            "server.public_url",
            "a URL like https://",
        ),
        (
            "[database]\nmax_connections = 0",
            "database.max_connections",
            "from 1 to",
        ),
        (
            "[database]\nurl = \"mysql://a/b\"",
            "database.url",
            "sqlite://FILE or postgres://",
        ),
        (
            "[market]\nsource = \"yahoo\"",
            "market.source",
            "one of \"simulated\", \"file\", \"push\", \"providers\"",
        ),
        ("[market]\nalways_open = \"yes\"", "market.always_open", "true or false"),
        ("[market]\nbenchmark = \"S&P 500\"", "market.benchmark", "a symbol"),
        (
            "[market]\nextra_closures = [\"2025-02-30\"]",
            "market.extra_closures",
            "each a date",
        ),
        (
            "[market]\nbuzz_rising_ratio = -1",
            "market.buzz_rising_ratio",
            "a number above 0",
        ),
        ("[log]\nlevel = \"loud\"", "log.level", "error, warn, info"),
        (
            "[analyst]\nkind = \"oracle\"",
            "analyst.kind",
            "one of \"rules\", \"openai\"",
        ),
        (
            "[analyst]\nbase_url = \"https://key@a.example/v1\"",
            "analyst.base_url",
            "without query or user info",
        ),
        ("[analyst]\ncalls_per_day = 0", "analyst.calls_per_day", "from 1 to"),
    ] {
        let refused = with_file(text).unwrap_err();
        assert!(
            refused.starts_with(&format!("setting {key} (in bellwether.toml): must be")),
            "{refused}"
        );
        assert!(refused.contains(allowed), "{refused}");
    }
}

#[test]
fn rejects_contradictory_settings() {
    let no_folder = refused(&[("BELLWETHER_MARKET__SOURCE", "file")]);
    assert!(
        no_folder.starts_with("setting market.data_dir (by default)"),
        "{no_folder}"
    );
    let same = refused(&[("BELLWETHER_SERVER__OPS_LISTEN", "127.0.0.1:8080")]);
    assert!(same.contains("must differ from server.listen"), "{same}");
    let endpoint = refused(&[("BELLWETHER_TELEMETRY__OTLP_ENDPOINT", "localhost:4318")]);
    assert!(
        endpoint.contains("must be a URL like http://localhost:4318"),
        "{endpoint}"
    );
    let no_model = refused(&[("BELLWETHER_ANALYST__KIND", "openai")]);
    assert_eq!(
        no_model,
        "setting analyst.model (by default): must name the model when analyst.kind is \"openai\"\n\
         setting analyst.api_key (by default): must be given for api.openai.com; other servers may not need one"
    );
    let too_long = refused(&[("BELLWETHER_ANALYST__TIMEOUT", "601s")]);
    assert!(too_long.ends_with("must be at most 10m"), "{too_long}");
    assert!(with_variables(&[("BELLWETHER_ANALYST__TIMEOUT", "600s")]).is_ok());
    let local = [
        ("BELLWETHER_ANALYST__KIND", "openai"),
        ("BELLWETHER_ANALYST__MODEL", "qwen3"),
        ("BELLWETHER_ANALYST__BASE_URL", "http://localhost:11434/v1"),
    ];
    assert!(with_variables(&local).is_ok());
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
    let settings = with_variables(&[
        ("BELLWETHER_AUTH__SECRET_KEY", "a secret that is long enough"),
        ("BELLWETHER_DATABASE__URL", "postgres://bw:open@db/bw"),
        ("BELLWETHER_SERVER__TRUSTED_PROXIES", "10.0.0.0/8"),
        ("BELLWETHER_MARKET__EXTRA_CLOSURES", "2025-01-09"),
        ("BELLWETHER_ANALYST__API_KEY", "sk-long-enough"),
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
