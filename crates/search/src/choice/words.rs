//! What is said about a choice: why this model, and what was passed over.

use intervalid_data::count;
use intervalid_model::ModelKind;

use super::{Choice, Chooser, Finished, NETWORK_ADVANTAGE, PassedOver, Pick};
use crate::average::Averaged;
use crate::table::table;

impl Chooser<'_> {
    pub(super) fn settle(&self, pick: Pick, finished: Finished, passed: &PassedOver) -> Choice {
        let mut warnings = Vec::new();
        for (other, error) in &passed.failed {
            warnings.push(format!("no model could be made of {}: {error}", self.name(*other)));
        }
        for (other, disappointing) in &passed.broken {
            warnings.push(format!(
                "{} promised an error of {:.3} standard deviations, but the model made of it has {:.3}, so it was not taken",
                self.name(*other),
                disappointing.promise.promised,
                disappointing.promise.worst()
            ));
        }
        let left_out = match finished.averaged {
            Averaged::All => None,
            Averaged::Sound => Some("networks that went astray on data that others follow were left out of the mean"),
            Averaged::OfBlocks => Some(
                "the networks fitted to everything did worse than promised, so only those of the blocks are averaged",
            ),
        };
        warnings.extend(left_out.map(str::to_owned));
        if !finished.promise.is_kept() {
            warnings.push(format!(
                "no model kept its promise; the error of this one is {:.3} standard deviations where {:.3} was promised",
                finished.promise.worst(),
                finished.promise.promised
            ));
        }
        let descent = match pick {
            Pick::Lagged(index) => {
                let candidate = &self.searched.lagged[index];
                (candidate.curve.clone(), candidate.steps)
            }
            Pick::Arx(_) | Pick::Hidden(_) | Pick::Pool => (Vec::new(), 0),
        };
        Choice {
            why: match (passed.is_empty(), finished.promise.is_kept()) {
                (true, _) => self.why(pick) + &self.doubted(pick),
                (false, true) => {
                    "the best candidate whose model does what held-out data promised; better ones did not".to_owned()
                }
                (false, false) => "the least bad of the models made: none does what held-out data promised".to_owned(),
            },
            candidates: table(self.searched, &self.lagged, self.pool.as_ref(), pick),
            model: finished.model,
            calibration: finished.calibration,
            promise: finished.promise,
            warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
            descent,
        }
    }

    fn has_tried_networks(&self) -> bool {
        let hidden = self.searched.hidden_candidates().iter();
        !self.searched.lagged.is_empty() || hidden.into_iter().any(|found| !found.recipe.is_linear())
    }

    /// Whether rounds were wanted and not cut short, and there was none to carry out.
    fn has_room_for_none(&self) -> bool {
        !self.searched.is_capped && self.searched.rounds == 0 && self.config.rounds > 0
    }

    fn has_doubtful_networks(&self) -> bool {
        self.judged_networks().any(|pick| !self.is_believed(&pick))
    }

    fn why(&self, pick: Pick) -> String {
        let linear = self.linear_models();
        let is_mean_of_linear = pick == Pick::Pool && self.is_mean_of_linear(&linear);
        let is_linear = linear.contains(&pick);
        let network = self.networks().first().copied();
        let rival = if is_linear { network } else { Some(pick) };
        let best = if is_linear { Some(pick) } else { linear.first().copied() };
        let compared = rival
            .zip(best)
            .and_then(|(rival, best)| Some((self.score(rival)?, self.score(best)?)));
        let Some((score, linear)) = compared else {
            return match (self.config.model, self.config.hidden) {
                (Some(ModelKind::Arx), _) | (_, Some([0, 0])) => {
                    "the best linear model on held-out data; no network was asked for".to_owned()
                }
                _ if !self.has_tried_networks() && self.has_room_for_none() => {
                    "the best linear model: networks need a longer record than this".to_owned()
                }
                _ if !self.has_tried_networks() => {
                    "the best linear model: no network was finished in the time and rounds given".to_owned()
                }
                _ if self.has_doubtful_networks() => {
                    "the best linear model: networks go apart on the same inputs in another order".to_owned()
                }
                _ => "the best linear model: no network stayed finite on all held-out blocks".to_owned(),
            };
        };
        let share = 100.0 * (score.total() / linear.total() - 1.0);
        let compared = match share < 0.0 {
            true => format!("{:.0} % lower than", -share),
            false => format!("{share:.0} % higher than"),
        };
        // Of linear models that held-out data hardly tell apart, the simplest: others may be a little better.
        let simple = best.map_or_else(String::new, |best| self.name(best));
        if is_mean_of_linear {
            let others = count(self.pooled().len() - 1, "other");
            return format!(
                "the mean of {simple} and {others} that held-out data hardly tell from it: its error there is {compared} that of {simple}, \
                 and on later data a mean errs less as a rule"
            );
        }
        let (blocks, all) = (score.blocks_better(linear), score.blocks.len());
        match is_linear {
            false if self.config.model.is_some() => format!(
                "the best {} on held-out data, as asked; its error there is {compared} that of the linear model to beat, {simple}",
                self.kind(pick)
            ),
            false => format!(
                "its error on held-out data is {compared} that of the linear model to beat, {simple}, and lower on {blocks} of {all} blocks"
            ),
            true => format!(
                "no network is clearly better than this linear model: the best one's error on held-out data is {compared} its, and \
                 lower on {blocks} of {all} blocks, where {:.0} %, more than the standard error between blocks, and most blocks were \
                 needed",
                100.0 * NETWORK_ADVANTAGE
            ),
        }
    }

    /// A candidate with a better score that was not believed, in words.
    fn doubted(&self, pick: Pick) -> String {
        let arx = (0..self.searched.linear.len()).map(Pick::Arx);
        let all = arx.chain(self.startable(true)).chain(self.judged_networks());
        let doubted = all.filter(|other| !self.is_believed(other) && self.total(*other) < self.total(pick));
        let best = doubted.min_by(|a, b| self.total(*a).total_cmp(&self.total(*b)));
        let found = best.and_then(|other| Some((self.name(other), self.score(other)?.doubt)));
        found.map_or_else(String::new, |(name, doubt)| {
            format!(
                "; {name} has a lower error there, but models of it that were fitted without different blocks are {doubt:.1} standard \
                 deviations apart on the same inputs in another order, so it was not believed"
            )
        })
    }

    fn kind(&self, pick: Pick) -> ModelKind {
        match pick {
            Pick::Arx(_) => ModelKind::Arx,
            Pick::Lagged(index) => self.searched.lagged[index].recipe.model,
            Pick::Hidden(_) | Pick::Pool => ModelKind::Iss,
        }
    }
}
