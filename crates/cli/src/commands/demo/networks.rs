//! The interval networks of the demo.

use std::thread;

use anyhow::anyhow;
use intervalid_model::{Control, ModelKind, Progress, Strategy};
use intervalid_workflow::{Settings, TrainOptions};

use super::rows::{COVERAGE, Fitted, Prepared};
use crate::error::Failure;
use crate::interrupt;
use crate::output::Output;
use crate::progress::Bar;

/// Name in the table, model, strategy.
type DemoModel = (&'static str, ModelKind, Strategy);

const MODELS: [DemoModel; 2] = [
    ("cascade INODE", ModelKind::Inode, Strategy::Cascade),
    ("joint ILSTM", ModelKind::Ilstm, Strategy::Joint),
];

/// Fits both networks with the paper's settings, side by side. Each fit is a function of its settings alone, so the
/// results do not depend on how the threads run.
pub(super) fn fit_all(prepared: &Prepared, epochs: Option<usize>, output: &Output) -> Result<Vec<Fitted>, Failure> {
    let bars = output.bars();
    thread::scope(|scope| {
        let running = MODELS.map(|model| {
            let bar = bars.add(model.0);
            scope.spawn(move || fit_one(model, prepared, epochs, &bar, output))
        });
        // All are joined before the first failure is passed on.
        let results = running.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        results.into_iter().collect()
    })
}

fn fit_one(
    (name, model, strategy): DemoModel,
    prepared: &Prepared,
    epochs: Option<usize>,
    bar: &Bar,
    output: &Output,
) -> Result<Fitted, Failure> {
    let settings = Settings {
        model: Some(model),
        strategy: Some(strategy),
        coverage: Some(COVERAGE),
        epochs,
        ..Settings::default()
    };
    let observer = |progress: &Progress| bar.observe(progress);
    let options = TrainOptions {
        control: Control {
            observer: Some(&observer),
            cancel: Some(interrupt::flag()),
            deadline: None,
        },
        ..TrainOptions::default()
    };
    let outcome = prepared.fit(&settings, options);
    if interrupt::requested() {
        let failure = Failure::run(anyhow!("interrupted: the demo keeps nothing of unfinished models"));
        return Err(failure.with_hint("run it again; a few --epochs are enough for a first look"));
    }
    let outcome = outcome?;
    output.detail(format_args!(
        "{name}: {} epochs in {:.1?}, {}",
        outcome.metrics.epochs_run,
        outcome.training.duration(),
        outcome.metrics.stopped_because
    ));
    Ok(Fitted { name, outcome })
}
