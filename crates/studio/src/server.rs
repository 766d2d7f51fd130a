//! Binding, accepting, stopping.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, watch};

use crate::app::App;
use crate::error::{Result, StudioError};
use crate::guard::{Access, Announce};
use crate::queue::Queue;
use crate::state::Store;
use crate::workspace::Workspace;
use crate::{listing, routes};

/// How much a client may ask for.
///
/// | field | default | what happens beyond it |
/// |---|---|---|
/// | `connections` | 64 | further clients wait |
/// | `header_seconds` | 10 | a connection that has not sent a whole request head is closed |
/// | `request_seconds` | 60 | the request is given up |
/// | `upload_bytes` | 512 MiB | the upload is refused |
/// | `upload_seconds` | 600 | the upload is given up |
/// | `upload_idle_seconds` | 20 | an upload that sends nothing is given up |
/// | `queued` | 20 | a further fit is refused |
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the table has them")]
pub struct Limits {
    pub connections: usize,
    pub header_seconds: f64,
    pub request_seconds: f64,
    pub upload_bytes: u64,
    pub upload_seconds: f64,
    pub upload_idle_seconds: f64,
    pub queued: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 64,
            header_seconds: 10.0,
            request_seconds: 60.0,
            upload_bytes: 512 << 20,
            upload_seconds: 600.0,
            upload_idle_seconds: 20.0,
            queued: 20,
        }
    }
}

/// What to serve, and where.
pub struct StudioConfig {
    /// The workspace; made if it does not exist.
    pub folder: PathBuf,
    /// Where to listen; this machine alone by default.
    pub listen: IpAddr,
    /// Port, or 0 for any that is free.
    pub port: u16,
    /// Folder of further data sets that have a name.
    pub data_dir: Option<PathBuf>,
    /// Most threads of a fit.
    pub threads: usize,
    /// How much a client may ask for.
    pub limits: Limits,
    /// Told of every link after the first, when the one before was used.
    pub on_link: Announce,
}

impl StudioConfig {
    /// That of a folder, for this machine alone.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            listen: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            data_dir: None,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            limits: Limits::default(),
            on_link: Box::new(|_| {}),
        }
    }
}

/// A studio that is running. Dropped, it stops; a fit that was running then is marked as interrupted by the next one.
pub struct Studio {
    runtime: Option<Runtime>,
    app: Arc<App>,
    address: SocketAddr,
    stop: watch::Sender<bool>,
    worker: Option<std::thread::JoinHandle<()>>,
}

impl Studio {
    /// Takes the workspace, binds and starts to answer.
    ///
    /// # Errors
    /// If the folder or the address cannot be had.
    pub fn start(config: StudioConfig) -> Result<Self> {
        let workspace = Workspace::open(&config.folder)?;
        let store = Store::open(workspace.own("state.json"))?;
        let system = |error: std::io::Error| StudioError::System(error.to_string());
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("intervalid-studio")
            .enable_all()
            .build()
            .map_err(system)?;
        let asked = SocketAddr::new(config.listen, config.port);
        let listener = runtime
            .block_on(TcpListener::bind(asked))
            .map_err(|source| StudioError::Listen { address: asked, source })?;
        let address = listener.local_addr().map_err(system)?;
        let (stop, stopping) = watch::channel(false);
        let limits = config.limits;
        let queue = Queue::new(&store, limits.queued);
        let app = Arc::new(App::new(
            Access::new(address, config.on_link)?,
            limits,
            workspace,
            config.data_dir,
            store,
            queue,
            stopping.clone(),
        ));
        let worker = {
            let (app, threads) = (Arc::clone(&app), config.threads);
            let named = std::thread::Builder::new().name("intervalid-fits".to_owned());
            named.spawn(move || app.queue.work(&app, threads)).map_err(system)?
        };
        runtime.spawn(listing::follow(Arc::clone(&app), stopping.clone()));
        runtime.spawn(accept(listener, Arc::clone(&app), stopping));
        Ok(Self {
            runtime: Some(runtime),
            app,
            address,
            stop,
            worker: Some(worker),
        })
    }

    /// The link that lets one browser in.
    #[must_use]
    pub fn link(&self) -> String {
        self.app.access.link()
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The workspace.
    #[must_use]
    pub fn folder(&self) -> &std::path::Path {
        self.app.workspace.root()
    }

    /// The fit that is running, by name.
    #[must_use]
    pub fn running(&self) -> Option<String> {
        self.app.queue.running()
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        // Streams of events never end by themselves.
        let _ = self.stop.send(true);
        self.app.queue.stop();
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(2));
        }
    }
}

/// Each connection is a task of its own, so that a slow one keeps nobody else waiting; there are only so many.
async fn accept(listener: TcpListener, app: Arc<App>, mut stopping: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(app.limits.connections));
    let patience = Duration::from_secs_f64(app.limits.header_seconds);
    let service = TowerToHyperService::new(routes::router(app));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopping.changed() => return,
        };
        let Ok((stream, _)) = accepted else {
            // Too many open files: wait for some to close.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let service = service.clone();
        tokio::spawn(async move {
            let _place = place;
            // A client that goes away in the middle is no error of ours.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(patience)
                .max_buf_size(64 << 10)
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}
