//! Bounds of a frequency response that hold for every model whose parameters lie inside the margins.
//!
//! Draws inside the margins show what is likely; a bound that is proven must come from intervals. The derivatives of a step over all
//! parameters between their bounds are matrices of intervals, and what such a system answers lies in a disc around what its centre answers.

use intervalid_interval::Enclosure;
use nalgebra::{DMatrix, DVector};
use serde::Serialize;

use crate::linear_system::Z;
use crate::operating_point::OperatingPoint;
use crate::step_map::StepMap;

/// Bounds that are proven, at every frequency.
///
/// **What it is.** An enclosure of the response of every linearisation at the point whose parameters lie inside the margins, and of every stable
/// member by itself: wider than draws, since intervals forget that one parameter stands in several places. **Where there is none** ([`None`]) nothing
/// could be proven: the margins may hold a model with a pole at that frequency.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResponseBound {
    /// Least and greatest magnitude.
    pub magnitude: [Vec<Option<f64>>; 2],
    /// Least and greatest phase in degrees; none also where the response may be zero, which has no phase.
    pub phase: [Vec<Option<f64>>; 2],
    /// Frequencies at which the magnitude is bounded.
    pub proven: usize,
}

/// All complex numbers up to so far from a centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Disc {
    pub(crate) centre: Z,
    pub(crate) radius: f64,
}

/// A matrix and how far each entry may be from it.
#[derive(Clone, Debug)]
struct Around<T> {
    centre: DMatrix<T>,
    radius: DMatrix<f64>,
}

/// One member with intervals for its matrices, in normalised units.
#[derive(Clone, Debug)]
pub(crate) struct EnclosedSystem {
    a: Around<f64>,
    b: Vec<Around<f64>>,
    c: Around<f64>,
    d: Vec<Around<f64>>,
}

/// Half the distance between two numbers next to 1.
const ROUNDING: f64 = 0.5 * f64::EPSILON;
/// Rounding errors of e^{jωT} and of one of its powers, in units of [`ROUNDING`]; each further power adds as many.
const OF_PLACE: f64 = 8.0;
/// Steps towards a vector in which the error matrix contracts, if there is one.
const SCALINGS: usize = 30;
/// Beyond it the bound is so wide that it says nothing.
const LARGEST_CONTRACTION: f64 = 0.999;

impl EnclosedSystem {
    /// The members around a point.
    pub(crate) fn members(map: &StepMap, point: &OperatingPoint) -> Vec<Self> {
        let layout = &map.layout;
        let (shared, own, inputs) = (layout.shared(), layout.own, layout.inputs);
        let places = point.own.iter().map(|own| map.at_rest(&point.normalised_inputs, own));
        let steps = map.enclosed_derivatives(&places.collect::<Vec<_>>());
        let of_step = |step: crate::member_map::MemberStep<Enclosure>| {
            let part =
                |slope: &DMatrix<Enclosure>, at: usize, count: usize| around(&slope.columns(at, count).into_owned());
            let taps = |slope: &DMatrix<Enclosure>| -> Vec<Around<f64>> {
                let now = std::iter::once(part(slope, shared + own, inputs));
                now.chain((0..layout.remembered).map(|age| part(slope, age * inputs, inputs)))
                    .collect()
            };
            Self {
                a: part(&step.next.slope, shared, own),
                b: taps(&step.next.slope),
                c: part(&step.output.slope, shared, own),
                d: taps(&step.output.slope),
            }
        };
        steps.into_iter().map(of_step).collect()
    }

