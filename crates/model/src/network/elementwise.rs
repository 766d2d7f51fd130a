//! Elementwise parts of the networks, forward and reverse, on whole tiles.
//!
//! An LSTM cell of size h works on tiles of 4h gates in the order i, f, q, o; with n = h·width numbers per gate:
//! c = f·c₋₁ + i·q, h = o·tanh c. In the interval cell the gates i, f, o are ≥ 0, so one bound of each product is
//! decided by the sign of the other factor (docs/method.md, section 3), and c₋₁ is crisp.

use intervalid_interval::kernel::{LANES, Vector};
use intervalid_interval::{Real, simd_dispatch};

/// What the loops below rely on: all tiles hold `n` numbers, and those are whole registers at every SIMD level.
fn assert_tiles<const N: usize>(lengths: [usize; N], n: usize) {
    assert_eq!(lengths, [n; N], "numbers in the tiles of a layer");
    assert!(
        n.is_multiple_of(LANES),
        "a tile of {n} numbers is not whole registers of {LANES}"
    );
}

/// `adjoint ← adjoint·(1 - y²)` with y = tanh of the argument.
pub(super) fn tanh_backward<T: Real>(y: &[T], adjoint: &mut [T]) {
    assert_tiles([y.len()], adjoint.len());
    // SAFETY: the lengths are asserted.
    unsafe { tanh_reverse(y, adjoint) }
}

simd_dispatch! {
    unsafe fn tanh_reverse<T>(y: &[T], adjoint: &mut [T]) = tanh_reverse_body;
}

/// # Safety
/// Call it through `simd_dispatch!`, with lengths as `tanh_backward` asserts them.
#[inline(always)]
unsafe fn tanh_reverse_body<T: Real, V: Vector<T>>(y: &[T], adjoint: &mut [T]) {
    for place in (0..y.len()).step_by(V::LANES) {
        // SAFETY: the caller vouches for the instructions, and for tiles of equal length that are whole registers.
        unsafe {
            let y = V::load(y.as_ptr().add(place));
            let at = adjoint.as_mut_ptr().add(place);
            let g = V::load(at);
            y.mul(g).mul_sub_from(y, g).store(at);
        }
    }
}

/// Adds to the first numbers of `to`, as many as `from` has.
pub(super) fn add<T: Real>(to: &mut [T], from: &[T]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to += from;
    }
}

/// `to ← to·mask`
pub(super) fn multiply<T: Real>(to: &mut [T], mask: &[T]) {
    for (to, &mask) in to.iter_mut().zip(mask) {
        *to *= mask;
    }
}

/// As [`tanh_backward`] for y = mask·tanh of the argument: where the mask is not zero, the tanh is y/mask.
pub(super) fn masked_tanh_backward<T: Real>(y: &[T], mask: &[T], adjoint: &mut [T]) {
    for ((adjoint, &y), &mask) in adjoint.iter_mut().zip(y).zip(mask) {
        *adjoint = if mask > T::zero() {
            let tanh = y / mask;
            *adjoint * mask * (T::one() - tanh * tanh)
        } else {
            T::zero()
        };
    }
}

/// Tiles of one crisp cell: `gates` holds pre-activations on entry and activations on return.
pub(super) struct Cell<'a, T> {
    pub(super) gates: &'a mut [T],
    pub(super) c_before: &'a [T],
    pub(super) c: &'a mut [T],
    pub(super) tanh_c: &'a mut [T],
    pub(super) h: &'a mut [T],
}

pub(super) fn cell_forward<T: Real>(cell: Cell<'_, T>) {
    let n = cell.h.len();
    let lengths = [
        cell.gates.len() / 4,
        cell.c_before.len(),
        cell.c.len(),
        cell.tanh_c.len(),
    ];
    assert_tiles(lengths, n);
    // SAFETY: the lengths are asserted.
    unsafe { forward(cell.gates, cell.c_before, cell.c, cell.tanh_c, cell.h) }
}

