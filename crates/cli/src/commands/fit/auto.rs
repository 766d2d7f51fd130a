//! A fit by search.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use anyhow::anyhow;
use intervalid_data::{Dataset, Split, quote_csv};
use intervalid_model::{AutoConfig, AutoFit, AutoInfo, AutoOptions, AutoProgress, ModelError, fit_auto};

use crate::args::FitArgs;
use crate::error::Failure;
use crate::interrupt;
use crate::output::Output;
use crate::request::threads;

/// Searches, with a progress bar; Ctrl-C ends it with nothing written.
pub(super) fn search(
    args: &FitArgs,
    config: &AutoConfig,
    dataset: &Dataset,
    split: &Split,
    output: &Output,
) -> Result<AutoFit, Failure> {
    interrupt::listen();
    let bars = output.bars();
    let bar = bars.add_search();
    let observer = |progress: &AutoProgress| {
        bar.show_search(progress);
        match interrupt::requested() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let options = AutoOptions {
        threads: threads(args.threads),
        budget: args.budget,
        observer: Some(&observer),
        keep_best: false,
    };
    fit_auto(dataset, split, config, &options).map_err(|error| match error {
        ModelError::Interrupted { .. } => {
            Failure::run(anyhow!("interrupted during the search")).with_hint("run the same command again to start over")
        }
        error => Failure::from(error),
    })
}

/// `candidates.csv`: everything that was tried, the chosen one first. Empty cells are of candidates that left before they
/// were tried on all blocks.
pub(super) fn candidates_csv(info: &AutoInfo) -> String {
    let mut text = String::from("candidate,model,lags,parameters,rounds,score,rmse,coverage,width,seconds,chosen\n");
    let cell = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    for candidate in &info.candidates {
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{:.3},{}",
            quote_csv(&candidate.name),
            candidate.model,
            quote_csv(&candidate.lags.to_string()),
            candidate.parameters,
            candidate.rounds,
            cell(candidate.score),
            candidate.rmse,
            cell(candidate.coverage),
            cell(candidate.width),
            candidate.seconds,
            u8::from(candidate.chosen)
        );
    }
    text
}
