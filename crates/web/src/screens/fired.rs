//! The feed of firings, newest first.

use askama::Template;

use super::today::FiredLine;
use crate::filters;
use crate::layout::Shell;

/// The feed of firings.
#[derive(Template, Debug)]
#[template(path = "fired.html")]
pub struct FiredPage {
    /// The frame.
    pub shell: Shell,
    /// The firings.
    pub fired: Vec<FiredLine>,
    /// The number of this page, from 1.
    pub page: u32,
    /// Whether there are older firings.
    pub has_older: bool,
}

impl FiredPage {
    const fn newer_page(&self) -> u32 {
        self.page.saturating_sub(1)
    }

    const fn older_page(&self) -> u32 {
        self.page.saturating_add(1)
    }
}
