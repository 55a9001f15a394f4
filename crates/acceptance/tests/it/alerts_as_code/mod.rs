//! Alerts as code: the commands that use a server, against a running service.

mod applying;
mod commands;
mod examples;
mod support;
mod watching;
