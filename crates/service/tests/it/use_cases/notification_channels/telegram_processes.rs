//! Telegram bots of several processes.

use alerts::Plan;

use super::telegram::{wait_for, with_bot};
use super::telegram_buttons::link;
use super::telegram_server::TelegramServer;
use crate::support::{TestApp, on_each_database};

on_each_database! {
    one_of_two_processes_reads_a_bot_and_the_other_takes_over
}

async fn one_of_two_processes_reads_a_bot_and_the_other_takes_over(app: TestApp) {
    if !app.database().is_postgres() {
        return;
    }
    let (app, server) = with_bot(app).await;
    let ann = app.ann(Plan::Basic).await;
    link(&app, &server, &ann, 7).await;
    // The other process has a Telegram server of its own, so that its requests are seen.
    let server_of_other = TelegramServer::start().await;
    let mut settings = app.settings().clone();
    settings
        .delivery
        .channels
        .telegram
        .base_url
        .clone_from(&server_of_other.origin);
    let other = app.another_process_with(settings).await;
    // Its first search begins at its start.
    for _ in 0..300 {
        other.service.ready().await.unwrap();
    }
    assert_eq!(server_of_other.polls(), [""; 0], "the first process reads the bot");
    app.service.stop().await;
    wait_for(&other, "the other process reads the bot", async || {
        !server_of_other.polls().is_empty()
    })
    .await;
}
