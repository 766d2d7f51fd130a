//! `predictions.csv`: what a model claims, beside what was measured.

use std::fmt::Write as _;

use intervalid_data::{Dataset, Experiment, Part, push_number, quote_csv};
use intervalid_model::{Band, ModelError, align};

/// Columns beyond the contract's first ones, at the end.
#[derive(Default)]
pub struct Extras<'a> {
    /// For every band, which samples lie outside the region of the training data: column `extrapolated`, 0 or 1.
    pub extrapolated: Option<&'a [Vec<bool>]>,
    /// The bands whose scale followed the measured outputs: columns `y_lower_online` and `y_upper_online`.
    pub online: Option<&'a [Band]>,
    /// Whether each measured sample lies inside its band: column `inside`, 0 or 1.
    pub inside: bool,
    /// Bands of further coverages: columns `y_lower_50` and `y_upper_50`, and so on.
    pub levels: Vec<(f64, &'a [Band])>,
    /// Column `row` even where there are no times: k leads back to the file only where a part begins with it.
    pub rows: bool,
    /// The samples are to come.
    pub planned: Option<Planned<'a>>,
}

/// A coverage in the name of a column, such as 50 or 97.5.
fn level_name(coverage: f64) -> String {
    // Percents of a binary share have digits that nobody wrote.
    format!("{}", (1e8 * coverage).round() / 1e6)
}

/// Inputs to come, read from a file of their own: nothing was measured, so the column y is empty.
#[derive(Clone, Copy)]
pub struct Planned<'a> {
    /// The rows of the plan, from which samples are counted.
    pub rows: &'a Experiment,
    /// Samples in front of them.
    pub past: usize,
}

fn cell(text: &mut String, value: f64) {
    text.push(',');
    push_number(text, value);
}

fn flag(text: &mut String, value: bool) {
    text.push_str(if value { ",1" } else { ",0" });
}

