//! One calibration at many coverages: the scales of nested bands, and of those between them.

use intervalid_data::normal_quantile;
use serde::{Deserialize, Serialize};

use super::scaling::Scaling;

/// How the band is scaled for one coverage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelScaling {
    /// Share of samples that the band should hold.
    pub coverage: f64,
    /// Per output.
    pub outputs: Vec<Scaling>,
}

/// The least and the greatest coverage of a calibrated model, but for the one it was fitted for.
pub const LEVEL_REACH: (f64, f64) = (GRID[0], GRID[GRID.len() - 1]);

/// Coverages that every calibration looks at. Further out, quantiles are those of a handful of samples.
pub(super) const GRID: [f64; 13] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.975, 0.99];

/// Whether two coverages are meant to be the same number.
fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

/// The band that was asked for and those of [`GRID`], ascending in coverage and nested: none is wider on a side than one of more
/// coverage. Where found scales are not so, the band that was asked for stays, and others give way.
pub(super) fn nested(own: LevelScaling, at: impl Fn(f64) -> Vec<Scaling>) -> Vec<LevelScaling> {
    let of = |coverage: &f64| LevelScaling {
        coverage: *coverage,
        outputs: at(*coverage),
    };
    let is_other = |coverage: &&f64| !same(**coverage, own.coverage);
    let mut below: Vec<LevelScaling> = Vec::new();
    let less = GRID.iter().filter(is_other).filter(|level| **level < own.coverage);
    for coverage in less.rev() {
        let mut found = of(coverage);
        let outer = below.last().unwrap_or(&own);
        for (inner, outer) in found.outputs.iter_mut().zip(&outer.outputs) {
            *inner = inside(*inner, outer);
        }
        below.push(found);
    }
    let more = GRID.iter().filter(is_other).filter(|level| **level > own.coverage);
    let (mut levels, more): (Vec<_>, Vec<_>) = (below.into_iter().rev().collect(), more.collect());
    levels.push(own);
    for coverage in more {
        let mut found = of(coverage);
        if let Some(inner) = levels.last() {
            for (outer, inner) in found.outputs.iter_mut().zip(&inner.outputs) {
                *outer = around(*outer, inner);
            }
        }
        levels.push(found);
    }
    levels
}

/// The scaling with no side wider than `outer`. A side is √((scale·half-width)² + (scale·spread·s)²), s the disagreement of members,
/// so the scales and their products with the spread decide.
fn inside(found: Scaling, outer: &Scaling) -> Scaling {
    let (lower, upper) = (found.lower.min(outer.lower), found.upper.min(outer.upper));
    let spread = found.spread.zip(outer.spread).map(|(own, most)| {
        let most_of = |outer: f64, scale: f64| if scale > 0.0 { most * outer / scale } else { own };
        own.min(most_of(outer.lower, lower)).min(most_of(outer.upper, upper))
    });
    Scaling {
        lower,
        upper,
        spread,
        ..found
    }
}

/// The scaling with no side narrower than `inner`.
fn around(found: Scaling, inner: &Scaling) -> Scaling {
    let (lower, upper) = (found.lower.max(inner.lower), found.upper.max(inner.upper));
    let spread = found.spread.or(inner.spread).map(|own| {
        let least = inner.spread.unwrap_or(0.0);
        let least_of = |inner: f64, scale: f64| if scale > 0.0 { least * inner / scale } else { 0.0 };
        own.max(least_of(inner.lower, lower)).max(least_of(inner.upper, upper))
    });
    Scaling {
        lower,
        upper,
        spread,
        ..found
    }
}

/// The scales for a coverage between the least and the greatest level; none outside.
///
/// Scales are powers of the normal quantile z between two levels, which is exact for normal errors and keeps bands nested: products of
/// such scales are such powers too.
pub(super) fn scalings_at(levels: &[LevelScaling], coverage: f64) -> Option<Vec<Scaling>> {
    if let Some(level) = levels.iter().find(|level| same(level.coverage, coverage)) {
        return Some(level.outputs.clone());
    }
    let after = levels.partition_point(|level| level.coverage < coverage);
    let (from, to) = (levels.get(after.checked_sub(1)?)?, levels.get(after)?);
    let place = |coverage: f64| normal_quantile(0.5 + 0.5 * coverage).ln();
    let share = (place(coverage) - place(from.coverage)) / (place(to.coverage) - place(from.coverage));
    let between = |a: f64, b: f64| if a > 0.0 { a * (b / a).powf(share) } else { b };
    let scaling = |(a, b): (&Scaling, &Scaling)| {
        // Nothing tells how fast a side grows from zero: the wider band.
        if (a.lower <= 0.0 && b.lower > 0.0) || (a.upper <= 0.0 && b.upper > 0.0) {
            return *b;
        }
        Scaling {
            lower: between(a.lower, b.lower),
            upper: between(a.upper, b.upper),
            floor: b.floor,
            spread: b.spread.map(|b| a.spread.map_or(b, |a| between(a, b))),
            online_start: b.online_start,
        }
    };
    Some(from.outputs.iter().zip(&to.outputs).map(scaling).collect())
}

