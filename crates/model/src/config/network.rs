/// The shape of a network, of whatever method.
///
/// | field | symbol | default | range |
/// |---|---|---|---|
/// | `hidden` | | 40, 40 | positive widths; of iss the units of its two maps, 0 for none |
/// | `linear_path` | a | false | true only for inode and ilstm |
/// | `states` | n | none | at least 1; of iss, which has 4 where none are given, and of no other model |
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkConfig {
    /// Widths of the hidden layers or cells.
    pub hidden: Vec<usize>,
    /// Learn a linear function of the regressor beside the network, started at the least-squares ARX fit.
    pub linear_path: bool,
    /// States of a state-space model; [`states_or_default`](Self::states_or_default) where none are given.
    pub states: Option<usize>,
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self {
            hidden: vec![40, 40],
            linear_path: false,
            states: None,
        }
    }
}

impl NetworkConfig {
    /// States of a state-space model.
    #[must_use]
    pub fn states_or_default(&self) -> usize {
        self.states.unwrap_or(4)
    }
}
