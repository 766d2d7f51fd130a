//! `intervalid evaluate`.

use intervalid_model::{
    Evaluation, HorizonCoverage, ModelKind, ROLLING_WINDOW, RollingCoverage, align, coverage_by_horizon, evaluate,
    rolling_coverage,
};
use serde::Serialize;

use super::load::{model, simulate};
use crate::args::{EvaluateArgs, GlobalArgs};
use crate::error::Failure;
use crate::format::count;
use crate::output::Output;
use crate::summary;

/// The JSON object: the metrics, and how coverage changes along the record.
#[derive(Serialize)]
struct Report<'a> {
    dataset: &'a str,
    model: ModelKind,
    coverage: f64,
    /// `offline`, `online` for the band whose scale follows the measured outputs, `ahead` for predictions with a horizon.
    band: &'static str,
    /// Samples ahead, with `--horizon`.
    #[serde(skip_serializing_if = "Option::is_none")]
    horizon: Option<usize>,
    #[serde(flatten)]
    metrics: &'a Evaluation,
    /// Per output.
    rolling: Vec<Option<RollingCoverage>>,
    /// Per output.
    horizons: Vec<Vec<HorizonCoverage>>,
}

/// Simulates a record and compares with what was measured.
pub(crate) fn run(args: &EvaluateArgs, global: &GlobalArgs, output: &Output) -> Result<(), Failure> {
    let model = model(&args.model, output)?;
    let mut simulation = output.working("simulating", || {
        simulate(
            (&args.model, &model),
            &args.data,
            (args.part, args.horizon),
            global,
            output,
        )
    })?;
    let band = match (args.online, args.horizon) {
        (true, _) => "online",
        (false, Some(_)) => "ahead",
        (false, None) => "offline",
    };
    if args.online {
        simulation.bands = model.online(&simulation.dataset, &simulation.bands)?;
    }
    let coverage = model.config().coverage;
    let evaluation = evaluate(&simulation.dataset, &simulation.bands, coverage)?;
    if !output.is_json() {
        let how = match args.horizon {
            None => format!("free run over {} samples, {band} band", evaluation.all.n),
            Some(samples) => format!("{} predictions {} ahead", evaluation.all.n, count(samples, "sample")),
        };
        output.story(format_args!(
            "{} on {}, {how}:",
            model.kind(),
            simulation.dataset.name()
        ))?;
        // The model knows the units even where its columns are asked for by name.
        return summary::metrics(&evaluation, &model.interface().outputs, coverage, None, output);
    }
    let (mut rolling, mut horizons) = (Vec::new(), Vec::new());
    for index in 0..simulation.dataset.outputs().len() {
        let runs = align(&simulation.dataset, &simulation.bands, index)?;
        rolling.push(rolling_coverage(&runs, ROLLING_WINDOW));
        horizons.push(coverage_by_horizon(&runs, ROLLING_WINDOW));
    }
    output.json(&Report {
        dataset: simulation.dataset.name(),
        model: model.kind(),
        coverage,
        band,
        horizon: args.horizon,
        metrics: &evaluation,
        rolling,
        horizons,
    })
}