simd_dispatch! {
    unsafe fn forward<T>(gates: &mut [T], c_before: &[T], c: &mut [T], tanh_c: &mut [T], h: &mut [T]) = forward_body;
}

/// # Safety
/// Call it through `simd_dispatch!`, with lengths as `cell_forward` asserts them.
#[inline(always)]
unsafe fn forward_body<T: Real, V: Vector<T>>(
    gates: &mut [T],
    c_before: &[T],
    c: &mut [T],
    tanh_c: &mut [T],
    h: &mut [T],
) {
    let n = h.len();
    for place in (0..n).step_by(V::LANES) {
        // SAFETY: the caller vouches for the instructions, and for tiles of `n` numbers (gates: four times as many) that are
        // whole registers.
        unsafe {
            let gate = gates.as_mut_ptr().add(place);
            let i = T::sigmoid_lanes(V::load(gate));
            let f = T::sigmoid_lanes(V::load(gate.add(n)));
            let q = T::tanh_lanes(V::load(gate.add(2 * n)));
            let o = T::sigmoid_lanes(V::load(gate.add(3 * n)));
            i.store(gate);
            f.store(gate.add(n));
            q.store(gate.add(2 * n));
            o.store(gate.add(3 * n));
            let state = f.mul_add(V::load(c_before.as_ptr().add(place)), i.mul(q));
            let squashed = T::tanh_lanes(state);
            state.store(c.as_mut_ptr().add(place));
            squashed.store(tanh_c.as_mut_ptr().add(place));
            o.mul(squashed).store(h.as_mut_ptr().add(place));
        }
    }
}

/// Reverse mode of [`cell_forward`].
///
/// `h_adjoint` is that of h; `c_adjoint` holds that of c on entry and that of c₋₁ on return; `gates_adjoint` receives
/// that of the pre-activations.
pub(super) fn cell_backward<T: Real>(
    gates: &[T],
    c_before: &[T],
    tanh_c: &[T],
    h_adjoint: &[T],
    c_adjoint: &mut [T],
    gates_adjoint: &mut [T],
) {
    let n = tanh_c.len();
    let lengths = [
        gates.len() / 4,
        c_before.len(),
        h_adjoint.len(),
        c_adjoint.len(),
        gates_adjoint.len() / 4,
    ];
    assert_tiles(lengths, n);
    // SAFETY: the lengths are asserted.
    unsafe { backward(gates, c_before, tanh_c, h_adjoint, c_adjoint, gates_adjoint) }
}

simd_dispatch! {
    unsafe fn backward<T>(
        gates: &[T],
        c_before: &[T],
        tanh_c: &[T],
        h_adjoint: &[T],
        c_adjoint: &mut [T],
        gates_adjoint: &mut [T],
    ) = backward_body;
}

/// # Safety
/// Call it through `simd_dispatch!`, with lengths as `cell_backward` asserts them.
#[inline(always)]
unsafe fn backward_body<T: Real, V: Vector<T>>(
    gates: &[T],
    c_before: &[T],
    tanh_c: &[T],
    h_adjoint: &[T],
    c_adjoint: &mut [T],
    gates_adjoint: &mut [T],
) {
    let n = tanh_c.len();
    for place in (0..n).step_by(V::LANES) {
        // SAFETY: the caller vouches for the instructions, and for tiles of `n` numbers (gates: four times as many) that are
        // whole registers.
        unsafe {
            let gate = gates.as_ptr().add(place);
            let (i, f) = (V::load(gate), V::load(gate.add(n)));
            let (q, o) = (V::load(gate.add(2 * n)), V::load(gate.add(3 * n)));
            let squashed = V::load(tanh_c.as_ptr().add(place));
            let gh = V::load(h_adjoint.as_ptr().add(place));
            let c_at = c_adjoint.as_mut_ptr().add(place);
            let gc = V::load(c_at).add(tanh_derivative::<T, V>(squashed, gh.mul(o)));
            let to = gates_adjoint.as_mut_ptr().add(place);
            sigmoid_derivative::<T, V>(i, gc.mul(q)).store(to);
            sigmoid_derivative::<T, V>(f, gc.mul(V::load(c_before.as_ptr().add(place)))).store(to.add(n));
            tanh_derivative::<T, V>(q, gc.mul(i)).store(to.add(2 * n));
            sigmoid_derivative::<T, V>(o, gh.mul(squashed)).store(to.add(3 * n));
            gc.mul(f).store(c_at);
        }
    }
}