    /// C·(zI - A)⁻¹·Σ B_j z⁻ʲ + Σ D_j z⁻ʲ for all matrices of the set, z on the unit circle; none where no bound can be proven.
    ///
    /// **Method.** With R an approximate inverse of the centre's zI - A and E = I - R·(zI - A), the solution x of (zI - A)·x = b differs from x̃ = R·b by
    /// d = R·(b - (zI - A)·x̃) + E·d. Where |E|·v ≤ κ·v with κ < 1 for a v > 0, every matrix of the set can be inverted and
    /// |d| ≤ w + |E|·v·‖w‖_v/(1 - κ), w ≥ |R·(b - (zI - A)·x̃)|. Rounding errors enter by their bounds.
    ///
    /// **Reference.** S. M. Rump, Verification methods: rigorous results using floating-point arithmetic, *Acta Numerica* 19, 2010, section 10;
    /// N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., 2002, section 3.1 and lemma 3.5.
    pub(crate) fn at(&self, z: Z) -> Option<DMatrix<Disc>> {
        let count = self.a.centre.nrows();
        let rounds = Rounds::of(count + self.b.len());
        let identity = DMatrix::<f64>::identity(count, count);
        let shifted = DMatrix::<Z>::identity(count, count) * z - complex(&self.a.centre);
        let inverse = shifted.clone().try_inverse()?;
        let (own_sizes, inverse_sizes) = (sizes(&shifted), sizes(&inverse));
        // How far zI - A is from what was computed.
        let off = rounds.up(&self.a.radius + &own_sizes * rounds.gamma + &identity * (OF_PLACE * ROUNDING));
        let left = DMatrix::<Z>::identity(count, count) - &inverse * &shifted;
        let error = sizes(&left) + (&identity + &inverse_sizes * &own_sizes) * rounds.gamma + &inverse_sizes * &off;
        let error = rounds.up(error);
        let mut scale = DVector::from_element(count, 1.0);
        for _ in 0..SCALINGS {
            scale = &error * &scale + DVector::from_element(count, 1.0);
            let largest = scale.max();
            if !largest.is_finite() {
                return None;
            }
            scale /= largest;
            // So that no entry is lost to rounding.
            scale.iter_mut().for_each(|entry| *entry = entry.max(1e-12));
        }
        let scaled = rounds.up(&error * &scale);
        let contraction = scaled.iter().zip(scale.iter()).map(|(a, b)| a / b).fold(0.0, f64::max);
        // The greatest of numbers passes over those that are none.
        if contraction >= LARGEST_CONTRACTION || !scaled.iter().all(|entry| entry.is_finite()) {
            return None;
        }
        let right = taps(&self.b, z, &rounds);
        let solved = &inverse * &right.centre;
        let solved_sizes = sizes(&solved);
        let rest = &right.centre - &shifted * &solved;
        let rest = sizes(&rest)
            + (sizes(&right.centre) + &own_sizes * &solved_sizes) * rounds.gamma
            + &right.radius
            + &off * &solved_sizes;
        let moved = rounds.up(&inverse_sizes * rounds.up(rest));
        let mut distance = moved.clone();
        for mut column in distance.column_iter_mut() {
            let largest = column.iter().zip(scale.iter()).map(|(w, v)| w / v).fold(0.0, f64::max);
            column += &scaled * (largest / (1.0 - contraction));
        }
        let distance = rounds.up(distance);
        let direct = taps(&self.d, z, &rounds);
        let row_sizes = self.c.centre.abs();
        let centre = complex(&self.c.centre) * &solved + &direct.centre;
        let radius = &self.c.radius * &solved_sizes
            + (&row_sizes + &self.c.radius) * &distance
            + &direct.radius
            + (&row_sizes * &solved_sizes + sizes(&direct.centre)) * rounds.gamma;
        let radius = rounds.up(radius);
        let disc = |row: usize, column: usize| Disc {
            centre: centre[(row, column)],
            radius: radius[(row, column)],
        };
        let found = DMatrix::from_fn(centre.nrows(), centre.ncols(), disc);
        let is_finite =
            |disc: &Disc| disc.centre.re.is_finite() && disc.centre.im.is_finite() && disc.radius.is_finite();
        found.iter().all(is_finite).then_some(found)
    }
}

/// Bounds on rounding errors of sums of so many complex products.
struct Rounds {
    gamma: f64,
}

impl Rounds {
    /// Four times what real sums would need: a complex product is four real ones and two sums.
    fn of(terms: usize) -> Self {
        let errors = 4.0 * (terms as f64 + 8.0) * ROUNDING;
        Self {
            gamma: errors / (1.0 - errors),
        }
    }

    /// At least the exact value of a sum of products that are not negative, which was computed as this.
    fn up<S: nalgebra::Dim>(
        &self,
        computed: nalgebra::OMatrix<f64, nalgebra::Dyn, S>,
    ) -> nalgebra::OMatrix<f64, nalgebra::Dyn, S>
    where
        nalgebra::DefaultAllocator: nalgebra::allocator::Allocator<nalgebra::Dyn, S>,
    {
        // The second term is for products below the least normal number.
        computed.map(|value| value * (1.0 + 2.0 * self.gamma) + f64::MIN_POSITIVE)
    }
}

