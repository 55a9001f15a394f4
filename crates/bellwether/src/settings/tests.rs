//! What settings accept, what they refuse, and what they say then.

use std::collections::BTreeSet;
use std::fs;

use super::error::Origin;
use super::*;

fn variable(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

fn with_variables(variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
    Settings::load(None, variables.iter().map(|(name, value)| variable(name, value)))
}

/// With a file called `bellwether.toml`; problems name it without its folder.
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
fn the_defaults_hold_every_setting_and_no_other() {
    let mut layers = Layers::new();
    layers.add_toml(Origin::Default, DEFAULTS);
    let in_file: BTreeSet<_> = layers.keys().into_iter().collect();
    let known: BTreeSet<_> = Settings::keys().into_iter().collect();
    assert_eq!(in_file, known);
    assert_eq!(with_variables(&[]).unwrap().server.listen.to_string(), "127.0.0.1:8080");
}

#[test]
fn each_setting_of_the_defaults_is_explained() {
    // A key stands under its comment, or under another key that shares it.
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
fn a_file_wins_over_the_defaults_and_a_variable_over_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bellwether.toml");
    fs::write(&path, "[market]\nseed = 3\nalways_open = true\n").unwrap();
    let settings = Settings::load(Some(&path), [variable("BELLWETHER_MARKET__SEED", "5")]).unwrap();
    assert_eq!((settings.market.seed, settings.market.always_open), (5, true));
    assert_eq!(settings.database.max_connections.get(), 8);
}

#[test]
fn an_empty_variable_counts_as_not_given() {
    let settings = with_variables(&[("BELLWETHER_MARKET__SEED", "")]).unwrap();
    assert_eq!(settings.market.seed, 7);
}

#[test]
fn a_variable_holds_a_list_parted_by_commas() {
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
fn an_unknown_setting_of_a_file_is_refused_with_those_there_are() {
    let refused = with_file("[log]\nlevle = \"debug\"\n").unwrap_err();
    assert_eq!(
        refused,
        "setting log.levle (in bellwether.toml): there is no such setting; those of [log] are format, level"
    );
}

#[test]
fn an_unknown_section_is_refused_with_those_there_are() {
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
fn a_setting_outside_a_section_is_refused() {
    let refused = with_file("listen = \"127.0.0.1:1\"\n").unwrap_err();
    assert!(refused.starts_with("setting listen (in bellwether.toml)"), "{refused}");
}

#[test]
fn an_unknown_variable_is_refused_by_its_name() {
    let refused = refused(&[("BELLWETHER_LOG__LEVLE", "debug")]);
    assert_eq!(
        refused,
        "setting log.levle (from the environment, BELLWETHER_LOG__LEVLE): there is no such setting; \
         those of [log] are format, level"
    );
}

#[test]
fn a_variable_with_one_underscore_is_told_its_right_name() {
    let refused = refused(&[("BELLWETHER_SERVER_TRUSTED_PROXIES", "::1")]);
    assert!(
        refused.ends_with("the variable must be called BELLWETHER_SERVER__TRUSTED_PROXIES"),
        "{refused}"
    );
}

#[test]
fn what_an_orchestrator_says_of_a_service_of_that_name_is_none_of_ours() {
    let variables = [
        ("BELLWETHER_PORT", "tcp://10.0.0.7:8080"),
        ("BELLWETHER_SERVICE_HOST", "10.0.0.7"),
        ("OTHER__LOG", "x"),
    ];
    assert_eq!(with_variables(&variables).unwrap(), with_variables(&[]).unwrap());
}

#[test]
fn a_wrong_value_is_refused_with_what_is_allowed_and_without_the_value() {
    let refused = refused(&[("BELLWETHER_OPERATOR__CRON_SECRET", "hunter2")]);
    assert_eq!(
        refused,
        "setting operator.cron_secret (from the environment, BELLWETHER_OPERATOR__CRON_SECRET): \
         must be a secret text of at least 16 characters, or \"\" for none"
    );
}

#[test]
fn a_value_of_the_wrong_type_is_refused() {
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
            "a time above zero with its unit",
        ),
        (
            "[server]\ntrusted_proxies = \"::1\"",
            "server.trusted_proxies",
            "a list",
        ),
        (
            "[server]\npublic_url = \"alerts.example\"",
            "server.public_url",
            "an address like https://",
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
            "without a query or a user",
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
fn what_does_not_go_together_is_refused() {
    let no_folder = refused(&[("BELLWETHER_MARKET__SOURCE", "file")]);
    assert!(
        no_folder.starts_with("setting market.data_dir (by default)"),
        "{no_folder}"
    );
    let same = refused(&[("BELLWETHER_SERVER__OPS_LISTEN", "127.0.0.1:8080")]);
    assert!(same.contains("must differ from server.listen"), "{same}");
    let endpoint = refused(&[("BELLWETHER_TELEMETRY__OTLP_ENDPOINT", "localhost:4318")]);
    assert!(
        endpoint.contains("must be an address like http://localhost:4318"),
        "{endpoint}"
    );
    let no_model = refused(&[("BELLWETHER_ANALYST__KIND", "openai")]);
    assert_eq!(
        no_model,
        "setting analyst.model (by default): must name the model when analyst.kind is \"openai\"\n\
         setting analyst.api_key (by default): must be given for api.openai.com; other servers may do without"
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
fn every_problem_is_told_at_once() {
    let refused = with_file("[log]\nlevel = 1\nlevle = 2\n[market]\nseed = \"x\"\n").unwrap_err();
    assert_eq!(refused.lines().count(), 3, "{refused}");
}

#[test]
fn a_file_that_is_no_toml_is_refused_with_its_line() {
    let refused = with_file("[log]\nlevel = debug\n").unwrap_err();
    assert!(
        refused.starts_with("in bellwether.toml: line 2 is no TOML: "),
        "{refused}"
    );
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Settings::load(Some(Path::new("no/such.toml")), [])
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("cannot read the settings file no/such.toml: "),
        "{error}"
    );
}

#[test]
fn what_is_shown_has_no_secret_and_can_be_read_again() {
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
