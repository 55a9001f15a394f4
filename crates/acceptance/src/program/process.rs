//! A process of the program: started, running, killed.

use std::sync::{Arc, Mutex};

use tokio::process::Child;
use tokio::sync::watch;

use crate::ApiClient;
use crate::clock::{HANG_LIMIT, wait_for};

/// A started process that may not be ready yet.
#[derive(Debug)]
pub struct StartedProcess {
    pub(super) child: Child,
    pub(super) address: watch::Receiver<Option<String>>,
    pub(super) log: Arc<Mutex<String>>,
}

impl StartedProcess {
    /// Kills the process with SIGKILL in any state.
    ///
    /// # Panics
    /// If the process cannot be killed.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Waits until the process prints the address it listens on, and returns it as `127.0.0.1:PORT`.
    ///
    /// # Panics
    /// If the process exits before that, or takes too long.
    pub async fn address(&mut self) -> String {
        let printed = tokio::time::timeout(HANG_LIMIT, self.address.wait_for(Option::is_some)).await;
        let address = match printed {
            Ok(Ok(address)) => address.clone(),
            _ => None,
        };
        let Some(address) = address else {
            let status = self.child.try_wait().unwrap();
            panic!(
                "the program ({status:?}) printed no address: {}",
                self.log.lock().unwrap()
            );
        };
        address
    }

    /// Waits until the process exits. Returns its exit code and its output.
    ///
    /// # Panics
    /// If the process does not exit in time.
    pub async fn wait_for_exit(mut self) -> (Option<i32>, String) {
        let ended = tokio::time::timeout(HANG_LIMIT, self.child.wait()).await;
        let status = ended.unwrap_or_else(|_| panic!("the program does not exit: {}", self.log.lock().unwrap()));
        // Separate tasks read the output; they end after the process.
        while Arc::strong_count(&self.log) > 1 {
            tokio::task::yield_now().await;
        }
        let log = self.log.lock().unwrap().clone();
        (status.unwrap().code(), log)
    }

    /// Waits until the service is ready.
    ///
    /// # Panics
    /// If the process exits before that, or takes too long.
    pub async fn wait_until_ready(mut self) -> RunningService {
        let address = self.address().await;
        let server = RunningService {
            origin: format!("http://{address}"),
            child: self.child,
            log: self.log,
        };
        let anonymous = server.anonymous_client();
        wait_for("readiness", || async {
            let response = anonymous.request_to(reqwest::Method::GET, "/readyz").try_send().await;
            response.ok().filter(|response| response.status == 200)
        })
        .await;
        server
    }
}

/// The process of a service that is ready.
#[derive(Debug)]
pub struct RunningService {
    /// `http://127.0.0.1:PORT`
    pub origin: String,
    child: Child,
    log: Arc<Mutex<String>>,
}

impl RunningService {
    /// Returns a client without credentials.
    #[must_use]
    pub fn anonymous_client(&self) -> ApiClient {
        ApiClient::new(&self.origin)
    }

    /// Returns `127.0.0.1:PORT`.
    #[must_use]
    pub fn address(&self) -> &str {
        self.origin.trim_start_matches("http://")
    }

    /// Returns the output of the process so far.
    ///
    /// # Panics
    /// If the lock is poisoned.
    #[must_use]
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Returns the process id.
    ///
    /// # Panics
    /// If the process has exited.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// Kills the process with SIGKILL and waits for its exit.
    ///
    /// # Panics
    /// If the process cannot be killed.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Waits for the exit of a process that was told to end.
    ///
    /// # Panics
    /// If it does not exit in time.
    pub async fn wait_for_exit(mut self) {
        let ended = tokio::time::timeout(HANG_LIMIT, self.child.wait()).await;
        let ended = ended.unwrap_or_else(|_| panic!("the program does not exit: {}", self.log.lock().unwrap()));
        ended.unwrap();
    }

    /// Returns the resident memory of the process in KiB.
    ///
    /// # Panics
    /// If `/proc` does not report it.
    #[must_use]
    pub fn memory_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}
