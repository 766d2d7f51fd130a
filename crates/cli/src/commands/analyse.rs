//! `intervalid analyse`.

use std::path::PathBuf;

use intervalid_analysis::{
    AheadFit, AnalysisError, Excitation, FrequencyResponse, Linearisation, NextRecording, PointRequest, Residuals,
    Responses, Run, StaticCurve, Views, WidthShares, excitation, input_limits,
};
use intervalid_data::quote_csv;
use intervalid_figure::Style;
use intervalid_model::Model;
use intervalid_report::{AnalysisReport, analysis_page};
use serde::Serialize;

use super::linearise;
use super::load::{FAR_INPUTS, Simulation, model, model_file, simulate};
use crate::args::{AnalyseArgs, DataArgs, GlobalArgs};
use crate::error::Failure;
use crate::format::{percent, significant, table};
use crate::output::Output;
use crate::path_text;
use crate::plot::both_forms;
use crate::request::files;
use crate::write::{OutFile, OutFolder, refuse_file, refuse_replacing, refuse_same};

/// The JSON object.
#[derive(Serialize)]
struct Report<'a> {
    model: intervalid_model::ModelKind,
    dataset: Option<&'a str>,
    linearisation: &'a Linearisation,
    frequency_response: &'a Option<FrequencyResponse>,
    responses: &'a [Responses],
    static_curves: &'a [StaticCurve],
    residuals: &'a [Residuals],
    ahead: &'a [AheadFit],
    widths: &'a [WidthShares],
    next: &'a Option<NextRecording>,
    notes: &'a [String],
    #[serde(serialize_with = "path_text::maybe")]
    excite: Option<PathBuf>,
    #[serde(serialize_with = "path_text::maybe")]
    figures: Option<PathBuf>,
    #[serde(serialize_with = "path_text::maybe")]
    out: Option<PathBuf>,
}

/// Looks at a model from all sides; a page shows them.
pub(crate) fn run(args: &AnalyseArgs, global: &GlobalArgs, output: &Output) -> Result<(), Failure> {
    let file = |path: &Option<PathBuf>, option: &str| -> Result<Option<OutFile>, Failure> {
        let Some(path) = path else { return Ok(None) };
        let source = model_file(&args.model)?;
        refuse_replacing(option, path, files(&args.data, global).chain([source]))?;
        Ok(Some(OutFile::open(path, option)?))
    };
    refuse_same(&[("--out", args.out.as_deref()), ("--excite", args.excite.as_deref())])?;
    let (out, excite) = (file(&args.out, "--out")?, file(&args.excite, "--excite")?);
    args.figures.as_deref().map(refuse_file).transpose()?;
    let model = model(&args.model, output)?;
    // The point is found before a long record is read: what cannot be looked at is refused at once.
    let request = PointRequest {
        values: args.at.clone(),
    };
    let linear = output.working("linearising", || Linearisation::new(&model, &request))?;
    let simulation = match args.data.is_empty() {
        true => None,
        false => {
            let data = DataArgs {
                data: args.data.clone(),
                options: args.options.clone(),
            };
            let found = output.working("simulating", || {
                simulate((&args.model, &model), &data, (args.part, None), global, output)
            })?;
            Some(found)
        }
    };
    let (views, proposal) = output.working("analysing", || look(&model, linear, simulation.as_ref(), args))?;
    if out.is_some() || args.figures.is_some() {
        let dataset = simulation.as_ref().map(|simulation| &simulation.dataset);
        let page = analysis_page(&AnalysisReport::new(&model, dataset, &views))?;
        if let Some(out) = &out {
            out.write(page.to_html()?.as_bytes())?;
        }
        if let Some(folder) = &args.figures {
            let folder = OutFolder::open(folder, &[])?;
            let mut files = Vec::new();
            for (name, figure) in page.pictures(&Style::default())? {
                files.extend(both_forms(&name, &figure)?);
            }
            folder.write_all(files.iter().map(|(name, content)| (name.as_str(), content.as_slice())))?;
        }
    }
    if let (Some(file), Some((proposal, limits))) = (&excite, &proposal) {
        let names = views.linear.inputs.iter().map(|channel| channel.name.as_str());
        file.write(excitation_csv(names, &proposal.columns, limits).as_bytes())?;
    }
    // Said at the end: what can be looked at all the same is written and shown.
    let end = match simulation.as_ref().and_then(Simulation::diverged) {
        Some(found) => Err(Failure::run(found).with_hint(FAR_INPUTS)),
        None => Ok(()),
    };
    if output.is_json() {
        output.json(&Report {
            model: model.kind(),
            dataset: simulation.as_ref().map(|simulation| simulation.dataset.name()),
            linearisation: &views.linear,
            frequency_response: &views.frequency,
            responses: &views.responses,
            static_curves: &views.curves,
            residuals: &views.residuals,
            ahead: &views.ahead,
            widths: &views.widths,
            next: &views.next,
            notes: &views.notes,
            excite: args.excite.clone(),
            figures: args.figures.clone(),
            out: args.out.clone(),
        })?;
        return end;
    }
    print(&views, proposal.as_ref().map(|(proposal, _)| proposal), output)?;
    if let Some(path) = &args.figures {
        output.story(format_args!("Charts written to {}", path.display()))?;
    }
    if let Some(path) = &args.excite {
        output.story(format_args!("Excitation written to {}", path.display()))?;
    }
    if let Some(path) = &args.out {
        output.story(format_args!("Written to {}: open it in a browser", path.display()))?;
    }
    end
}

