//! `login`, `alerts …`, `export`, `import`, `schema`, `completions` and `man`.

use acceptance::{ServiceSetup, on_both_databases};
use serde_json::{Value, json};

use super::support::{Repository, names, output_of};

on_both_databases![
    login_stores_a_key_that_only_the_user_can_read,
    alerts_are_added_listed_explained_paused_and_deleted,
    export_can_be_applied_and_imported,
    imports_of_other_programs_report_each_alert,
    schema_completions_and_manual_pages_are_printed,
];

async fn login_stores_a_key_that_only_the_user_can_read(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let repository = Repository::new(&env).await;
    let list = || repository.command_without_key(&["alerts", "list"]);
    let refused = output_of(list()).await.expect(2);
    assert!(refused.stderr.contains("bellwether login"), "{refused:?}");
    let logged_in = repository.log_in().await.expect(0);
    assert!(
        !logged_in.stdout.contains("sk_") && logged_in.stdout.contains(repository.url()),
        "{logged_in:?}"
    );
    output_of(list()).await.expect(0);
    let file = repository.path("config/bellwether/credentials.toml");
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    // The stored key is not sent to another server.
    let mut other = list();
    other.env("BELLWETHER_URL", "http://127.0.0.1:1");
    let refused = output_of(other).await.expect(2);
    assert!(refused.stderr.contains("no API key for this server"), "{refused:?}");
}

async fn alerts_are_added_listed_explained_paused_and_deleted(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 200.0).await;
    let repository = Repository::new(&env).await;
    let text = "AAPL < 180 and rsi < 30 each time";
    let added = repository
        .run(&["alerts", "add", text, "--note", "buy", "--tag", "dip", "--json"])
        .await
        .expect(0);
    let alert = added.json_lines()[0]["alert"].clone();
    let id = alert["id"].as_str().unwrap();
    assert_eq!((&alert["note"], &alert["tags"]), (&json!("buy"), &json!(["dip"])));
    let again = repository.run(&["alerts", "add", text]).await.expect(0);
    assert!(again.stdout.contains("exists already"), "{again:?}");
    let wrong = repository.run(&["alerts", "add", "AAPL < "]).await.expect(1);
    assert!(!wrong.stderr.is_empty(), "{wrong:?}");

    let listed = repository.run(&["alerts", "list", "--tag", "dip"]).await.expect(0);
    assert!(
        listed.stdout.contains(id) && listed.stdout.contains("active"),
        "{listed:?}"
    );
    let listed = repository
        .run(&["alerts", "list", "--tag", "none", "--json"])
        .await
        .expect(0);
    assert_eq!(listed.stdout, "");
    let shown = repository.run(&["alerts", "show", id]).await.expect(0);
    assert!(shown.stdout.contains("buy"), "{shown:?}");
    let why = repository.run(&["alerts", "why", id]).await.expect(0);
    assert!(why.stdout.contains("price"), "{why:?}");
    let preview = repository
        .run(&["alerts", "preview", "AAPL < 180", "--json"])
        .await
        .expect(0);
    assert_eq!(preview.json_lines()[0]["count"], 0);
    for (command, status) in [("pause", "paused"), ("resume", "active"), ("rm", "deleted")] {
        let changed = repository.run(&["alerts", command, id]).await.expect(0);
        assert_eq!(changed.stdout, format!("{id} {status}\n"));
    }
    assert_eq!(names(&env).await, [""; 0]);
}

async fn export_can_be_applied_and_imported(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 200.0).await;
    let repository = Repository::new(&env).await;
    for body in [
        json!({"symbol": "AAPL", "condition": "price_above", "threshold": 250, "note": "=1+1"}),
        json!({"symbol": "AAPL", "condition": "expression", "parameters": {"when": "price < 180"}, "options": {"repeat": "each_time"}}),
        json!({"scope": {"symbols": ["AAPL"]}, "condition": "rsi_limit", "threshold": 30, "parameters": {"direction": "below"}}),
    ] {
        let _ = env.operator.post("/alerts", &body).await.expect_ok(201);
    }
    for format in ["yaml", "toml", "json"] {
        let name = format!("export.{format}");
        let exported = repository.run(&["export", "--format", format]).await.expect(0);
        repository.write(&name, &exported.stdout);
        // All of them exist already.
        let imported = repository.run(&["import", &name]).await.expect(0);
        assert_eq!(imported.stdout.matches("exists already").count(), 3, "{imported:?}");
        let planned = repository
            .run(&["plan", "-f", &name, "--source", format, "--json"])
            .await
            .expect(3);
        assert_eq!(planned.json_lines()[0]["changes"].as_array().unwrap().len(), 3);
    }
    let table = repository.run(&["export", "--format", "csv"]).await.expect(0);
    assert!(table.stdout.contains(",'=1+1,"), "{table:?}");
    repository
        .run(&["apply", "-f", "export.yaml", "--source", "team", "--yes"])
        .await
        .expect(0);
    let managed = repository
        .run(&["export", "--source", "team", "--format", "json"])
        .await
        .expect(0);
    let managed: Value = serde_json::from_str(&managed.stdout).unwrap();
    assert_eq!(managed["alerts"].as_array().unwrap().len(), 3);
}

async fn imports_of_other_programs_report_each_alert(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 200.0).await;
    let repository = Repository::new(&env).await;
    repository.write(
        "alerts.csv",
        "Ticker,Condition\nNASDAQ:AAPL,Crossing Up 250\nNASDAQ:NOPE,Crossing Up 250\nAAPL,RSI Crossing 30\n",
    );
    let imported = repository
        .run(&["import", "alerts.csv", "--from", "tradingview-csv"])
        .await
        .expect(1);
    for part in ["created as", "refused: ", "not understood: ", "line 4"] {
        assert!(imported.stdout.contains(part), "{part}: {imported:?}");
    }
    let page = json!({"success": true, "data": [
        {"id": "1", "symbol": "AAPL", "condition": "price_below", "threshold": 150, "status": "active"},
        {"id": "2", "symbol": "AAPL", "condition": "price_below", "threshold": 140, "status": "triggered"},
    ]});
    repository.write("page.json", &page.to_string());
    let imported = repository
        .run(&["import", "page.json", "--from", "stockalert"])
        .await
        .expect(0);
    assert!(
        imported.stdout.contains("created as") && imported.stdout.contains("left out: "),
        "{imported:?}"
    );
    assert_eq!(names(&env).await, ["-", "-"]);
}

async fn schema_completions_and_manual_pages_are_printed(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let repository = Repository::new(&env).await;
    let schema = repository.run(&["schema"]).await.expect(0);
    let schema: Value = serde_json::from_str(&schema.stdout).unwrap();
    assert_eq!(schema["properties"]["version"]["const"], 1);
    for shell in ["bash", "zsh", "fish"] {
        let completions = repository.run(&["completions", shell]).await.expect(0);
        assert!(completions.stdout.contains("bellwether"), "{shell}");
    }
    repository.run(&["man", "pages"]).await.expect(0);
    assert!(repository.path("pages/bellwether-apply.1").exists());
}