/// What a file may not hold, in words.
pub(super) fn check(levels: &[LevelScaling], outputs: usize) -> Result<(), String> {
    let is_share = |level: &LevelScaling| level.coverage > 0.0 && level.coverage < 1.0;
    let ascending = levels.windows(2).all(|pair| pair[0].coverage < pair[1].coverage);
    if !ascending || !levels.iter().all(is_share) {
        return Err("the levels of its calibration are not ascending shares".to_owned());
    }
    for LevelScaling {
        coverage,
        outputs: found,
    } in levels
    {
        if found.len() != outputs {
            let found = found.len();
            return Err(format!(
                "its calibration for coverage {coverage} is of {found} output(s), expected {outputs}"
            ));
        }
        found.iter().try_for_each(Scaling::check)?;
    }
    let narrows = |pair: &[LevelScaling]| {
        let sides = pair[0].outputs.iter().zip(&pair[1].outputs);
        sides
            .into_iter()
            .any(|(inner, outer)| inner.lower > outer.lower || inner.upper > outer.upper)
    };
    match levels.windows(2).find(|pair| narrows(pair)) {
        Some(pair) => Err(format!(
            "its band for coverage {} is narrower than the one for {}",
            pair[1].coverage, pair[0].coverage
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaling(lower: f64, upper: f64, spread: Option<f64>) -> Scaling {
        Scaling {
            lower,
            upper,
            floor: 0.1,
            spread,
            online_start: None,
        }
    }

    /// Half-widths of both sides at a half-width and a disagreement of members.
    fn sides(scaling: &Scaling, half: f64, disagreement: f64) -> [f64; 2] {
        let side = |scale: f64| {
            let half = half.max(scaling.floor);
            scale * half.hypot(scaling.spread.unwrap_or(0.0) * disagreement)
        };
        [side(scaling.lower), side(scaling.upper)]
    }

    /// Scales as wild as they come: asymmetric below a level, falling with coverage here and there.
    fn wild(coverage: f64) -> Vec<Scaling> {
        let wave = 1.0 + 0.5 * (40.0 * coverage).sin();
        let lower = if coverage < 0.45 { 0.0 } else { wave };
        vec![scaling(lower, 2.0 * wave, Some(3.0 - wave))]
    }

    #[test]
    fn bands_are_nested_whatever_was_found() {
        for own in [0.5, 0.9, 0.93, 0.999, 0.05] {
            let levels = nested(
                LevelScaling {
                    coverage: own,
                    outputs: wild(own),
                },
                wild,
            );
            assert_eq!(check(&levels, 1), Ok(()));
            assert_eq!(
                scalings_at(&levels, own),
                Some(wild(own)),
                "the one asked for stays as it was found"
            );
            let (least, most) = (levels[0].coverage, levels[levels.len() - 1].coverage);
            let asked = (0..=200).map(|step| least + (most - least) * f64::from(step) / 200.0);
            for (half, disagreement) in [(1.0, 0.0), (0.0, 1.0), (0.3, 2.0)] {
                let mut last = [0.0; 2];
                for coverage in asked.clone() {
                    let found = scalings_at(&levels, coverage).expect("within the levels");
                    let now = sides(&found[0], half, disagreement);
                    let grows = now.iter().zip(last).all(|(now, last)| *now >= last * (1.0 - 1e-12));
                    assert!(grows, "{own}: {now:?} after {last:?} at {coverage}");
                    last = now;
                }
            }
        }
    }

    #[test]
    fn normal_errors_have_normal_quantiles_between_levels() {
        let normal = |coverage: f64| {
            let z = normal_quantile(0.5 + 0.5 * coverage);
            vec![scaling(z, z, None)]
        };
        let own = LevelScaling {
            coverage: 0.9,
            outputs: normal(0.9),
        };
        let levels = nested(own, normal);
        for coverage in [0.11, 0.55, 0.68, 0.87, 0.96, 0.985] {
            let found = scalings_at(&levels, coverage).expect("within the levels")[0].upper;
            let expected = normal(coverage)[0].upper;
            assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
        }
        assert_eq!(scalings_at(&levels, 0.05), None);
        assert_eq!(scalings_at(&levels, 0.995), None);
    }

    #[test]
    fn files_with_other_levels_are_refused() {
        let level = |coverage: f64, scale: f64| LevelScaling {
            coverage,
            outputs: vec![scaling(scale, scale, None)],
        };
        assert!(check(&[level(0.5, 1.0), level(0.9, 2.0)], 1).is_ok());
        for bad in [
            vec![level(0.9, 2.0), level(0.5, 1.0)],
            vec![level(0.5, 1.0), level(1.5, 2.0)],
            vec![level(0.5, f64::NAN)],
            vec![level(0.5, 2.0), level(0.9, 1.0)],
        ] {
            assert!(check(&bad, 1).is_err(), "{bad:?}");
        }
        assert!(check(&[level(0.5, 1.0)], 2).is_err());
    }
}
