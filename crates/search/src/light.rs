//! The light model inside the mean of many: which members stay, and a band that is sized for just these.

use intervalid_data::Part;
use intervalid_model::{Band, Model};

use crate::error::Result;
use crate::folds::Folds;

/// Samples of a record that members are compared on, at the most.
const COMPARED: usize = 20_000;

/// A member of a mean, as far as it matters here.
pub(crate) struct Joined<'a> {
    pub(crate) model: &'a Model,
    pub(crate) recipe: usize,
    pub(crate) saw_everything: bool,
}

/// Recipes of which a light model keeps a member: all of them, or the first where that would leave nothing out.
fn kept_recipes(joined: &[Joined<'_>]) -> Vec<usize> {
    let mut recipes: Vec<usize> = joined.iter().map(|member| member.recipe).collect();
    recipes.dedup();
    if recipes.len() == joined.len() {
        recipes.truncate(1);
    }
    recipes
}

/// Places of the members of a light model: of every kept recipe the one whose free runs are nearest to the mean's, of those that saw
/// everything where there are any.
pub(crate) fn light_members(mean: &Model, joined: &[Joined<'_>], folds: &Folds<'_>) -> Result<Vec<usize>> {
    let part = compared(folds);
    let middle = mean.simulate(folds.dataset, &part)?;
    let mut places = Vec::new();
    for recipe in kept_recipes(joined) {
        let of_recipe = || joined.iter().enumerate().filter(|(_, member)| member.recipe == recipe);
        let has_seen = of_recipe().any(|(_, member)| member.saw_everything);
        let mut nearest: Option<(f64, usize)> = None;
        for (place, member) in of_recipe().filter(|(_, member)| member.saw_everything || !has_seen) {
            let distance = distance(&member.model.simulate(folds.dataset, &part)?, &middle, mean);
            if nearest.is_none_or(|(least, _)| distance < least) {
                nearest = Some((distance, place));
            }
        }
        places.extend(nearest.map(|(_, place)| place));
    }
    places.sort_unstable();
    Ok(places)
}

/// The samples that members are compared on.
pub(crate) fn compared(folds: &Folds<'_>) -> Part {
    folds.shortened(COMPARED)
}

/// Mean square of what two runs differ by, in standard deviations, over all outputs; without bound where one of them has ended.
fn distance(a: &[Band], b: &[Band], model: &Model) -> f64 {
    let mut squares = 0.0;
    for (a, b) in a.iter().zip(b) {
        if a.len() != b.len() {
            return f64::INFINITY;
        }
        let scales = &model.interface().normaliser.outputs;
        for ((a, b), scale) in a.centre.iter().zip(&b.centre).zip(scales) {
            squares += a.iter().zip(b).map(|(a, b)| ((a - b) / scale.std).powi(2)).sum::<f64>();
        }
    }
    squares
}

#[cfg(test)]
mod tests {
    use intervalid_data::{LinearSystem, Split, SplitFractions};
    use intervalid_model::{FitConfig, FitOptions};

    use super::*;

    #[test]
    fn every_recipe_keeps_a_member_unless_all_would_stay() {
        let dataset = LinearSystem::default()
            .generate(200, 1)
            .expect("generates")
            .into_dataset();
        let split = Split::new(&dataset, SplitFractions::default()).expect("splits");
        let config = FitConfig::default().with(|config| config.training.epochs = 1);
        let (model, _) = Model::fit(&dataset, &split, &config, FitOptions::default()).expect("fits");
        let kept = |recipes: &[usize]| {
            let joined = recipes.iter().map(|&recipe| Joined {
                model: &model,
                recipe,
                saw_everything: true,
            });
            kept_recipes(&joined.collect::<Vec<_>>())
        };
        assert_eq!(kept(&[0, 0, 0]), [0]);
        assert_eq!(kept(&[0, 0, 1, 1, 1]), [0, 1]);
        assert_eq!(kept(&[0, 1]), [0]);
    }
}
