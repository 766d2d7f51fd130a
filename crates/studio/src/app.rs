//! What all requests share.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use tokio::sync::{Semaphore, watch};

use crate::api_error::{ApiError, ApiResult};
use crate::cache::Caches;
use crate::guard::Access;
use crate::queue::Queue;
use crate::server::Limits;
use crate::state::Store;
use crate::workspace::Workspace;

/// What all requests share.
pub(crate) struct App {
    pub(crate) access: Access,
    pub(crate) limits: Limits,
    pub(crate) workspace: Workspace,
    /// Folder of further data sets that have a name.
    pub(crate) data_dir: Option<PathBuf>,
    pub(crate) store: Store,
    pub(crate) caches: Caches,
    pub(crate) queue: Queue,
    /// Held by who moves fits: what it has found is still so when it moves.
    pub(crate) moves: Mutex<()>,
    /// Places for work that takes a processor.
    work: Arc<Semaphore>,
    /// Becomes true when the server stops.
    pub(crate) stopping: watch::Receiver<bool>,
}

/// Requests that work at the same time; others wait.
const AT_WORK: usize = 4;

impl App {
    pub(crate) fn new(
        access: Access,
        limits: Limits,
        workspace: Workspace,
        data_dir: Option<PathBuf>,
        store: Store,
        queue: Queue,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        Self {
            access,
            limits,
            workspace,
            data_dir,
            store,
            caches: Caches::default(),
            queue,
            moves: Mutex::new(()),
            work: Arc::new(Semaphore::new(AT_WORK)),
            stopping,
        }
    }

    /// Does work in a thread of its own, so that nobody else waits for it. Its place is kept until it ends, even if nobody waits for it
    /// any more.
    pub(crate) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let stopped = || ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "the studio is stopping");
        let place = Arc::clone(&self.work).acquire_owned().await.map_err(|_| stopped())?;
        let app = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let _place = place;
            work(&app)
        });
        match done.await {
            // The folder is known; only what is in it tells something.
            Ok(result) => result.map_err(|error| ApiError {
                message: error.message.replace(&format!("{}/", self.workspace.text()), ""),
                ..error
            }),
            Err(error) if error.is_panic() => Err(ApiError::internal(
                "the program made a mistake; its terminal has the details",
            )),
            Err(_) => Err(stopped()),
        }
    }
}
