//! Long work beside a live interpreter: Python's signals are seen, observers are called, and the interpreter is free meanwhile.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender, SyncSender};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// How long Ctrl-C may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(50);

/// What an observer is told, by name.
pub(crate) enum Field {
    Text(&'static str),
    Number(f64),
    Count(usize),
    Flag(bool),
}

type Event = Vec<(&'static str, Field)>;

/// The worker's end.
pub(crate) struct Watcher<'a> {
    stop: &'a AtomicBool,
    /// Kept without an observer too: when it is gone, the work is done.
    events: Sender<(Event, SyncSender<()>)>,
    is_observed: bool,
}

impl Watcher<'_> {
    /// Set once somebody wants to stop.
    pub(crate) fn stop(&self) -> &AtomicBool {
        self.stop
    }

    /// Tells the observer and waits for its answer, so that a decision to stop concerns this very step.
    pub(crate) fn tell(&self, event: impl FnOnce() -> Event) -> ControlFlow<()> {
        if self.is_observed {
            let (answer, answered) = mpsc::sync_channel(1);
            if self.events.send((event(), answer)).is_ok() {
                // An error only says that the other end is gone.
                let _ = answered.recv();
            }
        }
        match self.stop.load(Ordering::SeqCst) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// Does `work` in a thread of its own. Returns its result, and what was raised meanwhile by a signal handler or the observer.
///
/// The observer gets a dict per event; a true answer stops the work.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    observer: Option<Py<PyAny>>,
    work: impl FnOnce(&Watcher<'_>) -> T + Send,
) -> (T, Option<PyErr>) {
    py.detach(|| {
        let stop = AtomicBool::new(false);
        let (sender, events) = mpsc::channel::<(Event, SyncSender<()>)>();
        std::thread::scope(|scope| {
            let watcher = Watcher {
                stop: &stop,
                events: sender,
                is_observed: observer.is_some(),
            };
            let worker = scope.spawn(move || work(&watcher));
            let mut raised = None;
            loop {
                let seen = match events.recv_timeout(PATIENCE) {
                    Ok((event, answer)) => {
                        let seen = match &observer {
                            Some(observer) if raised.is_none() => Python::attach(|py| call(py, observer, event)),
                            _ => Ok(false),
                        };
                        if !matches!(seen, Ok(false)) {
                            stop.store(true, Ordering::SeqCst);
                        }
                        let _ = answer.send(());
                        seen
                    }
                    Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals()).map(|()| false),
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                if let Err(error) = seen {
                    stop.store(true, Ordering::SeqCst);
                    raised.get_or_insert(error);
                }
            }
            match worker.join() {
                Ok(value) => (value, raised),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    })
}

fn call(py: Python<'_>, observer: &Py<PyAny>, event: Event) -> PyResult<bool> {
    py.check_signals()?;
    let fields = PyDict::new(py);
    for (name, value) in event {
        match value {
            Field::Text(text) => fields.set_item(name, text)?,
            Field::Number(number) => fields.set_item(name, number)?,
            Field::Count(count) => fields.set_item(name, count)?,
            Field::Flag(flag) => fields.set_item(name, flag)?,
        }
    }
    observer.call1(py, (fields,))?.is_truthy(py)
}
