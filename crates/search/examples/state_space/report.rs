//! What the candidates are worth after the cut: one by one, the chosen one, and several as one.

use intervalid_search::state_space::{
    Candidate, Divisions, Fitted, Observer, Scored, consensus, median, simulate_from, stack_weights,
};

use super::Record;

/// Candidates in the table.
const SHOWN: usize = 25;
/// Candidates within this factor of the best score may enter the stack.
const GOOD_ENOUGH: f64 = 1.5;
const MOST_STACKED: usize = 30;
/// Samples that an observer follows before a run.
/// Samples that the observer recalls.
const RECALLED: usize = 15;
const WARM_UPS: [usize; 2] = [20, 100];

/// Judges models on the samples after the cut.
pub(crate) struct Judge<'a> {
    record: &'a Record,
    divisions: &'a Divisions,
    /// y after the cut, all runs one after the other, `[sample][output]`.
    measured: Vec<f64>,
    outputs: usize,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(record: &'a Record, divisions: &'a Divisions) -> Self {
        let runs = record.whole.iter().zip(&record.before);
        let measured = runs.flat_map(|(whole, before)| (before.len()..whole.len()).flat_map(|k| whole.y(k)));
        Self {
            measured: measured.copied().collect(),
            outputs: record.whole.first().map_or(1, |run| run.outputs()),
            record,
            divisions,
        }
    }

    /// The table of candidates, best score first, and what is made of them.
    pub(crate) fn print(&self, candidates: &[Candidate]) {
        println!("\n| score | geometric | blocks and forward cut | after the cut | steps | recipe |");
        println!("|---|---|---|---|---|---|");
        for candidate in candidates.iter().take(SHOWN) {
            let blocks: Vec<String> = candidate
                .held_out
                .iter()
                .map(|block| format!("{:.3}", block.mse().sqrt()))
                .collect();
            println!(
                "| {:.4} | {:.4} | {} | {:.4} | {} | {} |",
                candidate.score,
                candidate.geometric_score,
                blocks.join(" "),
                root_mean_square(&self.errors(&self.run_of(candidate))),
                candidate.refined,
                candidate.recipe
            );
        }
        let (Some(best), Some(linear)) = (candidates.first(), candidates.iter().find(|c| c.recipe.is_linear())) else {
            println!("\nno candidate was finished");
            return;
        };
        let is_clear = clearly_beats(best, linear);
        let chosen = if is_clear { best } else { linear };
        println!("\nbest linear model: {}", linear.recipe);
        self.show("best linear model", &self.run_of(linear));
        let verdict = if is_clear {
            "clearly beat"
        } else {
            "do not clearly beat"
        };
        println!(
            "networks {verdict} linear models on held-out samples; chosen: {}",
            chosen.recipe
        );
        println!("  held-out score: {:.4}", chosen.score);
        self.show("chosen", &self.run_of(chosen));
        self.show_observer(chosen);
        self.show_stack(candidates, chosen, is_clear);
    }

    /// A line of figures: over all outputs in standard deviations, then each in its own unit.
    pub(crate) fn show(&self, name: &str, predicted: &[f64]) {
        let errors = self.errors(predicted);
        let scales = errors.iter().zip(&self.record.outputs);
        let each: Vec<String> = scales
            .map(|(error, scale)| format!("{:.4e}", scale.width_to_physical(*error)))
            .collect();
        println!(
            "  {name}, after the cut: {:.4} ({})",
            root_mean_square(&errors),
            each.join(" ")
        );
    }

    /// RMSE of every output.
    fn errors(&self, predicted: &[f64]) -> Vec<f64> {
        let samples = (self.measured.len() / self.outputs).max(1) as f64;
        let mut squares = vec![0.0; self.outputs];
        for (place, (y, predicted)) in self.measured.iter().zip(predicted).enumerate() {
            squares[place % self.outputs] += (y - predicted).powi(2);
        }
        squares.into_iter().map(|sum| (sum / samples).sqrt()).collect()
    }

    /// ŷ after the cut: the median of the models that have seen everything before it.
    fn run_of(&self, candidate: &Candidate) -> Vec<f64> {
        let last = candidate.members.last().map_or(&[][..], Vec::as_slice);
        median(&last.iter().map(|fitted| self.run_of_model(fitted)).collect::<Vec<_>>())
    }

    /// ŷ of one model after the cut.
    pub(crate) fn run_of_model(&self, fitted: &Fitted) -> Vec<f64> {
        let runs = self.record.whole.iter().zip(&self.record.before).zip(&fitted.x0);
        let mut predicted: Vec<f64> = runs
            .flat_map(|((whole, before), x0)| simulate_from(&fitted.model, whole, before.len(), whole.len(), x0))
            .collect();
        self.divisions.clip(&mut predicted);
        predicted
    }

    /// How a deployed model would start: an observer over a short warm-up, from the mean state.
    fn show_observer(&self, candidate: &Candidate) {
        let Some(fitted) = candidate.members.last().and_then(|members| members.first()) else {
            return;
        };
        self.show("its first model", &self.run_of_model(fitted));
        let runs = &self.record.before;
        let Some(observer) = Observer::recalling(fitted, runs, &Scored::all(runs), RECALLED) else {
            return;
        };
        let (model, mean_state) = (&fitted.model, vec![0.0; fitted.model.shape().states]);
        for warm_up in WARM_UPS {
            let runs = self.record.whole.iter().zip(runs);
            let predictions: Option<Vec<Vec<f64>>> = runs
                .map(|(whole, before)| {
                    let cut = before.len();
                    let state = observer.follow(model, &whole.slice(cut.saturating_sub(warm_up)..cut), &mean_state)?;
                    model.simulate(&whole.slice(cut..whole.len()), &state)
                })
                .collect();
            if let Some(predictions) = predictions {
                let mut predicted = predictions.concat();
                self.divisions.clip(&mut predicted);
                self.show(&format!("its first model, observer over {warm_up} samples"), &predicted);
            }
        }
    }

    /// Good candidates that agree, weighted on held-out samples.
    fn show_stack(&self, candidates: &[Candidate], chosen: &Candidate, has_networks: bool) {
        let is_good = |candidate: &&Candidate| {
            candidate.score <= GOOD_ENOUGH * chosen.score && (has_networks || candidate.recipe.is_linear())
        };
        let pool: Vec<&Candidate> = candidates.iter().filter(is_good).take(MOST_STACKED).collect();
        let scores: Vec<f64> = pool.iter().map(|candidate| candidate.score).collect();
        let runs: Vec<Vec<f64>> = pool.iter().map(|candidate| held_out_run(candidate)).collect();
        let stays = consensus(&runs, &scores);
        let agreeing = |place: &usize| stays[*place];
        let places: Vec<usize> = (0..pool.len()).filter(agreeing).collect();
        let pool: Vec<&Candidate> = places.iter().map(|&place| pool[place]).collect();
        let runs: Vec<Vec<f64>> = places.iter().map(|&place| runs[place].clone()).collect();
        let measured: Vec<f64> = chosen
            .held_out
            .iter()
            .flat_map(|block| &block.measured)
            .copied()
            .collect();
        let weights = stack_weights(&runs, &measured, &importance(&pool, chosen), 0.0);
        let after: Vec<Vec<f64>> = pool.iter().map(|candidate| self.run_of(candidate)).collect();
        let mut stacked = vec![0.0; self.measured.len()];
        for (run, weight) in after.iter().zip(&weights) {
            stacked
                .iter_mut()
                .zip(run)
                .for_each(|(to, predicted)| *to += weight * predicted);
        }
        let used = weights.iter().filter(|weight| **weight > 1e-3).count();
        println!(
            "{} candidates agree, {used} of them have weight in the stack",
            pool.len()
        );
        self.show("stack", &stacked);
        self.show("median of those that agree", &median(&after));
    }
}