/// Least and greatest allowed value of every input.
type Limits = Vec<[f64; 2]>;

/// The views, and the excitation that was asked for with the limits it keeps.
fn look(
    model: &Model,
    linear: Linearisation,
    simulation: Option<&Simulation>,
    args: &AnalyseArgs,
) -> Result<(Views, Option<(Excitation, Limits)>), Failure> {
    let dataset = simulation.map(|simulation| &simulation.dataset);
    let limits = input_limits(&linear, &model.interface().normaliser.inputs, dataset, &args.limit)?;
    let run = simulation.map(|found| Run {
        dataset: &found.dataset,
        part: &found.part,
        bands: &found.bands,
    });
    let mut views = Views::new(model, linear, run, &args.amplitude, &limits)?;
    if let Some(found) = simulation.and_then(Simulation::diverged) {
        views.notes.push(format!("{found}."));
    }
    let proposal = match (&args.excite, &views.frequency) {
        (None, _) => None,
        (Some(_), None) => return Err(AnalysisError::NoInputs.into()),
        (Some(_), Some(response)) => {
            let next = views.next.as_ref();
            let proposal = excitation(&views.linear, response, next, &limits, args.excite_samples)?;
            Some((proposal, limits))
        }
    };
    Ok((views, proposal))
}

/// A column per input.
fn excitation_csv<'a>(names: impl Iterator<Item = &'a str>, columns: &[Vec<f64>], limits: &[[f64; 2]]) -> String {
    let names: Vec<String> = names.map(|name| quote_csv(name).into_owned()).collect();
    let mut text = names.join(",") + "\n";
    for sample in 0..columns.first().map_or(0, Vec::len) {
        let values = columns.iter().map(|column| column[sample]);
        let cells: Vec<String> = values.zip(limits).map(|(value, limits)| cell(value, *limits)).collect();
        text += &cells.join(",");
        text.push('\n');
    }
    text
}

/// A value to a hundred-thousandth of its range: of a small range far from zero, significant digits would leave nothing. Where rounding
/// leads beyond a limit, the value is written in full.
fn cell(value: f64, [low, high]: [f64; 2]) -> String {
    let finest = (high - low) * 1e-5;
    if finest.is_normal() {
        let decimals = (-finest.log10()).ceil().max(0.0) as usize;
        let text = format!("{value:.decimals$}");
        if text.parse().is_ok_and(|rounded: f64| (low..=high).contains(&rounded)) {
            return text;
        }
    }
    value.clamp(low, high).to_string()
}

