//! Crisp products and their adjoints against loops.

use intervalid_interval::Real;
use intervalid_interval::kernel::{
    affine, fill_channels, matmul_add, matmul_transposed, matmul_transposed_add, outer_add, padded, sum_channels_add,
};
use proptest::prelude::*;

use super::support::{Draw, Reference, Shape, at_all_levels, cases, shape};

fn products<T: Real>(seed: u64, Shape { out, inner, width }: Shape) {
    let mut draw = Draw::new(seed);
    let w: Vec<T> = draw.numbers(out * inner);
    let (x, y): (Vec<T>, Vec<T>) = (draw.numbers(inner * width), draw.numbers(out * width));
    let (mut forward, mut transposed) = (Reference::starting_at(&y), Reference::starting_at(&x));
    for o in 0..out {
        for i in 0..inner {
            let w = w[o * inner + i].as_f64();
            for s in 0..width {
                forward.add(o * width + s, w * x[i * width + s].as_f64());
                transposed.add(i * width + s, w * y[o * width + s].as_f64());
            }
        }
    }
    let added = |start: &[T], add: &dyn Fn(&mut [T])| {
        at_all_levels(|| {
            let mut values = start.to_vec();
            add(&mut values);
            values
        })
    };
    for (level, found) in added(&y, &|y| matmul_add(&w, &x, y, width)) {
        forward.check(&format!("matmul_add {level:?}"), &found, inner);
    }
    for (level, found) in added(&x, &|x| matmul_transposed_add(&w, &y, x, width)) {
        transposed.check(&format!("matmul_transposed_add {level:?}"), &found, out);
    }
}

/// Products that set their result, to the bit what those that add make of a bias or of zeros.
fn products_that_set<T: Real>(seed: u64, Shape { out, inner, width }: Shape) {
    let mut draw = Draw::new(seed);
    let (w, bias): (Vec<T>, Vec<T>) = (draw.numbers(out * inner), draw.numbers(out));
    let (x, y): (Vec<T>, Vec<T>) = (draw.numbers(inner * width), draw.numbers(out * width));
    let found = at_all_levels(|| {
        let (mut set, mut added) = (y.clone(), y.clone());
        affine(&w, &bias, &x, &mut set, width);
        fill_channels(&bias, &mut added, width);
        matmul_add(&w, &x, &mut added, width);
        let (mut set_back, mut added_back) = (x.clone(), vec![T::zero(); x.len()]);
        matmul_transposed(&w, &y, &mut set_back, width);
        matmul_transposed_add(&w, &y, &mut added_back, width);
        let apart = |a: &[T], b: &[T]| a.iter().zip(b).map(|(&a, &b)| a - b).collect::<Vec<T>>();
        [apart(&set, &added), apart(&set_back, &added_back)].concat()
    });
    for (level, differences) in found {
        assert!(differences.iter().all(|d| *d == T::zero()), "{level:?}");
    }
}

fn sums_over_tiles<T: Real>(seed: u64, Shape { out, inner, width }: Shape, tiles: usize) {
    let mut draw = Draw::new(seed);
    let (x, y): (Vec<T>, Vec<T>) = (draw.numbers(tiles * inner * width), draw.numbers(tiles * out * width));
    let (w, bias): (Vec<T>, Vec<T>) = (draw.numbers(out * inner), draw.numbers(out));
    let (mut outer, mut sums) = (Reference::starting_at(&w), Reference::starting_at(&bias));
    for tile in 0..tiles {
        for s in 0..width {
            for o in 0..out {
                let y = y[(tile * out + o) * width + s].as_f64();
                sums.add(o, y);
                for i in 0..inner {
                    outer.add(o * inner + i, y * x[(tile * inner + i) * width + s].as_f64());
                }
            }
        }
    }
    let found = at_all_levels(|| {
        let mut w = w.clone();
        outer_add(&y, &x, &mut w, out, inner, width);
        w
    });
    for (level, found) in found {
        outer.check(&format!("outer_add {level:?}"), &found, tiles * width);
    }
    let found = at_all_levels(|| {
        let mut bias = bias.clone();
        sum_channels_add(&y, &mut bias, width);
        bias
    });
    for (level, found) in found {
        sums.check(&format!("sum_channels_add {level:?}"), &found, tiles * width);
    }
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn products_agree_with_loops(seed in any::<u64>(), shape in shape()) {
        products::<f32>(seed, shape);
        products::<f64>(seed, shape);
        products_that_set::<f32>(seed, shape);
        products_that_set::<f64>(seed, shape);
    }

    #[test]
    fn sums_over_tiles_agree_with_loops(seed in any::<u64>(), shape in shape(), tiles in 0..4_usize) {
        sums_over_tiles::<f32>(seed, shape, tiles);
        sums_over_tiles::<f64>(seed, shape, tiles);
    }
}

#[test]
fn a_bias_fills_its_channel() {
    let mut tile = [0.0; 32];
    fill_channels(&[1.0, 2.0], &mut tile, 16);
    assert_eq!(tile[..16], [1.0; 16]);
    assert_eq!(tile[16..], [2.0; 16]);
}

#[test]
fn tiles_are_padded_to_whole_registers() {
    assert_eq!([0, 1, 16, 17, 2496].map(padded), [0, 16, 16, 32, 2496]);
}

#[test]
#[should_panic(expected = "weight shape [1, 2]")]
fn shapes_are_asserted() {
    matmul_add(&[1.0; 3], &[0.0; 32], &mut [0.0; 16], 16);
}

#[test]
#[should_panic(expected = "tile width 8 is not a multiple of 16")]
fn widths_are_asserted() {
    matmul_add(&[1.0; 2], &[0.0; 16], &mut [0.0; 8], 8);
}
