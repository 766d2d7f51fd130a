//! The interval networks of the demo.

use std::thread;

use anyhow::anyhow;
use intervalid_model::{FitConfig, FitOptions, ModelKind, Strategy, fit};

use super::rows::{COVERAGE, Fitted, ModelRow, Prepared, Training};
use crate::error::Failure;
use crate::interrupt;
use crate::output::Output;
use crate::progress::Bar;

/// Name in the table, model, strategy.
type DemoModel = (&'static str, ModelKind, Strategy);

const PLANS: [DemoModel; 2] = [
    ("cascade INODE", ModelKind::Inode, Strategy::Cascade),
    ("joint ILSTM", ModelKind::Ilstm, Strategy::Joint),
];

/// Fits both networks with the paper's settings, side by side. Each fit is a function of its settings alone, so the
/// results do not depend on how the threads run.
pub(super) fn fit_all(prepared: &Prepared, epochs: Option<usize>, output: &Output) -> Result<Vec<Fitted>, Failure> {
    let bars = output.bars();
    thread::scope(|scope| {
        let running = PLANS.map(|plan| {
            let bar = bars.add(plan.0);
            scope.spawn(move || fit_one(plan, prepared, epochs, &bar, output))
        });
        // All are joined before the first failure is passed on.
        let results = running.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        results.into_iter().collect()
    })
}

fn fit_one(
    (name, kind, strategy): DemoModel,
    prepared: &Prepared,
    epochs: Option<usize>,
    bar: &Bar,
    output: &Output,
) -> Result<Fitted, Failure> {
    let mut config = FitConfig {
        coverage: COVERAGE,
        ..FitConfig::paper(prepared.known.name, kind, strategy)
    };
    if let Some(epochs) = epochs {
        (config.epochs, config.margin_epochs) = (epochs, None);
    }
    let mut observer = |progress: &_| bar.observe(progress);
    let options = FitOptions {
        observer: Some(&mut observer),
        ..FitOptions::default()
    };
    let fitted = fit::<f32>(&prepared.dataset, &prepared.split, &config, options);
    if interrupt::requested() {
        let failure = Failure::run(anyhow!("interrupted: the demo keeps nothing of unfinished models"));
        return Err(failure.with_hint("run it again; a few --epochs are enough for a first look"));
    }
    let (model, info) = fitted?;
    output.detail(format_args!(
        "{name}: {} epochs in {:.1?}, {}",
        info.epochs_run(),
        info.duration,
        info.stopped_because()
    ));
    let bands = model.simulate(&prepared.dataset, &prepared.split.test)?;
    let validation = model.simulate(&prepared.dataset, &prepared.split.validation)?;
    let row = ModelRow {
        name,
        model: kind,
        lags: config.lags,
        parameters: model.theta().len(),
        training: Some(Training {
            strategy,
            seed: config.seed,
            epochs_run: info.epochs_run(),
            stopped_because: info.stopped_because(),
            train_seconds: info.duration.as_secs_f64(),
        }),
        test: prepared.evaluate(&bands)?,
        validation: prepared.evaluate(&validation)?,
        bands,
    };
    Ok(Fitted { row, model, info })
}