/// One row per scored sample of `part`, so that the file gives the metrics again. Samples after a simulation has diverged have rows
/// too, with nothing predicted. k counts the samples of a segment from
/// 1; the first is known, so predictions start at 2. Several outputs are prefixed by their names, several experiments
/// have a column. Of records with times, of one sample in several, or if asked for, `row` at the end is where a sample stands in its file, line or row from 1, and `time` when it was taken.
///
/// # Errors
/// If the bands are not of this record.
pub fn predictions_csv(
    dataset: &Dataset,
    part: &Part,
    bands: &[Band],
    extras: &Extras<'_>,
) -> Result<String, ModelError> {
    let experiments = dataset.experiments();
    let outputs = dataset.outputs();
    let mut text = String::new();
    if experiments.len() > 1 {
        text += "experiment,";
    }
    text += "k";
    let mut name = |columns: &[&str]| {
        for output in outputs {
            for column in columns {
                let name = match outputs {
                    [_] => (*column).to_owned(),
                    _ => format!("{}_{column}", output.name),
                };
                let _ = write!(text, ",{}", quote_csv(&name));
            }
        }
    };
    name(&["y", "y_hat", "y_lower", "y_upper"]);
    if extras.inside {
        name(&["inside"]);
    }
    if extras.online.is_some() {
        name(&["y_lower_online", "y_upper_online"]);
    }
    for (coverage, _) in &extras.levels {
        let level = level_name(*coverage);
        name(&[&format!("y_lower_{level}"), &format!("y_upper_{level}")]);
    }
    if extras.extrapolated.is_some() {
        text += ",extrapolated";
    }
    let shown = extras
        .planned
        .map_or(experiments, |planned| std::slice::from_ref(planned.rows));
    let has_times = shown.iter().any(|experiment| experiment.time().is_some());
    // Where samples were thinned out, their numbers do not lead back to the file either.
    let is_thinned = dataset.preparation().decimate.is_some();
    let is_led_back = has_times || is_thinned || extras.rows;
    let has_rows = is_led_back && shown.iter().any(|experiment| experiment.row(0).is_some());
    if has_rows {
        text += ",row";
    }
    if has_times {
        text += ",time";
    }
    text += "\n";
    let columns = (0..outputs.len()).map(|output| align(dataset, bands, output));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    for (index, band) in bands.iter().enumerate() {
        let segments = part.segments().iter();
        let around = segments
            .filter(|segment| segment.experiment == band.experiment && segment.start < band.first)
            .max_by_key(|segment| segment.start);
        let experiment = &experiments[band.experiment];
        let (start, end) = around.map_or((0, experiment.len()), |segment| (segment.start, segment.end));
        // Where samples are to come, they count from the first row of the plan, and rows and times are those of its file.
        let (start, rows, past) = match extras.planned {
            None => (start, experiment, 0),
            Some(planned) => (planned.past, planned.rows, planned.past),
        };
        let label = |text: &mut String, sample: usize| {
            if experiments.len() > 1 {
                let _ = write!(text, "{},", quote_csv(experiment.name()));
            }
            let _ = write!(text, "{}", sample - start + 1);
        };
        // Where the sample is in its file and when it was taken, at the end of its row.
        let place = |text: &mut String, sample: usize| {
            if has_rows {
                let row = rows.row(sample - past).map(|row| row.number().to_string());
                let _ = write!(text, ",{}", row.unwrap_or_default());
            }
            if has_times {
                let time = rows.time().map(|time| time.at(sample - past).to_string());
                let _ = write!(text, ",{}", time.unwrap_or_default());
            }
            *text += "\n";
        };
        let first = band.first + band.warmup.min(band.len());
        for row in 0..band.len().saturating_sub(band.warmup) {
            label(&mut text, first + row);
            for column in &columns {
                let run = column[index];
                text.push(',');
                if extras.planned.is_none() {
                    push_number(&mut text, run.target[row]);
                }
                for values in [run.centre, run.lower, run.upper] {
                    cell(&mut text, values[row]);
                }
            }
            for run in columns.iter().map(|column| column[index]).filter(|_| extras.inside) {
                let is_inside = (run.lower[row]..=run.upper[row]).contains(&run.target[row]);
                flag(&mut text, is_inside);
            }
            let at = band.warmup.min(band.len()) + row;
            let online = extras.online.into_iter();
            let levels = extras.levels.iter().map(|(_, bands)| *bands);
            for band in online.chain(levels).map(|bands| &bands[index]) {
                for (lower, upper) in band.lower.iter().zip(&band.upper) {
                    cell(&mut text, lower[at]);
                    cell(&mut text, upper[at]);
                }
            }
            if let Some(flags) = extras.extrapolated {
                flag(&mut text, flags[index][at]);
            }
            place(&mut text, first + row);
        }
        // Nothing is predicted from where the simulation diverged, and a row says so.
        let lost = band.diverged_at.map_or(end, |_| (band.first + band.len()).max(past))..end;
        for sample in lost {
            label(&mut text, sample);
            for output in 0..outputs.len() {
                match extras.planned {
                    None => drop(write!(text, ",{},,,", experiment.output(output)[sample])),
                    Some(_) => text += ",,,,",
                }
            }
            let bands = usize::from(extras.online.is_some()) + extras.levels.len();
            let per_output = usize::from(extras.inside) + 2 * bands;
            let columns = per_output * outputs.len() + usize::from(extras.extrapolated.is_some());
            text += &",".repeat(columns);
            place(&mut text, sample);
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use intervalid_data::{Channel, Experiment};

    use super::*;

    fn band(experiment: usize, first: usize, warmup: usize, centre: Vec<Vec<f64>>) -> Band {
        Band {
            experiment,
            first,
            warmup,
            lower: centre.clone(),
            upper: centre.clone(),
            centre,
            diverged_at: None,
        }
    }

    #[test]
    fn one_output_counts_from_the_start_of_the_part() {
        let experiment = Experiment::new("e", vec![], vec![vec![0.0, 1.0, 2.0, 3.5]]);
        let dataset = Dataset::new("d", vec![], vec![Channel::new("level")], None, vec![experiment]).expect("valid");
        let part = Part::from_segments(vec![intervalid_data::Segment {
            experiment: 0,
            start: 1,
            end: 4,
        }]);
        let text = predictions_csv(
            &dataset,
            &part,
            &[band(0, 2, 0, vec![vec![2.5, 3.0]])],
            &Extras::default(),
        )
        .expect("belongs");
        assert_eq!(text, "k,y,y_hat,y_lower,y_upper\n2,2,2.5,2.5,2.5\n3,3.5,3,3,3\n");
        let warm = predictions_csv(
            &dataset,
            &part,
            &[band(0, 2, 1, vec![vec![2.5, 3.0]])],
            &Extras::default(),
        )
        .expect("belongs");
        assert_eq!(warm, "k,y,y_hat,y_lower,y_upper\n3,3.5,3,3,3\n");
        let bands = [band(0, 2, 1, vec![vec![2.5, 3.0]])];
        let extras = Extras {
            extrapolated: Some(&[vec![false, true]]),
            online: Some(&bands),
            inside: true,
            levels: vec![(0.5, &bands), (0.975, &bands)],
            rows: true,
            planned: None,
        };
        let all = predictions_csv(&dataset, &part, &bands, &extras).expect("belongs");
        assert_eq!(
            all,
            "k,y,y_hat,y_lower,y_upper,inside,y_lower_online,y_upper_online,\
             y_lower_50,y_upper_50,y_lower_97.5,y_upper_97.5,extrapolated\n3,3.5,3,3,3,0,3,3,3,3,3,3,1\n"
        );
    }

    #[test]
    fn several_outputs_and_experiments_are_named() {
        let experiments = ["a", "b, c"].map(|name| Experiment::new(name, vec![], vec![vec![0.0, 1.0], vec![5.0, 6.0]]));
        let outputs = ["p", "q, r"].map(Channel::new).to_vec();
        let dataset = Dataset::new("d", vec![], outputs, None, experiments.to_vec()).expect("valid");
        let bands = [0, 1].map(|experiment| band(experiment, 1, 0, vec![vec![1.0], vec![6.0]]));
        let text = predictions_csv(&dataset, &Part::whole(&dataset), &bands, &Extras::default()).expect("belongs");
        assert_eq!(
            text,
            "experiment,k,p_y,p_y_hat,p_y_lower,p_y_upper,\
             \"q, r_y\",\"q, r_y_hat\",\"q, r_y_lower\",\"q, r_y_upper\"\n\
             a,2,1,1,1,1,6,6,6,6\n\"b, c\",2,1,1,1,1,6,6,6,6\n"
        );
    }
}