fn complex(matrix: &DMatrix<f64>) -> DMatrix<Z> {
    matrix.map(|value| Z::new(value, 0.0))
}

/// Moduli, not below the exact ones.
fn sizes(matrix: &DMatrix<Z>) -> DMatrix<f64> {
    matrix.map(|value| value.norm() * (1.0 + 4.0 * ROUNDING))
}

fn around(sets: &DMatrix<Enclosure>) -> Around<f64> {
    let middle = |set: &Enclosure| {
        let middle = 0.5 * set.inf() + 0.5 * set.sup();
        if middle.is_finite() { middle } else { 0.0 }
    };
    let centre = sets.map(|set| middle(&set));
    let radius = sets.map(|set| {
        let middle = middle(&set);
        // Differences are rounded once.
        (set.sup() - middle).max(middle - set.inf()) * (1.0 + 2.0 * ROUNDING)
    });
    Around { centre, radius }
}

/// Σ M_j z⁻ʲ.
fn taps(matrices: &[Around<f64>], z: Z, rounds: &Rounds) -> Around<Z> {
    let (rows, columns) = matrices[0].centre.shape();
    let mut sum = Around {
        centre: DMatrix::zeros(rows, columns),
        radius: DMatrix::zeros(rows, columns),
    };
    for (age, matrix) in matrices.iter().enumerate() {
        // |z| = 1: the power is the conjugate's, which needs no division.
        let power = z.conj().powu(u32::try_from(age).unwrap_or(u32::MAX));
        let errors = OF_PLACE * (age as f64 + 1.0) * ROUNDING + rounds.gamma;
        sum.centre += complex(&matrix.centre) * power;
        sum.radius += &matrix.radius * (1.0 + errors) + matrix.centre.abs() * errors;
    }
    sum.radius = rounds.up(sum.radius);
    sum
}

/// The disc of the mean of several.
fn mean(discs: &[Disc]) -> Disc {
    let count = discs.len() as f64;
    let centre = discs.iter().map(|disc| disc.centre).sum::<Z>() / count;
    let sizes: f64 = discs.iter().map(|disc| disc.centre.norm()).sum();
    let radius: f64 = discs.iter().map(|disc| disc.radius).sum();
    let rounds = Rounds::of(discs.len());
    Disc {
        centre,
        radius: (radius / count + sizes * rounds.gamma) * (1.0 + 2.0 * rounds.gamma),
    }
}

/// Degrees by which angles may be rounded.
const OF_ANGLE: f64 = 1e-10;

/// Bounds of one channel: `discs[place][member]`, none where nothing is proven, for the mean of the members and each of them that is `alone`;
/// beside `nominal` and its phase, and in units of `unit`.
pub(crate) fn bound(discs: &[Option<Vec<Disc>>], alone: &[usize], nominal: (&[Z], &[f64]), unit: f64) -> ResponseBound {
    let mut bound = ResponseBound {
        magnitude: [Vec::new(), Vec::new()],
        phase: [Vec::new(), Vec::new()],
        proven: 0,
    };
    for ((members, own), phase) in discs.iter().zip(nominal.0).zip(nominal.1) {
        let all = members.as_ref().map(|members| {
            let several = alone
                .iter()
                .filter(|_| members.len() > 1)
                .map(|&member| members[member]);
            std::iter::once(mean(members)).chain(several).collect::<Vec<Disc>>()
        });
        let magnitudes = all.as_ref().map(|all| {
            let ends = all.iter().map(|disc| {
                let size = disc.centre.norm();
                let (least, most) = ((size - disc.radius).max(0.0), size + disc.radius);
                [
                    least * unit * (1.0 - 8.0 * ROUNDING),
                    most * unit * (1.0 + 8.0 * ROUNDING),
                ]
            });
            hull(ends)
        });
        let turns = all.as_ref().and_then(|all| {
            let turn = |disc: &Disc| -> Option<[f64; 2]> {
                let share = disc.radius / disc.centre.norm();
                let middle = (disc.centre * own.conj()).arg().to_degrees();
                let half = (share < 1.0 - 1e-9).then(|| share.asin().to_degrees() + OF_ANGLE)?;
                // Beyond half a turn nobody knows which way round.
                (middle.abs() + half < 180.0).then_some([middle - half, middle + half])
            };
            all.iter()
                .map(turn)
                .collect::<Option<Vec<_>>>()
                .map(|turns| hull(turns.into_iter()))
        });
        bound.proven += usize::from(magnitudes.is_some());
        for side in 0..2 {
            bound.magnitude[side].push(magnitudes.map(|ends| ends[side]));
            bound.phase[side].push(turns.map(|ends| phase + ends[side]));
        }
    }
    bound
}