/// g·(1 - y²)
///
/// # Safety
/// Call it from a body that `simd_dispatch!` runs.
#[inline(always)]
unsafe fn tanh_derivative<T: Real, V: Vector<T>>(y: V, g: V) -> V {
    // SAFETY: passed on to the caller.
    unsafe { y.mul(g).mul_sub_from(y, g) }
}

/// g·y·(1 - y)
///
/// # Safety
/// Call it from a body that `simd_dispatch!` runs.
#[inline(always)]
unsafe fn sigmoid_derivative<T: Real, V: Vector<T>>(y: V, g: V) -> V {
    // SAFETY: passed on to the caller.
    unsafe {
        let gy = g.mul(y);
        gy.mul_sub_from(y, gy)
    }
}

/// Tiles of one interval cell, lower and upper; `gates` as in [`Cell`].
pub(super) struct IntervalCell<'a, T> {
    pub(super) gates: [&'a mut [T]; 2],
    pub(super) c_before: &'a [T],
    pub(super) tanh_c: [&'a mut [T]; 2],
    pub(super) h: [&'a mut [T]; 2],
}

pub(super) fn interval_cell_forward<T: Real>(cell: IntervalCell<'_, T>) {
    let IntervalCell {
        gates: [gates_lower, gates_upper],
        c_before,
        tanh_c: [c_lower, c_upper],
        h: [lower, upper],
    } = cell;
    let n = c_before.len();
    let lengths = [
        gates_lower.len() / 4,
        gates_upper.len() / 4,
        c_lower.len(),
        c_upper.len(),
        lower.len(),
        upper.len(),
    ];
    assert_tiles(lengths, n);
    // SAFETY: the lengths are asserted.
    unsafe { interval_forward(gates_lower, gates_upper, c_before, c_lower, c_upper, lower, upper) }
}

simd_dispatch! {
    unsafe fn interval_forward<T>(
        gates_lower: &mut [T],
        gates_upper: &mut [T],
        c_before: &[T],
        tanh_lower: &mut [T],
        tanh_upper: &mut [T],
        h_lower: &mut [T],
        h_upper: &mut [T],
    ) = interval_forward_body;
}

/// # Safety
/// Call it through `simd_dispatch!`, with lengths as `interval_cell_forward` asserts them.
#[inline(always)]
unsafe fn interval_forward_body<T: Real, V: Vector<T>>(
    gates_lower: &mut [T],
    gates_upper: &mut [T],
    c_before: &[T],
    tanh_lower: &mut [T],
    tanh_upper: &mut [T],
    h_lower: &mut [T],
    h_upper: &mut [T],
) {
    let n = c_before.len();
    for place in (0..n).step_by(V::LANES) {
        // SAFETY: the caller vouches for the instructions, and for tiles of `n` numbers (gates: four times as many) that are
        // whole registers.
        unsafe {
            let (low, high) = (gates_lower.as_mut_ptr().add(place), gates_upper.as_mut_ptr().add(place));
            for gate in [0, 1, 3] {
                T::sigmoid_lanes(V::load(low.add(gate * n))).store(low.add(gate * n));
                T::sigmoid_lanes(V::load(high.add(gate * n))).store(high.add(gate * n));
            }
            let (q_lower, q_upper) = (
                T::tanh_lanes(V::load(low.add(2 * n))),
                T::tanh_lanes(V::load(high.add(2 * n))),
            );
            q_lower.store(low.add(2 * n));
            q_upper.store(high.add(2 * n));
            let (i_lower, i_upper) = (V::load(low), V::load(high));
            let (f_lower, f_upper) = (V::load(low.add(n)), V::load(high.add(n)));
            let (o_lower, o_upper) = (V::load(low.add(3 * n)), V::load(high.add(3 * n)));
            let c = V::load(c_before.as_ptr().add(place));
            let kept = c.select_negative(f_upper, f_lower).mul(c);
            let c_lower = q_lower.select_negative(i_upper, i_lower).mul_add(q_lower, kept);
            let kept = c.select_negative(f_lower, f_upper).mul(c);
            let c_upper = q_upper.select_negative(i_lower, i_upper).mul_add(q_upper, kept);
            let (t_lower, t_upper) = (T::tanh_lanes(c_lower), T::tanh_lanes(c_upper));
            t_lower.store(tanh_lower.as_mut_ptr().add(place));
            t_upper.store(tanh_upper.as_mut_ptr().add(place));
            t_lower
                .select_negative(o_upper, o_lower)
                .mul(t_lower)
                .store(h_lower.as_mut_ptr().add(place));
            t_upper
                .select_negative(o_lower, o_upper)
                .mul(t_upper)
                .store(h_upper.as_mut_ptr().add(place));
        }
    }
}

/// What [`interval_cell_backward`] reads of the forward pass (lower, upper).
pub(super) struct IntervalCellValues<'a, T> {
    pub(super) gates: [&'a [T]; 2],
    pub(super) c_before: &'a [T],
    pub(super) tanh_c: [&'a [T]; 2],
}

/// Reverse mode of [`interval_cell_forward`]: `c_before_adjoint` is added to, `gates_adjoint` overwritten.
pub(super) fn interval_cell_backward<T: Real>(
    values: &IntervalCellValues<'_, T>,
    h_adjoint: [&[T]; 2],
    c_before_adjoint: &mut [T],
    gates_adjoint: [&mut [T]; 2],
) {
    let n = values.c_before.len();
    let [to_lower, to_upper] = gates_adjoint;
    let lengths = [
        values.gates[0].len() / 4,
        values.gates[1].len() / 4,
        values.tanh_c[0].len(),
        values.tanh_c[1].len(),
        h_adjoint[0].len(),
        h_adjoint[1].len(),
        c_before_adjoint.len(),
        to_lower.len() / 4,
        to_upper.len() / 4,
    ];
    assert_tiles(lengths, n);
    // SAFETY: the lengths are asserted.
    unsafe { interval_backward(values, h_adjoint[0], h_adjoint[1], c_before_adjoint, to_lower, to_upper) }
}

simd_dispatch! {
    unsafe fn interval_backward<T>(
        values: &IntervalCellValues<'_, T>,
        h_lower_adjoint: &[T],
        h_upper_adjoint: &[T],
        c_before_adjoint: &mut [T],
        to_lower: &mut [T],
        to_upper: &mut [T],
    ) = interval_backward_body;
}

/// # Safety
/// Call it through `simd_dispatch!`, with lengths as `interval_cell_backward` asserts them.
#[inline(always)]
unsafe fn interval_backward_body<T: Real, V: Vector<T>>(
    values: &IntervalCellValues<'_, T>,
    h_lower_adjoint: &[T],
    h_upper_adjoint: &[T],
    c_before_adjoint: &mut [T],
    to_lower: &mut [T],
    to_upper: &mut [T],
) {
    let n = values.c_before.len();
    for place in (0..n).step_by(V::LANES) {
        // SAFETY: the caller vouches for the instructions, and for tiles of `n` numbers (gates: four times as many) that are
        // whole registers.
        unsafe {
            let (low, high) = (values.gates[0].as_ptr().add(place), values.gates[1].as_ptr().add(place));
            let (i_lower, i_upper) = (V::load(low), V::load(high));
            let (f_lower, f_upper) = (V::load(low.add(n)), V::load(high.add(n)));
            let (q_lower, q_upper) = (V::load(low.add(2 * n)), V::load(high.add(2 * n)));
            let (o_lower, o_upper) = (V::load(low.add(3 * n)), V::load(high.add(3 * n)));
            let c = V::load(values.c_before.as_ptr().add(place));
            let t_lower = V::load(values.tanh_c[0].as_ptr().add(place));
            let t_upper = V::load(values.tanh_c[1].as_ptr().add(place));
            let g_lower = V::load(h_lower_adjoint.as_ptr().add(place));
            let g_upper = V::load(h_upper_adjoint.as_ptr().add(place));
            let (to_low, to_high) = (to_lower.as_mut_ptr().add(place), to_upper.as_mut_ptr().add(place));

            // h = o·tanh c
            let (go_lower, go_upper) = gate_adjoint::<T, V>(t_lower, t_upper, g_lower, g_upper);
            sigmoid_derivative::<T, V>(o_lower, go_lower).store(to_low.add(3 * n));
            sigmoid_derivative::<T, V>(o_upper, go_upper).store(to_high.add(3 * n));
            let gc_lower = tanh_derivative::<T, V>(t_lower, t_lower.select_negative(o_upper, o_lower).mul(g_lower));
            let gc_upper = tanh_derivative::<T, V>(t_upper, t_upper.select_negative(o_lower, o_upper).mul(g_upper));

            // i·q
            let (gi_lower, gi_upper) = gate_adjoint::<T, V>(q_lower, q_upper, gc_lower, gc_upper);
            sigmoid_derivative::<T, V>(i_lower, gi_lower).store(to_low);
            sigmoid_derivative::<T, V>(i_upper, gi_upper).store(to_high);
            let gq = q_lower.select_negative(i_upper, i_lower).mul(gc_lower);
            tanh_derivative::<T, V>(q_lower, gq).store(to_low.add(2 * n));
            let gq = q_upper.select_negative(i_lower, i_upper).mul(gc_upper);
            tanh_derivative::<T, V>(q_upper, gq).store(to_high.add(2 * n));

            // f·c₋₁ with crisp c₋₁
            let (gf_lower, gf_upper) = gate_adjoint::<T, V>(c, c, gc_lower, gc_upper);
            sigmoid_derivative::<T, V>(f_lower, gf_lower).store(to_low.add(n));
            sigmoid_derivative::<T, V>(f_upper, gf_upper).store(to_high.add(n));
            let at = c_before_adjoint.as_mut_ptr().add(place);
            let sum = c.select_negative(f_upper, f_lower).mul_add(gc_lower, V::load(at));
            c.select_negative(f_lower, f_upper).mul_add(gc_upper, sum).store(at);
        }
    }
}

/// Adjoints of a non-negative gate's bounds in lower = (x < 0 ? gate upper : gate lower)·x and
/// upper = (X < 0 ? gate lower : gate upper)·X.
///
/// # Safety
/// Call it from a body that `simd_dispatch!` runs.
#[inline(always)]
unsafe fn gate_adjoint<T: Real, V: Vector<T>>(x_lower: V, x_upper: V, g_lower: V, g_upper: V) -> (V, V) {
    // SAFETY: passed on to the caller.
    unsafe {
        let zero = V::splat(T::zero());
        let (from_lower, from_upper) = (g_lower.mul(x_lower), g_upper.mul(x_upper));
        let lower = x_lower
            .select_negative(zero, from_lower)
            .add(x_upper.select_negative(from_upper, zero));
        let upper = x_lower
            .select_negative(from_lower, zero)
            .add(x_upper.select_negative(zero, from_upper));
        (lower, upper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "a tile of 24 numbers is not whole registers of 16")]
    fn tiles_that_are_not_whole_registers_are_refused() {
        tanh_backward(&[0.0_f32; 24], &mut [0.0; 24]);
    }

    #[test]
    #[should_panic(expected = "numbers in the tiles of a layer")]
    fn tiles_of_unequal_length_are_refused() {
        cell_forward(Cell {
            gates: &mut [0.0_f32; 64],
            c_before: &[0.0; 16],
            c: &mut [0.0; 16],
            tanh_c: &mut [0.0; 16],
            h: &mut [0.0; 32],
        });
    }
}
