//! Fits and recordings that others put into the folder, or take away: a terminal, a file manager.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use intervalid_report::folder::METRICS;
use tokio::sync::watch;

use crate::app::App;
use crate::cache::stamp;

/// How often the folder is looked at, as long as a browser is open.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// Tells browsers whenever the folder is another one than a moment ago.
pub(crate) async fn follow(app: Arc<App>, mut stopping: watch::Receiver<bool>) {
    let mut known = None;
    loop {
        tokio::select! {
            () = tokio::time::sleep(BETWEEN_LOOKS) => {}
            _ = stopping.changed() => return,
        }
        if !app.queue.is_watched() {
            known = None;
            continue;
        }
        let looking = Arc::clone(&app);
        let Ok(found) = tokio::task::spawn_blocking(move || looking.fingerprint()).await else {
            continue;
        };
        // The first look tells too: a file may have come since the browser was given its list.
        if known != Some(found) {
            app.queue.tell_listing();
        }
        known = Some(found);
    }
}

impl App {
    /// Another number when fits or recordings came, went or changed.
    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for name in self.workspace.records().unwrap_or_default() {
            self.workspace
                .record(&name)
                .ok()
                .map(|path| stamp(&path))
                .hash(&mut hasher);
        }
        for name in self.workspace.fits().unwrap_or_default() {
            let file = self.workspace.fit_file(&name, METRICS).ok();
            file.map(|path| stamp(&path)).hash(&mut hasher);
        }
        hasher.finish()
    }
}
