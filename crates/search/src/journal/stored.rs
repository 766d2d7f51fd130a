//! Results of jobs as bytes, and back to the bit.

use intervalid_model::Model;

use crate::state_space::{Fitted, Shape, StateSpace};

/// A result that can be written down.
pub(crate) trait Stored: Sized {
    /// Appends it.
    fn put(&self, to: &mut Vec<u8>);
    /// Takes it off the front; none if the bytes are not such a result.
    fn get(from: &mut &[u8]) -> Option<Self>;
}

/// Takes `count` bytes off the front.
fn take<'a>(from: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = from.split_at_checked(count)?;
    *from = rest;
    Some(taken)
}

impl Stored for u64 {
    fn put(&self, to: &mut Vec<u8>) {
        to.extend(self.to_le_bytes());
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Some(Self::from_le_bytes(take(from, 8)?.try_into().ok()?))
    }
}

impl Stored for usize {
    fn put(&self, to: &mut Vec<u8>) {
        (*self as u64).put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Self::try_from(u64::get(from)?).ok()
    }
}

impl Stored for f64 {
    fn put(&self, to: &mut Vec<u8>) {
        self.to_bits().put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        u64::get(from).map(Self::from_bits)
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn put(&self, to: &mut Vec<u8>) {
        self.len().put(to);
        self.iter().for_each(|item| item.put(to));
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        let count = usize::get(from)?;
        // Every item takes eight bytes at least: a length that the bytes cannot hold takes no memory.
        if count > from.len() / 8 {
            return None;
        }
        (0..count).map(|_| T::get(from)).collect()
    }
}

impl<T: Stored> Stored for Option<T> {
    fn put(&self, to: &mut Vec<u8>) {
        usize::from(self.is_some()).put(to);
        self.iter().for_each(|item| item.put(to));
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        match usize::get(from)? {
            0 => Some(None),
            1 => T::get(from).map(Some),
            _ => None,
        }
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
        self.1.put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Some((A::get(from)?, B::get(from)?))
    }
}

impl Stored for Fitted {
    fn put(&self, to: &mut Vec<u8>) {
        let Shape {
            states,
            inputs,
            outputs,
            state_hidden,
            output_hidden,
        } = self.model.shape();
        for size in [states, inputs, outputs, state_hidden, output_hidden] {
            size.put(to);
        }
        self.model.theta.put(to);
        self.x0.put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        /// Far beyond what a search tries: products of such sizes do not overflow.
        const MOST: usize = 1 << 12;
        let mut size = || usize::get(from).filter(|size| *size <= MOST);
        let shape = Shape {
            states: size()?,
            inputs: size()?,
            outputs: size()?,
            state_hidden: size()?,
            output_hidden: size()?,
        };
        let theta = Vec::get(from)?;
        let x0: Vec<Vec<f64>> = Vec::get(from)?;
        let is_whole = theta.len() == shape.parameters() && x0.iter().all(|x0| x0.len() == shape.states);
        is_whole.then_some(Self {
            model: StateSpace { shape, theta },
            x0,
        })
    }
}

impl Stored for Model {
    fn put(&self, to: &mut Vec<u8>) {
        // A model that cannot be written leaves nothing, which is no model when it is read.
        let bytes = self.to_bytes().unwrap_or_default();
        bytes.len().put(to);
        to.extend(bytes);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        let count = usize::get(from)?;
        Self::from_bytes(take(from, count)?.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(value: &impl Stored) -> Vec<u8> {
        let mut bytes = Vec::new();
        value.put(&mut bytes);
        bytes
    }

    #[test]
    fn values_come_back_to_the_bit() {
        let value = (vec![f64::NAN, -0.0, f64::INFINITY, 0.1], Some(vec![(3_usize, 1e-310)]));
        let stored = bytes(&value);
        let back = <(Vec<f64>, Option<Vec<(usize, f64)>>)>::get(&mut stored.as_slice()).expect("reads");
        assert_eq!(bytes(&back), stored);
        // Cut off anywhere, or with a length that cannot be, it is nothing, and takes no memory.
        for end in 0..stored.len() {
            let cut = <(Vec<f64>, Option<Vec<(usize, f64)>>)>::get(&mut &stored[..end]);
            assert!(cut.is_none(), "{end}");
        }
        assert!(Vec::<f64>::get(&mut bytes(&usize::MAX).as_slice()).is_none());
    }

    #[test]
    fn a_state_space_model_has_the_parameters_of_its_shape() {
        let shape = Shape {
            states: 2,
            inputs: 1,
            outputs: 1,
            state_hidden: 0,
            output_hidden: 0,
        };
        let fitted = Fitted {
            model: StateSpace {
                shape,
                theta: vec![0.5; shape.parameters()],
            },
            x0: vec![vec![0.0; 2]],
        };
        let stored = bytes(&fitted);
        assert_eq!(Fitted::get(&mut stored.as_slice()), Some(fitted.clone()));
        let mut wrong = fitted;
        wrong.x0[0].pop();
        assert_eq!(Fitted::get(&mut bytes(&wrong).as_slice()), None);
    }
}