fn print(views: &Views, proposal: Option<&Excitation>, output: &Output) -> Result<(), Failure> {
    linearise::print(&views.linear, output)?;
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| significant(value, 4));
    if !views.responses.is_empty() {
        output.heading("steps")?;
        let rows = views.responses.iter().flat_map(|found| {
            let each = found
                .steps
                .iter()
                .flat_map(|step| step.outputs.iter().map(move |answer| (step.amplitude, answer)));
            each.map(|(amplitude, answer)| {
                let figures = answer.figures;
                vec![
                    found.input.clone(),
                    significant(amplitude, 3),
                    answer.output.clone(),
                    number(figures.map(|figures| figures.gain)),
                    number(figures.and_then(|figures| figures.rise_time)),
                    number(figures.and_then(|figures| figures.settling_time)),
                    figures.map_or_else(|| "-".to_owned(), |figures| format!("{:.1} %", figures.overshoot)),
                ]
            })
        });
        let unit = views.linear.time_unit;
        let (rise, settling) = (format!("rise ({unit})"), format!("settling ({unit})"));
        let header = ["input", "step", "output", "gain", &rise, &settling, "overshoot"];
        output.result(table(&header, &[1, 3, 4, 5, 6], rows))?;
    }
    if !views.residuals.is_empty() {
        output.heading("errors")?;
        let rows = views.residuals.iter().map(|found| {
            let (beyond, total) = found.autocorrelation.beyond();
            let cross: Vec<String> = (found.cross.iter())
                .map(|cross| {
                    let (beyond, total) = cross.correlation.beyond();
                    format!("{} {beyond} of {total}", cross.input)
                })
                .collect();
            let worst = found
                .by_time
                .iter()
                .filter_map(|group| group.inside)
                .fold(1.0, f64::min);
            vec![
                found.output.clone(),
                found.n.to_string(),
                significant(found.mean, 4),
                significant(found.std, 4),
                format!("{beyond} of {total}"),
                percent(worst),
                cross.join(", "),
            ]
        });
        let header = [
            "output",
            "n",
            "mean",
            "std",
            "own lags beyond",
            "worst tenth inside",
            "lags of inputs beyond",
        ];
        output.result(table(&header, &[1, 2, 3, 4, 5], rows))?;
    }
    if !views.ahead.is_empty() {
        output.heading("fit by samples ahead")?;
        let rows = views.ahead.iter().map(|fit| {
            let label = fit
                .horizon
                .map_or_else(|| "free run".to_owned(), |horizon| horizon.to_string());
            let fits = fit
                .fit_percent
                .iter()
                .map(|fit| fit.map_or_else(|| "-".to_owned(), |fit| format!("{fit:.1} %")));
            std::iter::once(label).chain(fits).collect()
        });
        let names: Vec<&str> = views
            .linear
            .outputs
            .iter()
            .map(|channel| channel.name.as_str())
            .collect();
        let header: Vec<&str> = std::iter::once("ahead").chain(names).collect();
        output.result(table(&header, &(1..header.len()).collect::<Vec<_>>(), rows))?;
    }
    for found in &views.widths {
        output.story(&found.words)?;
    }
    for words in views.next.iter().flat_map(|next| &next.words) {
        output.story(words)?;
    }
    for words in proposal.iter().flat_map(|proposal| &proposal.words) {
        output.story(words)?;
    }
    for note in views.notes.iter().filter(|note| !views.linear.notes().contains(note)) {
        output.story(note)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excitation_keeps_its_sines_and_its_limits() {
        // A small range far from zero, one that decimals cannot reach, and a wide one.
        let limits = [[1000.0, 1000.01], [1.0 / 3.0, 2.0 / 3.0], [-2e6, 3e6], [7.0, 7.0]];
        let wave = |[low, high]: [f64; 2]| -> Vec<f64> {
            let share = |k: i32| 0.5 + 0.5 * (0.1 * f64::from(k)).sin();
            let mut values: Vec<f64> = (0..300).map(|k| low + (high - low) * share(k)).collect();
            values.extend([low, high]);
            values
        };
        let columns = limits.map(wave);
        let text = excitation_csv(["a", "b", "c", "d"].into_iter(), &columns, &limits);
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("a,b,c,d"));
        let rows: Vec<Vec<f64>> = lines
            .map(|line| line.split(',').map(|cell| cell.parse().expect("a number")).collect())
            .collect();
        assert_eq!(rows.len(), 302);
        for (input, [low, high]) in limits.into_iter().enumerate() {
            let mut written: Vec<f64> = rows.iter().map(|row| row[input]).collect();
            assert!(written.iter().all(|value| (low..=high).contains(value)), "{input}");
            for (found, meant) in written.iter().zip(&columns[input]) {
                assert!((found - meant).abs() <= 1e-5 * (high - low), "{input}: {found} {meant}");
            }
            written.sort_by(f64::total_cmp);
            written.dedup();
            assert!(written.len() > 100 || high <= low, "{input}: {}", written.len());
        }
    }
}