/// Weight of every held-out sample: blocks count alike, measured by what the pool reaches there, so that one that nobody could
/// know does not decide alone.
fn importance(pool: &[&Candidate], chosen: &Candidate) -> Vec<f64> {
    let mut importance = Vec::new();
    for (index, block) in chosen.held_out.iter().enumerate() {
        let errors: Vec<Vec<f64>> = pool
            .iter()
            .map(|candidate| vec![candidate.held_out[index].mse()])
            .collect();
        let usual = median(&errors).first().copied().unwrap_or(1.0).max(1e-12);
        let count = block.measured.len();
        importance.extend(std::iter::repeat_n((usual * count as f64).recip(), count));
    }
    importance
}

/// All held-out predictions of a candidate, one after the other.
fn held_out_run(candidate: &Candidate) -> Vec<f64> {
    candidate
        .held_out
        .iter()
        .flat_map(|block| &block.predicted)
        .copied()
        .collect()
}

/// Whether held-out blocks say that `a` is better than `b` by more than chance: the mean of the paired gains is above its
/// standard error, and the score is 3 % better.
fn clearly_beats(a: &Candidate, b: &Candidate) -> bool {
    let pairs = a.held_out.iter().zip(&b.held_out);
    let gains: Vec<f64> = pairs.map(|(a, b)| b.mse().sqrt() - a.mse().sqrt()).collect();
    let count = gains.len() as f64;
    let mean = gains.iter().sum::<f64>() / count;
    let variance = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / (count - 1.0);
    mean > (variance / count).sqrt() && a.score < 0.97 * b.score
}

fn root_mean_square(values: &[f64]) -> f64 {
    (values.iter().map(|value| value * value).sum::<f64>() / values.len().max(1) as f64).sqrt()
}
