//! Several models as one: those that agree, with non-negative weights that add up to one.
//!
//! ŷ = Σ wᵢ ŷᵢ, w ≥ 0, Σ w = 1, with w from held-out predictions.

use super::divisions::median;

/// Which of `runs` (predictions of the same samples, one per model) stay: those that differ from the pool's median run by no
/// more than their own `scores`, the best one in any case.
///
/// # Panics
/// If there are not as many scores as runs.
pub fn consensus(runs: &[Vec<f64>], scores: &[f64]) -> Vec<bool> {
    assert_eq!(runs.len(), scores.len(), "one score per run");
    let len = runs.first().map_or(0, Vec::len);
    let mut squares = vec![0.0; runs.len()];
    for (sample, median) in median(runs).into_iter().enumerate() {
        squares
            .iter_mut()
            .zip(runs)
            .for_each(|(sum, run)| *sum += (run[sample] - median).powi(2));
    }
    let best = (0..scores.len()).min_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let differs = |index: usize| (squares[index] / len.max(1) as f64).sqrt() > scores[index];
    (0..runs.len())
        .map(|index| Some(index) == best || !differs(index))
        .collect()
}

/// Weights w ≥ 0, Σ w = 1 that minimise Σ_k c_k (Σ_i w_i ŷ_i(k) - y(k))² + ridge · Σ_k c_k · ‖w - 1/n‖².
///
/// **Method.** Pairwise coordinate descent on the simplex: weight moves from one model to another as long as that helps.
///
/// **Reference.** L. Breiman, "Stacked regressions", Machine Learning 24, 1996, doi:10.1007/BF00117832.
///
/// # Panics
/// If lengths differ.
pub fn stack_weights(runs: &[Vec<f64>], measured: &[f64], importance: &[f64], ridge: f64) -> Vec<f64> {
    let n = runs.len();
    assert!(runs.iter().all(|run| run.len() == measured.len()), "equal lengths");
    assert_eq!(importance.len(), measured.len(), "one importance per sample");
    if n == 0 {
        return Vec::new();
    }
    // Moments of the errors: with Σ w = 1 the error of the stack is Σ w_i e_i.
    let total: f64 = importance.iter().sum::<f64>().max(1e-300);
    let error = |i: usize, k: usize| runs[i][k] - measured[k];
    let mut moments = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..measured.len())
                .map(|k| importance[k] * error(i, k) * error(j, k))
                .sum();
            moments[i * n + j] = sum / total + if i == j { ridge } else { 0.0 };
            moments[j * n + i] = moments[i * n + j];
        }
    }
    let mut weights = vec![1.0 / n as f64; n];
    for _ in 0..500 {
        let mut moved = 0.0_f64;
        for i in 0..n {
            for j in 0..n {
                if i == j {
                    continue;
                }
                // From j to i: w_i + t, w_j - t.
                let slope: f64 = (0..n)
                    .map(|l| weights[l] * (moments[i * n + l] - moments[j * n + l]))
                    .sum();
                let curvature = moments[i * n + i] + moments[j * n + j] - 2.0 * moments[i * n + j];
                if curvature <= 0.0 {
                    continue;
                }
                let step = (-slope / curvature).clamp(-weights[i], weights[j]);
                weights[i] += step;
                weights[j] -= step;
                moved = moved.max(step.abs());
            }
        }
        if moved < 1e-9 {
            break;
        }
    }
    weights.iter_mut().for_each(|w| *w = w.max(0.0));
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_those_of_least_squares_on_the_simplex() {
        let y: Vec<f64> = (0..100).map(|k| (0.3 * f64::from(k)).sin()).collect();
        let noise = |rate: f64| (0..100).map(move |k| (rate * f64::from(k)).sin());
        let runs = vec![
            y.iter().zip(noise(1.7)).map(|(y, e)| y + 0.1 * e).collect(),
            y.iter().zip(noise(2.9)).map(|(y, e)| y + 0.2 * e).collect(),
            y.iter().map(|y| y + 5.0).collect::<Vec<_>>(),
        ];
        let weights = stack_weights(&runs, &y, &[1.0; 100], 0.0);
        // Independent errors: weights go with the inverse variance.
        assert!(
            (weights[0] - 0.8).abs() < 0.02 && (weights[1] - 0.2).abs() < 0.02,
            "{weights:?}"
        );
        assert!(weights[2] < 0.01 && (weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert_eq!(consensus(&runs, &[0.1, 0.2, 0.3]), [true, true, false]);
    }
}