fn hull(ends: impl Iterator<Item = [f64; 2]>) -> [f64; 2] {
    ends.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], [low, high]| {
        [least.min(low), most.max(high)]
    })
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::linear_system::MemberSystem;

    /// y(k) = 1.5 y(k-1) - 0.7 y(k-2) + u(k-1) + 0.5 u(k-2), each coefficient off by up to `radius`.
    fn system(radius: f64) -> EnclosedSystem {
        let with = |rows: usize, columns: usize, values: &[f64]| {
            let centre = DMatrix::from_row_slice(rows, columns, values);
            // Shifts of the memory are exact.
            let radius = centre.map(|value: f64| {
                if (value - 1.0).abs() < 1e-9 || value.abs() < 1e-9 {
                    0.0
                } else {
                    radius
                }
            });
            Around { centre, radius }
        };
        EnclosedSystem {
            a: with(2, 2, &[1.5, -0.7, 1.0, 0.0]),
            b: [0.0, 1.1, 0.5].map(|value| with(2, 1, &[value, 0.0])).to_vec(),
            c: with(1, 2, &[1.5, -0.7]),
            d: [0.0, 1.1, 0.5].map(|value| with(1, 1, &[value])).to_vec(),
        }
    }

    fn drawn(system: &EnclosedSystem, rng: &mut ChaCha8Rng) -> MemberSystem {
        let mut draw = |around: &Around<f64>| {
            around
                .centre
                .zip_map(&around.radius, |c, r| c + r * rng.random_range(-1.0..=1.0))
        };
        MemberSystem {
            a: draw(&system.a),
            b: system.b.iter().map(&mut draw).collect(),
            c: draw(&system.c),
            d: system.d.iter().map(&mut draw).collect(),
        }
    }

    fn places() -> impl Iterator<Item = Z> {
        (0..60).map(|k| Z::from_polar(1.0, 1e-3 * 1.14_f64.powi(k)))
    }

    #[test]
    fn without_margins_it_is_the_response() {
        for z in places() {
            let closed = (1.1 * z + 0.5) / (z * z - 1.5 * z + 0.7);
            let disc = system(0.0).at(z).expect("no pole on the circle")[0];
            assert!((disc.centre - closed).norm() <= disc.radius, "{disc:?} {closed}");
            assert!(disc.radius < 1e-11 * closed.norm(), "{disc:?}");
        }
    }

    #[test]
    fn every_system_between_the_bounds_is_inside() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut proven = 0;
        for radius in [1e-6, 1e-3, 0.01] {
            let system = system(radius);
            for z in places() {
                let Some(discs) = system.at(z) else { continue };
                proven += 1;
                for _ in 0..50 {
                    let found = drawn(&system, &mut rng).at(z).expect("no pole")[0];
                    let distance = (found - discs[0].centre).norm();
                    assert!(distance <= discs[0].radius, "{radius} {z}: {distance} {discs:?}");
                }
            }
        }
        assert!(proven > 150, "{proven}");
    }

    #[test]
    fn it_shrinks_with_the_margins_and_gives_up_where_there_may_be_a_pole() {
        let z = Z::from_polar(1.0, 0.05);
        let radius = |margin: f64| system(margin).at(z).expect("far from a pole")[0].radius;
        let ratio = radius(2e-4) / radius(1e-4);
        assert!((1.9..2.1).contains(&ratio), "{ratio}");
        // With -0.7 anywhere in [-1, -0.4] the poles may lie on the circle.
        assert!(system(0.3).at(Z::from_polar(1.0, 0.45)).is_none());
    }

    #[test]
    fn the_mean_of_discs_holds_means() {
        let disc = |re: f64, radius: f64| Disc {
            centre: Z::new(re, 0.0),
            radius,
        };
        let found = mean(&[disc(1.0, 0.5), disc(3.0, 1.5)]);
        assert!((found.centre.re - 2.0).abs() < 1e-15 && found.radius >= 1.0 && found.radius < 1.0 + 1e-12);
    }
}
