//! # The dashboard's pages
//!
//! Templates, texts, scripts and styles. This crate renders what the use cases return and performs no I/O; the handlers are in
//! `server/src/routes/web/`.
//!
//! * [`layout`]: the frame of every page: navigation, search, notices, appearance.
//! * [`screens`]: one module for each screen.
//! * [`form_state`]: what a refused form shows again; [`wording`]: its messages in the words of the pages.
//! * [`message_page`]: pages with a message and at most one small form, such as those behind emailed links.
//! * [`assets`]: the embedded files and their addresses. [`texts`]: the words of all pages, from `texts/en.ftl`.

pub mod assets;
pub mod csv;
pub mod figures;
#[expect(unreachable_pub, reason = "the attribute of askama makes filters public")]
mod filters;
pub mod form_state;
pub mod layout;
#[cfg(test)]
mod live_redraw;
pub mod local_time;
pub mod message_page;
pub mod return_path;
pub mod screens;
pub mod texts;
pub mod wording;
