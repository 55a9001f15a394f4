//! The system clocks of nodes, which libfaketime changes while they run.

use std::fs;

use acceptance::tools;
use tempfile::TempDir;

use crate::schedule::Action;

/// How far a clock is set ahead or back, in seconds.
const STEP_SECONDS: i32 = 5;

/// The clock of a node. It can be set only if libfaketime is installed.
#[derive(Debug)]
pub(crate) struct NodeClock(Option<TempDir>);

impl NodeClock {
    /// Returns a clock that is right.
    pub(crate) fn new(can_be_set: bool) -> Self {
        let clock = Self(can_be_set.then(|| tempfile::tempdir().unwrap()));
        clock.set_right();
        clock
    }

    /// Returns the environment variables of the node.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        let (Some(folder), Some(library)) = (&self.0, tools::find_libfaketime()) else {
            return Vec::new();
        };
        let offset = folder.path().join("offset").display().to_string();
        let common = tools::faketime_environment(library);
        let mut environment: Vec<_> = common.map(|(name, value)| (name, value.to_owned())).into();
        environment.extend([
            ("FAKETIME_TIMESTAMP_FILE", offset),
            // The program reads the file again after this number of seconds.
            ("FAKETIME_CACHE_DURATION", "1".to_owned()),
            ("NO_FAKE_STAT", "1".to_owned()),
        ]);
        environment
    }

    /// Sets the clock ahead or back.
    pub(crate) fn set(&self, action: Action) {
        self.write(if action == Action::ClockAhead {
            STEP_SECONDS
        } else {
            -STEP_SECONDS
        });
    }

    /// Sets the clock right.
    pub(crate) fn set_right(&self) {
        self.write(0);
    }

    fn write(&self, offset: i32) {
        if let Some(folder) = &self.0 {
            // Renamed, so that the program never reads an empty file.
            let (new, file) = (folder.path().join("new"), folder.path().join("offset"));
            fs::write(&new, format!("{offset:+}")).unwrap();
            fs::rename(new, file).unwrap();
        }
    }
}
